"""One number for each unit, and how these numbers lie in order.

Guarantee
    One unit more or less is one number more or less: nothing that other units have changes any of
    them. No row is chosen or left out, so nothing is drawn.
"""

from __future__ import annotations

from ..contract import Profile
from ..request import Contribution, ContributionRequest, Measure, People, RankRequest
from ..sql.dialect import Dialect
from ..sql.formula import logical_table
from ..sql.logical import Logical, Stored
from ..sql.rank import Run, check_windows, counted, met_by_cell
from ..sql.statement import group_by, total
from .crowd import crowd

_NOBODY = Profile(0, ())


def contributions(request: ContributionRequest, table: Stored, run: Run) -> Profile:
    """The profile of the contributions of all units."""
    check_windows(request.windows)
    logical, asked, dialect = logical_table(request, table), request.contribution, table.dialect
    columns = [*asked.columns, *([] if asked.column is None else [asked.column])]
    everybody = People(request.unit, 1, None)  # whose limits are not applied here
    rows = crowd(everybody, logical, where=request.where, keys=request.keys, columns=columns)
    keys = [f"k{i}" for i in range(len(request.keys))]
    of_units = _of_units(asked, dialect.nested(rows.sql), keys, logical)
    first, last = _whole(request.first, dialect), _whole(request.last, dialect)
    cut = f"CASE WHEN x < {first} THEN {first} WHEN x > {last} THEN {last} ELSE x END"
    values = dialect.nested(f"SELECT {cut} AS v FROM {dialect.nested(of_units)}")  # noqa: S608
    ranked = RankRequest("", request.windows)
    return met_by_cell(ranked, counted(values, 0), dialect, run).get((), _NOBODY)


def _of_units(asked: Contribution, rows: str, keys: list[str], logical: Logical) -> str:
    """The SELECT of x for each unit; NULL where it has none."""
    dialect = logical.dialect
    counts = [f"COUNT({logical.value(name)})" for name in asked.columns] or ["COUNT(*)"]
    if asked.kind == "rows":
        return f"SELECT u, {_most(counts)} AS x FROM {rows}{group_by(1)}"  # noqa: S608
    by_cell = group_by(1 + len(keys))
    if asked.kind == "cells":
        there = [f"{count} AS n{i}" for i, count in enumerate(counts)]
        sql = f"SELECT {', '.join(['u', *keys, *there])} FROM {rows}{by_cell}"  # noqa: S608
        cells = [f"COUNT(CASE WHEN n{i} > 0 THEN 1 END)" for i in range(len(counts))]
        return f"SELECT u, {_most(cells)} AS x FROM {dialect.nested(sql)}{group_by(1)}"  # noqa: S608
    own = total(Measure("total", asked.column), logical)
    sums = f"SELECT {', '.join(['u', *keys, f'{own} AS t'])} FROM {rows}{by_cell}"  # noqa: S608
    low, high = _whole(asked.low, dialect), _whole(asked.high, dialect)
    number = {
        "least": "MIN(t)",
        "largest": "MAX(t)",
        "beyond": f"SUM(CASE WHEN t < {low} OR t > {high} THEN 1 ELSE 0 END)",
    }[asked.kind]
    return f"SELECT u, {number} AS x FROM {dialect.nested(sums)}{group_by(1)}"  # noqa: S608


def _most(counts: list[str]) -> str:
    """The largest of some counts; NULL if all are 0."""
    most = counts[0] if len(counts) == 1 else f"GREATEST({', '.join(counts)})"
    return f"NULLIF({most}, 0)"


def _whole(number: int, dialect: Dialect) -> str:
    return f"CAST({number} AS {dialect.huge})"
