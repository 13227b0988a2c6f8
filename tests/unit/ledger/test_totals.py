"""Running totals, and what the ledger hands out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tenue.errors import LedgerFault, OverBudget
from tenue.ledger import Charge, Ledger, Memory, Reservation, SQLite, Verification, facts
from tenue.ledger.facts import Answered, CapChanged, DatasetOpened, Fact, Reserved
from tenue.ledger.memory_store import Dictionaries
from tenue.ledger.results import balance_of, balances_in_html, debits
from tenue.ledger.totals import (
    ANSWERED,
    EVERYONE,
    OPEN,
    RETURNED,
    UNANSWERED,
    Account,
    Dataset,
    Person,
    Ticket,
    Totals,
    scoped,
    standing,
)
from tenue.ledger.transactions.journal import Journal
from tenue.privacy.loss import EpsilonDelta


def test_spent_is_the_sum_for_all_and_the_maximum_over_persons() -> None:
    account = Account(statistical=5, most=3, delta=20, most_delta=1, individual=100)
    assert account.spent == account.table + account.persons == EpsilonDelta(8, 21)
    assert (account.table, account.persons) == (EpsilonDelta(5, 20), EpsilonDelta(3, 1))
    assert account.individual_spent == EpsilonDelta(100)
    assert Account.of(account.table, account.persons, account.individual_spent) == account
    assert Account() == (0, 0, 0, 0, 0)
    assert Person() == (0, 0)
    assert Person(3, 1).spent == EpsilonDelta(3, 1)


def test_rows_are_read_as_losses() -> None:
    """Mutant: a quota that allows no delta, so that no analyst could ask for any."""
    row = Dataset("replace", 9, 4, 5, "", "", widest=7, individual=6)
    assert (row.budget, row.quota) == (EpsilonDelta(9, 4), EpsilonDelta(5, 4))
    assert (row.individual_budget, row.widest) == (EpsilonDelta(6), 7)
    none = row._replace(per_analyst=None, individual=None)
    assert (none.quota, none.individual_budget) == (None, None)
    assert row.caps == (9, 4, 5)


def test_outcomes_keep_the_numbers_that_files_hold() -> None:
    assert (OPEN, ANSWERED, RETURNED, UNANSWERED) == (0, 1, 2, 3)
    assert EVERYONE == ""
    assert Ticket(7, None, None, "me")[4:] == (OPEN, None)


def test_no_two_scopes_share_a_name() -> None:
    scopes = list(product(("d", "da"), ("a", "nn", "ann"), ("k", "ak")))
    names = {scoped(key, *scope) for *scope, key in scopes}
    assert len(names) == len(scopes)
    assert scoped(None, "d", "ann") is None
    assert scoped("k", "d", "ann") == scoped("k", "d", "ann")
    assert len(scoped("k", "d", "ann") or b"") == 32


def test_caches_belong_to_a_data_set_and_not_to_an_analyst() -> None:
    assert scoped(None, "d") is None
    assert scoped("xk", "d") != scoped("k", "dx")
    assert scoped("k", "d") != scoped("k", "d", "")


def test_the_names_are_those_of_ledgers_already_written() -> None:
    name, cache = scoped("key", "census", "ann"), scoped("key", "census")
    assert name is not None
    assert cache is not None
    assert name.hex().startswith("86e056e7043bde06")
    assert cache.hex().startswith("0b69b7d05e926fd0")


def test_withdrawn_releases_do_not_stand() -> None:
    assert standing({"a": 3, "b": -5, "c": 4}) == {"a": 3, "c": 4}


# -- The running totals against an oracle that adds everything up from nothing ---------------------

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
    TOTALS_CHARGE(self, replace(fact, person=None), sign)


def maximum_over_questions(self: Totals, fact: Reserved, sign: int) -> None:
    alone = None if fact.person is None else f"{fact.person}-{fact.nano}"
    TOTALS_CHARGE(self, replace(fact, person=alone), sign)


def maximum_never_lowered(self: Totals, dataset: str, analyst: str) -> Person:
    account = self.account(dataset, analyst)
    return Person(account.most, account.most_delta)


def past_not_repriced(self: Totals, sequence: int, fact: Fact) -> None:
    dataset = self._known(fact.dataset)
    self.datasets[fact.dataset] = dataset._replace(neighbours="replace", repriced=sequence)


TOTALS_CHARGE = Totals._charge


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


# -- A shelf of dictionaries holds what a transaction wrote, and nothing before --------------------

OPENED = DatasetOpened(
    dataset="census",
    neighbours="replace",
    total_nano=10,
    total_atto=0,
    per_analyst_nano=None,
    schema_digest="",
    data_version="",
)
RESERVED = Reserved(
    dataset="census",
    analyst="ann",
    column="dp",
    nano=3,
    atto=0,
    neighbours="replace",
    person="p1",
    question_digest="q",
    question_name=None,
    key="k",
    cache_key=None,
    owner="me",
)


def test_a_new_shelf_is_empty() -> None:
    rows = Dictionaries()
    assert rows.head() == (0, facts.GENESIS)
    assert rows.datasets() == []
    assert rows.dataset("census") is rows.account("census", EVERYONE) is rows.ticket(1) is None
    assert rows.most("census", EVERYONE, []) == Person(0, 0)
    assert (rows.times("census", "q"), rows.protocol("census")) == (0, "")
    with pytest.raises(LedgerFault, match="there is no reservation 1"):
        rows.reserved(1)


def test_what_a_transaction_wrote_is_there_once_taken() -> None:
    rows = Dictionaries()
    journal = Journal(rows, rows.head(), lambda: "me", "me".__eq__)
    for fact in (OPENED, RESERVED):
        journal.write(fact)
    assert rows.datasets() == []
    rows.take(journal)
    name = scoped("k", "census", "ann")
    assert name is not None
    assert rows.datasets() == ["census"]
    assert rows.reserved(2) == RESERVED
    assert rows.ticket_named(name) == rows.ticket(2) == rows.open_tickets()[0]
    assert rows.accounts("census").keys() == {EVERYONE, "ann"}
    assert rows.persons("census", "ann") == {"p1": Person(3, 0)}
    assert rows.most("census", "ann", ["p1"]) == Person(0, 0)
    with pytest.raises(LedgerFault, match="there is no reservation 1"):
        rows.reserved(1)


def test_a_settled_ticket_is_open_no_longer() -> None:
    rows = Dictionaries()
    journal = Journal(rows, rows.head(), lambda: "me", "me".__eq__)
    for fact in (OPENED, RESERVED):
        journal.write(fact)
    rows.take(journal)
    later = Journal(rows, rows.head(), lambda: "me", "me".__eq__)
    later.write(Answered(dataset="census", reservation=2, answer_digest="d", size=1))
    rows.take(later)
    assert rows.open_tickets() == []
    assert rows.totals().books.datasets.keys() == {"census"}
    assert rows.totals()[1:] == (1, 0)


# -- record ----------------------------------------------------------------------------------------

ROW = Dataset("replace", 5 * 10**9, 10**12, 2 * 10**9, "ab", "1")


def test_a_balance_keeps_its_columns_apart() -> None:
    accounts = {
        EVERYONE: Account(10**9, 5 * 10**8, 10**11, 0, 7 * 10**9),
        "bob": Account(10**9),
        "ann": Account(0, 5 * 10**8, 10**11, 0, 7 * 10**9),
    }
    balance = balance_of("census", ROW, accounts, 2)
    assert (balance.spent, balance.statistical, balance.persons) == (
        Fraction(3, 2),
        1,
        Fraction(1, 2),
    )
    assert (balance.remaining, balance.individual) == (Fraction(7, 2), 7)
    assert [quota.analyst for quota in balance.analysts] == ["ann", "bob"]
    assert balance.analysts[1].remaining == 1
    assert str(balance) == (
        "census (replace): epsilon 1.5 of 5 spent, 3.5 remains\n"
        "  delta 0.0000001 of 0.000001 spent\n"
        "  individual epsilon 7 spent, which is not differential privacy and is not part of the"
        " above\n"
        "  releases registered: 2\n"
        "  ann: epsilon 0.5 of 2 spent\n"
        "  bob: epsilon 1 of 2 spent"
    )


def test_nothing_remains_below_nothing() -> None:
    row = ROW._replace(total=1, total_delta=1, per_analyst=1)
    balance = balance_of("census", row, {EVERYONE: Account(9, 0, 9), "ann": Account(9)}, 0)
    assert balance.remaining == balance.remaining_delta == balance.analysts[0].remaining == 0
    assert (
        balance_of("x", ROW._replace(per_analyst=None), {"a": Account()}, 0).analysts[0].total
        is None
    )


def test_a_verification_is_true_or_says_why() -> None:
    assert Verification(True, 3, "ab")
    assert str(Verification(True, 3, "ab")) == "intact: 3 entries, head ab"
    assert not Verification(False, 3, "ab", 4, "why")
    assert str(Verification(False, 3, "ab", 4, "why")) == "NOT INTACT at entry 4: why"


def test_a_balance_is_a_table_in_a_notebook() -> None:
    accounts = {EVERYONE: Account(10**9, individual=10**9), "<ann>": Account(10**9)}
    balance = balance_of("census", ROW, accounts, 2, "every answer has the same noise")
    shown = balance._repr_html_()
    assert "<tr><td>epsilon</td><td>1</td><td>5</td><td>4</td></tr>" in shown
    assert "<tr><td>delta</td><td>0</td><td>0.000001</td><td>0.000001</td></tr>" in shown
    assert "<td>1</td><td>no limit</td><td></td>" in shown  # individual, which has no cap
    assert "<tr><td>&lt;ann&gt;</td><td>1</td><td>2</td><td>1</td></tr>" in shown
    assert "<p>protocol: every answer has the same noise</p>" in shown
    assert repr(balance) == str(balance)


def test_a_balance_for_one_analyst_leaves_out_the_others() -> None:
    accounts = {EVERYONE: Account(2 * 10**9), "ann": Account(10**9), "bob": Account(10**9)}
    balance = balance_of("census", ROW, accounts, 0).seen_by("ann")
    assert [quota.analyst for quota in balance.analysts] == ["ann"]
    assert balance.spent == 2


def test_several_balances_are_one_table_without_names() -> None:
    several = [balance_of(name, ROW, {"ann": Account(1)}, 1) for name in ("a", "b")]
    shown = balances_in_html(several, "Entries: 3.")
    assert shown.count("<td>replace</td><td>5</td><td>0</td><td>5</td><td>1</td>") == 2
    assert "ann" not in shown
    assert balances_in_html([], "Entries: 0.") == "<p>Entries: 0.</p>"


# -- Debits as a data officer reads them -----------------------------------------------------------

CHARGE = Charge.of(epsilon=0.5, neighbours="replace")


def test_every_debit_has_its_words_and_its_end() -> None:
    ledger = Memory()
    ledger.open_dataset("census", total=5, individual=1, neighbours="replace")
    first = ledger.reserve("census", "ann", CHARGE, "k", "q1", asked="SELECT\n COUNT(*)  FROM c")
    second = ledger.reserve("census", "bob", CHARGE, None, "q2")
    ledger.reserve("census", "bob", CHARGE, None, "q3", column="individual", asked="x" * 5000)
    ledger.commit(first, b"1")
    ledger.abandon(second, "no answer")
    one, two, three = debits(ledger.entries())
    assert (one.analyst, one.asked, one.outcome) == ("ann", "SELECT COUNT(*) FROM c", "answered")
    assert (two.asked, two.outcome) == (None, "spent, not answered")
    assert (three.column, three.outcome) == ("individual", "being answered")
    assert three.asked is not None
    assert len(three.asked) == 2000
    assert three.asked.endswith("…")
    assert {debit.epsilon for debit in (one, two, three)} == {Fraction(1, 2)}
    assert ledger.verify()


def test_a_replayed_key_is_one_debit() -> None:
    ledger = Memory()
    ledger.open_dataset("census", total=5, neighbours="replace")
    ledger.commit(ledger.reserve("census", "ann", CHARGE, "k", "q", asked="a"), b"1")
    ledger.reserve("census", "ann", CHARGE, "k", "q", asked="a")
    assert len(debits(ledger.entries())) == 1


def test_what_cannot_be_printed_is_not_stored() -> None:
    ledger = Memory()
    ledger.open_dataset("census", total=5, neighbours="replace")
    ledger.reserve("census", "ann", CHARGE, None, "q", asked="a\x1b[31mb\u2028c\ud800")
    (debit,) = debits(ledger.entries())
    assert debit.asked is not None
    assert debit.asked.isprintable()
