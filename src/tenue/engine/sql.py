"""A request, written anew as one SELECT for DuckDB.

Rows are grouped by the *stored* values of category keys, as the plain query would do, and only the
groups are then turned into category numbers and added up: as fast as DuckDB's own GROUP BY, and
what is not declared still ends in no cell. Where people have limits, `people.py` chooses among the
rows first, and what it chose is measured. Totals are sums of integers as HUGEINT; see `steps.py`
and `product.py` for why they cannot overflow.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..errors import InvalidArgument
from ..schema import Bounded, Column
from .cell import stored_cell
from .logical import Held, Logical, unfit
from .people import CHOSEN, Crowd, crowd
from .predicate import truth
from .product import product
from .request import Group, Measure, People, Request

__all__ = ["Statement", "chosen", "group_by", "write", "write_for_people"]


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


def write_for_people(
    request: Request,
    people: People,
    source: str,
    held: Mapping[str, Held],
    declared: Mapping[str, Column],
) -> tuple[Crowd, Statement, bool]:
    """The rows of all units; the SELECT that measures those chosen of them, which stand in
    `handed`; and whether it is a SELECT from the rows themselves, for there is nothing to choose.
    """
    logical = Logical(source, held, declared)
    named = [name for measure in request.measures for name in _columns(measure)]
    rows = crowd(people, logical, where=request.where, keys=request.keys, columns=named)
    outputs = [f"k{i}" for i in range(len(request.keys))] + _measures(request, logical)
    # whoever has a row keeps one, whatever the limits
    everybody = not request.keys and all(measure.kind == "units" for measure in request.measures)
    found = f"({rows.sql})" if everybody else chosen(rows)
    sql = f"SELECT {', '.join(outputs)} FROM {found}" + group_by(len(request.keys))  # noqa: S608
    return rows, Statement(sql, len(request.keys), len(request.measures)), everybody


def chosen(rows: Crowd) -> str:
    """The SQL of the rows chosen in one pass."""
    return f"(SELECT {', '.join(rows.taken)} FROM handed WHERE {CHOSEN})"  # noqa: S608


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
    if measure.kind == "units":
        if people is None:
            raise InvalidArgument(
                "A request counts units and does not say who they are",
                "Units are those of the request's `people`",
                "Give the request `people`",
            )
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
    if not isinstance(column, Bounded):
        raise unfit(column, "has no total")
    return f"SUM({logical.value(column.name)})"
