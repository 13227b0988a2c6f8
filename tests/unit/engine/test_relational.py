"""What engines share: one question at a time, one fault, and columns found by their names."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pytest

from tenue.engine.contract import FAULT
from tenue.engine.duckdb.dialect import DUCKDB
from tenue.engine.duckdb.sandbox import Bench
from tenue.engine.relational import Relational, held_as, how_read, stored_columns
from tenue.engine.sql.logical import Stored
from tenue.engine.storage import Fixed, Floating, Integer, Opaque, Text
from tenue.errors import EngineFault, InvalidTable
from tenue.schema import Schema

SCHEMA = Schema.from_dict(
    {
        "table": {"name": "t", "unit": "record", "neighbours": "replace"},
        "columns": {
            "Age": {"type": "number", "bounds": [0, 10], "grid": 0.01},
            "c": {"type": "category", "categories": ["a", "b"]},
            "twice": {"type": "number", "bounds": [0, 20], "expression": "Age * 2"},
        },
    }
)
LONG = Integer("BIGINT", -(2**63), 2**63 - 1)


class Failing:
    """Statements that fail with a value in their words."""

    def __init__(self) -> None:
        self.asking = 0
        self.most = 0

    def run(self, sql: str) -> Sequence[tuple[Any, ...]]:
        self.asking += 1
        self.most = max(self.most, self.asking)
        threading.Event().wait(0.01)
        self.asking -= 1
        raise ValueError("canary")

    def arrow(self, sql: str) -> pa.Table:
        raise ValueError("canary")

    def batches(self, sql: str, size: int) -> list[pa.RecordBatch]:
        raise ValueError("canary")


class Toy(Relational[Failing]):
    def __init__(self, stored: Any = LONG) -> None:
        super().__init__(SCHEMA.unit, Bench, DUCKDB)
        self.place: Failing | None = Failing()
        columns = [("AGE", stored), ("c", Text())]
        words = "ENUM('a', 'b')"
        held = {
            column.name.lower(): held_as(column, columns, lambda _: words)
            for column in stored_columns(SCHEMA)
        }
        self._table = Stored("t", held, SCHEMA.columns, DUCKDB)
        self._check()

    @contextmanager
    def _state(self) -> Iterator[Failing]:
        if self.place is None:
            raise ConnectionError("canary")
        yield self.place

    def _types(self, state: Failing) -> Any:
        return lambda _: None

    def _let_go(self) -> None:
        self.place = None


def test_whatever_fails_is_one_fault_without_a_word_of_the_engine() -> None:
    engine = Toy()
    for ask in (
        lambda: engine.look_up("c", "x", "Age"),
        lambda: engine.column_steps("Age"),
        lambda: engine.hand_over(print, 10),
    ):
        with pytest.raises(EngineFault) as fault:
            ask()
        assert str(fault.value) == FAULT
        assert fault.value.__cause__ is None
        assert fault.value.__context__ is None
    engine.close()
    engine.close()
    with pytest.raises(EngineFault) as fault:
        engine.column_steps("Age")
    assert fault.value.__context__ is None


def test_one_question_at_a_time() -> None:
    """The mutant, without the lock, would have several statements at once in one connection."""
    engine = Toy()
    place = engine.place

    def ask() -> None:
        with pytest.raises(EngineFault):
            engine._run("SELECT 1")

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert place is not None
    assert place.most == 1


def test_columns_are_found_by_name_in_any_case_and_refused_by_their_storage() -> None:
    age, category = stored_columns(SCHEMA)
    assert held_as(age, [("x", Text()), ("AGE", LONG)], str).name == "AGE"
    assert held_as(category, [("C", Text())], "|".join).words == "a|b"
    with pytest.raises(InvalidTable, match="Age"):
        held_as(age, [("ages", LONG)], str)
    with pytest.raises(InvalidTable, match="Age"):
        held_as(age, [("age", Opaque())], str)
    with pytest.raises(InvalidTable, match="`c`"):
        held_as(category, [("c", Floating())], str)


def test_what_cannot_be_computed_is_refused_when_the_table_is_opened() -> None:
    with pytest.raises(InvalidTable, match="cannot be computed exactly") as refused:
        Toy(Fixed(38, 37))
    assert refused.value.column == "Age"


def test_how_a_table_is_read_says_what_changes_what_is_read() -> None:
    assert how_read(SCHEMA) == ["Age number", "c category", "rows None", "replace record"]
