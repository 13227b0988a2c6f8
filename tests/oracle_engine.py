"""An engine in plain Python, slow and obvious: what every other engine must equal.

Rows are dictionaries of Python values: int and Decimal are exact, float is IEEE double, date and
datetime are what they are. It shares no code with the engines it judges.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from tenue.engine.computed_column import (
    All,
    Among,
    Any_,
    Choice,
    DateField,
    Formula,
    Missing,
    Not,
    Predicate,
    Product,
    Quotient,
    Steps,
    Within,
)
from tenue.engine.contract import Cells, Profile, Profiles, Validated
from tenue.engine.request import (
    Bin,
    Calendar,
    CellKey,
    ContributionRequest,
    Group,
    Measure,
    People,
    Pieces,
    RankRequest,
    Request,
    Units,
    UnitValue,
)
from tenue.schema import Boolean, Category, Column, Date, Datetime, Identifier, Named, Number, Table
from tenue.schema.expression import Constant, Name, Negative, Operation, Tree

__all__ = ["OracleEngine"]

Row = Mapping[str, Any]
Cell = tuple[int, ...]
Placed = tuple[Cell, Row]
HALF = Fraction(1, 2)
DAY_ZERO, SECOND_ZERO = date(1970, 1, 1), datetime(1970, 1, 1)
MICROSECOND = timedelta(microseconds=1)
TRUE, FALSE = ("true", "t", "yes", "y", "1"), ("false", "f", "no", "n", "0")


BY_UNIT = ("units", "unit-total")
"""What is measured over all rows of a unit, in the cells kept of it."""


class OracleEngine:
    """Measures requests on a list of rows."""

    files = None
    excess: tuple[str, ...] = ()

    def __init__(
        self, schema: Table, rows: Sequence[Row], order: Callable[[int], list[int]] | None = None
    ) -> None:
        """`order(n)` is an order of n things, each drawn anew and all equally likely."""
        self.schema = schema
        self.order = order or (lambda n: random.sample(range(n), n))
        self.rows = [{name.lower(): value for name, value in row.items()} for row in rows]
        self.formulas: dict[str, Formula] = {}

    def validate(self) -> Validated:
        return Validated(len(self.rows), {})

    def look_up(self, unit: str, name: str, column: str) -> list[int | None]:
        found = []
        declared = self.schema.column(column)
        for row in self.rows:
            stored = row.get(unit.lower())
            if stored is not None and not isinstance(stored, bool) and str(stored) == name:
                found.append(_logical(declared, row.get(column.lower())))
        return found[:2]

    def measure(self, request: Request) -> Cells:
        if request.units is not None:
            return self._persons(request.units).measure(replace(request, units=None))
        self.formulas = {one.name: one.formula for one in request.computed}
        found = placed = self._rows(request.where, request.keys)
        by_unit = any(measure.kind in BY_UNIT for measure in request.measures)
        people = request.people
        if people is not None and by_unit:
            cells_only = People(people.unit, len(found) + 1, people.groups)
            placed = self.kept(cells_only, found, keyed=bool(request.keys))
            found = self.kept(People(people.unit, people.rows, None), placed, keyed=False)
        elif people is not None:
            found = placed = self.kept(people, found, keyed=bool(request.keys))
        rows: dict[str, dict[Cell, list[Row]]] = {
            kind: {key: [row for other, row in chosen if other == key] for key, _ in placed}
            for kind, chosen in (("units", placed), ("", found))
        }
        return {
            key: tuple(
                self._measured(measure, rows["units"][key], people)
                if measure.kind in BY_UNIT
                else self._measured(measure, rows[""][key], people)
                for measure in request.measures
            )
            for key in rows[""]
        }

    def ranks(self, request: RankRequest) -> Profiles:
        if request.units is not None:
            return self._persons(request.units).ranks(replace(request, units=None))
        self.formulas = {one.name: one.formula for one in request.computed}
        found = [
            (key, row)
            for key, row in self._rows(request.where, request.keys)
            if self.value(request.column, row) is not None
        ]
        if request.people is not None:
            found = self.kept(request.people, found, keyed=bool(request.keys))
        cells: dict[Cell, list[int]] = {}
        for key, row in found:
            cells.setdefault(key, []).append(self.value(request.column, row) or 0)
        return {key: _profile(values, request) for key, values in cells.items()}

    def contributions(self, request: ContributionRequest) -> Profile:
        self.formulas = {one.name: one.formula for one in request.computed}
        asked, units = request.contribution, dict[Any, dict[Cell, list[Row]]]()
        for key, row in self._rows(request.where, request.keys):
            unit = self.unit(request.unit, row)
            if unit is not None:
                units.setdefault(unit, {}).setdefault(key, []).append(row)
        numbers = []
        for cells in units.values():
            sums = []
            for rows in cells.values() if asked.column is not None else ():
                values = [self.value(str(asked.column), row) for row in rows]
                if own := [value for value in values if value is not None]:
                    sums.append(sum(own))
            there = [  # of each column, and each cell: how many rows have a value
                [sum(self.value(name, row) is not None for row in rows) for rows in cells.values()]
                for name in asked.columns
            ] or [list(map(len, cells.values()))]
            if (asked.kind in ("least", "largest") and not sums) or not any(map(any, there)):
                continue
            number = {
                "rows": lambda there=there: max(map(sum, there)),
                "cells": lambda there=there: max(sum(map(bool, counts)) for counts in there),
                "least": lambda sums=sums: min(sums),
                "largest": lambda sums=sums: max(sums),
                "beyond": lambda sums=sums: sum(not asked.low <= own <= asked.high for own in sums),
            }[asked.kind]()
            numbers.append(min(max(number, request.first), request.last))
        return _profile(numbers, request)

    def _persons(self, units: Units) -> OracleEngine:
        """The same on a table that has one row for each unit."""
        self.formulas = {one.name: one.formula for one in units.computed}
        own: dict[Any, list[Row]] = {}
        for _, row in self._rows(units.where, ()):
            unit = self.unit(units.unit, row)
            if unit is not None:
                own.setdefault(unit, []).append(row)
        table = [
            {value.name: self._of_unit(value, rows) for value in units.values}
            for rows in own.values()
        ]
        columns = [
            Number(
                name=value.name,
                role="other",
                low=Fraction(value.low),
                high=Fraction(value.high),
                grid=Fraction(1),
            )
            for value in units.values
        ]
        named = Named((column.name, column) for column in columns)
        return OracleEngine(replace(self.schema, columns=named), table)

    def _of_unit(self, value: UnitValue, rows: list[Row]) -> int | None:
        steps = [] if value.column is None else [self.value(value.column, row) for row in rows]
        there = [step for step in steps if step is not None]
        if value.kind in ("rows", "present"):
            found = len(rows) if value.kind == "rows" else len(there)
        elif not there:
            return None
        else:
            found = {
                "total": sum(there),
                "least": min(there),
                "largest": max(there),
                "mean": math.floor(Fraction(sum(there), len(there)) + HALF),
            }[value.kind]
        return min(max(found, value.low), value.high)

    def column_steps(self, *columns: str) -> np.ndarray:
        found = [[self.value(name, row) for name in columns] for row in self.rows]
        whole = sorted(values for values in found if None not in values)
        return np.array(whole, dtype=np.int64).reshape(-1, len(columns))

    def kept(self, people: People, found: Sequence[Placed], *, keyed: bool) -> list[Placed]:
        """Those rows of each unit that count: first its cells are chosen, then its rows."""
        units: dict[Any, list[Placed]] = {}
        for key, row in found:
            unit = self.unit(people.unit, row)
            if unit is not None:
                units.setdefault(unit, []).append((key, row))
        chosen = []
        for placed in units.values():
            if keyed and people.groups is not None:
                cells = sorted({key for key, _ in placed})
                keys = {cells[i] for i in self.order(len(cells))[: people.groups]}
                placed = [(key, row) for key, row in placed if key in keys]
            chosen += [placed[i] for i in self.order(len(placed))[: people.rows]]
        return chosen

    def unit(self, name: str, row: Row) -> Any:
        """Who the row belongs to, None if nobody; 1 and True and "1" are three."""
        if isinstance(self.schema.column(name), Identifier):
            value = row[name.lower()]
            missing = value is None or value != value
            return None if missing else (type(value).__name__, value)
        return self.value(name, row)

    def _rows(self, where: Predicate | None, keys: Sequence[CellKey]) -> list[Placed]:
        found = []
        for row in self.rows:
            if where is not None and self._holds(where, row) is not True:
                continue
            cell = [self._cell(key, row) for key in keys]
            whole = tuple(number for number in cell if number is not None)
            if len(whole) == len(cell):
                found.append((whole, row))
        return found

    def _measured(self, measure: Measure, rows: list[Row], people: People | None) -> int:
        if measure.kind == "rows":
            return len(rows)
        if measure.kind == "units":
            assert people is not None
            return len({self.unit(people.unit, row) for row in rows})
        total = 0
        if measure.kind == "moment":
            for row in rows:
                values = [self.value(factor.column, row) for factor in measure.factors]
                if None not in values:
                    total += math.prod(
                        (value - factor.shift) ** factor.power  # type: ignore[operator]
                        for value, factor in zip(values, measure.factors, strict=True)
                    )
            return total
        if measure.kind == "unit-total":
            assert people is not None
            sums: dict[Any, int] = {}
            for row in rows:
                value = self.value(str(measure.column), row)
                if value is not None:
                    unit = self.unit(people.unit, row)
                    sums[unit] = sums.get(unit, 0) + value
            return sum(min(max(own, measure.low), measure.high) for own in sums.values())
        column = [self.value(str(measure.column), row) for row in rows]
        there = [value for value in column if value is not None]
        return len(there) if measure.kind == "present" else sum(there)

    def close(self) -> None:
        pass

    def value(self, name: str, row: Row) -> int | None:
        """Steps, the number of the category, or 0 and 1 for False and True."""
        if name in self.formulas:
            return self._formula(self.formulas[name], row)
        column = self.schema.column(name)
        if isinstance(column, Number) and column.expression is not None:
            found = _steps(column, self._computed(column.expression.tree, row))
        else:
            found = _logical(column, row[name.lower()])
        return _missing(column) if found is None else found

    def _computed(self, tree: Tree, row: Row) -> float | None:
        if isinstance(tree, Constant):
            return _nearest(tree.value)
        if isinstance(tree, Name):
            column, steps = self.schema.column(tree.name), self.value(tree.name, row)
            assert isinstance(column, Number)
            if steps is None:
                return None
            p, q = column.grid.numerator, column.grid.denominator
            if max(p, q) > 2**53:
                return float(steps) * float(column.grid)
            return float(steps) * float(p) / float(q)
        if isinstance(tree, Negative):
            of = self._computed(tree.of, row)
            return None if of is None else -of
        return _operated(tree, self._computed(tree.left, row), self._computed(tree.right, row))

    def _formula(self, formula: Formula, row: Row) -> int | None:
        if isinstance(formula, Steps):
            return self.value(formula.column, row)
        if isinstance(formula, DateField):
            steps, column = self.value(formula.column, row), self.schema.column(formula.column)
            return None if steps is None else _field(formula.field, column, steps)
        if isinstance(formula, Choice):
            for condition, part in formula.cases:
                if self._holds(condition, row) is True:
                    return self._formula(part, row)
            last = formula.otherwise
            return None if last is None else self._formula(last, row)
        if isinstance(formula, Quotient):
            inside = self._formula(formula.of, row)
            return None if inside is None else math.floor(Fraction(inside, formula.divisor))
        if isinstance(formula, Product):
            factors = [self._formula(part, row) for part in formula.factors]
            return None if None in factors else math.prod(factors)  # type: ignore[arg-type]
        terms = [(weight, self._formula(part, row)) for weight, part in formula.terms]
        if any(part is None for _, part in terms):
            return None
        return formula.constant + sum(weight * part for weight, part in terms)  # type: ignore[operator]

    def _holds(self, predicate: Predicate, row: Row) -> bool | None:
        if isinstance(predicate, Not):
            part = self._holds(predicate.part, row)
            return None if part is None else not part
        if isinstance(predicate, All | Any_):
            parts = [self._holds(part, row) for part in predicate.parts]
            decisive = isinstance(predicate, Any_)
            if decisive in parts:
                return decisive
            return None if None in parts else not decisive
        value = self.value(predicate.column, row)
        if isinstance(predicate, Missing):
            return value is None
        if value is None:
            return None
        if isinstance(predicate, Within):
            low = predicate.first is None or predicate.first <= value
            return low and (predicate.last is None or value <= predicate.last)
        assert isinstance(predicate, Among)
        column = self.schema.column(predicate.column)
        if isinstance(column, Category):
            return column.categories[value] in predicate.values
        return bool(value) in predicate.values

    def _cell(self, key: CellKey, row: Row) -> int | None:
        value = self.value(key.column, row)
        if isinstance(key, Pieces):
            if value is None:
                return key.cells - 1
            return key.classes[value] if key.classes else sum(s <= value for s in key.starts)
        if value is None or isinstance(key, Group):
            return value
        if isinstance(key, Bin):
            cell = value // key.width - key.first
        else:
            cell = _calendar(key, self.schema.column(key.column), value) - key.first
        return cell if 0 <= cell < key.cells else None


def _profile(values: list[int], request: RankRequest | ContributionRequest) -> Profile:
    rows, told = len(values), []
    for value, count in sorted(Counter(values).items()):
        below = sum(other < value for other in values)
        for window in request.windows:
            middle = window.a * rows
            over = window.b * below - (middle + window.c1)
            under = middle + window.c2 - window.b * (below + count)
            if max(over, under, 0) < window.reach:
                told.append((value, below, count))
                break
    return Profile(rows, tuple(told))


def _missing(column: Column) -> int | None:
    if column.missing is None or isinstance(column, Boolean):
        return None if column.missing is None else int(bool(column.missing))
    if isinstance(column, Category):
        return column.categories.index(str(column.missing))
    return _logical(column, column.missing)


def _logical(column: Column, value: Any) -> int | None:
    if value is None:
        return None
    if isinstance(column, Number):
        return _steps(column, value)
    if isinstance(column, Date | Datetime):
        return _moment(column, value)
    if isinstance(column, Category):
        text = str(value).lower() if isinstance(value, bool) else str(value)
        return column.categories.index(text) if text in column.categories else None
    if isinstance(value, str):
        word = value.strip(" ").lower()
        return 1 if word in TRUE else 0 if word in FALSE else None
    return int(value) if value in (0, 1) else None


def _steps(column: Number, value: Any) -> int | None:
    if value is None:
        return None
    low, high = int(column.low / column.grid), int(column.high / column.grid)
    if isinstance(value, int | Fraction | Decimal):
        steps: Any = math.floor(Fraction(value) / column.grid + HALF)
    else:
        if math.isnan(value):
            return None
        steps = _rounded(float(value), column.grid)
    return low if steps < low else high if steps > high else int(steps)


def _rounded(x: float, grid: Fraction) -> float:
    p, q = grid.numerator, grid.denominator
    y = x / float(grid) if max(p, q) > 2**53 else x * float(q) / float(p)
    return float(math.floor(y + 0.5)) if abs(y) < 2**52 else y


def _moment(column: Date | Datetime, value: Any) -> int:
    moment = value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)
    if moment.tzinfo is not None:
        moment = moment.replace(tzinfo=None) - moment.utcoffset()  # type: ignore[operator]
    number = Fraction((moment - SECOND_ZERO) // MICROSECOND, 10**6)
    if isinstance(column, Date):
        number = Fraction(number // (24 * 60 * 60))
    steps = math.floor((number - column.low) / column.grid + HALF)
    return min(max(steps, 0), column.steps)


def _calendar(key: Calendar, column: Column, steps: int) -> int:
    assert isinstance(column, Date | Datetime)
    number = column.low + steps * column.grid
    seconds = number * 86400 if isinstance(column, Date) else number
    if key.part == "hour":
        return math.floor(seconds / 3600)
    days = math.floor(seconds / 86400)
    day = DAY_ZERO + timedelta(days=days)
    return {
        "day": days,
        "week": (days + 3) // 7,
        "month": day.year * 12 + day.month - 1,
        "quarter": day.year * 4 + (day.month - 1) // 3,
        "year": day.year,
    }[key.part]


def _field(name: str, column: Column, steps: int) -> int:
    assert isinstance(column, Date | Datetime)
    number = column.low + steps * column.grid
    seconds = number * 86400 if isinstance(column, Date) else number
    moment = SECOND_ZERO + timedelta(microseconds=int(seconds * 10**6))
    return {
        "year": moment.year,
        "quarter": (moment.month + 2) // 3,
        "month": moment.month,
        "isodow": moment.isoweekday(),
        "hour": moment.hour,
    }[name]


def _operated(tree: Operation, left: float | None, right: float | None) -> float | None:
    if left is None or right is None or (tree.sign == "/" and right == 0):
        return None
    with_sign = {"+": float.__add__, "-": float.__sub__, "*": float.__mul__, "/": float.__truediv__}
    return with_sign[tree.sign](left, right)


def _nearest(number: Fraction) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf
