"""What can be promised: the public names of the room `privacy`, as `tn.promise`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._lazy import lazily

if TYPE_CHECKING:
    from .privacy import (
        PROMISES,
        Approximate,
        Certificate,
        ColumnKAnonymity,
        Individual,
        KAnonymity,
        Neighbours,
        ProbabilisticKAnonymity,
        Promise,
        Pure,
        TCloseness,
        checked_neighbours,
        promise_from,
    )

__all__ = [
    "PROMISES",
    "Approximate",
    "Certificate",
    "ColumnKAnonymity",
    "Individual",
    "KAnonymity",
    "Neighbours",
    "ProbabilisticKAnonymity",
    "Promise",
    "Pure",
    "TCloseness",
    "checked_neighbours",
    "promise_from",
]

lazily(__name__, {"tenue.privacy": " ".join(__all__)})
