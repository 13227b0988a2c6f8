"""What every ledger promises; each implementation runs the whole suite.

`Naive` reads, decides and writes without a lock: the double-spend tests must fail on it.
"""

from __future__ import annotations

import hashlib
import inspect
import io
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from fractions import Fraction
from itertools import count
from pathlib import Path

import pytest

import tenue
from postgres_server import Server
from tenue.engine.fingerprint import Stamp
from tenue.errors import Conflict, InvalidArgument, LedgerFault, NotPromised, OverBudget, Refused
from tenue.ledger import (
    LARGEST_ANSWER,
    Charge,
    Ledger,
    Memory,
    Postgres,
    Reservation,
    SQLite,
    digest,
)
from tenue.ledger.facts import GENESIS, SourceValidated
from tenue.ledger.locate import open_ledger

QUESTION = digest("SELECT COUNT(*) FROM census")
OTHER = digest("SELECT SUM(income) FROM census")


def price(epsilon: object, **more: object) -> Charge:
    return Charge.of(**{"epsilon": epsilon, "neighbours": "replace", **more})  # type: ignore[arg-type]


def about(person: str, epsilon: object = 1) -> Charge:
    return Charge.of(epsilon=epsilon, neighbours="add-or-remove", person=person)


POSTGRES = pytest.param("postgres", marks=pytest.mark.needs("postgres"))
_schemas = count(1)


def address(request: pytest.FixtureRequest) -> str:
    """An empty place in the tests' own server."""
    server: Server = request.getfixturevalue("postgres_server")
    return server.address(schema=f"contract_{next(_schemas)}")


@pytest.fixture(params=["memory", "sqlite", POSTGRES])
def new(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], Ledger]]:
    opened: list[Ledger] = []
    kinds: dict[str, Callable[[], Ledger]] = {
        "memory": Memory,
        "sqlite": lambda: SQLite(tmp_path / f"{len(opened)}.ledger"),
        "postgres": lambda: Postgres(address(request)),
    }

    def make() -> Ledger:
        opened.append(kinds[request.param]())
        return opened[-1]

    yield make
    for ledger in opened:
        ledger.close()


@pytest.fixture
def ledger(new: Callable[[], Ledger]) -> Ledger:
    made = new()
    made.open_dataset("census", total=5, per_analyst=2, neighbours="replace", data_version="1")
    return made


def ask(ledger: Ledger, charge: Charge, key: str | None = None, **more: object) -> Reservation:
    options = {"dataset": "census", "analyst": "ann", "question_digest": QUESTION, **more}
    return ledger.reserve(charge=charge, key=key, **options)  # type: ignore[arg-type]


def kinds(ledger: Ledger) -> list[str]:
    return [entry.kind for entry in ledger.entries()]


# --- budgets


def test_a_new_ledger_is_empty_and_whole(new: Callable[[], Ledger]) -> None:
    made = new()
    found = made.verify()
    assert found
    assert (found.entries, found.head, found.first_bad) == (0, GENESIS.hex(), None)
    assert made.datasets() == []
    with pytest.raises(InvalidArgument, match="open_dataset"):
        made.balance()
    with pytest.raises(InvalidArgument) as refusal:
        ask(made, price(1))
    assert refusal.value.code == "unknown-dataset"


def test_a_price_is_debited_when_it_is_reserved(ledger: Ledger) -> None:
    reservation = ask(ledger, price("0.3"))
    assert (reservation.answer, reservation.cost) == (None, Fraction(3, 10))
    balance = ledger.balance("census")
    assert (balance.total, balance.spent, balance.remaining) == (
        5,
        Fraction(3, 10),
        Fraction(47, 10),
    )
    assert balance.analysts[0].remaining == Fraction(17, 10)
    assert ledger.balance() == balance


def test_the_cap_is_met_exactly_and_never_passed(ledger: Ledger) -> None:
    ledger.open_dataset("census", total=1, neighbours="replace", data_version="1")
    for _ in range(10):
        ask(ledger, price(0.1))
    assert ledger.balance().remaining == 0
    with pytest.raises(OverBudget) as refusal:
        ask(ledger, Charge(nano=1, atto=0, neighbours="replace"))
    assert refusal.value.remaining == 0
    assert refusal.value.cost == Fraction(1, 10**9)
    assert "costs epsilon 0.000000001, and 0 remains for `census`" in str(refusal.value)


