"""A question becomes an answer; `session.py` names every step in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazily

if TYPE_CHECKING:
    from . import workload
    from .answer.answer import Answer
    from .plan.plan import Plan
    from .session import Session, protect

__all__ = ["Answer", "Plan", "Session", "protect", "workload"]

lazily(
    __name__,
    {
        ".answer.answer": "Answer",
        ".plan.plan": "Plan",
        ".session": "Session protect",
        ".workload": "workload",
    },
)
