"""An answer made consistent: whole, not negative, adding up, with its own error.

Post-processing of released numbers, so it costs nothing; it is biased, because negative values are
moved up. Estimates of one total are first combined by their variances, from the parts upwards; then
each total is divided among its parts, from the totals downwards.

An answer is the total of another if it asks the same of the same rows by fewer keys, and no row
lacks one of the further keys. No contribution limit may apply: which rows of a person are kept is
drawn anew for each question.

Guarantee
    Everything here is computed from released numbers, question and schema. An interval covers the
    true value with probability at least its level: with r the half-width of the raw answer, the
    consistent value is within r + |consistent − raw| of the truth whenever the raw one is within r.
    The truth is not negative, so neither is an end.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, product
from typing import TYPE_CHECKING, Any

from ..arguments import Number, fraction_of_one
from ..engine.request import Key
from ..errors import refuse
from ..schema import Number as NumberColumn
from ..schema import Schema
from ..text import html_table, notes, plain, readable, sentence, shortly, text_table
from .aggregates.reading import SHOWN_LEVEL, Reading
from .answer import Answer
from .cells import Shown, as_json, shaped
from .plan.plan import Plan
from .plan.truncation import Limit
from .question import Aggregate, seen_by

if TYPE_CHECKING:
    import pandas as pd


Sums = Mapping[int, Sequence[Sequence[int]]]
"""For the index of each total, the indices of its parts: one list for each partition of it."""

_HALF = Fraction(1, 2)
_FINE = 4096


def reconciled(raw: Sequence[Fraction], variances: Sequence[float], sums: Sums) -> list[int]:
    """Whole numbers near the raw ones, none negative, in which every total is the sum of its parts.

    A number is a part of one total at most, and no total is a part of itself.

    Example
        >>> reconciled([Fraction(10), Fraction(-2), Fraction(9)], [1, 1, 1], {0: [[1, 2]]})
        [9, 0, 9]
    """
    parts = {part for partitions in sums.values() for partition in partitions for part in partition}
    roots = [index for index in range(len(raw)) if index not in parts]
    best: dict[int, Fraction] = {}

    def combine(index: int) -> float:
        """Keeps the best estimate of a number and of all parts below it; gives its variance."""
        estimates = [(raw[index], variances[index])]
        for partition in sums.get(index, ()):
            variance = sum(map(combine, partition))
            estimates.append((sum((best[part] for part in partition), Fraction(0)), variance))
        known = next((value for value, variance in estimates if not variance), None)
        if known is not None:
            best[index] = known
            return 0.0
        weights = [Fraction(1 / variance) for _, variance in estimates]
        pairs = zip(weights, estimates, strict=True)
        weighed = sum((weight * value for weight, (value, _) in pairs), Fraction(0))
        whole = sum(weights, Fraction(0))
        # numbers of many digits help nobody: how far a value is moved is in its error
        best[index] = Fraction(_rounded(_FINE * weighed / whole), _FINE)
        return float(1 / whole)

    consistent = [0] * len(raw)
    for root in roots:
        combine(root)
        consistent[root] = max(0, _rounded(best[root]))
    while roots:
        total = roots.pop()
        for partition in sums.get(total, ()):
            values = shared_out(consistent[total], [best[part] for part in partition])
            for part, value in zip(partition, values, strict=True):
                consistent[part] = value
            roots.extend(partition)
    return consistent


def shared_out(total: int, wanted: Sequence[Fraction]) -> list[int]:
    """Whole numbers that are not negative, have this total, and lie near the wanted ones.

    The nearest point of the simplex, then rounded so that the total stays: the numbers that were
    rounded down most are rounded up first.

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
    shares = [math.floor(point) for point in points]
    order = sorted(range(len(points)), key=lambda i: (shares[i] - points[i], i))
    for index in order[: total - sum(shares)]:
        shares[index] += 1
    return shares


def _rounded(number: Fraction) -> int:
    return math.floor(number + _HALF)


# -- Which answers are the totals of which, as far as question and schema can tell -----------------


def totals_of(plans: Sequence[Plan], schema: Schema) -> dict[int, int]:
    """For each answer that has a total among the others, the number of the nearest one.

    Refused where an answer has two totals neither of which is the total of the other: its parts
    would have to add up in both ways at once.
    """
    nearest: dict[int, int] = {}
    for number, plan in enumerate(plans):
        above = [
            other
            for other in range(len(plans))
            if other != number and _is_total(plans[other], plan, schema, first=other < number)
        ]
        if not above:
            continue
        nearest[number] = max(above, key=lambda other: (len(plans[other].question.keys), other))
        keys = set(plans[nearest[number]].question.keys)
        if any(not set(plans[other].question.keys) <= keys for other in above):
            raise refuse("ask.totals-disagree", sql=plan.sql)
    return nearest