def test_a_refusal_says_what_would_fit_and_writes_nothing(ledger: Ledger) -> None:
    ask(ledger, price("1.8"))
    before = kinds(ledger)
    with pytest.raises(OverBudget) as refusal:
        ask(ledger, price("0.5"), "k")
    assert refusal.value.limit == "analyst"
    assert "costs epsilon 0.5, and 0.2 remains of `ann`'s quota" in refusal.value.what
    assert "at most 0.2" in refusal.value.fix
    assert kinds(ledger) == before
    ask(ledger, price("0.2"), "k")  # the key of a refused question is still free


def test_quotas_do_not_add_to_the_cap(ledger: Ledger) -> None:
    for analyst in ("ann", "bob"):
        ask(ledger, price(2), analyst=analyst)
    with pytest.raises(OverBudget) as refusal:
        ask(ledger, price("1.5"), analyst="cleo")
    assert (refusal.value.limit, refusal.value.remaining) == ("dataset", 1)


def test_edits_are_entries_and_spent_stays_spent(ledger: Ledger) -> None:
    ask(ledger, price(2))
    same = {"neighbours": "replace", "data_version": "1"}
    assert ledger.open_dataset("census", 5, 2, **same) == ()
    steps: list[tuple[tuple[object, ...], dict[str, str], str]] = [
        ((7, 2), same, "cap-changed"),
        ((7, None), same, "cap-changed"),
        ((1, None), same, "cap-changed"),
        ((1, None), {**same, "data_version": "2"}, "data-changed"),
        ((1, None), {**same, "data_version": "2", "schema_digest": "ab"}, "schema-changed"),
    ]
    for caps, options, kind in steps:
        facts = ledger.open_dataset("census", *caps, **options)  # type: ignore[arg-type]
        assert [fact.kind for fact in facts] == [kind]
        assert ledger.balance().spent == 2
    assert ledger.balance().remaining == 0  # lowered below what was spent, and not negative
    with pytest.raises(OverBudget):
        ask(ledger, price("0.1"))
    assert ledger.verify()


def test_a_protocol_is_an_entry_whenever_it_changes(ledger: Ledger) -> None:
    ask(ledger, price(2))
    same = {"neighbours": "replace", "data_version": "1"}
    assert ledger.balance().protocol == ""
    for protocol, kinds in (
        ("refinement", ["protocol-changed"]),
        ("refinement", []),
        ("fixed-noise of scale 20", ["protocol-changed"]),
        ("", ["protocol-changed"]),
        ("", []),
    ):
        facts = ledger.open_dataset("census", 5, 2, protocol=protocol, **same)  # type: ignore[arg-type]
        assert [fact.kind for fact in facts] == kinds
        assert ledger.balance().protocol == protocol
        assert ledger.balance().spent == 2
    ledger.open_dataset("patients", 5, protocol="refinement", neighbours="replace")
    assert [ledger.balance(name).protocol for name in ("census", "patients")] == ["", "refinement"]
    assert [entry.kind for entry in ledger.entries("patients")] == [
        "dataset-opened",
        "protocol-changed",
    ]
    assert ledger.verify()


def test_data_sets_have_budgets_of_their_own(ledger: Ledger) -> None:
    ledger.open_dataset("patients", total=1, neighbours="add-or-remove")
    ask(ledger, price(2))
    assert ledger.balance("patients").spent == 0
    assert ledger.datasets() == ["census", "patients"]
    with pytest.raises(InvalidArgument, match="census, patients"):
        ledger.balance()
    assert [entry.kind for entry in ledger.entries("patients")] == ["dataset-opened"]


def test_two_spellings_of_a_name_are_one_budget(ledger: Ledger) -> None:
    ledger.open_dataset("caf\u00e9", total=1, neighbours="replace")
    assert ledger.open_dataset("cafe\u0301", total=1, neighbours="replace") == ()


# --- keys


def test_a_key_is_debited_once_and_answered_alike_for_ever(ledger: Ledger) -> None:
    first = ask(ledger, price(1), "key")
    ledger.commit(first, b"1080")
    for _ in range(100):
        again = ask(ledger, price(1), "key")
        assert (again.answer, again.cost) == (b"1080", 0)
    assert ledger.balance().spent == 1
    assert kinds(ledger) == ["dataset-opened", "reserved", "answered"]


@pytest.mark.parametrize(
    ("charge", "more"),
    [
        (price(1), {"question_digest": OTHER}),
        (price("0.5"), {}),
        (price(1, delta="1e-9"), {}),
        (price(1), {"column": "individual"}),
        (about("17"), {}),
    ],
)
def test_a_key_never_stands_for_something_else(
    ledger: Ledger, charge: Charge, more: dict[str, object]
) -> None:
    ledger.commit(ask(ledger, price(1), "key"), b"1")
    with pytest.raises(Conflict) as refusal:
        ask(ledger, charge, "key", **more)
    assert refusal.value.code == "key-conflict"
    assert ledger.balance().spent == 1


