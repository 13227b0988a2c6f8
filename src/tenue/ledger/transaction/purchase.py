"""What a caller of `reserve` states, checked before it reaches the cashier."""

from __future__ import annotations

from dataclasses import dataclass

from ...errors import InvalidArgument, NotPromised
from ...number import whole
from ..composition import Charge, Column
from ..text import given_text, readable

__all__ = ["Purchase", "purchase"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Purchase:
    """Everything that a call of `reserve` states."""

    dataset: str
    analyst: str
    charge: Charge
    key: str | None
    question_digest: str
    cache_key: str | None
    column: Column
    question_name: str | None
    times: int | None
    asked: str | None = None


def purchase(
    dataset: str,
    analyst: str,
    charge: Charge,
    key: str | None,
    question_digest: str,
    cache_key: str | None,
    column: Column,
    question_name: str | None,
    times: int | None,
    asked: str | None = None,
) -> Purchase:
    """The purchase that these words mean, or a refusal."""
    if not isinstance(charge, Charge):
        raise InvalidArgument(
            f"`charge` is of type {type(charge).__name__}",
            "`charge` must be a Charge",
            "Use Charge.of(epsilon=..., neighbours=...)",
        )
    if column not in ("dp", "individual"):
        raise InvalidArgument(
            f"`column` is {str(column)[:60]!r}",
            '`column` must be "dp" or "individual"',
            'Leave it out for differential privacy, or use column="individual"',
        )
    if column == "individual" and (charge.atto or charge.person is not None):
        raise NotPromised(
            "The individual column was given a delta or a person",
            "Individual differential privacy is charged as one epsilon",
            "Leave out delta and person",
        )
    if times is not None and (question_name is None or column != "individual"):
        raise InvalidArgument(
            "`times` was given without an approved question",
            '`times` limits one `question_name` of column="individual"',
            "Name the question, or leave `times` out",
        )
    return Purchase(
        dataset=given_text(dataset, "dataset"),
        analyst=given_text(analyst, "analyst"),
        charge=charge,
        key=None if key is None else given_text(key, "key"),
        question_digest=given_text(question_digest, "question_digest"),
        cache_key=None if cache_key is None else given_text(cache_key, "cache_key"),
        column=column,
        question_name=None if question_name is None else given_text(question_name, "question_name"),
        times=None if times is None else whole(times, "times"),
        asked=None if asked is None else readable(asked),
    )
