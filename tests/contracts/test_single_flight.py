"""The same new question, asked by many at once: one debit, one answer; every ledger runs it all.

`look_outside` is the wrong ledger: it looks for an answer before the transaction that pays.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from postgres_server import Server
from tenue.errors import Conflict, LedgerFault, OverBudget, Refused
from tenue.ledger import Charge, Ledger, Memory, Postgres, Reservation, SQLite
from tenue.ledger.facts import Reserved
from tenue.ledger.totals import OPEN
from tenue.ledger.transactions import flight, reserve
from tenue.ledger.transactions import reserve as payment

PRICE = Charge.of(epsilon="0.5", neighbours="replace")
POSTGRES = pytest.param("postgres", marks=pytest.mark.needs("postgres"))
_schemas = count(1)
RESERVED = Reserved(
    dataset="census",
    analyst="ann",
    column="dp",
    nano=PRICE.nano,
    atto=0,
    neighbours="replace",
    person=None,
    question_digest="q",
    question_name=None,
    key=None,
    cache_key="c",
    owner="",
)
Open = Callable[[], Ledger]


@pytest.fixture(params=["memory", "sqlite", POSTGRES])
def again(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Open]:
    """Opens one ledger, as often as wanted; of that in memory there is one object only."""
    schema = f"flight_{next(_schemas)}"
    opened: list[Ledger] = []

    def another() -> Ledger:
        if request.param == "memory":
            made: Ledger = opened[0] if opened else Memory()
        elif request.param == "sqlite":
            made = SQLite(tmp_path / "one.ledger")
        else:
            server: Server = request.getfixturevalue("postgres_server")
            made = Postgres(server.address(schema=schema))
        opened.append(made)
        return made

    yield another
    for ledger in opened:
        ledger.close()


@pytest.fixture
def ledger(again: Open) -> Ledger:
    made = again()
    made.open_dataset("census", total=5, neighbours="replace")
    return made


def ask(ledger: Ledger, analyst: str = "ann", key: str | None = None, **more: Any) -> Reservation:
    given: dict[str, Any] = {"cache_key": "c", **more}
    return ledger.reserve("census", analyst, PRICE, key, "q", **given)


def spent(ledger: Ledger) -> Fraction:
    return ledger.balance("census").spent


class Waiter(threading.Thread):
    """Asks in a thread of its own; `started` once it has been told to wait."""

    def __init__(self, ledger: Ledger, analyst: str = "bob", **more: Any) -> None:
        super().__init__(daemon=True)
        self.answer: bytes | None = None
        self.reservation: Reservation | None = None
        self.refusal: BaseException | None = None
        self._ask = lambda: ask(ledger, analyst, **more)
        self.start()

    def run(self) -> None:
        try:
            self.reservation = self._ask()
            self.answer = self.reservation.answer
        except (Refused, LedgerFault) as refusal:
            self.refusal = refusal

    def waits(self) -> bool:
        self.join(0.03)
        return self.is_alive()

    def done(self) -> Waiter:
        self.join(20)
        assert not self.is_alive()
        return self


def from_elsewhere(ledger: Ledger, **more: Any) -> Reservation:
    """A reservation that another thread of the same ledger made."""
    found = Waiter(ledger, "ann", **more).done().reservation
    assert found is not None
    return found


def test_what_was_answered_is_handed_out_for_nothing(ledger: Ledger) -> None:
    ledger.commit(ask(ledger), b"value")
    before = [entry.hash for entry in ledger.entries()]
    found = ask(ledger, "bob")
    assert (found.answer, found.cost, found.analyst) == (b"value", 0, "bob")
    assert [entry.hash for entry in ledger.entries()] == before
    assert [quota.analyst for quota in ledger.balance("census").analysts] == ["ann"]


@pytest.mark.parametrize("elsewhere", [False, True], ids=["one ledger", "two ledgers"])
def test_who_asks_what_is_being_answered_waits_and_pays_nothing(
    again: Open, ledger: Ledger, elsewhere: bool
) -> None:
    paid = ask(ledger)
    waiters = [Waiter(again() if elsewhere else ledger, f"a{n}") for n in range(3)]
    assert all(waiter.waits() for waiter in waiters)
    ledger.commit(paid, b"value")
    assert [waiter.done().answer for waiter in waiters] == [b"value"] * 3
    assert spent(ledger) == Fraction(1, 2)
    assert [quota.analyst for quota in ledger.balance("census").analysts] == ["ann"]
    assert ledger.verify()


@pytest.mark.parametrize("how", ["release_unread", "abandon"])
@pytest.mark.parametrize("elsewhere", [False, True], ids=["one ledger", "two ledgers"])
def test_a_flight_without_an_answer_is_followed_by_one_of_those_who_wait(
    again: Open, ledger: Ledger, how: str, elsewhere: bool
) -> None:
    paid = ask(ledger)
    waiter = Waiter(again() if elsewhere else ledger)
    assert waiter.waits()
    getattr(ledger, how)(paid)
    taken = waiter.done().reservation
    assert taken is not None
    assert (taken.answer, taken.cost) == (None, Fraction(1, 2))
    assert spent(ledger) == (1 if how == "abandon" else Fraction(1, 2))
    other = again() if elsewhere else ledger
    last = Waiter(other, "cleo")
    assert last.waits()  # for the second flight, as before for the first


def test_who_cannot_pay_still_gets_an_answer_that_is_under_way(ledger: Ledger) -> None:
    ledger.open_dataset("census", total="0.5", neighbours="replace")
    paid = ask(ledger)
    waiter = Waiter(ledger)
    assert waiter.waits()
    ledger.commit(paid, b"value")
    assert waiter.done().answer == b"value"


def test_who_cannot_pay_is_refused_once_there_will_be_no_answer(ledger: Ledger) -> None:
    ledger.open_dataset("census", total="0.5", neighbours="replace")
    paid = ask(ledger)
    waiter = Waiter(ledger)
    assert waiter.waits()
    ledger.abandon(paid)
    assert isinstance(waiter.done().refusal, OverBudget)


def test_fresh_waits_for_nobody_and_replaces_nothing(ledger: Ledger) -> None:
    first = ask(ledger)
    fresh = ask(ledger, "bob", fresh=True)
    assert (first.answer, fresh.answer, spent(ledger)) == (None, None, 1)
    ledger.commit(fresh, b"fresh")
    assert ledger.cached("census", "c") is None
    ledger.commit(first, b"first")
    assert ledger.cached("census", "c") == b"first"
    ledger.commit(ask(ledger, fresh=True), b"fresher")
    assert ask(ledger).answer == b"first"  # a retry never sees another


def test_of_two_fresh_draws_at_once_the_first_is_repeated(ledger: Ledger) -> None:
    one, two = ask(ledger, fresh=True), ask(ledger, fresh=True)
    waiter = Waiter(ledger)
    ledger.commit(two, b"two")
    assert waiter.waits()
    ledger.commit(one, b"one")
    assert waiter.done().answer == b"one"


def test_without_a_cache_key_nobody_waits(ledger: Ledger) -> None:
    ask(ledger)
    assert ask(ledger, cache_key=None).answer is None
    assert spent(ledger) == 1


def test_a_flight_belongs_to_one_data_set_and_one_question(ledger: Ledger) -> None:
    ledger.open_dataset("patients", total=5, neighbours="replace")
    ask(ledger)
    assert ask(ledger, cache_key="d").answer is None
    found = ledger.reserve("patients", "ann", PRICE, None, "q", cache_key="c")
    assert found.answer is None


def test_a_key_that_was_used_goes_before_the_question(ledger: Ledger) -> None:
    ledger.commit(ask(ledger, key="k"), b"first")
    ledger.commit(ask(ledger, key="l", fresh=True), b"own")
    assert ask(ledger, key="l").answer == b"own"
    assert ask(ledger, key="new").answer == b"first"
    assert not ledger.has_key("census", "ann", "new")


def test_a_key_in_flight_is_refused_as_ever(ledger: Ledger) -> None:
    ask(ledger, key="k")
    refusal = Waiter(ledger, "ann", key="k").done().refusal
    assert isinstance(refusal, Conflict)
    assert refusal.code == "in-flight"
    assert "with key `k`" in refusal.what


def test_a_thread_does_not_wait_for_itself(
    again: Open, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    paid = ask(ledger)
    with monkeypatch.context() as patched:
        patched.setattr(flight.FLIGHTS, "signal", None)  # nobody waits, not even for a moment
        for one in (ledger, again()):
            with pytest.raises(Conflict, match="same question") as refusal:
                ask(one, "bob")
            assert refusal.value.code == "question-in-flight"
    ledger.commit(paid, b"value")
    assert ask(ledger, "bob").answer == b"value"
    assert spent(ledger) == Fraction(1, 2)


def test_another_thread_may_settle_what_this_one_waits_for(ledger: Ledger) -> None:
    paid = from_elsewhere(ledger)
    timer = threading.Timer(0.05, lambda: ledger.commit(paid, b"value"))
    timer.start()
    assert ask(ledger).answer == b"value"
    timer.join()


def test_nobody_waits_for_ever(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    assert flight.PATIENCE == 600
    monkeypatch.setattr(flight, "PATIENCE", 0.05)
    monkeypatch.setattr(flight, "LIVENESS", 0.02)
    from_elsewhere(ledger)  # alive, and never settled
    before = [entry.hash for entry in ledger.entries()]
    refusal = Waiter(ledger).done().refusal
    assert isinstance(refusal, Conflict)
    assert refusal.code == "question-in-flight"
    assert "at most ten minutes" in refusal.allowed
    assert [entry.hash for entry in ledger.entries()] == before


@pytest.mark.parametrize("settled", ["never", "closed"])
def test_what_the_dead_left_open_is_spent_and_one_of_those_who_wait_pays(
    again: Open, ledger: Ledger, settled: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if isinstance(ledger, Memory):
        pytest.skip("it dies with its process")
    monkeypatch.setattr(flight, "LIVENESS", 0.02)
    mortal = again()
    ask(mortal)
    waiter = Waiter(ledger)
    assert waiter.waits()
    if settled == "closed":
        mortal.close()
    else:  # as by kill -9: nobody says anything, the system drops the lock
        database = mortal._database  # type: ignore[attr-defined]
        if isinstance(mortal, SQLite):
            database._owners.forget()
        else:
            database._sessions["write"].close()
    taken = waiter.done().reservation
    assert taken is not None
    assert taken.answer is None
    assert spent(ledger) == 1
    ledger.commit(taken, b"value")
    assert [e.kind for e in ledger.entries()].count("unanswered") == 1
    assert ledger.verify()


def opened(ledger: Ledger) -> int:
    return sum(ticket.outcome == OPEN for ticket in ledger._read(lambda rows: rows.open_tickets()))


class Interrupted(threading.Event):
    def wait(self, timeout: float | None = None) -> bool:
        raise KeyboardInterrupt


def test_an_interrupt_while_waiting_leaves_nothing(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    paid = from_elsewhere(ledger)
    before = [entry.hash for entry in ledger.entries()]
    with monkeypatch.context() as patched:
        patched.setattr(flight.FLIGHTS, "signal", lambda flight: Interrupted())
        with pytest.raises(KeyboardInterrupt):
            ask(ledger)
    assert [entry.hash for entry in ledger.entries()] == before
    ledger.commit(paid, b"value")
    assert ask(ledger).answer == b"value"


@pytest.mark.parametrize("when", ["before", "after"])
def test_an_interrupt_while_reserving_leaves_nobody_waiting(
    ledger: Ledger, when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, waiting = ledger._write, []

    def interrupted(work: Any) -> Any:
        if when == "after":
            write(work)
        else:  # the writer comes to it later, before what is written next
            waiting.append(work)
        monkeypatch.setattr(ledger, "_write", later)
        raise KeyboardInterrupt

    def later(work: Any) -> Any:
        for one in waiting:
            write(one)
        waiting.clear()
        return write(work)

    monkeypatch.setattr(ledger, "_write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ask(ledger)
    assert (opened(ledger), spent(ledger)) == (0, 0)
    written = [entry.kind for entry in ledger.entries()][1:]
    assert written == (["reserved", "returned"] if when == "after" else [])
    assert ask(ledger).answer is None  # at once: nobody is waited for
    assert ledger.verify()


# --- one transaction for many


def test_requests_that_share_a_transaction_see_each_other(ledger: Ledger) -> None:
    """The writer carries out many requests in one transaction, of which no row is stored yet."""
    wanted = payment.Purchase("census", "ann", PRICE, None, "q", "c", "dp", None, None)

    def several(journal: Any) -> list[object]:
        first = payment.reserve(journal, wanted)
        assert isinstance(first, Reservation)
        second = payment.reserve(journal, wanted)
        assert second == flight.Flight(first.owner, first.sequence)
        reserve.release_unread(journal, first, "")
        third = payment.reserve(journal, wanted)
        assert isinstance(third, Reservation)
        assert third.answer is None
        reserve.commit(journal, third, b"value")
        fourth = payment.reserve(journal, wanted)
        assert isinstance(fourth, Reservation)
        return [fourth.answer, fourth.nano]

    assert ledger._write(several) == [b"value", 0]
    assert ask(ledger).answer == b"value"
    assert spent(ledger) == Fraction(1, 2)


@pytest.mark.parametrize("how", ["answered", "returned", "abandoned"])
def test_a_request_sees_what_its_transaction_settles(ledger: Ledger, how: str) -> None:
    """The reservation is stored, and settled by an earlier request of the same transaction."""
    wanted = payment.Purchase("census", "bob", PRICE, None, "q", "c", "dp", None, None)
    paid = ask(ledger)

    def several(journal: Any) -> object:
        if how == "answered":
            reserve.commit(journal, paid, b"value")
        else:
            end = reserve.release_unread if how == "returned" else reserve.abandon
            end(journal, paid, "")
        return payment.reserve(journal, wanted)

    found = ledger._write(several)
    assert isinstance(found, Reservation)
    assert found.answer == (b"value" if how == "answered" else None)


def test_of_several_open_tickets_the_dead_are_buried_and_the_living_waited_for(
    ledger: Ledger,
) -> None:
    """Before single flight, several could be in flight under one cache key."""
    wanted = payment.Purchase("census", "ann", PRICE, None, "q", "c", "dp", None, None)

    def before(journal: Any) -> None:
        for owner in ("dead", journal.owner(), "dead"):
            journal.write(replace(RESERVED, owner=owner))

    def now(journal: Any) -> object:
        me = journal.owner()
        journal.alive = lambda owner: owner == me
        return me, payment.reserve(journal, wanted)

    def later(journal: Any) -> object:
        journal.alive = lambda owner: False
        return payment.reserve(journal, wanted)

    ledger._write(before)
    me, found = ledger._write(now)
    assert found == flight.Flight(me, 3)
    taken = ledger._write(later)
    assert isinstance(taken, Reservation)
    assert taken.answer is None
    assert [e.kind for e in ledger.entries()].count("unanswered") == 3
    assert opened(ledger) == 1


# --- races


@contextmanager
def restless() -> Iterator[None]:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(interval)


def race(ledgers: list[Ledger], threads: int, cache_key: str) -> tuple[int, set[bytes]]:
    """How many paid, and which values were handed out, when as many threads ask at once."""
    gate, second = threading.Barrier(threads), threading.Event()
    drawn: list[int] = []
    values: list[bytes] = []

    def one(number: int) -> None:
        ledger = ledgers[number % len(ledgers)]
        gate.wait()
        paid = ask(ledger, f"a{number}", cache_key=cache_key)
        answer = paid.answer
        if answer is None:
            drawn.append(number)
            if len(drawn) > 1:
                second.set()
            second.wait(0.02)  # longer only if nobody else draws
            answer = f"drawn by {number}".encode()
            ledger.commit(paid, answer)
        values.append(answer)

    running = [threading.Thread(target=one, args=(number,)) for number in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    assert len(values) == threads
    return len(drawn), set(values)


def rounds(again: Open, ledger: Ledger, many: int, objects: int, threads: int) -> None:
    ledger.open_dataset("census", total=10**4, neighbours="replace")
    ledgers = [ledger, *(again() for _ in range(objects - 1))]
    for number in range(many):
        paid, values = race(ledgers, threads, f"round {number}")
        assert (paid, len(values)) == (1, 1)
    assert spent(ledger) == Fraction(many, 2)
    assert opened(ledger) == 0
    assert ledger.verify()


def test_64_threads_with_one_ledger_pay_once(again: Open, ledger: Ledger) -> None:
    with restless():
        rounds(again, ledger, 2, 1, 64)


def test_16_threads_with_eight_ledgers_pay_once(again: Open, ledger: Ledger) -> None:
    rounds(again, ledger, 2, 8, 16)


@pytest.mark.slow
def test_64_threads_with_one_ledger_pay_once_200_times(again: Open, ledger: Ledger) -> None:
    with restless():
        rounds(again, ledger, 200, 1, 64)


@pytest.mark.slow
def test_64_threads_with_sixteen_ledgers_pay_once_200_times(again: Open, ledger: Ledger) -> None:
    rounds(again, ledger, 200, 16, 64)


def look_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """The wrong ledger, as it was: looks for an answer first, then pays whatever happened since."""
    reserve = Ledger.reserve

    def outside(self: Ledger, dataset: str, *given: Any, **more: Any) -> Reservation:
        stored = self.cached(dataset, more["cache_key"])
        if stored is not None:
            return Reservation(dataset, "", None, 0, "", 0, stored)
        return reserve(self, dataset, *given, **more)

    monkeypatch.setattr(Ledger, "reserve", outside)
    monkeypatch.setattr(payment, "_asked_already", lambda journal, wanted: None)


def test_the_contract_catches_a_look_outside_the_transaction(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    look_outside(monkeypatch)
    paid = ask(ledger)
    waiter = Waiter(ledger)
    assert waiter.done().answer is None  # where it should have waited
    ledger.commit(paid, b"value")
    assert spent(ledger) == 1


def test_the_race_catches_a_look_outside_the_transaction(
    again: Open, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    look_outside(monkeypatch)
    gate, looked = threading.Barrier(8), Ledger.cached

    def cached(self: Ledger, dataset: str, cache_key: str) -> bytes | None:
        found = looked(self, dataset, cache_key)
        gate.wait()  # all have looked before one pays: the order that the race looks for
        return found

    monkeypatch.setattr(Ledger, "cached", cached)
    paid, values = race([ledger], 8, "c")
    assert (paid, len(values)) == (8, 8)