def test_keys_belong_to_one_analyst_and_one_data_set(ledger: Ledger) -> None:
    ledger.open_dataset("patients", total=1, neighbours="replace")
    ledger.commit(ask(ledger, price(1), "1"), b"for ann")
    assert ask(ledger, price(1), "1", analyst="bob").answer is None
    assert ask(ledger, price(1), "1", dataset="patients").answer is None


def test_a_question_in_flight_is_not_drawn_again(ledger: Ledger) -> None:
    ask(ledger, price(1), "key")
    with pytest.raises(Conflict) as refusal:
        ask(ledger, price(1), "key")
    assert refusal.value.code == "in-flight"
    with pytest.raises(Conflict) as refusal:
        ask(ledger, price(1), "key", question_digest=OTHER)
    assert refusal.value.code == "key-conflict"
    assert ledger.balance().spent == 1


def test_without_a_key_every_question_is_paid(ledger: Ledger) -> None:
    for _ in range(2):
        ledger.commit(ask(ledger, price(1)), b"1")
    assert ledger.balance().spent == 2


# --- settlements


def test_a_reservation_is_answered_once(ledger: Ledger) -> None:
    reservation = ask(ledger, price(1), "key")
    ledger.commit(reservation, b"one")
    ledger.commit(reservation, b"one")
    for settle in (
        lambda: ledger.commit(reservation, b"two"),
        lambda: ledger.release_unread(reservation),
        lambda: ledger.abandon(reservation),
    ):
        with pytest.raises(Conflict) as refusal:
            settle()
        assert refusal.value.code == "already-settled"
    assert ask(ledger, price(1), "key").answer == b"one"
    assert kinds(ledger).count("answered") == 1


def test_what_was_not_read_is_given_back_and_the_key_is_free(ledger: Ledger) -> None:
    reservation = ask(ledger, price(1), "key")
    ledger.release_unread(reservation, "engine unreachable")
    ledger.release_unread(reservation)
    assert ledger.balance().spent == 0
    with pytest.raises(Conflict):
        ledger.commit(reservation, b"late")
    second = ask(ledger, price(1), "key")
    ledger.commit(second, b"1")
    assert ask(ledger, price(1), "key").answer == b"1"
    assert ledger.balance().spent == 1
    assert ledger.verify()


def test_an_abandoned_question_stays_paid_and_is_never_drawn_again(ledger: Ledger) -> None:
    reservation = ask(ledger, price(1), "key")
    ledger.abandon(reservation, "engine failed")
    ledger.abandon(reservation)
    with pytest.raises(Conflict, match="new key") as refusal:
        ask(ledger, price(1), "key")
    assert refusal.value.code == "spent-unanswered"
    with pytest.raises(Conflict):
        ledger.release_unread(reservation)
    assert ledger.balance().spent == 1
    assert ledger.verify()


def test_only_the_one_who_reserved_settles(new: Callable[[], Ledger]) -> None:
    here, there = new(), new()
    for made in (here, there):
        made.open_dataset("census", total=5, neighbours="replace")
    reservation = ask(here, price(1))
    ask(there, price(1))
    with pytest.raises(Conflict) as refusal:
        there.commit(reservation, b"1")
    assert refusal.value.code == "not-yours"


def test_an_answer_is_bytes_of_bounded_size(ledger: Ledger) -> None:
    reservation = ask(ledger, price(1), "key")
    with pytest.raises(InvalidArgument):
        ledger.commit(reservation, "text")  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument) as refusal:
        ledger.commit(reservation, bytes(LARGEST_ANSWER + 1))
    assert refusal.value.code == "answer-too-large"
    ledger.commit(reservation, b"")
    assert ask(ledger, price(1), "key").answer == b""


# --- cache


def test_the_same_question_is_found_again_for_nothing(ledger: Ledger) -> None:
    assert ledger.cached("census", "c") is None
    reservation = ask(ledger, price(1), cache_key="c")
    assert ledger.cached("census", "c") is None  # nothing is handed out before it is stored
    ledger.commit(reservation, b"first")
    assert ledger.cached("census", "c") == b"first"
    assert ledger.cached("patients", "c") is None
    ledger.release_unread(ask(ledger, price("0.5"), cache_key="c", fresh=True))
    ledger.commit(ask(ledger, price("0.5"), cache_key="c", fresh=True), b"fresh")
    assert ledger.cached("census", "c") == b"first"  # a retry never sees another
    assert ledger.balance().spent == Fraction(3, 2)


