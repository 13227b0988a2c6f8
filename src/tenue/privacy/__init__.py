"""What can be promised, to whom, and the certificate that says so."""

from .certificate import Certificate
from .promise import (
    PROMISES,
    Approximate,
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
