"""What the holder decides: one fact for each thing that changed, and spent stays spent."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tenue.errors import Refused
from tenue.ledger import Charge, Memory
from tenue.ledger.fact import DatasetOpened, ReleaseRegistered, ReleaseWithdrawn, RowsReleased
from tenue.ledger.transaction import holder
from tenue.ledger.transaction.holder import overlapped
from tenue.ledger.transaction.journal import Journal
from tenue.promise.loss import EpsilonDelta

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
    ledger._write(lambda journal: holder.open_dataset(journal, OPENED, **opened))
    return ledger


def kinds(ledger: Memory, wanted: DatasetOpened, **more: Any) -> list[str]:
    facts = ledger._write(lambda journal: holder.open_dataset(journal, wanted, **more))
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
    return ledger._write(lambda journal: holder.register_release(journal, wanted))


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
        holder.withdraw_release(journal, gone)
        holder.withdraw_release(journal, gone)  # the second time nothing is there to withdraw

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