# --- columns


def test_individual_privacy_is_never_added_to_dp(ledger: Ledger) -> None:
    ask(ledger, price(100), column="individual")  # more than cap and quota, which are of dp
    balance = ledger.balance()
    assert (balance.spent, balance.individual, balance.remaining) == (0, 100, 5)
    assert balance.analysts[0].individual == 100
    assert "not differential privacy" in str(balance)


def test_an_approved_question_is_answered_so_many_times(ledger: Ledger) -> None:
    options = {"column": "individual", "question_name": "median", "times": 2}
    ledger.commit(ask(ledger, price(1), "a", **options), b"1")
    returned = ask(ledger, price(1), "b", **options)
    ledger.release_unread(returned)  # was not answered, so it does not count
    ask(ledger, price(1), "c", **options)
    for key, analyst in (("d", "ann"), ("e", "bob")):
        with pytest.raises(OverBudget) as refusal:
            ask(ledger, price(1), key, analyst=analyst, **options)
        assert refusal.value.code == "asked-too-often"
    assert ask(ledger, price(1), "a", **options).answer == b"1"
    ask(ledger, price(1), "f", **{**options, "question_name": "maximum"})
    ledger.open_dataset("census", 5, 2, neighbours="replace", schema_digest="new")
    with pytest.raises(OverBudget):
        ask(ledger, price(1), "g", **options)


@pytest.mark.parametrize(
    ("charge", "more"),
    [
        (about("17"), {"column": "individual"}),
        (price(1, delta="1e-9"), {"column": "individual"}),
        (price(1), {"column": "other"}),
        (price(1), {"times": 3}),
        (price(1), {"column": "individual", "times": 3}),
        (price(1), {"column": "individual", "question_name": "x", "times": -1}),
        (0.5, {}),
    ],
)
def test_a_price_that_means_nothing_is_refused(
    ledger: Ledger, charge: Charge, more: dict[str, object]
) -> None:
    with pytest.raises(Refused):
        ask(ledger, charge, **more)
    assert kinds(ledger) == ["dataset-opened"]


def test_delta_is_paid_from_a_budget_of_its_own(ledger: Ledger) -> None:
    with pytest.raises(OverBudget, match=r"costs delta 0\.000001 and 0 remains") as refusal:
        ask(ledger, price("0.1", delta=1e-6))
    assert refusal.value.limit == "delta"
    ledger.open_dataset("census", 5, neighbours="replace", total_delta="2e-6")
    ask(ledger, price("0.1", delta=1e-6))
    ask(ledger, price("0.1", delta=1e-6))
    with pytest.raises(OverBudget):
        ask(ledger, price("0.1", delta="1e-18"))
    balance = ledger.balance()
    assert (balance.spent_delta, balance.remaining_delta) == (Fraction(2, 10**6), 0)


# --- adjacency


def test_add_or_remove_counts_twice_under_replace(ledger: Ledger) -> None:
    reservation = ask(ledger, price(1, neighbours="add-or-remove"))
    assert reservation.cost == 2
    ask(ledger, price("0.7", neighbours="add-or-remove"), analyst="bob", key="k")
    with pytest.raises(OverBudget, match="counts twice") as refusal:
        ask(ledger, price("0.9", neighbours="add-or-remove"), analyst="cleo")
    assert refusal.value.remaining == Fraction(16, 10)
    assert "at most 0.8" in refusal.value.fix


def test_a_price_under_replace_is_none_under_add_or_remove(ledger: Ledger) -> None:
    ledger.open_dataset("patients", total=5, neighbours="add-or-remove")
    with pytest.raises(NotPromised):
        ask(ledger, price(1), dataset="patients")
    assert ledger.balance("patients").spent == 0


