from __future__ import annotations

import pytest

from tenue.errors import OverBudget
from tenue.ledger import Charge, Memory


def refused(ledger: Memory, charge: Charge, **more: object) -> OverBudget:
    with pytest.raises(OverBudget) as refusal:
        ledger.reserve("d", "ann", charge, None, "q", **more)  # type: ignore[arg-type]
    return refusal.value


def test_the_three_sentences_of_a_refusal() -> None:
    ledger = Memory()
    ledger.open_dataset("d", "0.7", neighbours="replace")
    told = refused(ledger, Charge.of(epsilon="0.8", neighbours="replace"))
    assert told.to_dict() == {
        "code": "over-budget",
        "what": "This question costs epsilon 0.8, and 0.7 remains for `d`.",
        "allowed": "A price must fit in what remains of the data set's budget.",
        "fix": "Ask with epsilon at most 0.7, or see `tenue ledger show FILE`.",
    }
    ledger.reserve("d", "ann", Charge.of(epsilon="0.7", neighbours="replace"), None, "q")
    told = refused(ledger, Charge.of(epsilon="0.1", neighbours="replace"))
    assert told.fix == (
        "Repeat an answered question, which is free, or let the holder raise the budget."
    )


def test_what_fits_about_a_person_is_more_than_what_is_left_for_all() -> None:
    ledger = Memory()
    ledger.open_dataset("d", 10, neighbours="add-or-remove")

    def about(person: str | None, epsilon: int) -> Charge:
        return Charge.of(epsilon=epsilon, neighbours="add-or-remove", person=person)

    ledger.reserve("d", "ann", about("p", 6), None, "q")
    ledger.reserve("d", "ann", about(None, 3), None, "q")
    assert refused(ledger, about(None, 2)).remaining == 1
    assert refused(ledger, about("p", 2)).remaining == 1
    assert refused(ledger, about("q", 8)).remaining == 7
    ledger.reserve("d", "ann", about("q", 7), None, "q")
    assert ledger.balance().remaining == 0
    ledger.open_dataset("d", 5, neighbours="add-or-remove")  # lowered below what was spent
    assert refused(ledger, about("r", 1)).remaining == 0


def test_the_individual_column_never_overflows() -> None:
    ledger = Memory()
    ledger.open_dataset("d", 1, neighbours="replace")
    most = Charge(10**15, 0, "replace")
    for _ in range(2**62 // 10**15):
        ledger.reserve("d", "ann", most, None, "q", column="individual")
    assert "full" in refused(ledger, most, column="individual").what
    assert ledger.verify()
