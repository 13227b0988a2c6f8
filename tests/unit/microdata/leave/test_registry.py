"""The register: opened and closed, asked first, written once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tenue.errors import Conflict, InvalidArgument
from tenue.ledger import Memory, SQLite
from tenue.microdata.leave.registry import check_first, opened, register
from tenue.microdata.method.catalogue import chosen_method
from tenue.microdata.method.contract import Method
from unit.microdata.census import schema


def chosen(**changes: Any) -> Method:
    declared = changes.pop("schema", schema())
    return chosen_method(declared, "swap", k=5, **changes)


def test_a_release_is_registered_with_its_method() -> None:
    ledger = Memory()
    check_first(ledger, chosen())
    number = register(ledger, chosen(), "d" * 64)
    (entry,) = [e for e in ledger.entries() if e.sequence == number]
    assert entry.fact.method == "swap by quasi-identifiers"  # type: ignore[union-attr]
    assert entry.fact.override is False  # type: ignore[union-attr]
    assert ledger.balance("people").total == 0  # there is no budget: nothing may be asked


def test_the_budget_of_the_schema_is_opened_and_an_open_one_left_alone() -> None:
    rich = schema().replace(budget={"total": 2})
    ledger = Memory()
    register(ledger, chosen(schema=rich), "a" * 64)
    assert ledger.balance("people").total == 2
    held = Memory()
    held.open_dataset("people", 7, neighbours="replace")
    register(held, chosen(schema=rich), "a" * 64)
    assert held.balance("people").total == 7


def test_a_second_one_is_refused_first_and_last() -> None:
    ledger = Memory()
    register(ledger, chosen(), "a" * 64)
    with pytest.raises(Conflict):
        check_first(ledger, chosen())
    with pytest.raises(Conflict):
        register(ledger, chosen(), "b" * 64)
    insisting = chosen(override="second-release")
    check_first(ledger, insisting)
    register(ledger, insisting, "b" * 64)
    with pytest.raises(Conflict):
        check_first(ledger, chosen(override="homogeneous-groups"))


def test_another_table_is_another_matter() -> None:
    ledger = Memory()
    ledger.open_dataset("others", 1, neighbours="replace")
    ledger.register_release("others", "x", method="swap")
    check_first(ledger, chosen())


def test_a_ledger_from_a_path_is_closed_and_a_given_one_is_not(tmp_path: Path) -> None:
    with opened(tmp_path / "a.ledger") as books:
        assert books is not None
        assert books.known is None
        assert list(tmp_path.iterdir()) == []  # made when something is written, not before
        ledger = books.made()
        assert isinstance(ledger, SQLite)
        assert books.known is ledger
    with pytest.raises(InvalidArgument):
        ledger.datasets()
    held = Memory()
    with opened(held) as books:
        assert books is not None
        assert books.known is books.made() is held
    held.datasets()
    for wrong in (3, True):
        with pytest.raises(InvalidArgument), opened(wrong):
            pass


def test_the_register_lies_beside_the_schema_unless_told_otherwise(tmp_path: Path) -> None:
    beside = tmp_path / "people.toml"
    with opened(None, beside) as books:
        assert books is not None
        books.made()
    assert (tmp_path / "people.ledger").exists()
    for given, file in ((None, None), (False, None), (False, beside)):
        with opened(given, file) as books:
            assert books is None


def test_upper_and_lower_case_do_not_make_another_table() -> None:
    ledger = Memory()
    register(ledger, chosen(), "a" * 64)
    shouted = schema().replace(table={"name": "PEOPLE"})
    with pytest.raises(Conflict):
        check_first(ledger, chosen(schema=shouted))
    with pytest.raises(Conflict):
        register(ledger, chosen(schema=shouted), "b" * 64)
    assert list(ledger.datasets()) == ["people"]


def test_a_ledger_of_releases_alone_says_so() -> None:
    ledger = Memory()
    register(ledger, chosen(), "a" * 64)
    text = str(ledger.balance("people"))
    assert "no budget" in text
    assert "releases registered: 1" in text
    assert "epsilon 0 of 0" not in text