def test_going_over_to_replace_counts_the_past_twice(new: Callable[[], Ledger]) -> None:
    made = new()
    under: dict[str, object] = {"total_delta": "1e-3", "per_analyst": 4}
    made.open_dataset("census", 10, neighbours="add-or-remove", **under)  # type: ignore[arg-type]
    ask(made, price(1, neighbours="add-or-remove", delta="1e-6"))
    kept = ask(made, price("0.5", neighbours="add-or-remove", delta="1e-6"), "open")
    ask(made, about("p", "0.25"))
    ask(made, about("q", "0.5"), analyst="bob")
    assert made.balance().spent == 2
    facts = made.open_dataset("census", 10, neighbours="replace", **under)  # type: ignore[arg-type]
    assert [fact.kind for fact in facts] == ["neighbours-changed"]
    balance = made.balance()
    assert (balance.spent, balance.statistical, balance.persons) == (4, 3, 1)
    assert [quota.spent for quota in balance.analysts] == [Fraction(7, 2), 1]
    # group privacy: each delta times 1 + e to the largest epsilon among them, and not less
    assert Fraction("7.436563656e-6") < balance.spent_delta < Fraction("7.436563657e-6")
    ask(made, about("q", "0.5"), analyst="bob")
    assert made.balance().persons == 2
    made.release_unread(kept)  # repriced with the rest: stays spent
    assert made.balance().spent == 5
    assert made.verify()


def test_coming_back_from_replace_is_refused_once_something_was_spent(ledger: Ledger) -> None:
    reservation = ask(ledger, price(1))
    with pytest.raises(NotPromised):
        ledger.open_dataset("census", 5, 2, neighbours="add-or-remove", data_version="1")
    assert ledger.balance().neighbours == "replace"
    ledger.release_unread(reservation)
    ledger.open_dataset("census", 5, 2, neighbours="add-or-remove", data_version="1")
    ask(ledger, price(1, neighbours="add-or-remove"))
    assert ledger.balance().spent == 1
    assert ledger.verify()


# --- releases


def test_a_second_release_is_refused_unless_overridden(ledger: Ledger) -> None:
    first = ledger.register_release("census", "r1", method="swap")
    assert ledger.register_release("census", "r1", method="swap") == first
    with pytest.raises(Conflict) as refusal:
        ledger.register_release("census", "r2", method="swap")
    assert (refusal.value.code, refusal.value.earlier) == ("second-release", first)
    ledger.register_release("census", "r2", method="swap", override=True)
    assert ledger.balance().releases == 2
    assert [e.fact.override for e in ledger.entries() if e.kind == "release-registered"] == [  # type: ignore[union-attr]
        False,
        True,
    ]
    assert ledger.balance().spent == 0
    ledger.open_dataset("patients", 1, neighbours="replace")
    ledger.register_release("patients", "r1", method="swap")


ROWS = tuple(f"row:{i:03x}" for i in range(20))


def test_the_same_rows_under_another_name_are_refused(ledger: Ledger) -> None:
    ledger.open_dataset("others", 1, neighbours="replace")
    marks = ("whole:ab", *ROWS)
    first = ledger.register_release("census", "r1", method="swap", marks=marks)
    for same in (("whole:ab",), ("whole:cd", *ROWS), ("whole:cd", *ROWS[15:], "row:fff")):
        assert ledger.released_before(same) == first
        with pytest.raises(Conflict) as refusal:
            ledger.register_release("others", "r2", method="swap", marks=same)
        assert (refusal.value.code, refusal.value.earlier) == ("second-release", first)
    few = ("whole:cd", *ROWS[:2], *(f"row:f{i:02x}" for i in range(18)))
    assert ledger.released_before(few) is None
    assert ledger.register_release("census", "r1", method="swap", marks=marks) == first
    ledger.register_release("others", "r2", method="swap", marks=marks, override=True)
    assert ledger.balance("others").releases == ledger.balance("census").releases == 1
    assert ledger.verify()


def test_a_release_that_never_left_stands_in_nobodys_way(ledger: Ledger) -> None:
    ledger.open_dataset("others", 1, neighbours="replace")
    marks = ("whole:ab", *ROWS)
    ledger.register_release("census", "r1", method="swap", marks=marks, draft=True)
    ledger.withdraw_release("census", "r1", reason="disk full")
    assert ledger.balance("census").releases == 0
    ledger.withdraw_release("census", "r1", reason="again")  # has no effect
    kinds = [entry.kind for entry in ledger.entries()]
    assert kinds.count("release-withdrawn") == 1
    assert ledger.released_before(marks) is None
    ledger.register_release("census", "r2", method="swap", marks=marks)
    assert ledger.balance("census").releases == 1
    with pytest.raises(Conflict):
        ledger.register_release("census", "r3", method="swap", marks=marks)
    with pytest.raises(Conflict):
        ledger.register_release("others", "r3", method="swap", marks=marks)
    assert ledger.verify()


def test_to_withdraw_one_release_leaves_the_marks_of_another(ledger: Ledger) -> None:
    ledger.open_dataset("others", 1, neighbours="replace")
    marks = ("whole:ab", *ROWS)
    ledger.register_release("census", "r1", method="swap", marks=marks)
    ledger.register_release("census", "r2", method="swap", marks=marks, override=True, draft=True)
    ledger.withdraw_release("census", "r2", reason="disk full")
    with pytest.raises(Conflict):
        ledger.register_release("others", "r3", method="swap", marks=marks)
    assert ledger.balance("census").releases == 1
    assert ledger.verify()