def _is_total(total: Plan, part: Plan, schema: Schema, *, first: bool) -> bool:
    whole, split = total.question, part.question
    fewer, more = set(whole.keys), set(split.keys)
    same_rows = (whole.where, whole.persons) == (split.where, split.persons)
    if total.truncating or part.truncating or not same_rows or not fewer <= more:
        return False
    if fewer == more and not first:
        return False
    seen = seen_by(split, schema)
    return all(seen.column(key.column).missing is not None for key in more - fewer)


def cells_of(total: Sequence[Key], part: Sequence[Key]) -> list[list[int]]:
    """For each cell of the total the cells of its parts, by number: the last key runs fastest."""
    shared = [part.index(key) for key in total]
    number = {cell: i for i, cell in enumerate(product(*(range(key.cells) for key in total)))}
    parts: list[list[int]] = [[] for _ in number]
    for i, cell in enumerate(product(*(range(key.cells) for key in part))):
        parts[number[tuple(cell[place] for place in shared)]].append(i)
    return parts


# -- An answer made consistent, with its own error -------------------------------------------------

_NOTE = (
    "Made consistent, at no price: whole, not negative, and parts add up to the totals asked with "
    "them. ± is the margin of error at a confidence of at least 95 %, and includes how far each "
    "value was moved. Sums and means of such values are biased; those of raw answers are not."
)


@dataclass(frozen=True)
class Counted:
    """An output that can be made consistent: its aggregate, its reading, the grid of its values."""

    asked: Aggregate
    reading: Reading
    grid: Fraction


def counted_outputs(answer: Answer) -> dict[str, Counted]:
    """Each output by its name; refused if one is no count or sum of a column that is never
    negative."""
    columns = seen_by(answer.plan.question, answer.schema).columns
    counted = {}
    for output, reading in answer._outputs:
        grid, asked = None, output.expression
        if isinstance(asked, Aggregate):
            if asked.kind == "units":
                raise refuse("ask.persons-not-additive", alias=output.alias)
            column = columns.get(asked.column or "")
            if asked.kind == "count":
                grid = Fraction(1)
            elif asked.kind == "sum" and isinstance(column, NumberColumn) and column.low >= 0:
                grid = column.grid
        if not isinstance(asked, Aggregate) or grid is None:
            raise refuse("ask.consistency-needs-counts", alias=output.alias)
        counted[output.alias] = Counted(asked, reading, grid)
    return counted


def raw_interval(
    answer: Answer, output: Counted, cell: int, level: Fraction
) -> tuple[Fraction, Fraction]:
    """The middle of the raw interval of one cell, and half of its width."""
    interval = answer._interval(output.reading, cell, level)
    assert interval is not None  # noqa: S101 - counts and sums always have one
    return (interval[0] + interval[1]) / 2, (interval[1] - interval[0]) / 2


