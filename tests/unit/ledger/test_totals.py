"""The running totals against an oracle that adds everything up from nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tenue.errors import LedgerFault, OverBudget
from tenue.ledger import Charge, Ledger, Memory, Reservation, SQLite
from tenue.ledger.dictionaries import Dictionaries
from tenue.ledger.fact import Answered, CapChanged, Fact, Reserved
from tenue.ledger.row import Person
from tenue.ledger.totals import Totals

TOTAL, QUOTA, NANO = 40, 25, 10**9
Step = tuple[str, str, str | None, int]


@dataclass
class Row:
    analyst: str
    person: str | None
    size: int | Fraction
    repriced: bool = False


@dataclass
class Oracle:
    """Every charge that was not given back; the loss is computed anew each time."""

    factor: int = 1
    rows: list[Row] = field(default_factory=list)

    def loss(self, analyst: str | None, *more: Row) -> Fraction:
        rows = [row for row in (*self.rows, *more) if analyst in (None, row.analyst)]
        persons: dict[str, Fraction] = defaultdict(Fraction)
        for row in rows:
            if row.person is not None:
                persons[row.person] += row.size
        statistical = sum(row.size for row in rows if row.person is None)
        return self.factor * (statistical + max(persons.values(), default=Fraction(0)))

    def affords(self, row: Row) -> bool:
        return self.loss(None, row) <= TOTAL and self.loss(row.analyst, row) <= QUOTA


def pay(ledger: Ledger, oracle: Oracle, row: Row) -> Reservation | None:
    charge = Charge(int(row.size) * NANO, 0, "add-or-remove", row.person)
    try:
        reservation = ledger.reserve("d", row.analyst, charge, None, "q")
    except OverBudget as refusal:
        assert not oracle.affords(row)
        remaining = Fraction(refusal.remaining)  # type: ignore[arg-type]
        if remaining:
            fits = replace(row, size=remaining / oracle.factor)
            who, cap = (None, TOTAL) if refusal.limit == "dataset" else (row.analyst, QUOTA)
            assert oracle.loss(who, fits) == cap
        return None
    assert oracle.affords(row)
    oracle.rows.append(row)
    return reservation


def follow(ledger: Ledger, steps: Iterable[Step]) -> None:
    """Takes the steps on ledger and oracle; fails where they part."""
    ledger.open_dataset("d", TOTAL, QUOTA, neighbours="add-or-remove")
    oracle = Oracle()
    live: list[tuple[Reservation, Row]] = []
    for what, analyst, person, size in steps:
        if what == "reserve":
            row = Row(analyst, person, size)
            reservation = pay(ledger, oracle, row)
            if reservation is not None:
                live.append((reservation, row))
        elif what == "return" and live:
            reservation, row = live.pop(size % len(live))
            ledger.release_unread(reservation)
            if not row.repriced:
                oracle.rows = [kept for kept in oracle.rows if kept is not row]
        elif what == "commit" and live:
            ledger.commit(live.pop(size % len(live))[0], b"")
        elif what == "replace" and oracle.factor == 1:
            ledger.open_dataset("d", TOTAL, QUOTA, neighbours="replace")
            oracle.factor = 2
            for row in oracle.rows:
                row.repriced = True
        balance = ledger.balance("d")
        assert balance.spent == oracle.loss(None)
        for quota in balance.analysts:
            assert quota.spent == oracle.loss(quota.analyst)
    found = ledger.verify()
    assert found, found


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["reserve"] * 6 + ["return"] * 3 + ["commit"] * 2 + ["replace"]),
        st.sampled_from(["ann", "bob"]),
        st.sampled_from([None, "p", "q", "r"]),
        st.integers(1, 9),
    ),
    max_size=40,
)


@settings(max_examples=300, deadline=None)
@given(STEPS)
def test_spent_is_the_sum_plus_the_maximum_over_persons(steps: list[Step]) -> None:
    follow(Memory(), steps)


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(STEPS)
def test_the_same_in_a_file(tmp_path: Path, steps: list[Step]) -> None:
    path = tmp_path / "oracle.ledger"
    with SQLite(path) as ledger:
        follow(ledger, steps)
    path.unlink()


# Wrong ledgers, each of which `follow` must tell from the right one.
TELLING: list[Step] = [
    ("reserve", "ann", "p", 9),
    ("reserve", "ann", "p", 5),
    ("reserve", "bob", "q", 9),
    ("reserve", "ann", None, 2),
    ("return", "", None, 0),
    ("replace", "", None, 0),
    ("reserve", "bob", "q", 1),
]


def persons_added_up(self: Totals, fact: Reserved, sign: int) -> None:
    CHARGE(self, replace(fact, person=None), sign)


def maximum_over_questions(self: Totals, fact: Reserved, sign: int) -> None:
    alone = None if fact.person is None else f"{fact.person}-{fact.nano}"
    CHARGE(self, replace(fact, person=alone), sign)


def maximum_never_lowered(self: Totals, dataset: str, analyst: str) -> Person:
    account = self.account(dataset, analyst)
    return Person(account.most, account.most_delta)


def past_not_repriced(self: Totals, sequence: int, fact: Fact) -> None:
    dataset = self._known(fact.dataset)
    self.datasets[fact.dataset] = dataset._replace(neighbours="replace", repriced=sequence)


CHARGE = Totals._charge


def test_the_telling_steps_are_right() -> None:
    follow(Memory(), TELLING)


@pytest.mark.parametrize(
    ("method", "wrong"),
    [
        ("_charge", persons_added_up),
        ("_charge", maximum_over_questions),
        ("_most", maximum_never_lowered),
        ("_reprice", past_not_repriced),
    ],
)
def test_wrong_totals_are_told_apart(
    monkeypatch: pytest.MonkeyPatch, method: str, wrong: object
) -> None:
    monkeypatch.setattr(Totals, method, wrong)
    with pytest.raises(AssertionError):
        follow(Memory(), TELLING)


def test_a_fact_about_nothing_is_a_fault() -> None:
    totals = Totals(Dictionaries())
    with pytest.raises(LedgerFault, match="never opened"):
        totals.post(1, CapChanged(dataset="x", total_nano=1, total_atto=0, per_analyst_nano=None))
    with pytest.raises(LedgerFault, match="not open"):
        totals.post(2, Answered(dataset="x", reservation=1, answer_digest="", size=0))


def test_delta_about_persons_is_a_maximum_too() -> None:
    ledger = Memory()
    ledger.open_dataset("d", 10, neighbours="add-or-remove", total_delta="3e-6")
    for person, delta in (("p", "1e-6"), ("q", "2e-6"), ("p", "1e-6")):
        charge = Charge.of(epsilon=1, delta=delta, neighbours="add-or-remove", person=person)
        last = ledger.reserve("d", "ann", charge, None, "q")
    assert ledger.balance().spent_delta == Fraction(2, 10**6)
    ledger.release_unread(last)
    assert ledger.balance().spent_delta == Fraction(2, 10**6)
    assert ledger.balance().spent == 1
    assert ledger.verify()