def test_what_may_have_left_cannot_be_withdrawn(ledger: Ledger) -> None:
    """The mutant withdraws anything: a second release would then pass as the first."""
    ledger.register_release("census", "r1", method="swap")
    ledger.register_release("census", "r1", method="swap", draft=True)  # is the first one still
    with pytest.raises(NotPromised):
        ledger.withdraw_release("census", "r1", reason="regret")
    ledger.register_release("census", "r2", method="swap", override=True, draft=True)
    ledger.release_left("census", "r2")
    with pytest.raises(NotPromised):
        ledger.withdraw_release("census", "r2", reason="regret")
    assert ledger.balance("census").releases == 2
    with pytest.raises(Conflict):
        ledger.register_release("census", "r3", method="swap")
    assert ledger.verify()


# --- history


def test_the_export_can_be_checked_without_tenue(ledger: Ledger, tmp_path: Path) -> None:
    ledger.commit(ask(ledger, price(1), "k\u00e9y"), b"1")
    text = io.StringIO()
    assert ledger.export(text) == 3
    assert ledger.export(tmp_path / "out.jsonl") == 3
    assert (tmp_path / "out.jsonl").read_text() == text.getvalue()
    link = hashlib.sha256(b"tenue ledger 1").digest()
    for number, line in enumerate(text.getvalue().splitlines(), start=1):
        plain = json.loads(line)
        claimed = plain.pop("hash")
        assert plain["sequence"] == number
        body = json.dumps(plain, sort_keys=True, separators=(",", ":"))
        link = hashlib.sha256(link + body.encode()).digest()
        assert link.hex() == claimed
    assert ledger.verify().head == link.hex()


def test_order_is_by_number_whatever_the_clock_says(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    from datetime import datetime, timedelta

    class Backwards(datetime):
        step = 0

        @classmethod
        def now(cls, tz: object = None) -> datetime:  # type: ignore[override]
            cls.step += 1
            return datetime(2030, 1, 1) - timedelta(days=cls.step)

    monkeypatch.setattr("tenue.ledger.transactions.journal.datetime", Backwards)
    for key in "abc":
        ask(ledger, price("0.1"), key)
    entries = list(ledger.entries())[1:]
    assert [entry.fact.key for entry in entries] == ["a", "b", "c"]  # type: ignore[union-attr]
    assert [entry.time for entry in entries] == sorted((e.time for e in entries), reverse=True)
    assert ledger.verify()


def test_an_anchor_moves_forward_only(
    ledger: Ledger, new: Callable[[], Ledger], tmp_path: Path
) -> None:
    path = tmp_path / "elsewhere.anchor"
    ask(ledger, price(1))
    assert ledger.anchor(path).entries == 2
    assert ledger.verify(anchor=path)
    ask(ledger, price("0.5"))
    assert ledger.verify(path)
    behind, beside = new(), new()
    behind.open_dataset("census", 5, neighbours="replace")
    for _ in range(3):
        beside.open_dataset(f"x{_}", 5, neighbours="replace")
    kept = path.read_bytes()
    for made, reason in ((behind, "has 1 entries"), (beside, "not the anchored one")):
        found = made.verify(path)
        assert not found
        assert reason in found.reason
        assert reason in str(found)
        with pytest.raises(LedgerFault, match=reason):
            made.anchor(path)
    assert path.read_bytes() == kept
    assert ledger.anchor(path).entries == 3


# --- bad input


@pytest.mark.parametrize(
    "arguments",
    [
        {"dataset": ""},
        {"dataset": "a\nb"},
        {"dataset": "x" * 201},
        {"dataset": "\ud800"},
        {"dataset": 7},
        {"analyst": ""},
        {"analyst": None},
        {"key": ""},
        {"key": b"k"},
        {"question_digest": None},
    ],
)
def test_names_are_short_printable_text(ledger: Ledger, arguments: dict[str, object]) -> None:
    with pytest.raises(InvalidArgument):
        ask(ledger, price(1), **arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        {"total": -1},
        {"total": "many"},
        {"total": float("nan")},
        {"total": 1e7},
        {"total": 1, "per_analyst": -1},
        {"total": 1, "total_delta": 1},
        {"total": 1, "neighbours": "both"},
        {"total": 1, "unknown": 1},
    ],
)
def test_budgets_are_numbers(new: Callable[[], Ledger], arguments: dict[str, object]) -> None:
    made = new()
    with pytest.raises(InvalidArgument):
        made.open_dataset(**{"dataset": "census", "neighbours": "replace", **arguments})  # type: ignore[arg-type]
    assert kinds(made) == []


