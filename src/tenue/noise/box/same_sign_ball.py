"""The balls of answers that one unit moves all up or all down: counted and drawn exactly."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ..law import Ints, Real
from ..samplers import uniform
from ..source import Source
from .ball import sum_of_sizes, sum_of_squares


class SameSign:
    """Balls {x : up(x) + down(x) ≤ core + i·h} measured in ticks, h ticks to a sensitivity.

    up(x) is the largest ⌈h·x_j/s_j⌉ of the positive components, down(x) the same of the negative
    ones. Rounding up keeps the sum subadditive and a shift from S_f at h ticks or fewer. Where
    every s_j divides h the ball is that of the norm max(x⁺/s) + max(x⁻/s) itself; otherwise its
    radius is within 2/h of it.
    """

    _FEW = 16
    _MANY = 50_000

    def __init__(self, sensitivities: Sequence[int], core_ticks: int, ticks: int) -> None:
        self.sensitivities = tuple(sensitivities)
        self.core_ticks = core_ticks
        self.ticks = ticks
        self._known: dict[int, dict[int, tuple[int, int, int]]] = {}

    @classmethod
    def ticks_for(cls, sensitivities: Sequence[int], epsilon: Fraction) -> int:
        """The ticks at which the norm is exact; where those are many, enough to come within 0.2 %.

        A typical radius is (D+1)/ε sensitivities, so few ticks suffice when epsilon is small.
        """
        common = math.lcm(*sensitivities)
        dimension = len(sensitivities)
        if common <= cls._FEW or common * (dimension + 60) <= cls._MANY * epsilon:
            return common
        if len(set(sensitivities)) == 1:
            return common
        return min(256, max(4, math.ceil(1000 * epsilon / (dimension + 1))))

    @cached_property
    def closed_form(self) -> bool:
        """All sensitivities equal to the ticks: up(x) + down(x) is the range of (0, x)."""
        return set(self.sensitivities) == {self.ticks}

    def alike(self, j: int) -> tuple[int, int]:
        return self.sensitivities[j], 0

    def _reach(self, ticks: Ints, s: Ints) -> Ints:
        """⌊ticks·s/h⌋, in an order that cannot overflow: either s = h, or h is small."""
        if self.closed_form:
            return np.broadcast_to(ticks, np.broadcast(ticks, s).shape)
        return np.asarray(ticks // self.ticks * s + ticks % self.ticks * s // self.ticks)

    def _ticks_of(self, steps: Ints, s: Ints) -> Ints:
        """⌈h·steps/s⌉ for steps ≥ 0, in an order that cannot overflow."""
        if self.closed_form:
            return np.broadcast_to(steps, np.broadcast(steps, s).shape)
        return np.asarray(steps // s * self.ticks - (-(steps % s * self.ticks) // s))

    def level(self, x: Ints) -> Ints:
        s = np.asarray(self.sensitivities)
        up = self._ticks_of(np.maximum(x, 0), s).max(axis=-1)
        down = self._ticks_of(np.maximum(-x, 0), s).max(axis=-1)
        return np.asarray(np.maximum(-(-(up + down - self.core_ticks) // self.ticks), 0))

    def rise(self, shift: Sequence[int]) -> int:
        pairs = list(zip(shift, self.sensitivities, strict=True))
        up = max(-(-max(t, 0) * self.ticks // s) for t, s in pairs)
        down = max(-(-max(-t, 0) * self.ticks // s) for t, s in pairs)
        return -(-(up + down) // self.ticks)

    def _sums(self, i: int) -> dict[int, tuple[int, int, int]]:
        """For each sensitivity: the points of the ball, and Σ|x_j| and Σx_j² of its component.

        The ball is the union of a chain of boxes [−low, high]. A point lies in consecutive boxes
        only, so boxes minus overlaps counts it once.
        """
        radius = self.core_ticks + i * self.ticks
        reach = {
            s: [t * s // self.ticks for t in range(radius + 1)] for s in set(self.sensitivities)
        }
        columns = [reach[s] for s in self.sensitivities]
        totals = {s: [0, 0, 0] for s in reach}
        for up in range(radius + 1):
            for sign, top in ((1, up), (-1, up - 1)) if up else ((1, 0),):
                points = math.prod([c[radius - up] + c[top] + 1 for c in columns]) * sign
                for s, ends in reach.items():
                    low, high = ends[radius - up], ends[top]
                    others, total = points // (low + high + 1), totals[s]
                    total[0] += points
                    total[1] += others * (sum_of_sizes(low) + sum_of_sizes(high))
                    total[2] += others * (sum_of_squares(low) + sum_of_squares(high))
        return {s: (total[0], total[1], total[2]) for s, total in totals.items()}

    def _sums_of(self, i: int) -> dict[int, tuple[int, int, int]]:
        if i not in self._known:
            self._known[i] = self._sums(i)
        return self._known[i]

    def count(self, i: int) -> int:
        if self.closed_form:
            m, power = self.core_ticks + i * self.ticks, len(self.sensitivities) + 1
            return int((m + 1) ** power - m**power)
        return self._sums_of(i)[self.sensitivities[0]][0]

    def moments(self, i: int, j: int) -> tuple[int, int]:
        if self.closed_form:
            m, power = self.core_ticks + i * self.ticks, len(self.sensitivities) + 1

            # (0, x) is the range of D+1 numbers of 0…m, one of them 0: all of them, less those ≥ 1
            def both(n: int) -> tuple[int, int]:
                pairs = n ** (power - 2) * (n * n - 1) * n
                return pairs // 3, pairs * n // 6

            (size, square), (less_size, less_square) = both(m + 1), both(m)
            return size - less_size, square - less_square
        return self._sums_of(i)[self.sensitivities[j]][1:]

    def share_within(self, i: Real, j: int, reach: int) -> Real:
        if not self.closed_form:
            return np.array([self._share_within(int(ball), j, reach) for ball in i])
        d = len(self.sensitivities)
        m = np.maximum(self.core_ticks + i * self.ticks, 1)
        # of D+1 numbers of 0…m the pairs at most `reach` apart, less those of 1…m: with
        # f(n) = 1/n + reach·(2n − reach − 1)/n², what is left is f(m+1) − f(m) + f(m)·(1 − shrink)
        edge = reach + 1.0
        fall = -np.expm1(-(d + 1) * np.log1p(1 / m))
        share = 1 / m + reach * (2 / m - edge / m**2)
        change = -1 / (m * (m + 1)) + reach * (edge * (1 / m + 1 / (m + 1)) - 2) / (m * (m + 1))
        return np.where(reach >= self.core_ticks + i * self.ticks, 1.0, share + change / fall)

    def _share_within(self, i: int, j: int, reach: int) -> float:
        sides = [reach if n == j else None for n in range(len(self.sensitivities))]
        return self._share(i, sides, sides)

    def margins(self, i: int) -> dict[int, Real]:
        """For each sensitivity s and t = 0…radius, the share of points with |x_j| ≤ ⌊t·s/h⌋.

        All reaches at once: along the chain of boxes the sides of component j grow or shrink, so
        the boxes cut at a reach are a prefix or a suffix of the chain.
        """
        radius = self.core_ticks + i * self.ticks
        up = np.arange(radius + 1)
        boxes, overlaps = np.ones(radius + 1), np.ones(radius + 1)
        sides = {}
        for s in self.sensitivities:
            reach = self._reach(up, np.asarray(s)).astype(float)
            low, unit = reach[::-1], reach[-1] + 1
            before = np.concatenate([[0.0], reach[:-1]])
            boxes *= (low + reach + 1) / unit
            overlaps *= (low + before + 1) / unit
            sides[s] = reach, before
        overlaps[0] = 0.0
        whole = boxes.sum() - overlaps.sum()
        shares = {}
        for s, (reach, before) in sides.items():
            low = reach[::-1]
            points = np.zeros(radius + 1)
            for sign, mass, high in ((1, boxes, reach), (-1, overlaps, before)):
                others = mass / (low + high + 1)
                cut_low = _sum_of_least(others[::-1], reach, reach)
                points += sign * (cut_low + _sum_of_least(others, high, reach) + others.sum())
            shares[s] = points / whole
        return shares

    def share_below(self, i: Real, x: Sequence[int]) -> Real:
        return np.array([self._share(int(ball), [None] * len(x), x) for ball in i])

    def _share(self, i: int, lowest: Sequence[int | None], highest: Sequence[int | None]) -> float:
        """The share of points with −lowest_j ≤ x_j ≤ highest_j, by the chain of boxes, in doubles.

        None leaves a side open.
        """
        radius = self.core_ticks + i * self.ticks
        up = np.arange(radius + 1)
        inside, whole = np.ones(radius + 1), np.ones(radius + 1)
        inside_overlap, whole_overlap = np.ones(radius + 1), np.ones(radius + 1)
        for s, bottom, top in zip(self.sensitivities, lowest, highest, strict=True):
            low = self._reach(radius - up, np.asarray(s))
            high = self._reach(up, np.asarray(s))
            before = self._reach(np.maximum(up - 1, 0), np.asarray(s))
            unit = float(low[0] + 1)  # keeps the products of many widths in range
            whole *= (low + high + 1) / unit
            whole_overlap *= (low + before + 1) / unit
            if bottom is not None:
                low = np.minimum(low, bottom)
            if top is not None:
                high, before = np.minimum(high, top), np.minimum(before, top)
            inside *= np.maximum(low + high + 1, 0) / unit
            inside_overlap *= np.maximum(low + before + 1, 0) / unit
        within = inside.sum() - inside_overlap[1:].sum()
        return float(within / (whole.sum() - whole_overlap[1:].sum()))

    def draw(self, i: Ints, source: Source) -> Ints:
        """By rejection, keeping the radius.

        A point is either nowhere positive, or has a first component j that reaches the largest
        up-tick a; given j and x_j the others are uniform on intervals no wider than ⌊m·s/h⌋ + 1.
        Drawing each from that many values and refusing the excess makes all points equally likely.
        """
        s = np.asarray(self.sensitivities)
        radius = self.core_ticks + i * self.ticks
        drawn = np.empty((i.size, s.size), dtype=np.int64)
        open_ = np.arange(i.size)
        propose = self._propose_range if self.closed_form else self._propose
        while open_.size:
            points, kept = propose(radius[open_, None], s, source)
            drawn[open_[kept]] = points[kept]
            open_ = open_[~kept]
        return drawn

    def _propose(self, radius: Ints, s: Ints, source: Source) -> tuple[Ints, npt.NDArray[np.bool_]]:
        rows = radius.shape[0]
        widest = self._reach(radius, s)
        z = uniform((widest + 1).ravel(), widest.size, source).reshape(widest.shape)
        first = uniform(s.size + 1, rows, source) - 1  # −1: nowhere positive
        none = (first < 0)[:, None]
        j = np.maximum(first, 0)[:, None]
        steps = np.take_along_axis(z, j, axis=1)
        up = np.where(none, 0, self._ticks_of(steps, s[j]))
        low = self._reach(np.maximum(radius - up, 0), s)
        places = np.arange(s.size)
        high = np.where(places < j, self._reach(np.maximum(up - 1, 0), s), self._reach(up, s))
        chosen = (places == j) & ~none
        points = np.where(chosen, z, np.where(none, -z, z - low))
        inside = (z <= low + high) | chosen | none
        kept = inside.all(axis=1) & (none | (steps > 0))[:, 0]
        return points, kept

    def _propose_range(
        self, radius: Ints, s: Ints, source: Source
    ) -> tuple[Ints, npt.NDArray[np.bool_]]:
        """As the differences of D+1 numbers of 0…radius, one of them 0.

        The first 0 is at any of D+1 places; the numbers before it are refused where they are 0.
        """
        rows, dimension = radius.shape[0], s.size
        counts = np.repeat(radius[:, 0] + 1, dimension)
        numbers = np.zeros((rows, dimension + 1), dtype=np.int64)
        numbers[:, :dimension] = uniform(counts, counts.size, source).reshape(rows, dimension)
        place = uniform(dimension + 1, rows, source)
        index = np.arange(rows)
        numbers[:, dimension] = numbers[index, place]
        numbers[index, place] = 0
        kept = ((numbers != 0) | (np.arange(dimension + 1) >= place[:, None])).all(axis=1)
        return numbers[:, 1:] - numbers[:, :1], kept


def _sum_of_least(weights: Real, sides: Real, reaches: Real) -> Real:
    """For each reach, Σ weight·min(side, reach); sides and reaches do not fall."""
    below = np.searchsorted(sides, reaches, side="right")
    weighted = np.concatenate([[0.0], np.cumsum(weights * sides)])
    plain = np.concatenate([[0.0], np.cumsum(weights)])
    return np.asarray(weighted[below] + reaches * (plain[-1] - plain[below]))
