"""Questions and answers: the public names of the room `ask`, as `tn.query`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._lazy import lazily

if TYPE_CHECKING:
    from .ask import (
        Answer,
        Dataset,
        Plan,
        Session,
        open_dataset,
        protect,
        workload,
    )

__all__ = [
    "Answer",
    "Dataset",
    "Plan",
    "Session",
    "open_dataset",
    "protect",
    "workload",
]

lazily(__name__, {"tenue.ask": " ".join(__all__)})
