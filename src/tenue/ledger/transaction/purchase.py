"""What a caller of `reserve` states, checked before it reaches the cashier."""

from __future__ import annotations

from dataclasses import dataclass

from ...errors import refuse
from ...number import whole
from ..composition import Charge, Column
from ..text import given_text, readable


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
        raise refuse("ledger.charge-is-of-type", type=type(charge).__name__)
    if column not in ("dp", "individual"):
        raise refuse("ledger.column-is-column-must-be-dp-or", column=str(column)[:60])
    if column == "individual" and (charge.atto or charge.person is not None):
        raise refuse("ledger.individual-column-was-given-delta-or-person")
    if times is not None and (question_name is None or column != "individual"):
        raise refuse("ledger.times-was-given-without-approved-question")
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