def test_neighbours_have_no_default(new: Callable[[], Ledger]) -> None:
    with pytest.raises(InvalidArgument, match="neighbours"):
        new().open_dataset("census", 1)  # type: ignore[call-arg]


def test_a_closed_ledger_answers_nothing(ledger: Ledger) -> None:
    ledger.close()
    ledger.close()
    for use in (ledger.verify, ledger.balance, lambda: ask(ledger, price(1))):
        with pytest.raises(InvalidArgument, match="closed"):
            use()


# --- many at once


class Naive:
    """A ledger as one would write it first: read, decide, write."""

    def __init__(self, path: str, total: int) -> None:
        self.path, self.total = path, total

    def grant(self, key: str) -> bool:
        with open(self.path) as file:
            spent = int(file.read() or 0)
        os.sched_yield()
        if spent + 1 > self.total:
            return False
        with open(self.path, "w") as file:
            file.write(str(spent + 1))
        return True


class Paying:
    """The same, from a real ledger: each grant is 1/100, the cap `total` of them."""

    def __init__(self, path: str, total: int) -> None:
        from tenue.ledger import Charge
        from tenue.ledger.locate import open_ledger

        self.ledger = open_ledger(path)
        self.ledger.open_dataset("census", total=f"{total}/100", neighbours="replace")
        self.charge = Charge.of(epsilon="0.01", neighbours="replace")

    def grant(self, key: str) -> bool:
        from tenue.errors import OverBudget

        try:
            self.ledger.reserve("census", "ann", self.charge, key, "q")
        except OverBudget:
            return False
        return True


# one process imports, then forks them all before any ledger is open; they start together
RACE = """
import os, sys
import tenue.errors, tenue.ledger.locate
if sys.argv[1].startswith("postgresql:"):
    import tenue.ledger.store.postgres.ledger
path, total, processes, attempts = sys.argv[1], *map(int, sys.argv[2:5])
start, go = os.pipe()
counts, tell = os.pipe()
children = []
for number in range(processes):
    child = os.fork()
    if child == 0:
        os.close(go)
        os.read(start, 1)
        ledger = LEDGER(path, total)
        granted = sum(ledger.grant(f"{number}-{i}") for i in range(attempts))
        os.write(tell, b"%8d" % granted)
        os._exit(0)
    children.append(child)
os.close(go)
status = [os.waitpid(child, 0)[1] for child in children]
assert not any(status), status
print(sum(int(os.read(counts, 8)) for _ in children))
"""


def race(kind: type[object], path: Path | str, total: int, processes: int, attempts: int) -> int:
    script = "\n".join(
        [
            "from __future__ import annotations",
            "import os",
            inspect.getsource(kind),
            RACE.replace("LEDGER", kind.__name__),
        ]
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(path), str(total), str(processes), str(attempts)],
        env={**os.environ, "PYTHONPATH": str(Path(tenue.__file__).parents[1])},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


