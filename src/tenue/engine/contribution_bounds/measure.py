"""Requests with contribution limits: the chosen rows of each unit are measured in a database of our
own, the bench, which sees nothing else.

Units are counted, and their sums taken, over all rows in the cells kept of them; everything else
over the rows kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from ...noise.source import Source
from ..computed_column import All, Within
from ..contract import Cells, Profiles
from ..request import Measure, People, RankRequest, Request
from ..sql.dialect import Dialect
from ..sql.grid_values import between, first_step, last_step
from ..sql.logical_table import Logical, Stored, logical_table
from ..sql.order_statistics import check_windows, counted_near, met_by_cell
from ..sql.statement import Statement, group_by, measures, total
from .rows_by_unit import CHOSEN, PLACED, Reader, UnitRows, limits, passes, unit_rows

_OF_UNITS = ("units", "unit-total")


class Bench(Protocol):
    """The database that measures chosen rows.

    In the SQL, `handed` is the given table, and `gathered` the rows that `gather` added.
    """

    def select(self, table: Any, sql: str) -> Sequence[tuple[Any, ...]]:
        """The rows of a SELECT from the table."""

    def gather(self, table: Any, sql: str) -> None:
        """Adds the rows of a SELECT from the table to `gathered`."""

    def gathered(self, sql: str) -> Sequence[tuple[Any, ...]]:
        """The rows of a SELECT from `gathered`; none if nothing was added."""

    def clear(self) -> None:
        """Removes `gathered`."""

    def close(self) -> None: ...


@dataclass(frozen=True)
class Place:
    """The table and the database in which requests with contribution limits are measured.

    table, reader: the table, and how its rows are read.
    bench: opens the database that measures chosen rows; `dialect`, its SQL.
    source: the random bits of the choice.
    """

    table: Stored
    reader: Reader
    bench: Callable[[], Bench]
    dialect: Dialect
    source: Source

    def parts(self, people: People, rows: UnitRows, every: bool) -> Iterator[Any]:
        """The rows in parts for the bench, all of a unit in the same, marked as chosen or not.

        Parameters
            every: whether rows are needed that are in a kept cell, and not kept themselves.
        """
        return passes(people, rows, self.reader, self.source)


def measure_people(request: Request, place: Place) -> Cells:
    """The measures of every cell that has rows, over the rows that `request.people` keeps."""
    people, logical = _limited(request), logical_table(request, place.table)
    named = [name for measure in request.measures for name in _columns(measure)]
    where, dialect = request.where, place.dialect
    rows = unit_rows(
        people.unit, logical, where=where, keys=request.keys, columns=named, bench=dialect
    )
    whole = not request.keys or people.groups is None
    if whole and {measure.kind for measure in request.measures} == {"units"}:
        # every unit in a cell counts: nothing is chosen
        sql = _of_rows(request, logical.dialect.nested(rows.sql), logical)
        statement = Statement(sql, len(request.keys), len(request.measures))
        return statement.cells(place.reader.run(sql))
    statements = _statements(request, rows, logical.spoken_by(dialect))
    bench = place.bench()
    found: dict[tuple[int, ...], list[int]] = {}
    every = any(measure.kind in _OF_UNITS for measure in request.measures)
    for part in place.parts(people, rows, every):
        for statement, positions in statements:
            for key, values in statement.cells(bench.select(part, statement.sql)).items():
                numbers = found.setdefault(key, [0] * len(request.measures))
                for i, value in zip(positions, values, strict=True):
                    # a unit is in one pass only, so that units add up as rows do
                    numbers[i] += value
    return {key: tuple(numbers) for key, numbers in found.items()}


def rank_people(request: RankRequest, place: Place) -> Profiles:
    """The profile of every cell with rows that have the column, over those that are kept."""
    check_windows(request.windows)
    people, logical = _limited(request), logical_table(request, place.table)
    dialect = place.dialect
    column = logical.bounded(request.column, "has no order")
    # a row without the column has no rank, and must not use up its unit's limit
    there = Within(column.name, None, None)
    where = there if request.where is None else All((request.where, there))
    rows = unit_rows(
        people.unit, logical, where=where, keys=request.keys, columns=[column.name], bench=dialect
    )
    values = f"SELECT *, {logical.value(column.name)} AS v FROM {_kept(rows)}"  # noqa: S608
    ends = first_step(column), last_step(column)
    names = ", ".join([*_keys(request), "v"])
    sql = f"SELECT {names}, SUM(c) AS c FROM gathered{group_by(len(request.keys) + 1)}"  # noqa: S608
    bench = place.bench()
    try:
        for part in place.parts(people, rows, every=False):
            bench.gather(part, counted_near(request, dialect.nested(values), ends, dialect))
        return met_by_cell(request, sql, dialect, bench.gathered)
    finally:
        bench.clear()


def _limited(request: Request | RankRequest) -> People:
    assert request.people is not None  # noqa: S101 - without limits an engine asks the table itself
    limits(request.people)
    return request.people


def _statements(
    request: Request, rows: UnitRows, logical: Logical
) -> list[tuple[Statement, tuple[int, ...]]]:
    """SELECTs from `handed`, each with the positions of its measures in the request."""
    kinds: dict[str, list[int]] = {}
    for i, measure in enumerate(request.measures):
        kinds.setdefault(measure.kind if measure.kind in _OF_UNITS else "rows", []).append(i)
    statements = []
    for kind, positions in kinds.items():
        part = replace(request, measures=tuple(request.measures[i] for i in positions))
        if kind == "unit-total":
            sql = _of_units(part, rows, logical)
        else:
            sql = _of_rows(part, _kept(rows, PLACED if kind == "units" else CHOSEN), logical)
        statements.append((Statement(sql, len(request.keys), len(positions)), tuple(positions)))
    return statements


def _of_rows(request: Request, table: str, logical: Logical) -> str:
    outputs = ", ".join(_keys(request) + measures(request, logical))
    return f"SELECT {outputs} FROM {table}{group_by(len(request.keys))}"  # noqa: S608


def _of_units(request: Request, rows: UnitRows, logical: Logical) -> str:
    """The sums of units' own sums, each clamped to its ends."""
    keys, outputs, dialect = _keys(request), [], logical.dialect
    for i, measure in enumerate(request.measures):
        ends = (f"CAST({end} AS {dialect.huge})" for end in (measure.low, measure.high))
        outputs.append(f"{between(total(measure, logical), *ends)} AS t{i}")
    inside = ", ".join([*keys, "u", *outputs])
    grouped = f"SELECT {inside} FROM {_kept(rows, PLACED)}{group_by(len(keys) + 1)}"  # noqa: S608
    totals = [dialect.total(f"t{i}") for i in range(len(request.measures))]
    totals += [] if keys else ["COUNT(*)"]
    sql = f"SELECT {', '.join(keys + totals)} FROM {dialect.nested(grouped)}"  # noqa: S608
    return sql + group_by(len(keys))


def _kept(rows: UnitRows, by: str = CHOSEN) -> str:
    """The kept rows of one pass, as they stand after FROM."""
    return rows.dialect.nested(f"SELECT {', '.join(rows.taken)} FROM handed WHERE {by}")  # noqa: S608


def _keys(request: Request | RankRequest) -> list[str]:
    return [f"k{i}" for i in range(len(request.keys))]


def _columns(measure: Measure) -> list[str]:
    factors = [factor.column for factor in measure.factors]
    return factors if measure.column is None else [measure.column, *factors]
