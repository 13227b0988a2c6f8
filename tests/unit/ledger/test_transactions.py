"""What may be written in a ledger, and in which order."""

from __future__ import annotations

import json
import threading
from dataclasses import FrozenInstanceError, replace
from typing import Any

import pytest

from tenue.errors import Conflict, InvalidArgument, LedgerFault, OverBudget, Refused
from tenue.ledger import Charge
from tenue.ledger import facts as chain
from tenue.ledger.facts import (
    DataChanged,
    DatasetOpened,
    Fact,
    ReleaseRegistered,
    ReleaseWithdrawn,
    RowsReleased,
)
from tenue.ledger.store.memory import Memory
from tenue.ledger.transactions import admin
from tenue.ledger.transactions.admin import overlapped
from tenue.ledger.transactions.journal import Journal
from tenue.ledger.transactions.reserve import Purchase, abandon, recover
from tenue.ledger.transactions.writer import Request, Writer
from tenue.privacy.loss import EpsilonDelta

JOURNAL_OPENED = DatasetOpened(
    dataset="d",
    neighbours="replace",
    total_nano=10,
    total_atto=0,
    per_analyst_nano=None,
    schema_digest="",
    data_version="",
)


def journal_of(ledger: Memory) -> Journal:
    rows = ledger._rows
    return Journal(rows, rows.head(), lambda: "me", lambda owner: owner == "me")


def test_entries_are_numbered_and_chained_one_after_another() -> None:
    journal = journal_of(Memory())
    facts: list[Fact] = [JOURNAL_OPENED, DataChanged(dataset="d", data_version="2")]
    assert [journal.write(fact) for fact in facts] == [1, 2]
    link = chain.GENESIS
    for (sequence, text, stored), fact in zip(journal.written, facts, strict=True):
        link = chain.link(link, text)
        assert stored == link
        assert chain.read(sequence, text)[1] == fact
    assert journal.head == (2, link)


def test_a_journal_goes_on_from_the_last_entry() -> None:
    ledger = Memory()
    first = journal_of(ledger)
    first.write(JOURNAL_OPENED)
    ledger._rows.take(first)
    second = journal_of(ledger)
    assert second.write(DataChanged(dataset="d", data_version="2")) == 2
    assert second.written[0][2] == chain.link(first.head[1], second.written[0][1])


def test_totals_move_at_once_and_the_shelf_not_at_all() -> None:
    ledger = Memory()
    journal = journal_of(ledger)
    journal.write(JOURNAL_OPENED)
    found = journal.totals.dataset("d")
    assert found is not None
    assert found.total == 10
    assert ledger.datasets() == []
    assert ledger._rows.entries == []


def test_a_fact_that_cannot_be_posted_is_not_written() -> None:
    journal = journal_of(Memory())
    before = journal.head
    with pytest.raises(LedgerFault):
        journal.write(DataChanged(dataset="never opened", data_version="2"))
    assert journal.written == []
    assert journal.head == before


def test_all_entries_of_a_transaction_have_one_time() -> None:
    journal = journal_of(Memory())
    journal.write(JOURNAL_OPENED)
    journal.write(DataChanged(dataset="d", data_version="2"))
    times = {json.loads(text)["time"] for _, text, _ in journal.written}
    assert len(times) == 1
    assert times.pop().endswith("+00:00")


# -- A purchase states everything that `reserve` was given, checked --------------------------------

PURCHASE_CHARGE = Charge.of(epsilon=1, neighbours="replace")
GIVEN: dict[str, Any] = {
    "dataset": "census",
    "analyst": "ann",
    "charge": PURCHASE_CHARGE,
    "key": "k",
    "question_digest": "q",
    "cache_key": "c",
    "column": "dp",
    "question_name": None,
    "times": None,
}


def test_what_is_optional_may_be_none_and_stays_so() -> None:
    found = Purchase(**{**GIVEN, "key": None, "cache_key": None})
    assert (found.key, found.cache_key, found.question_name, found.times) == (None,) * 4
    assert found.asked is None
    assert Purchase("d", "ann", PURCHASE_CHARGE, None, "q", None, "dp", None, None).dataset == "d"


