"""A question becomes an answer; `ask/session.py` names every step in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._lazy import lazily

if TYPE_CHECKING:
    from . import workload
    from .answer import Answer
    from .dataset import Dataset, open_dataset, protect
    from .plan.plan import Plan
    from .session import Session

__all__ = ["Answer", "Dataset", "Plan", "Session", "open_dataset", "protect", "workload"]

lazily(
    __name__,
    {
        ".answer": "Answer",
        ".dataset": "Dataset open_dataset protect",
        ".plan.plan": "Plan",
        ".session": "Session",
        ".workload": "workload",
    },
)