@dataclass(frozen=True, repr=False)
class Consistent(Shown):
    """An answer that some table could have.

    value, exact: as in the raw answer, with the same rows in the same order.
    steps: of each output the values of all cells, in steps of its grid.
    """

    raw: Answer
    outputs: Mapping[str, Counted]
    steps: Mapping[str, list[int]]

    def _exact(self, alias: str, cell: int) -> Fraction:
        return self.steps[alias][cell] * self.outputs[alias].grid

    def _plain(self, alias: str, cell: int) -> Any:
        return plain(self._exact(alias, cell))

    def _rows(self, compute: Callable[[str, int], Any]) -> list[dict[str, Any]]:
        return [
            {
                name: compute(name, cell) if name in self.steps else plain(value)
                for name, value in row.items()
            }
            for cell, row in self.raw._rows
        ]

    def _shaped(self, compute: Callable[[str, int], Any]) -> Any:
        return shaped(self._rows(compute), self.raw.plan.question)

    @property
    def value(self) -> Any:
        return self._shaped(self._plain)

    @property
    def exact(self) -> Any:
        return self._shaped(self._exact)

    @property
    def limits(self) -> tuple[Limit, ...]:
        """The contribution limits that may have truncated the answer: no ± covers that."""
        return self.raw.limits

    def interval(self, level: Number) -> Any:
        """A confidence interval for the true value at `level`, in the shape of `value`."""
        wanted = fraction_of_one(level, "level")

        def ends(alias: str, cell: int) -> tuple[Any, Any]:
            value, half = self._exact(alias, cell), self._half(alias, cell, wanted)
            return plain(max(Fraction(0), value - half)), plain(value + half)

        return self._shaped(ends)

    def half_width(self, level: Number) -> Any:
        """The margin of error at `level`: the raw one, and how far the value was moved."""
        wanted = fraction_of_one(level, "level")
        return self._shaped(lambda name, cell: plain(self._half(name, cell, wanted)))

    def _half(self, alias: str, cell: int, level: Fraction) -> Fraction:
        middle, half = raw_interval(self.raw, self.outputs[alias], cell, level)
        return half + abs(self._exact(alias, cell) - middle)

    def to_pandas(self) -> pd.DataFrame:
        """A pandas data frame."""
        import pandas as pd

        return pd.DataFrame(self._rows(self._plain))

    def to_dict(self) -> dict[str, Any]:
        return {
            "question": self.raw.plan.sql,
            "consistent": True,
            "value": as_json(self.value),
            "interval_95": as_json(self.interval(SHOWN_LEVEL)),
            "limits": [limit.to_dict() for limit in self.limits],
        }

    def _cells_as_text(self) -> list[list[str]]:
        def shown(name: str, cell: int) -> tuple[str, str]:
            half = shortly(float(self._half(name, cell, SHOWN_LEVEL)))
            return readable(self._exact(name, cell)), half

        rows = [
            chain.from_iterable(v if name in self.steps else [str(v)] for name, v in row.items())
            for row in self._rows(shown)
        ]
        names = ([name, "±"] if name in self.steps else [name] for name in self.raw.columns)
        return [list(line) for line in (chain.from_iterable(names), *rows)]

    def _notes(self) -> list[str]:
        limits = self.raw._limits_as_text
        return [*([sentence(f"{limits}: no ± covers truncation.")] if limits else []), _NOTE]

    def __str__(self) -> str:
        return "\n".join([*text_table(self._cells_as_text()), *notes(self._notes())])

    def _repr_html_(self) -> str:
        return html_table(self._cells_as_text(), after=self._notes())


def make_consistent(answers: Sequence[Answer]) -> list[Consistent]:
    """The answers of one table, each consistent in itself and with those that are its totals."""
    outputs = [counted_outputs(answer) for answer in answers]
    plans = [answer.plan for answer in answers]
    totals = totals_of(plans, answers[0].schema) if answers else {}
    steps: list[dict[str, list[int]]] = [{} for _ in answers]
    for aggregate in dict.fromkeys(one.asked for several in outputs for one in several.values()):
        same = [
            {name: output for name, output in several.items() if output.asked == aggregate}
            for several in outputs
        ]
        _reconcile(answers, same, totals, steps)
    return [Consistent(*given) for given in zip(answers, outputs, steps, strict=True)]


def _reconcile(
    answers: Sequence[Answer],
    outputs: Sequence[dict[str, Counted]],
    totals: dict[int, int],
    steps: list[dict[str, list[int]]],
) -> None:
    """Adds to `steps` one count or sum of several answers, made consistent."""
    first: dict[int, int] = {}  # where the cells of an answer begin
    raw: list[Fraction] = []
    variances: list[float] = []
    for number, answer in enumerate(answers):
        if not outputs[number]:
            continue
        first[number], output = len(raw), next(iter(outputs[number].values()))
        error = output.reading.before_rows(answer.plan.parts, answer.released.rows)
        assert error is not None  # noqa: S101 - known for counts and sums
        for cell in range(answer.plan.cells):
            raw.append(raw_interval(answer, output, cell, SHOWN_LEVEL)[0] / output.grid)
            variances.append(error.variance / float(output.grid) ** 2)
    sums: dict[int, list[list[int]]] = {}
    for part, total in totals.items():
        if part in first and total in first:
            keys = answers[total].plan.question.keys, answers[part].plan.question.keys
            for cell, cells in enumerate(cells_of(*keys)):
                partition = [first[part] + index for index in cells]
                sums.setdefault(first[total] + cell, []).append(partition)
    consistent = reconciled(raw, variances, sums)
    for number, start in first.items():
        own = consistent[start : start + answers[number].plan.cells]
        steps[number] |= dict.fromkeys(outputs[number], own)