def test_how_often_is_a_whole_number_of_an_approved_question() -> None:
    approved = {**GIVEN, "column": "individual", "question_name": "median"}
    assert Purchase(**approved, asked=None).times is None
    found = Purchase(**{**approved, "times": "3"})
    assert found.times == 3
    assert type(found.times) is int
    for wrong in ({"times": -1}, {"times": "many"}, {"times": 3, "question_name": None}):
        with pytest.raises(Refused):
            Purchase(**{**approved, **wrong})
    with pytest.raises(Refused):
        Purchase(**{**approved, "times": 3, "column": "dp"})


@pytest.mark.parametrize("name", ["dataset", "analyst", "question_digest"])
def test_what_is_needed_cannot_be_left_out(name: str) -> None:
    with pytest.raises(Refused):
        Purchase(**{**GIVEN, name: None})


@pytest.mark.parametrize(
    "name", ["dataset", "analyst", "key", "question_digest", "cache_key", "question_name"]
)
def test_names_are_printable_text(name: str) -> None:
    for wrong in ("", "a\0b", 7, "x" * 10_000):
        with pytest.raises(Refused):
            Purchase(**{**GIVEN, name: wrong})


def test_a_price_is_a_charge_in_a_column_that_exists() -> None:
    with pytest.raises(Refused) as refusal:
        Purchase(**{**GIVEN, "charge": 0.5})
    assert "float" in refusal.value.what
    with pytest.raises(Refused):
        Purchase(**{**GIVEN, "column": "releases"})


@pytest.mark.parametrize(
    "charge",
    [
        Charge.of(epsilon=1, delta="1e-9", neighbours="replace"),
        Charge.of(epsilon=1, neighbours="add-or-remove", person="17"),
    ],
)
def test_the_individual_column_knows_neither_delta_nor_persons(charge: Charge) -> None:
    assert Purchase(**{**GIVEN, "charge": charge}).charge is charge
    with pytest.raises(Refused):
        Purchase(**{**GIVEN, "charge": charge, "column": "individual"})


def test_how_a_question_reads_is_made_readable() -> None:
    found = Purchase(**GIVEN, asked="SELECT 1\n\x1b[31m")
    assert found.asked is not None
    assert "\x1b" not in found.asked


def test_nothing_changes_afterwards() -> None:
    with pytest.raises(FrozenInstanceError):
        Purchase(**GIVEN).dataset = "other"  # type: ignore[misc]


# -- settlement ------------------------------------------------------------------------------------

SETTLEMENT_CHARGE = Charge.of(epsilon=1, neighbours="replace")


def test_recovery_settles_the_dead_and_spares_the_living() -> None:
    ledger = Memory()
    ledger.open_dataset("d", 10, neighbours="replace")
    rows = ledger._rows
    for owner in ("dead", "alive", "dead"):
        journal = Journal(rows, rows.head(), lambda owner=owner: owner, lambda name: True)  # type: ignore[misc]
        from tenue.ledger.transactions.reserve import Purchase, reserve

        reserve(journal, Purchase("d", "ann", SETTLEMENT_CHARGE, None, "q", None, "dp", None, None))
        rows.take(journal)
    journal = Journal(rows, rows.head(), lambda: "me", lambda name: name == "alive")
    assert recover(journal) == 2
    rows.take(journal)
    assert [ticket.owner for ticket in rows.open_tickets()] == ["alive"]
    assert ledger.balance().spent == 3  # nothing came back
    journal = Journal(rows, rows.head(), lambda: "me", lambda name: name == "alive")
    assert recover(journal) == 0
    assert ledger.verify()


def test_nobody_settles_for_another() -> None:
    ledger = Memory()
    ledger.open_dataset("d", 10, neighbours="replace")
    paid = ledger.reserve("d", "ann", SETTLEMENT_CHARGE, None, "q")
    journal = Journal(ledger._rows, ledger._rows.head(), lambda: "other", lambda name: True)
    with pytest.raises(Conflict) as refusal:
        abandon(journal, paid, "")
    assert refusal.value.code == "not-yours"
    assert journal.written == []


# -- payment ---------------------------------------------------------------------------------------


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
        "kind": "over-budget",
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


# -- What the holder decides: one fact for each thing that changed, and spent stays spent ----------

OPENED = DatasetOpened(
    dataset="d",
    neighbours="add-or-remove",
    total_nano=10,
    total_atto=0,
    per_analyst_nano=None,
    schema_digest="s",
    data_version="1",
)
CHARGE = Charge.of(epsilon="1e-9", neighbours="add-or-remove")
PERSON = Charge.of(epsilon="1e-9", neighbours="add-or-remove", person="17")


