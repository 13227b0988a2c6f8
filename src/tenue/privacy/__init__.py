"""Promises, losses, and certificates."""

from .certificate import Certificate
from .promise import (
    PROMISES,
    Approximate,
    ColumnKAnonymity,
    Individual,
    KAnonymity,
    Neighbours,
    NoFormalPromise,
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
    "NoFormalPromise",
    "ProbabilisticKAnonymity",
    "Promise",
    "Pure",
    "TCloseness",
    "checked_neighbours",
    "promise_from",
]
