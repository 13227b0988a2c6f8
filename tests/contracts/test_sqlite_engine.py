"""A second dialect: SQLite passes the suite for counts and sums without a change to Tenue.

It differs from DuckDB in everything a dialect says: it has no wider integers, no true dates, no
NaN, no enumerations, another division, and it is told to cut doubles before it computes with them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

import numpy as np
import pytest

from contracts.engine_suite import (
    INF,
    LARGE,
    ROWS,
    ROWS_OF,
    SCHEMA,
    Computing,
    Counts,
    LookUps,
    Opened,
    Products,
    Rows,
    Steps,
    each,
)
from tenue.engine.contract import FAULT, Cells, Engine, Validated
from tenue.engine.contract import Rows as EveryRow
from tenue.engine.request import ContributionRequest, RankRequest, Request
from tenue.engine.sql.dialect import Counted, Dialect
from tenue.engine.sql.grid_values import between
from tenue.engine.sql.logical_table import Held, Stored
from tenue.engine.sql.statement import write, write_counts, write_lookup
from tenue.engine.storage import Day, Floating, Integer, Moment, Storage, Text, Truth
from tenue.errors import EngineFault, InvalidTable
from tenue.schema import Boolean, Category, Column, Date, Datetime, Number, Schema

EPOCH = datetime(1970, 1, 1)


@dataclass(frozen=True)
class SQLite(Dialect):
    """Days are stored as texts like 2000-01-31, moments as texts like 2000-01-31 23:59:59."""

    def number(self, value: float) -> str:
        if abs(value) == INF:
            return "9e999" if value > 0 else "(-9e999)"
        return f"({value!r})"

    def total(self, value: str, largest: int | None = None) -> str:
        return f"exact_sum({value})"

    def is_nan(self, name: str) -> str:
        return f"({name} <> {name})"  # NaN is NULL already

    def category(self, text: str, words: str) -> str:
        return f"CASE {text} {words} END"

    def days(self, low: int, high: int) -> Counted:
        ends = [self.literal(str((EPOCH + timedelta(days=n)).date())) for n in (low, high)]
        zero = "julianday('1970-01-01')"
        return (
            [
                lambda name: between(name, *ends),
                lambda name: f"CAST(julianday({name}) - {zero} AS INTEGER)",
            ],
            low,
            high,
        )

    def micros(self, stored: Moment, low: int, high: int) -> Counted:
        moments = [EPOCH + timedelta(microseconds=n) for n in (low, high)]
        ends = [self.literal(str(moment)) for moment in moments]
        return (
            [
                lambda name: between(name, *ends),
                lambda name: f"(CAST(strftime('%s', {name}) AS INTEGER) * 1000000)",
            ],
            low,
            high,
        )

    def date(self, days: str) -> str:
        return f"date({days} * 86400, 'unixepoch')"

    def part(self, part: Literal["year", "quarter", "month"], day: str) -> str:
        if part == "quarter":
            return f"(({self.part('month', day)} + 2) / 3)"
        return f"CAST(strftime('{'%Y' if part == 'year' else '%m'}', {day}) AS INTEGER)"

    def read(self, text: str, kind: str) -> str:
        raise NotImplementedError("no column is written text")

    def hash(self, value: str) -> str:
        raise NotImplementedError("there are no limits of people")

    def quantiles(self, value: str, places: Sequence[str]) -> str:
        raise NotImplementedError("there are no ranks")


SQLITE = SQLite(
    long="INTEGER",
    huge=None,
    double="REAL",
    text="TEXT",
    day="TEXT",
    moment="TEXT",
    collation="BINARY",
    divide="/",
    alias=" AS nested",
    fails=True,
)


class ExactSum:
    """Adds in Python's integers; a sum beyond 64 bits is handed on as its text."""

    def __init__(self) -> None:
        self.sum: int | None = None

    def step(self, value: Any) -> None:
        if value is not None:
            self.sum = (self.sum or 0) + int(value)

    def finalize(self) -> int | str | None:
        small = self.sum is None or -(2**63) <= self.sum < 2**63
        return self.sum if small else str(self.sum)


def stored_as(column: Column, values: list[Any]) -> Storage:
    if isinstance(column, Number):
        whole = all(isinstance(value, int | None) for value in values)
        return Integer("INTEGER", -(2**63), 2**63 - 1) if whole else Floating()
    kinds: dict[type[Column], Storage] = {Boolean: Truth(), Date: Day(), Datetime: Moment("TEXT")}
    return kinds.get(type(column), Text())