def fresh(**opened: Any) -> Memory:
    ledger = Memory()
    ledger._write(lambda journal: admin.open_dataset(journal, OPENED, **opened))
    return ledger


def kinds(ledger: Memory, wanted: DatasetOpened, **more: Any) -> list[str]:
    facts = ledger._write(lambda journal: admin.open_dataset(journal, wanted, **more))
    return [type(fact).__name__ for fact in facts]


def test_each_change_is_one_fact_and_no_change_is_none() -> None:
    ledger = fresh(individual=EpsilonDelta(5), protocol="p", unit="record")
    same: dict[str, Any] = {"individual": EpsilonDelta(5), "protocol": "p", "unit": "record"}
    assert kinds(ledger, OPENED, **same) == []
    assert kinds(ledger, replace(OPENED, total_nano=11), **same) == ["CapChanged"]
    wanted = replace(OPENED, total_nano=11, schema_digest="t", data_version="2")
    assert kinds(ledger, wanted, **same) == ["SchemaChanged", "DataChanged"]
    assert kinds(ledger, wanted, **{**same, "individual": None}) == ["IndividualCapped"]
    assert kinds(ledger, wanted, protocol="", unit="record") == ["ProtocolChanged"]
    moved = replace(wanted, neighbours="replace")
    assert kinds(ledger, moved, unit="record") == ["NeighboursChanged"]
    assert ledger.verify()


def test_upper_and_lower_case_make_no_other_data_set() -> None:
    ledger = fresh()
    assert kinds(ledger, replace(OPENED, dataset="D", total_nano=3)) == ["CapChanged"]
    assert ledger.datasets() == ["d"]


def test_a_unit_that_is_not_said_changes_nothing() -> None:
    ledger = fresh(unit="person by id")
    assert kinds(ledger, OPENED) == []
    ledger.reserve("d", "ann", CHARGE, None, "q")
    assert kinds(ledger, OPENED, unit="person by ssn") == ["UnitStated"]  # nobody was asked about
    with pytest.raises(Refused):
        kinds(ledger, OPENED, unit="record")


def test_a_person_asked_about_fixes_the_column_too() -> None:
    ledger = fresh(unit="person by id")
    ledger.reserve("d", "ann", PERSON, None, "q")
    with pytest.raises(Refused):
        kinds(ledger, OPENED, unit="person by ssn")


def test_there_is_no_way_back_to_add_or_remove_once_something_was_spent() -> None:
    ledger = fresh()
    under_replace = replace(OPENED, neighbours="replace")
    assert kinds(ledger, under_replace) == ["NeighboursChanged"]
    assert kinds(ledger, OPENED) == ["NeighboursChanged"]  # nothing spent yet
    kinds(ledger, under_replace)
    ledger.reserve("d", "ann", CHARGE, None, "q")
    with pytest.raises(Refused):
        kinds(ledger, OPENED)
    assert ledger.balance().neighbours == "replace"


def released(digest: str, override: bool = False, marks: str = "") -> Any:
    facts: dict[str, Any] = {"dataset": "d", "release_digest": digest, "method": "swap"}
    if marks:
        return RowsReleased(**facts, override=override, marks=marks)
    return ReleaseRegistered(**facts, override=override)


def register(ledger: Memory, wanted: Any) -> int:
    return ledger._write(lambda journal: admin.register_release(journal, wanted))


def test_a_release_is_registered_once_and_a_second_only_on_the_holders_word() -> None:
    ledger = fresh()
    first = register(ledger, released("r1"))
    assert register(ledger, released("r1")) == first
    with pytest.raises(Refused) as refusal:
        register(ledger, released("r2"))
    assert refusal.value.earlier == first
    assert register(ledger, released("r2", override=True)) == first + 1


def test_a_withdrawn_release_makes_room() -> None:
    ledger = fresh()
    register(ledger, released("r1"))
    gone = ReleaseWithdrawn(dataset="d", release_digest="r1", reason="never left")

    def withdraw(journal: Journal) -> None:
        admin.withdraw_release(journal, gone)
        admin.withdraw_release(journal, gone)  # the second time nothing is there to withdraw

    ledger._write(withdraw)
    assert register(ledger, released("r2")) == 4
    assert ledger.verify()


def test_releases_belong_to_a_data_set_that_is_open() -> None:
    with pytest.raises(Refused):
        register(Memory(), released("r1"))


