"""Windows over the groups of an answer: totals, running totals, shares, ranks; post-processing.

A window sees the released numbers of all declared groups, whether rows are in them or not, and
nothing else. Noise of different groups is independent. So a sum over groups, or a difference, has
an error with a known law, and its interval follows from that.

A rank has none: groups of nearly equal size change places however little noise there is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import accumulate
from typing import Any

from ...mechanism.additive_noise import Error
from ..question import Aggregate, Arithmetic, Constant, Expression, Over, Question
from .reading import Combined, Expectation, Interval, Linear, Noisy, Parts, Reading, fold
from .window_errors import (
    CONSTANT,
    FEW,
    Spread,
    SpreadError,
    columns_of,
    directions_of,
    not_rejected,
    pairs_of,
    spread_half_width,
)

MOST_GROUPS = 2_000
"""The most groups of an answer with windows."""
NO_RANK = "A rank has no margin of error: groups of nearly equal answers may change places."
LONGEST = "The error of a running total is that over all groups of its window, its largest."


class InTable(tuple[Sequence[int], ...]):
    """The released numbers of one group, which knows those of all groups.

    place: its number. cells: all groups. found: what windows computed of them.
    """

    place: int
    cells: Sequence[Noisy]
    found: dict[Any, Any]

    @classmethod
    def all_of(cls, cells: Sequence[Noisy]) -> list[InTable]:
        found: dict[Any, Any] = {}
        several: list[InTable] = []
        for place, noisy in enumerate(cells):
            one = cls(noisy)
            one.place, one.cells, one.found = place, several, found
            several.append(one)
        return several


@dataclass(frozen=True)
class Windowed(Reading):
    """A number of a group that is computed from the answers of several groups.

    keys: the number of cells of each key of the question; the last key runs fastest.
    by: the keys that divide the groups, by their indices.
    of: the reading of one group's answer; None for a rank.
    order: keys, by index, or readings, and whether they descend.
    """

    over: Over
    keys: tuple[int, ...]
    by: tuple[int, ...]
    of: Reading | None
    order: tuple[tuple[int | Reading, bool], ...]
    unstated: str = field(default="", kw_only=True)

    # -- which groups --------------------------------------------------------------------------

    def _labels(self, place: int) -> tuple[int, ...]:
        found = []
        for cells in reversed(self.keys):
            place, label = divmod(place, cells)
            found.append(label)
        return tuple(reversed(found))

    def _sorting(self, one: InTable, rows: int | None) -> list[tuple[bool, Fraction]]:
        """What groups are sorted by, in increasing order; an undefined answer comes last."""
        found = []
        for by, descending in self.order:
            if isinstance(by, int):
                value: Fraction | None = Fraction(self._labels(one.place)[by])
            else:
                value = by.value(one, rows)
            size = Fraction(0) if value is None else -value if descending else value
            found.append((value is None, size))
        return found

    def _frames(self, noisy: InTable, rows: int | None) -> dict[int, _Frame]:
        """The window of each group, by its number; computed once for the whole answer."""
        known: dict[int, _Frame] | None = noisy.found.get(self)
        if known is None:
            parts: dict[tuple[int, ...], list[InTable]] = {}
            for one in noisy.cells:
                labels = self._labels(one.place)  # type: ignore[attr-defined]
                parts.setdefault(tuple(labels[i] for i in self.by), []).append(one)  # type: ignore[arg-type]
            known = noisy.found[self] = {}
            for part in parts.values():
                known |= self._framed(part, rows)
        return known

    def _framed(self, part: list[InTable], rows: int | None) -> dict[int, _Frame]:
        keyed = [(self._sorting(one, rows), one) for one in part]
        keyed.sort(key=lambda pair: pair[0])
        several = [one for _, one in keyed]
        values = None
        if self.of is not None:
            values = [self.of.value(one, rows) for one in several]
        table = _Part(several, values)
        found, first = {}, 0
        dense = 0
        for place, (sorting, one) in enumerate(keyed):
            if place == 0 or sorting != keyed[place - 1][0]:
                first, dense = place, dense + 1
            start, stop = 0, len(several)
            if self.over.rows is not None:
                before, after = self.over.rows
                start = 0 if before is None else max(0, place - before)
                stop = stop if after is None else min(stop, place + after + 1)
            elif self.order:
                # as in SQL: up to here, with all groups that are sorted alike
                stop = place + 1
                while stop < len(several) and keyed[stop][0] == sorting:
                    stop += 1
            ranks = {"rank": first + 1, "dense_rank": dense, "row_number": place + 1}
            found[one.place] = _Frame(table, place, start, max(start, stop), ranks)
        return found

    def _shifted(self, frame: _Frame) -> int | None:
        """The place in its part of the one group that LAG, LEAD and FIRST_VALUE are about."""
        if self.over.function == "first_value":
            return frame.start if frame.stop > frame.start else None
        shift = -self.over.offset if self.over.function == "lag" else self.over.offset
        place = frame.place + shift
        return place if 0 <= place < len(frame.part.groups) else None

    # -- values --------------------------------------------------------------------------------

    @property
    def needs_row_count(self) -> bool:  # type: ignore[override]
        return self.of is not None and self.of.needs_row_count

    def value(self, noisy: Noisy, rows: int | None) -> Fraction | None:
        frame = self._frames(_placed(noisy), rows)[_placed(noisy).place]
        function = self.over.function
        if function in frame.ranks:
            return Fraction(frame.ranks[function])
        if function in ("lag", "lead", "first_value"):
            place = self._shifted(frame)
            return None if place is None else frame.part.value(place)
        if function in ("sum", "avg"):
            return frame.part.total(frame.start, frame.stop, mean=function == "avg")
        known = frame.part.between(frame.start, frame.stop)
        least = min if function == "min" else max
        return least(known) if known else None

    # -- errors --------------------------------------------------------------------------------

    def spread(self, noisy: InTable, rows: int | None) -> Spread | None:
        """It as a linear number, if the window does not depend on noisy answers."""
        if self.of is None or any(isinstance(by, Reading) for by, _ in self.order):
            return None
        frame = self._frames(noisy, rows)[noisy.place]
        if self.over.function in ("lag", "lead", "first_value"):
            place = self._shifted(frame)
            chosen = [] if place is None else [frame.part.groups[place]]
        elif self.over.function in ("sum", "avg"):
            chosen = frame.part.groups[frame.start : frame.stop]
        else:
            return None
        share = Fraction(1, len(chosen)) if self.over.function == "avg" and chosen else Fraction(1)
        weights: dict[tuple[int, int, int], Fraction] = {}
        for one in chosen:
            each = spread_of(self.of, one, rows)
            if each is None:
                return None
            for key, weight in each.items():
                weights[key] = weights.get(key, Fraction(0)) + share * weight
        return weights if chosen else None

    def interval(
        self, parts: Parts, level: Fraction, noisy: Noisy, rows: int | None
    ) -> Interval | None:
        if self.of is None or any(isinstance(by, Reading) for by, _ in self.order):
            return None  # a rank, or a window whose groups depend on the noise
        placed = _placed(noisy)
        weights = self.spread(placed, rows)
        if weights is not None:
            return _around(parts, weights, level, placed)
        return self._of_ends(parts, level, placed, rows)

    def _of_ends(
        self, parts: Parts, level: Fraction, noisy: InTable, rows: int | None
    ) -> Interval | None:
        """From the intervals of all groups of the window, which hold at once."""
        frame = self._frames(noisy, rows)[noisy.place]
        chosen = frame.part.groups[frame.start : frame.stop]
        if self.over.function in ("lag", "lead", "first_value"):
            place = self._shifted(frame)
            chosen = [] if place is None else [frame.part.groups[place]]
        if not chosen or self.of is None:
            return None
        each = 1 - (1 - level) / len(chosen)
        ends = []
        for one in chosen:
            found = self.of.interval(parts, each, one, rows)
            if found is None:
                return None
            ends.append(found)
        add = {"min": min, "max": max}.get(self.over.function, sum)
        share = len(ends) if self.over.function == "avg" else 1
        low, high = (add(end[side] for end in ends) for side in (0, 1))
        return Fraction(low) / share, Fraction(high) / share

    def before_rows(self, parts: Parts, rows: int | None) -> Error | None:
        """The law of the error over all groups of a window: the largest there is."""
        if not isinstance(self.of, Linear) or self.over.function in ("min", "max"):
            return None
        if any(isinstance(by, Reading) for by, _ in self.order):
            return None
        if self.over.function in ("lag", "lead", "first_value"):
            return self.of.error(parts)
        many = self._most
        share = Fraction(1, many) if self.over.function == "avg" else Fraction(1)
        weights = {
            (place, term.part, term.component): share * term.weight
            for place in range(many)
            for term in self.of.terms
        }
        return SpreadError(parts, tuple(sorted(columns_of(weights).items())))

    @property
    def _most(self) -> int:
        """The most groups in a window."""
        many = math.prod(cells for i, cells in enumerate(self.keys) if i not in self.by)
        before, after = self.over.rows or (None, 0 if self.order else None)
        if before is None or after is None:
            return many
        return min(many, before + after + 1)

    def expected_error(self, parts: Parts, noisy: Noisy | None, rows: int | None) -> float | None:
        if noisy is None or self.of is None:
            return None
        weights = self.spread(_placed(noisy), rows)
        if weights is None:
            return None
        return SpreadError(parts, tuple(sorted(columns_of(weights).items()))).mean_absolute_error

    def expect(self, alias: str, parts: Parts, rows: int | None) -> Expectation:
        found = super().expect(alias, parts, rows)
        runs = self.over.function in ("sum", "avg") and bool(self.order)
        return replace(found, legend=LONGEST) if runs and found.half_width is not None else found

    @property
    def alone(self) -> bool:  # type: ignore[override]
        return self.of is None

    def remark(self, alias: str, noisy: Noisy) -> str:
        if self.of is None:
            return f"{alias} is the place among noisy answers: no margin of error is stated for it."
        return self.of.remark(alias, noisy)


@dataclass(frozen=True, eq=False)
class _Part:
    """The groups that one window may see, in its order, and their answers."""

    groups: list[InTable]
    values: list[Fraction | None] | None
    sums: list[tuple[Fraction, int]] = field(default_factory=list)

    def value(self, place: int) -> Fraction | None:
        return None if self.values is None else self.values[place]

    def between(self, start: int, stop: int) -> list[Fraction]:
        return [v for v in (self.values or [])[start:stop] if v is not None]

    def total(self, start: int, stop: int, *, mean: bool) -> Fraction | None:
        """The sum, or the mean, of the answers that are defined; None if there are none."""
        if not self.sums:
            steps = [
                (Fraction(0) if v is None else v, int(v is not None)) for v in self.values or ()
            ]
            before = (Fraction(0), 0)
            self.sums.extend(accumulate([before, *steps], lambda a, b: (a[0] + b[0], a[1] + b[1])))
        (low, less), (high, more) = self.sums[start], self.sums[stop]
        if more == less:
            return None
        return (high - low) / (more - less if mean else 1)


@dataclass(frozen=True)
class _Frame:
    """The window of one group: its place among the groups of its part, and the first and last."""

    part: _Part
    place: int
    start: int
    stop: int
    ranks: Mapping[str, int]


@dataclass(frozen=True)
class Across(Combined):
    """An operation on answers of which one is a window: a share, a difference to the last month.

    within: the ends between which the true value lies, as a share of a total does.
    """

    within: Interval | None = None

    def spread(self, noisy: InTable, rows: int | None) -> Spread | None:
        """It as a linear number, if it is one."""
        left = spread_of(self.left, noisy, rows)
        right = spread_of(self.right, noisy, rows)
        if left is None or right is None:
            return None
        if self.operator in ("+", "-"):
            sign = 1 if self.operator == "+" else -1
            return {
                key: left.get(key, Fraction(0)) + sign * right.get(key, Fraction(0))
                for key in {**left, **right}
            }
        if self.operator == "*" and set(left) <= {CONSTANT}:
            left, right = right, left
        if not set(right) <= {CONSTANT}:
            return None
        by = right.get(CONSTANT, Fraction(0))
        if self.operator == "/":
            return {key: weight / by for key, weight in left.items()} if by else None
        return {key: weight * by for key, weight in left.items()}

    def interval(
        self, parts: Parts, level: Fraction, noisy: Noisy, rows: int | None
    ) -> Interval | None:
        placed = _placed(noisy)
        weights = self.spread(placed, rows)
        if weights is not None:
            return _around(parts, weights, level, placed)
        found = self._ratio(parts, level, placed, rows) or self._scaled(parts, level, noisy, rows)
        found = found or super().interval(parts, level, noisy, rows)
        if found is None or self.within is None:
            return found
        low, high = ((min(max(end, self.within[0]), self.within[1])) for end in found)
        return low, high

    def _ratio(
        self, parts: Parts, level: Fraction, noisy: InTable, rows: int | None
    ) -> Interval | None:
        """All ratios that the noisy numbers do not reject; None where it takes too many laws."""
        if self.operator != "/":
            return None
        above, below = (spread_of(side, noisy, rows) for side in (self.left, self.right))
        if above is None or below is None or len({**above, **below}) > FEW:
            return None
        halves = directions_of(parts, pairs_of(above, below), level)
        return not_rejected(halves, *(float(_center(one, noisy)) for one in (above, below)))

    def _scaled(
        self, parts: Parts, level: Fraction, noisy: Noisy, rows: int | None
    ) -> Interval | None:
        """Of a share in per cent, for instance: the interval of the share, times the constant."""
        for one, other in ((self.left, self.right), (self.right, self.left)):
            constant = isinstance(one, Linear) and not one.terms
            if constant and (self.operator == "*" or (self.operator == "/" and one is self.right)):
                factor = one.value(noisy, rows) or Fraction(0)
                found = other.interval(parts, level, noisy, rows)
                if found is None or (self.operator == "/" and not factor):
                    return None
                low, high = (e * factor if self.operator == "*" else e / factor for e in found)
                return min(low, high), max(low, high)
        return None

    def before_rows(self, parts: Parts, rows: int | None) -> Error | None:
        return None

    def expected_error(self, parts: Parts, noisy: Noisy | None, rows: int | None) -> float | None:
        if noisy is None:
            return None
        weights = self.spread(_placed(noisy), rows)
        if weights is None:
            return None
        return SpreadError(parts, tuple(sorted(columns_of(weights).items()))).mean_absolute_error


def spread_of(reading: Reading, noisy: InTable, rows: int | None) -> Spread | None:
    """The reading of a group as a linear number, if it is one."""
    if isinstance(reading, Linear):
        weights = {(noisy.place, t.part, t.component): t.weight for t in reading.terms if t.weight}
        return {**weights, CONSTANT: reading.constant} if reading.constant else weights
    if isinstance(reading, Windowed | Across):
        found = reading.spread(noisy, rows)
        return None if found is None else {key: weight for key, weight in found.items() if weight}
    return None


def _center(weights: Spread, noisy: InTable) -> Fraction:
    """Its value, before counts and sums are rounded to their grid."""
    found = weights.get(CONSTANT, Fraction(0))
    for key, weight in weights.items():
        if key != CONSTANT:
            cell, part, component = key
            found += weight * noisy.cells[cell][part][component]
    return found


def _around(parts: Parts, weights: Spread, level: Fraction, noisy: InTable) -> Interval:
    half = Fraction(spread_half_width(parts, weights, level))
    value = _center(weights, noisy)
    return value - half, value + half


def _placed(noisy: Noisy) -> InTable:
    assert isinstance(noisy, InTable)  # noqa: S101 - an answer with windows is read as a table
    return noisy


# -- From an expression to its reading -------------------------------------------------------------


def read_output(
    expression: Expression, question: Question, readings: Mapping[Aggregate, Reading]
) -> Reading:
    """The reading of an output of the question whose aggregates are read so."""
    keys = tuple(key.cells for key in question.keys)
    at = question.keys.index

    def read(one: Expression) -> Reading:
        return fold(one, readings, window)

    def window(over: Expression) -> Reading:
        if isinstance(over, Arithmetic):
            return Across(over.operator, read(over.left), read(over.right), _within(over))
        assert isinstance(over, Over)  # noqa: S101 - nothing else has a window in it
        order = tuple(
            (read(by) if isinstance(by, Expression) else at(by), descending)
            for by, descending in over.order
        )
        of = None if over.of is None else read(over.of)
        unstated = NO_RANK if over.of is None else ""
        return Windowed(over, keys, tuple(map(at, over.by)), of, order, unstated=unstated)

    return read(expression)


def _within(expression: Expression) -> Interval | None:
    """The ends of a share of a total of counts, perhaps times a number: 0, and that number."""
    factor, share = Fraction(1), expression
    if not isinstance(share, Arithmetic) or share.operator != "/":
        return None
    top = share.left
    if isinstance(top, Arithmetic) and top.operator == "*":
        for one, other in ((top.left, top.right), (top.right, top.left)):
            if isinstance(one, Constant) and one.value > 0:
                factor, top = one.value, other
                break
    total = share.right
    counts = isinstance(top, Aggregate) and top.kind in ("count", "units", "distinct")
    if not counts or not isinstance(total, Over) or (total.function, total.of) != ("sum", top):
        return None
    before, after = total.rows or (None, 0)
    inside = total.rows is None or (
        (before is None or before >= 0) and (after is None or after >= 0)
    )
    return (Fraction(0), factor) if inside else None
