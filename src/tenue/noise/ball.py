"""Which vectors of whole steps lie within i sensitivities of the core: counted and drawn exactly.

Two shapes of the set S_f of differences between neighbours:

* `Box`: every component moves by at most s_j steps, in any direction;
* `SameSign`: the components move by at most s_j steps, all up or all down.

The i-th ball is the core widened by i times the convex hull of S_f. A shift from S_f moves a point
by at most one ball, which is all that the privacy proof of `OptimalBox` needs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

from .exact import uniform
from .law import Ints, Real
from .source import Source

__all__ = ["Ball", "Box", "SameSign"]


class Ball(Protocol):
    """A family of growing balls around 0."""

    sensitivities: tuple[int, ...]

    @property
    def closed_form(self) -> bool:
        """Whether `share_within` costs the same for every ball."""
        ...

    def alike(self, j: int) -> tuple[int, int]:
        """What decides the margin of component j: alike components have equal margins."""
        ...

    def level(self, x: Ints) -> Ints:
        """The least i whose ball holds x, for rows of steps."""
        ...

    def rise(self, shift: Sequence[int]) -> int:
        """The largest rise of level that a shift can cause.

        Levels are subadditive, so no start sees more than the shift's own length in levels, rounded
        up; from the edge of the core it is seen.
        """
        ...

    def count(self, i: int) -> int:
        """How many points the i-th ball has: a polynomial in i of degree D."""
        ...

    def moments(self, i: int, j: int) -> tuple[int, int]:
        """Σ|x_j| and Σx_j² over the i-th ball."""
        ...

    def share_within(self, i: Real, j: int, reach: int) -> Real:
        """For each i, the share of its ball's points with |x_j| ≤ reach."""
        ...

    def draw(self, i: Ints, source: Source) -> Ints:
        """For each i, a point of the i-th ball, all equally likely."""
        ...


def _sum_of_sizes(n: int) -> int:
    return n * (n + 1) // 2


def _sum_of_squares(n: int) -> int:
    return n * (n + 1) * (2 * n + 1) // 6


class Box:
    """Balls Π[−(c_j + i·s_j), c_j + i·s_j]."""

    closed_form = True

    def __init__(self, sensitivities: Sequence[int], core: Sequence[int]) -> None:
        self.sensitivities = tuple(sensitivities)
        self.core = tuple(core)

    def alike(self, j: int) -> tuple[int, int]:
        return self.sensitivities[j], self.core[j]

    def _half(self, i: int) -> list[int]:
        return [c + i * s for c, s in zip(self.core, self.sensitivities, strict=True)]

    def level(self, x: Ints) -> Ints:
        beyond = np.abs(x) - np.asarray(self.core)
        levels = -(-beyond // np.asarray(self.sensitivities))
        return np.asarray(np.maximum(levels, 0).max(axis=-1))

    def rise(self, shift: Sequence[int]) -> int:
        return max(-(-abs(t) // s) for t, s in zip(shift, self.sensitivities, strict=True))

    def count(self, i: int) -> int:
        return math.prod(2 * n + 1 for n in self._half(i))

    def moments(self, i: int, j: int) -> tuple[int, int]:
        half = self._half(i)
        others = math.prod(2 * n + 1 for l, n in enumerate(half) if l != j)
        return 2 * others * _sum_of_sizes(half[j]), 2 * others * _sum_of_squares(half[j])

    def share_within(self, i: Real, j: int, reach: int) -> Real:
        half = self.core[j] + i * float(self.sensitivities[j])
        return np.minimum(1.0, (2 * reach + 1) / (2 * half + 1))

    def draw(self, i: Ints, source: Source) -> Ints:
        half = np.asarray(self.core) + i[:, None] * np.asarray(self.sensitivities)
        drawn = uniform((2 * half + 1).ravel(), half.size, source)
        return np.asarray(drawn.reshape(half.shape) - half)


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

    def _over_boxes(self, i: int, measure: Callable[[list[int], list[int]], int]) -> int:
        """Adds a measure of boxes [−low, high] over the chain of boxes whose union is the ball.

        A point lies in consecutive boxes only, so boxes minus overlaps counts it once.
        """
        radius = self.core_ticks + i * self.ticks
        reach = [[t * s // self.ticks for t in range(radius + 1)] for s in self.sensitivities]
        dimensions = range(len(reach))
        total = 0
        for up in range(radius + 1):
            low = [reach[j][radius - up] for j in dimensions]
            total += measure(low, [reach[j][up] for j in dimensions])
            if up:
                total -= measure(low, [reach[j][up - 1] for j in dimensions])
        return total

    def count(self, i: int) -> int:
        if self.closed_form:
            m, power = self.core_ticks + i * self.ticks, len(self.sensitivities) + 1
            return int((m + 1) ** power - m**power)
        return self._over_boxes(
            i, lambda low, high: math.prod(l + h + 1 for l, h in zip(low, high, strict=True))
        )

    def moments(self, i: int, j: int) -> tuple[int, int]:
        if self.closed_form:
            m, power = self.core_ticks + i * self.ticks, len(self.sensitivities) + 1

            # (0, x) is the range of D+1 numbers of 0…m, one of them 0: all of them, less those ≥ 1
            def both(n: int) -> tuple[int, int]:
                pairs = n ** (power - 2) * (n * n - 1) * n
                return pairs // 3, pairs * n // 6

            (size, square), (less_size, less_square) = both(m + 1), both(m)
            return size - less_size, square - less_square

        def moment(of: Callable[[int], int]) -> int:
            return self._over_boxes(
                i,
                lambda low, high: (
                    (of(low[j]) + of(high[j]))
                    * math.prod(
                        l + h + 1 for n, (l, h) in enumerate(zip(low, high, strict=True)) if n != j
                    )
                ),
            )

        return moment(_sum_of_sizes), moment(_sum_of_squares)

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
        """By the chain of boxes, in doubles."""
        radius = self.core_ticks + i * self.ticks
        up = np.arange(radius + 1)
        inside, whole = np.ones(radius + 1), np.ones(radius + 1)
        inside_overlap, whole_overlap = np.ones(radius + 1), np.ones(radius + 1)
        for n, s in enumerate(self.sensitivities):
            low = self._reach(radius - up, np.asarray(s))
            high = self._reach(up, np.asarray(s))
            before = self._reach(np.maximum(up - 1, 0), np.asarray(s))
            unit = float(low[0] + 1)  # keeps the products of many widths in range
            whole *= (low + high + 1) / unit
            whole_overlap *= (low + before + 1) / unit
            if n == j:
                low, high, before = (np.minimum(edge, reach) for edge in (low, high, before))
            inside *= (low + high + 1) / unit
            inside_overlap *= (low + before + 1) / unit
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
        while open_.size:
            points, kept = self._propose(radius[open_, None], s, source)
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
