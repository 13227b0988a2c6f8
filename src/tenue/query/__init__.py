"""A question becomes an answer; `session.py` names every step in order."""

from .answer import Answer
from .plan.plan import Plan
from .session import Session, protect

__all__ = ["Answer", "Plan", "Session", "protect"]
