"""A belief about a real number: a density that is constant between edges."""

from __future__ import annotations

import math
from abc import abstractmethod
from bisect import bisect_left, bisect_right
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import Any

from ..arguments import Number, above_zero, exact
from ..errors import InvalidPrior, refuse
from ..noise.law import checked_source, power_of_two_below
from ..noise.source import Source
from .belief import Belief, Lattice, shown_value, shown_values
from .normalise import MOST_POINTS, checked_size, picks, uniform_below
from .points import Points

_FINE = 1 << 20
Cells = tuple[tuple[Fraction, ...], tuple[int, ...]]


def grid_steps(low: Fraction, high: Fraction, grid: Number) -> tuple[Fraction, int, int]:
    """The grid, and its first and last multiple between `low` and `high`."""
    step = above_zero(grid, "grid", refusal=InvalidPrior)
    first, last = math.ceil(low / step), math.floor(high / step)
    if first > last:
        raise refuse("prior.belief-misses-grid", step=float(step))
    return step, first, last


class Density(Belief):
    """A belief about a number between two ends: constant between edges.

    Guarantee
        Masses of the cells are rational and add up to exactly 1, so balls of any wanted mass exist
        and are found exactly.
    """

    grid: Fraction | None = None
    """If set, values are rounded to its multiples."""

    @cached_property
    def edges(self) -> tuple[Fraction, ...]:
        """The points where the density changes, ascending."""
        return self._cells[0]

    @cached_property
    def weights(self) -> tuple[int, ...]:
        """Whole weights of the cells between edges."""
        return self._cells[1]

    @property
    def _cells(self) -> Cells:
        """Edges and weights, for families that do not set them when they are made."""
        raise NotImplementedError

    @abstractmethod
    def on_grid(self, grid: Number) -> Points | Density:
        """The belief on multiples of `grid`: its points or, where many, the density rounded."""

    @abstractmethod
    def lattice(self, grid: Fraction) -> Lattice:
        """The belief on multiples of `grid` as logarithms, for estimation."""

    @cached_property
    def low(self) -> Fraction:
        return self.edges[0]

    @cached_property
    def high(self) -> Fraction:
        return self.edges[-1]

    @cached_property
    def cumulative(self) -> list[int]:
        return list(accumulate(self.weights))

    @property
    def total(self) -> int:
        return self.cumulative[-1]

    def cdf(self, x: Number) -> Fraction:
        """P(value ≤ x), exactly."""
        x = exact(x, "x")
        if x <= self.low:
            return Fraction(0)
        if x >= self.high:
            return Fraction(1)
        cell = bisect_right(self.edges, x) - 1
        start, end = self.edges[cell], self.edges[cell + 1]
        before = self.cumulative[cell] - self.weights[cell]
        return (before + self.weights[cell] * (x - start) / (end - start)) / self.total

    def quantile(self, share: Fraction) -> Fraction:
        """The first x with P(value ≤ x) = share, 0 < share < 1, exactly."""
        wanted = share * self.total
        cell = bisect_left(self.cumulative, wanted)
        start, end = self.edges[cell], self.edges[cell + 1]
        before = self.cumulative[cell] - self.weights[cell]
        return start + (end - start) * (wanted - before) / self.weights[cell]

    def density(self, x: Number) -> Fraction:
        """The density at x, exactly; at an edge, the density of the cell above it."""
        x = exact(x, "x")
        if not self.low <= x < self.high:
            return Fraction(0)
        cell = bisect_right(self.edges, x) - 1
        return Fraction(self.weights[cell], self.total) / (self.edges[cell + 1] - self.edges[cell])

    @property
    def sampling_grid(self) -> Fraction:
        """The grid of the draws: `grid`, or a power of two near a millionth of the range."""
        return self.grid or power_of_two_below(self.high - self.low) / _FINE

    outer_half: bool = False
    """Whether the density reaches half a step beyond its outer points."""

    @property
    def limits(self) -> tuple[int, int]:
        """The first and last multiple of the sampling grid that a draw can be."""
        half = self.sampling_grid / 2 if self.outer_half else Fraction(0)
        return grid_steps(self.low + half, self.high - half, self.sampling_grid)[1:]

    def sample(self, size: int | None = None, source: Source | None = None) -> Any:
        """Independent exact draws of the unmodified belief, on `sampling_grid`."""
        drawn = self.draws(checked_size(size), checked_source(source))
        return shown_value(drawn[0]) if size is None else shown_values(drawn)

    def draws(self, size: int, source: Source) -> list[Fraction]:
        """As `sample`, as exact multiples of `sampling_grid`, each the nearest one.

        The piece is drawn by its whole weight, the place in it as a whole number of units so small
        that every edge and every border between grid cells is a multiple of the unit. A unit cell
        therefore lies in one grid cell, and each rounded value has exactly its mass.
        """
        edges, grid, (first, last) = self.edges, self.sampling_grid, self.limits
        unit = math.lcm(2 * grid.denominator, *(edge.denominator for edge in edges))
        step = int(grid * unit)
        drawn = []
        for piece in picks(self.cumulative, size, source):
            start, end = int(edges[piece] * unit), int(edges[piece + 1] * unit)
            place = start + uniform_below(end - start, 1, source)[0]
            drawn.append(min(max((2 * place + step) // (2 * step), first), last) * grid)
        return drawn

    def few(self, first: int, last: int) -> bool:
        """Whether the points from `first` to `last` are few enough to be listed."""
        return last - first < MOST_POINTS