class SQLiteEngine:
    """The smallest engine: one table, one connection, and what the suite of counts asks for."""

    files = None
    excess: tuple[str, ...] = ()

    def __init__(self, rows: Rows, schema: Schema, dialect: Dialect = SQLITE) -> None:
        self.connection = sqlite3.connect(":memory:")
        self.connection.create_aggregate("exact_sum", 1, ExactSum)  # type: ignore[arg-type]
        given = [{name.lower(): value for name, value in row.items()} for row in rows]
        held = {}
        for name, column in ((c.name.lower(), c) for c in schema.columns.values()):
            if isinstance(column, Number) and column.expression is not None:
                continue
            words = ""
            if isinstance(column, Category):
                texts = map(SQLITE.literal, column.categories)
                words = " ".join(f"WHEN {text} THEN {i}" for i, text in enumerate(texts))
            stored = stored_as(column, [row[name] for row in given])
            held[name] = Held(column, column.name, stored, words)
        listed = ", ".join(SQLITE.quoted(one.column.name) for one in held.values())
        self.connection.execute(f"CREATE TABLE people ({listed})")
        self.connection.executemany(
            f"INSERT INTO people VALUES ({', '.join('?' * len(held))})",  # noqa: S608
            [[plain(row[name]) for name in held] for row in given],
        )
        self.table = Stored("people", held, schema.columns, dialect)

    def validate(self) -> Validated:
        ((rows,),) = self.run("SELECT count(*) FROM people")
        return Validated(rows, {})

    def measure(self, request: Request) -> Cells:
        statement = write(request, self.table)
        return statement.cells(self.run(statement.sql))

    def look_up(self, unit: str, name: str, column: str) -> list[int | None]:
        return [value for (value,) in self.run(write_lookup(unit, name, column, self.table))]

    def column_steps(self, *columns: str) -> np.ndarray:
        counted = sorted(self.run(write_counts(columns, self.table)))
        found = np.array(counted, dtype=np.int64).reshape(-1, len(columns) + 1)
        return np.repeat(found[:, :-1], found[:, -1], axis=0)

    def ranks(self, request: RankRequest) -> Any:
        raise NotImplementedError

    def contributions(self, request: ContributionRequest) -> Any:
        raise NotImplementedError

    def read_all(self) -> EveryRow:
        raise NotImplementedError

    def hand_over(self, take: Any, batch: int, *, names: bool = False) -> Any:
        raise NotImplementedError

    def close(self) -> None:
        self.connection.close()

    def run(self, sql: str) -> list[tuple[Any, ...]]:
        try:
            return self.connection.execute(sql).fetchall()
        except sqlite3.Error:
            pass
        raise EngineFault(FAULT)


def plain(value: Any) -> Any:
    return value if isinstance(value, int | float | str | None) else str(value)


class TestSQLite(Counts, Computing, Products, LookUps, Steps):
    """What SQLite can do, it does as every other engine does."""

    @pytest.fixture
    def opened(self) -> Iterator[Opened]:
        engines: list[Engine] = []

        def opener(rows: Rows, schema: Schema = SCHEMA) -> Engine:
            engines.append(SQLiteEngine(rows, schema))
            return engines[-1]

        yield opener
        for engine in engines:
            engine.close()


class Careless(SQLite):
    """The mutant: it forgets what is missing, and adds in 64 bits."""

    def is_nan(self, name: str) -> str:
        return "FALSE"

    def total(self, value: str, largest: int | None = None) -> str:
        return f"SUM({value})"


def test_a_careless_dialect_is_found_out() -> None:
    careless = Careless(**{**vars(SQLITE), "fails": False})
    present = Request(each("present", "pay"))
    assert SQLiteEngine(ROWS, SCHEMA).measure(present) == {(): (5,)}
    assert SQLiteEngine(ROWS, SCHEMA, careless).measure(present) == {(): (6,)}
    large = [{"n": 2**62}] * 3
    with pytest.raises(EngineFault):
        SQLiteEngine(large, LARGE, careless).measure(Request(each("total", "n")))


def test_what_no_type_of_a_dialect_holds_is_refused_before_any_row_is_read() -> None:
    with pytest.raises(InvalidTable, match="too many digits"):
        SQLITE.holding(0, 2**63)
    assert SQLITE.holding(-(2**63), 2**63 - 1) == "INTEGER"


def test_a_failure_has_the_one_text() -> None:
    engine = SQLiteEngine(ROWS, SCHEMA)
    engine.close()
    with pytest.raises(EngineFault, match=FAULT) as fault:
        engine.measure(Request((ROWS_OF,)))
    assert fault.value.__context__ is None
