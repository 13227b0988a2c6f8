"""What was paid for what, as a data officer reads it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from .composition import Column
from .fact import Answered, Asked, Entry, Reserved, Returned, Unanswered

_OUTCOMES: dict[type, str] = {
    Answered: "answered",
    Returned: "returned",
    Unanswered: "spent, not answered",
}


@dataclass(frozen=True)
class Debit:
    """One price that was paid.

    epsilon, delta: as the mechanism stated them.
    asked: how the question reads; None if whoever paid did not say.
    outcome: what became of it.
    """

    sequence: int
    time: str
    dataset: str
    analyst: str
    column: Column
    epsilon: Fraction
    delta: Fraction
    asked: str | None
    outcome: str


def debits(entries: Iterable[Entry]) -> list[Debit]:
    """Every debit among the entries, in order."""
    paid: dict[int, tuple[Entry, Reserved]] = {}
    words: dict[int, str] = {}
    ends: dict[int, str] = {}
    for entry in entries:
        fact = entry.fact
        if isinstance(fact, Reserved):
            paid[entry.sequence] = entry, fact
        elif isinstance(fact, Asked):
            words[fact.reservation] = fact.text
        elif isinstance(fact, Answered | Returned | Unanswered):
            ends[fact.reservation] = _OUTCOMES[type(fact)]
    return [
        Debit(
            sequence=sequence,
            time=entry.time,
            dataset=fact.dataset,
            analyst=fact.analyst,
            column=fact.column,
            epsilon=fact.loss.epsilon,
            delta=fact.loss.delta,
            asked=words.get(sequence),
            outcome=ends.get(sequence, "being answered"),
        )
        for sequence, (entry, fact) in paid.items()
    ]
