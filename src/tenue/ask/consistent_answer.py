"""An answer made consistent: whole, not negative, adding up, with its own error.

Computed from released numbers alone, so it costs nothing; and it is no longer unbiased: what was
below 0 is moved up. Estimates of one total are first combined by their variances, from the parts
upwards; then each total is shared out to its parts, from the totals downwards.

An answer is the total of another if it asks the same of the same rows by fewer keys, and no row is
without one of the further keys. Nothing may be cut: what is kept of a person is drawn anew for each
question. GROUPING SETS, once they exist, state their totals themselves; they come in here.

Guarantee
    Everything here is computed from released numbers, question and schema. An interval holds the
    true value with probability at least its level: with r the half-width of the raw answer, the
    consistent value is within r + |consistent − raw| of the truth whenever the raw one is within r.
    What is true is not below 0, so neither is an end.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

from ..arguments import Number, fraction_of_one
from ..engine.request import Key
from ..errors import refuse
from ..schema import Number as NumberColumn
from ..schema import Schema
from ..text import html_table, notes, plain, readable, sentence, shortly, text_table
from .aggregates.reading import SHOWN_LEVEL, Reading
from .cells import Row, shaped
from .plan.plan import Plan
from .plan.truncation import Limit
from .question import Aggregate, Output, seen_by
from .release import Released

if TYPE_CHECKING:
    import pandas as pd


Sums = Mapping[int, Sequence[Sequence[int]]]
"""For each place that is a total, the places of its parts: once for each way to part it."""

_HALF = Fraction(1, 2)
_FINE = 4096


def reconciled(raw: Sequence[Fraction], variances: Sequence[float], sums: Sums) -> list[int]:
    """Whole numbers near the raw ones, none below 0, in which every total is that of its parts.

    A place is a part of one total at most, and no total is a part of itself.

    Example
        >>> reconciled([Fraction(10), Fraction(-2), Fraction(9)], [1, 1, 1], {0: [[1, 2]]})
        [9, 0, 9]
    """
    parts = {place for ways in sums.values() for way in ways for place in way}
    roots = [place for place in range(len(raw)) if place not in parts]
    near: dict[int, Fraction] = {}
    for place in roots:
        _combine(place, raw, variances, sums, near)
    found = [0] * len(raw)
    for place in roots:
        found[place] = max(0, _rounded(near[place]))
    while roots:
        total = roots.pop()
        for way in sums.get(total, ()):
            values = shared_out(found[total], [near[place] for place in way])
            for place, value in zip(way, values, strict=True):
                found[place] = value
            roots.extend(way)
    return found


def shared_out(total: int, wanted: Sequence[Fraction]) -> list[int]:
    """Whole numbers that are not negative, have this total, and lie near what is wanted.

    The point of the simplex that is nearest to it, then rounded so that the total stays: what was
    rounded down most is rounded up first.

    Example
        >>> shared_out(10, [Fraction(6), Fraction(-3), Fraction(5)])
        [6, 0, 4]
    """
    above, before = Fraction(0), Fraction(0)
    for count, value in enumerate(sorted(wanted, reverse=True), start=1):
        before += value
        moved = (before - total) / count
        if count == 1 or value > moved:
            above = moved
    points = [max(Fraction(0), value - above) for value in wanted]
    found = [math.floor(point) for point in points]
    order = sorted(range(len(points)), key=lambda i: (found[i] - points[i], i))
    for place in order[: total - sum(found)]:
        found[place] += 1
    return found


def _combine(
    place: int,
    raw: Sequence[Fraction],
    variances: Sequence[float],
    sums: Sums,
    near: dict[int, Fraction],
) -> float:
    """Puts the best estimate of a place, from itself and what lies below it, and of all of these
    among the `near`; returns its variance."""
    estimates = [(raw[place], variances[place])]
    for way in sums.get(place, ()):
        variance = sum(_combine(part, raw, variances, sums, near) for part in way)
        estimates.append((sum((near[part] for part in way), Fraction(0)), variance))
    known = next((value for value, variance in estimates if not variance), None)
    if known is not None:
        near[place] = known
        return 0.0
    weights = [Fraction(1 / variance) for _, variance in estimates]
    pairs = zip(weights, estimates, strict=True)
    weighed = sum((weight * value for weight, (value, _) in pairs), Fraction(0))
    whole = sum(weights, Fraction(0))
    # numbers of many digits help nobody: how far a value is moved is in its error
    near[place] = Fraction(_rounded(_FINE * weighed / whole), _FINE)
    return float(1 / whole)


def _rounded(number: Fraction) -> int:
    return math.floor(number + _HALF)


# -- Which answers are the totals of which, as far as question and schema can tell -----------------


def totals_of(plans: Sequence[Plan], schema: Schema) -> dict[int, int]:
    """For each answer that has a total among the others, the number of the nearest one.

    Refused where an answer has two totals neither of which is the total of the other: its parts
    would have to add up in both ways at once.
    """
    found: dict[int, int] = {}
    for number, plan in enumerate(plans):
        above = [
            other
            for other in range(len(plans))
            if other != number and _is_total(plans[other], plan, schema, first=other < number)
        ]
        if not above:
            continue
        nearest = max(above, key=lambda other: (len(plans[other].question.keys), other))
        keys = set(plans[nearest].question.keys)
        if any(not set(plans[other].question.keys) <= keys for other in above):
            raise refuse("ask.totals-disagree", sql=plan.sql)
        found[number] = nearest
    return found


def _is_total(total: Plan, part: Plan, schema: Schema, *, first: bool) -> bool:
    fewer, more = set(total.question.keys), set(part.question.keys)
    same_rows = (total.question.where, total.question.persons) == (
        part.question.where,
        part.question.persons,
    )
    if total.limits or part.limits or not same_rows or not fewer <= more:
        return False
    if fewer == more and not first:
        return False
    seen = seen_by(part.question, schema)
    return all(seen.column(key.column).missing is not None for key in more - fewer)


def cells_of(total: Sequence[Key], part: Sequence[Key]) -> list[list[int]]:
    """For each cell of the total the cells of its parts, by number: the last key runs fastest."""
    places = [part.index(key) for key in total]
    number = {place: i for i, place in enumerate(product(*(range(key.cells) for key in total)))}
    found: list[list[int]] = [[] for _ in number]
    for cell, place in enumerate(product(*(range(key.cells) for key in part))):
        found[number[tuple(place[i] for i in places)]].append(cell)
    return found


# -- An answer made consistent, with its own error -------------------------------------------------

_NOTE = (
    "Made consistent, at no price: whole, not below 0, and parts add up to the totals asked with "
    "them. ± holds with at least 95 % and includes how far each value was moved. Sums and means of "
    "such values are biased; those of raw answers are not."
)


@dataclass(frozen=True)
class Made:
    """An output that is made consistent: what it asks, how it is read, the grid of its values."""

    asked: Aggregate
    reading: Reading
    grid: Fraction


@dataclass(frozen=True)
class Raw:
    """A private answer, before it is made consistent.

    shown: the rows of the answer, after HAVING, ORDER BY and LIMIT.
    limits: what may have been cut; cut: the same in words.
    """

    plan: Plan
    schema: Schema
    released: Released
    shown: Sequence[Row]
    limits: tuple[Limit, ...] = ()
    cut: str = ""

    @cached_property
    def made(self) -> dict[str, Made]:
        """Each output by its name; refused if one is no count or sum of what is not negative."""
        outputs = [output for output in self.plan.question.outputs if isinstance(output, Output)]
        return {
            output.alias: Made(asked, reading, self._grid(asked))
            for output, reading in zip(outputs, self.plan.readings, strict=True)
            for asked in [_counted(output, seen_by(self.plan.question, self.schema))]
        }

    def _grid(self, asked: Aggregate) -> Fraction:
        seen = seen_by(self.plan.question, self.schema)
        column = seen.columns.get(asked.column or "")
        is_sum = asked.kind == "sum" and isinstance(column, NumberColumn)
        return column.grid if is_sum else Fraction(1)  # type: ignore[union-attr]

    def near(self, made: Made, cell: int, level: Fraction) -> tuple[Fraction, Fraction]:
        """The middle of the raw interval of one cell, and half of its width."""
        found = made.reading.interval(
            self.plan.parts, level, self.released.cells[cell], self.released.rows
        )
        assert found is not None  # noqa: S101 - counts and sums always have one
        return (found[0] + found[1]) / 2, (found[1] - found[0]) / 2


@dataclass(frozen=True, repr=False)
class Consistent:
    """An answer that could be that of a table.

    value, exact: as those of the raw answer, whose rows it shows in the same order.
    steps: of each output the values of all cells, in steps of its grid.
    """

    raw: Raw
    steps: dict[str, list[int]]

    def _exact(self, alias: str, cell: int) -> Fraction:
        return self.steps[alias][cell] * self.raw.made[alias].grid

    def _per_output(self, compute: Callable[[str, int], Any]) -> Any:
        """Whatever is computed of each output of each row, in the shape of `value`."""
        return shaped(
            [
                {
                    name: compute(name, cell) if name in self.steps else plain(value)
                    for name, value in row.items()
                }
                for cell, row in self.raw.shown
            ],
            self.raw.plan.question,
        )

    @property
    def value(self) -> Any:
        return self._per_output(lambda alias, cell: plain(self._exact(alias, cell)))

    @property
    def exact(self) -> Any:
        return self._per_output(self._exact)

    @property
    def limits(self) -> tuple[Limit, ...]:
        """What may have been cut of each person: no ± covers it."""
        return self.raw.limits

    def interval(self, level: Number) -> Any:
        """Where the true value lies with probability at least `level`, in the shape of `value`."""
        wanted = fraction_of_one(level, "level")
        return self._per_output(lambda name, cell: self._ends(name, cell, wanted))

    def half_width(self, level: Number) -> Any:
        """How far the true value is off at most, with probability `level`: that of the raw answer,
        and how far it was moved."""
        wanted = fraction_of_one(level, "level")
        return self._per_output(lambda name, cell: plain(self._half(name, cell, wanted)))

    def _half(self, alias: str, cell: int, level: Fraction) -> Fraction:
        middle, half = self.raw.near(self.raw.made[alias], cell, level)
        return half + abs(self._exact(alias, cell) - middle)

    def _ends(self, alias: str, cell: int, level: Fraction) -> tuple[Any, Any]:
        value, half = self._exact(alias, cell), self._half(alias, cell, level)
        return plain(max(Fraction(0), value - half)), plain(value + half)

    def to_pandas(self) -> pd.DataFrame:
        """A pandas data frame."""
        import pandas as pd

        found = [
            {
                name: plain(self._exact(name, cell)) if name in self.steps else plain(value)
                for name, value in row.items()
            }
            for cell, row in self.raw.shown
        ]
        return pd.DataFrame(found)

    def to_dict(self) -> dict[str, Any]:
        return {
            "question": self.raw.plan.sql,
            "consistent": True,
            "value": json.loads(json.dumps(self.value, default=str)),
            "interval_95": json.loads(json.dumps(self.interval(SHOWN_LEVEL), default=str)),
            "limits": [limit.to_dict() for limit in self.limits],
        }

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def _table(self) -> list[list[str]]:
        names = [output.alias for output in self.raw.plan.question.outputs]
        header = [
            word for name in names for word in ([name, "±"] if name in self.steps else [name])
        ]
        body = []
        for cell, row in self.raw.shown:
            line: list[str] = []
            for name in names:
                if name not in self.steps:
                    line.append(str(plain(row[name])))
                    continue
                line.append(readable(self._exact(name, cell)))
                line.append(shortly(float(self._half(name, cell, SHOWN_LEVEL))))
            body.append(line)
        return [header, *body]

    def _notes(self) -> list[str]:
        cut = [sentence(f"{self.raw.cut}: what that cuts is in no ±.")] if self.raw.cut else []
        return [*cut, _NOTE]

    def __str__(self) -> str:
        return "\n".join([*text_table(self._table()), *notes(self._notes())])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return html_table(self._table(), after=self._notes())


def make_consistent(several: Sequence[Raw]) -> list[Consistent]:
    """The answers of one table, each consistent in itself and with those that are its totals."""
    made = [raw.made for raw in several]
    plans = [raw.plan for raw in several]
    above = totals_of(plans, several[0].schema) if several else {}
    found: list[dict[str, list[int]]] = [{} for _ in several]
    asked = dict.fromkeys(one.asked for outputs in made for one in outputs.values())
    for aggregate in asked:
        _reconcile(aggregate, several, made, above, found)
    return [Consistent(raw, steps) for raw, steps in zip(several, found, strict=True)]


def _reconcile(
    aggregate: Aggregate,
    several: Sequence[Raw],
    made: Sequence[dict[str, Made]],
    above: dict[int, int],
    found: list[dict[str, list[int]]],
) -> None:
    """All that several answers say of one count or sum."""
    first: dict[int, int] = {}  # where the cells of an answer begin
    names: dict[int, list[str]] = {}
    raw: list[Fraction] = []
    variances: list[float] = []
    for number, one in enumerate(several):
        named = [alias for alias, output in made[number].items() if output.asked == aggregate]
        if not named:
            continue
        output, first[number], names[number] = made[number][named[0]], len(raw), named
        error = output.reading.before_rows(one.plan.parts, one.released.rows)
        assert error is not None  # noqa: S101 - that of counts and sums is always known
        for cell in range(one.plan.cells):
            raw.append(one.near(output, cell, SHOWN_LEVEL)[0] / output.grid)
            variances.append(error.variance / float(output.grid) ** 2)
    sums: dict[int, list[list[int]]] = {}
    for part, total in above.items():
        if part in first and total in first:
            keys = several[total].plan.question.keys, several[part].plan.question.keys
            for cell, cells in enumerate(cells_of(*keys)):
                way = [first[part] + place for place in cells]
                sums.setdefault(first[total] + cell, []).append(way)
    steps = reconciled(raw, variances, sums)
    for number, start in first.items():
        own = steps[start : start + several[number].plan.cells]
        found[number] |= dict.fromkeys(names[number], own)


def _counted(output: Output, schema: Schema) -> Aggregate:
    """The count or sum that an output is; refused if it is not to be made consistent."""
    asked = output.expression
    if isinstance(asked, Aggregate):
        if asked.kind == "units":
            raise refuse("ask.persons-not-additive", alias=output.alias)
        column = schema.columns.get(asked.column or "")
        never_negative = isinstance(column, NumberColumn) and column.low >= 0
        if asked.kind == "count" or (asked.kind == "sum" and never_negative):
            return asked
    raise refuse("ask.consistency-needs-counts", alias=output.alias)