@pytest.mark.any_draw("draws nothing; processes compete in any order")
@pytest.mark.parametrize("kind", ["sqlite", POSTGRES])
def test_32_processes_never_overspend(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    path = str(tmp_path / "race.ledger") if kind == "sqlite" else address(request)
    assert race(Paying, path, 500, 32, 40) == 500
    with open_ledger(path) as ledger:
        assert ledger.balance().spent == ledger.balance().total == 5
        assert ledger.verify()
        assert kinds(ledger).count("dataset-opened") == 1
        # the processes ended without answering: spent, and settled by whoever opens the file
        assert kinds(ledger).count("unanswered") == kinds(ledger).count("reserved") == 500


@pytest.mark.any_draw("draws nothing; processes compete in any order")
def test_the_race_catches_a_naive_ledger(tmp_path: Path) -> None:
    path = tmp_path / "naive"
    path.touch()
    assert race(Naive, path, 500, 32, 40) > 500


def test_32_threads_never_overspend(ledger: Ledger) -> None:
    ledger.open_dataset("census", total=5, neighbours="replace")
    charge, granted, barrier = price("0.01"), [], threading.Barrier(32)

    def spend(number: int) -> None:
        barrier.wait()
        for attempt in range(40):
            with suppress(OverBudget):
                granted.append(ask(ledger, charge, f"{number}-{attempt}").sequence)

    threads = [threading.Thread(target=spend, args=(number,)) for number in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(granted) == len(set(granted)) == 500
    assert ledger.balance().spent == 5
    assert ledger.verify()


def test_one_key_from_many_threads_is_drawn_once(ledger: Ledger) -> None:
    draws, answers, barrier = [], [], threading.Barrier(16)

    def retry(number: int) -> None:
        barrier.wait()
        while True:
            try:
                reservation = ask(ledger, price(1), "key")
            except Conflict as refusal:
                assert refusal.code == "in-flight"  # noqa: PT017
                continue
            if reservation.answer is None:
                draws.append(number)
                ledger.commit(reservation, b"drawn by %d" % number)
            else:
                answers.append(reservation.answer)
                return

    threads = [threading.Thread(target=retry, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(draws) == 1
    assert set(answers) == {b"drawn by %d" % draws[0]}
    assert ledger.balance().spent == 1


# -- the cap of the individual column --------------------------------------------------------------


def spend_individually(ledger: Ledger, analyst: str, epsilon: object) -> Reservation:
    return ledger.reserve("census", analyst, price(epsilon), None, QUESTION, column="individual")


def test_the_individual_cap_binds_all_analysts_together_and_nothing_else(ledger: Ledger) -> None:
    ledger.open_dataset("census", 5, 2, neighbours="replace", individual="2.5", data_version="1")
    spend_individually(ledger, "ann", 2)
    with pytest.raises(OverBudget) as refusal:
        spend_individually(ledger, "bob", 1)
    assert refusal.value.facts["remaining"] == Fraction(1, 2)
    spend_individually(ledger, "bob", "0.5")
    with pytest.raises(OverBudget):
        spend_individually(ledger, "ann", "1e-9")
    balance = ledger.balance("census")
    assert (balance.total_individual, balance.individual) == (Fraction(5, 2), Fraction(5, 2))
    assert balance.remaining_individual == 0
    assert "individual epsilon 2.5 of 2.5 spent" in str(balance)
    assert balance.spent == 0
    ledger.reserve("census", "ann", price(2), None, QUESTION)
    assert ledger.verify()


def test_the_individual_cap_is_raised_lowered_and_lifted_and_spent_stays_spent(
    ledger: Ledger,
) -> None:
    def capped(individual: object) -> int:
        again = {"neighbours": "replace", "data_version": "1"}
        return len(ledger.open_dataset("census", 5, 2, individual=individual, **again))  # type: ignore[arg-type]

    assert [capped(3), capped(3), capped(1)] == [1, 0, 1]
    with pytest.raises(OverBudget):
        spend_individually(ledger, "ann", 2)
    capped(3)
    spend_individually(ledger, "ann", 2)
    capped(1)
    assert ledger.balance("census").remaining_individual == 0
    with pytest.raises(OverBudget):
        spend_individually(ledger, "ann", "0.1")
    capped(None)
    assert ledger.balance("census").remaining_individual is None
    spend_individually(ledger, "ann", 9)
    assert ledger.verify()


def test_no_race_exceeds_the_individual_cap(ledger: Ledger) -> None:
    ledger.open_dataset("census", 5, 2, neighbours="replace", individual=1, data_version="1")
    granted: list[int] = []

    def spend() -> None:
        for _ in range(5):
            with suppress(OverBudget):
                spend_individually(ledger, "ann", "0.1")
                granted.append(1)

    threads = [threading.Thread(target=spend) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(granted) == 10


def test_validated_files_are_recorded_once_and_by_data_set(ledger: Ledger) -> None:
    first = Stamp(("people.csv", "more.csv"), 40, 1_700_000_000_000_000_000, "mark", "how")
    assert ledger.validated("census") is None
    before = len(list(ledger.entries()))
    ledger.record_validation("census", first, "ab")
    ledger.record_validation("census", first, "ab")
    (entry,) = list(ledger.entries())[before:]
    fact = entry.fact
    assert isinstance(fact, SourceValidated)
    assert (entry.kind, fact.names) == ("source-validated", "people.csv\nmore.csv")
    assert (fact.size, fact.modified, fact.digest) == (40, 1_700_000_000_000_000_000, "ab")
    assert ledger.validated("census") == ("mark", "how", "ab")
    ledger.record_validation("census", Stamp(("people.csv",), 9, 3, "later", "how"), "ab")
    assert ledger.validated("census") == ("later", "how", "ab")
    with pytest.raises(Refused):
        ledger.record_validation("nobody", first, "ab")
    assert ledger.verify()
