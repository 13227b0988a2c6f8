"""A request, written anew as one SELECT for DuckDB.

Rows are grouped by the *stored* values of category keys, as the plain query would do, and only the
groups are then turned into category numbers and added up: as fast as DuckDB's own GROUP BY, and
what is not declared still ends in no cell. Where people have limits, `people.py` chooses among the
rows first, and what it chose is measured. Totals are sums of integers as HUGEINT; see `steps.py`
and `product.py` for why they cannot overflow.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ...errors import refuse
from ...schema import Bounded, Column
from ..people.crowd import CHOSEN, PLACED, Crowd, crowd
from ..request import Group, Measure, People, Request
from .cell import stored_cell
from .logical import Held, Logical, unfit
from .predicate import truth
from .product import product


@dataclass(frozen=True)
class Statement:
    """One SELECT whose rows are `keys` key numbers, then the measures, then how many rows if there
    is no key. A key that is NULL is in no cell."""

    sql: str
    keys: int
    measures: int


def write(
    request: Request, source: str, held: Mapping[str, Held], declared: Mapping[str, Column]
) -> Statement:
    """The SELECT that answers a request without people."""
    sql = _of_rows(request, Logical(source, held, declared))
    return Statement(sql, len(request.keys), len(request.measures))


@dataclass(frozen=True)
class PeopleStatements:
    """What measures people.

    rows: the rows of all units.
    everybody: a SELECT from those themselves, if there is nothing to choose.
    chosen: SELECTs from what was chosen, which stands in `handed`, each with the places that its
        measures have in the request.
    """

    rows: Crowd
    everybody: Statement | None
    chosen: tuple[tuple[Statement, tuple[int, ...]], ...]


def write_for_people(
    request: Request,
    people: People,
    source: str,
    held: Mapping[str, Held],
    declared: Mapping[str, Column],
) -> PeopleStatements:
    """The SELECTs that answer a request with people."""
    logical = Logical(source, held, declared)
    named = [name for measure in request.measures for name in _columns(measure)]
    rows = crowd(people, logical, where=request.where, keys=request.keys, columns=named)
    kinds = [measure.kind == "unit-total" for measure in request.measures]
    by_unit = tuple(place for place, found in enumerate(kinds) if found)
    by_row = tuple(place for place, found in enumerate(kinds) if not found)
    chosen = []
    if by_row:
        asked = replace(request, measures=tuple(request.measures[i] for i in by_row))
        outputs = ", ".join(_keys(request) + _measures(asked, logical))
        # whoever has a row keeps one, whatever the limits
        if not request.keys and all(measure.kind == "units" for measure in request.measures):
            sql = f"SELECT {outputs} FROM ({rows.sql})"  # noqa: S608
            return PeopleStatements(rows, Statement(sql, 0, len(by_row)), ())
        sql = f"SELECT {outputs} FROM {chosen_rows(rows)}" + group_by(len(request.keys))  # noqa: S608
        chosen.append((Statement(sql, len(request.keys), len(by_row)), by_row))
    if by_unit:
        asked = replace(request, measures=tuple(request.measures[i] for i in by_unit))
        sql = _of_units(asked, rows, logical)
        chosen.append((Statement(sql, len(request.keys), len(by_unit)), by_unit))
    return PeopleStatements(rows, None, tuple(chosen))


def chosen_rows(rows: Crowd, by: str = CHOSEN) -> str:
    """The SQL of the rows chosen in one pass."""
    return f"(SELECT {', '.join(rows.taken)} FROM handed WHERE {by})"  # noqa: S608


def _keys(request: Request) -> list[str]:
    return [f"k{i}" for i in range(len(request.keys))]


def _of_units(request: Request, rows: Crowd, logical: Logical) -> str:
    """The sums of units' own sums, each cut to its ends."""
    keys, outputs = _keys(request), []
    for place, measure in enumerate(request.measures):
        total = f"SUM({_summed(measure, logical)})"
        low, high = (f"CAST({end} AS HUGEINT)" for end in (measure.low, measure.high))
        cut = f"CASE WHEN {total} < {low} THEN {low} WHEN {total} > {high} THEN {high} "
        outputs.append(f"{cut}ELSE {total} END AS t{place}")
    inside = ", ".join([*keys, "u", *outputs])
    grouped = f"SELECT {inside} FROM {chosen_rows(rows, PLACED)}{group_by(len(keys) + 1)}"  # noqa: S608
    totals = [f"SUM(t{place})" for place in range(len(request.measures))]
    totals += [] if keys else ["COUNT(*)"]
    return f"SELECT {', '.join(keys + totals)} FROM ({grouped})" + group_by(len(keys))  # noqa: S608


def _of_rows(request: Request, logical: Logical) -> str:
    keys = [stored_cell(key, logical) for key in request.keys]
    outputs = [f"{key} AS k{i}" for i, key in enumerate(keys)] + _measures(request, logical)
    where = "" if request.where is None else f" WHERE {truth(request.where, logical)}"
    sql = f"SELECT {', '.join(outputs)} FROM ({logical.write()}){where}"  # noqa: S608
    sql += group_by(len(keys))
    if any(isinstance(key, Group) for key in request.keys):
        sql = _numbered(sql, request, logical)
    return sql


def group_by(keys: int) -> str:
    """GROUP BY the first so many outputs."""
    return " GROUP BY " + ", ".join(str(i + 1) for i in range(keys)) if keys else ""


def _numbered(sql: str, request: Request, logical: Logical) -> str:
    """The same groups by category number, of which several stored values may share one."""
    outputs = [
        logical.number(key.column, f"k{i}") if isinstance(key, Group) else f"k{i}"
        for i, key in enumerate(request.keys)
    ]
    outputs += [f"SUM(m{i})" for i in range(len(request.measures))]
    return f"SELECT {', '.join(outputs)} FROM ({sql}){group_by(len(request.keys))}"  # noqa: S608


def _measures(request: Request, logical: Logical) -> list[str]:
    measures = [_measure(measure, logical, request.people) for measure in request.measures]
    if not request.keys:
        measures.append("COUNT(*)")
    return [f"{measure} AS m{i}" for i, measure in enumerate(measures)]


def _columns(measure: Measure) -> list[str]:
    """The columns that a measure reads, beside the unit."""
    factors = [factor.column for factor in measure.factors]
    return factors if measure.column is None else [measure.column, *factors]


def _measure(measure: Measure, logical: Logical, people: People | None) -> str:
    if measure.kind == "rows":
        return "COUNT(*)"
    if measure.kind in ("units", "unit-total") and people is None:
        raise refuse("engine.request-is-about-units-and-does-not")
    if measure.kind == "units":
        return "COUNT(DISTINCT u)"
    if measure.kind == "moment":
        return f"SUM({product(measure.factors, logical)})"
    column = logical.column(measure.column)
    if measure.kind == "present":
        # what is never missing needs no look at the value
        if column.missing is not None:
            return "COUNT(*)"
        there = logical.present if people is None else logical.value
        return f"COUNT({there(column.name)})"
    return f"SUM({_summed(measure, logical)})"


def _summed(measure: Measure, logical: Logical) -> str:
    column = logical.column(measure.column)
    if not isinstance(column, Bounded):
        raise unfit(column, "has no total")
    return logical.value(column.name)