EARLIER = {
    "3 whole:a row:1 row:2 row:3 row:4 row:5 row:6 row:7 row:8": 3,
    "9 whole:b row:9": 9,
}


@pytest.mark.parametrize(
    ("marks", "entry"),
    [
        ("whole:a", 3),
        ("whole:b", 9),
        ("whole:a whole:b", 9),
        ("whole:c row:1 row:2 row:3 row:20 row:21 row:22 row:23 row:24", 3),
        ("whole:c row:1 row:2 row:20 row:21 row:22 row:23 row:24 row:25", None),
        ("whole:c row:9", None),  # one mark is shared by many conceivable rows
        ("whole:c", None),
        ("", None),
    ],
)
def test_marks_that_meet(marks: str, entry: int | None) -> None:
    assert overlapped(marks, EARLIER) == entry


def test_the_number_of_an_entry_is_no_mark() -> None:
    assert overlapped("3 9", EARLIER) is None


# -- writer ----------------------------------------------------------------------------------------


class Disk:
    """Carries out batches when it is let, and remembers them."""

    def __init__(self) -> None:
        self.batches: list[int] = []
        self.arrived = threading.Semaphore(0)
        self.go = threading.Semaphore(0)
        self.broken = False

    def __call__(self, batch: list[Request[Any]]) -> None:
        self.arrived.release()
        self.go.acquire()
        self.batches.append(len(batch))
        for request in batch:
            try:
                request.result = request.work(None)  # type: ignore[arg-type]
            except InvalidArgument as refusal:
                request.error = refusal
        if self.broken:
            raise OSError("disk full")


def submit(writer: Writer, work: Any, outcomes: list[object]) -> threading.Thread:
    def run() -> None:
        try:
            outcomes.append(writer.submit(work))
        except (InvalidArgument, LedgerFault) as error:
            outcomes.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def refuse(_: Journal) -> None:
    raise InvalidArgument("no", "no", "no")


def queued(writer: Writer, count: int) -> None:
    while writer._waiting.qsize() < count:
        threading.Event().wait(0.001)


def test_requests_that_gather_share_one_commit_and_wait_for_it() -> None:
    disk, outcomes = Disk(), list[object]()
    writer = Writer(disk)
    threads = [submit(writer, lambda _: 0, outcomes)]
    disk.arrived.acquire()
    for number in range(1, 10):
        threads.append(submit(writer, lambda _, n=number: n, outcomes))
    threads.append(submit(writer, refuse, outcomes))
    queued(writer, 10)
    assert outcomes == []  # nobody was let go before the commit returned
    disk.go.release()
    disk.arrived.acquire()
    threads[0].join()
    assert outcomes == [0]
    disk.go.release()
    for thread in threads:
        thread.join()
    assert disk.batches == [1, 10]
    values = [outcome for outcome in outcomes if isinstance(outcome, int)]
    assert sorted(values) == list(range(10))
    assert sum(isinstance(outcome, InvalidArgument) for outcome in outcomes) == 1
    writer.stop()


def test_a_commit_that_fails_fails_for_all_of_its_batch() -> None:
    disk, outcomes = Disk(), list[object]()
    writer = Writer(disk)
    threads = [submit(writer, lambda _: 0, outcomes)]
    disk.arrived.acquire()
    threads += [submit(writer, lambda _: 1, outcomes), submit(writer, refuse, outcomes)]
    queued(writer, 2)
    disk.broken = True
    for _ in range(2):
        disk.go.release()
    for thread in threads:
        thread.join()
    assert [type(outcome) for outcome in outcomes] == [LedgerFault] * 3
    assert len({id(outcome) for outcome in outcomes}) == 3
    writer.stop()


def test_stopping_carries_out_what_waits_and_takes_no_more() -> None:
    disk, outcomes, carried = Disk(), list[object](), list[int]()

    def work(number: int) -> int:
        carried.append(number)
        return number

    writer = Writer(disk)
    threads = [submit(writer, lambda _: work(0), outcomes)]
    disk.arrived.acquire()
    threads.append(submit(writer, lambda _: work(1), outcomes))
    queued(writer, 1)
    for _ in range(2):
        disk.go.release()
    writer.stop()
    for thread in threads:
        thread.join()
    assert carried == [0, 1]
    assert sorted(map(str, outcomes)) == ["0", "1"]  # which caller wakes first is not promised
    with pytest.raises(LedgerFault):
        writer.submit(lambda _: 2)
