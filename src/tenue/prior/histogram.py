"""Beliefs about a number that are constant on intervals: a histogram, or one interval."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np

from ..arguments import Number, checked_call
from ..errors import refuse
from ..noise.law import Real
from .belief import Lattice, written_number
from .density import Density, grid_steps
from .normalise import MOST_POINTS, common_denominator, exact_place, listed, whole_weights
from .points import Points


class Histogram(Density):
    """Each interval between two edges has its mass, evenly spread.

    On a grid, a value is rounded to the nearest multiple between the ends.

    Parameters
        edges: ascending numbers, one more than masses.
        masses: of the intervals, adding up to exactly 1; 0 is allowed.

    Example
        >>> belief = Histogram([0, 10, 100], [0.9, 0.1])
        >>> belief.cdf(Fraction(5)), belief.density(Fraction(50))
        (Fraction(9, 20), Fraction(1, 900))
    """

    @checked_call
    def __init__(self, edges: Iterable[object], masses: Iterable[object]) -> None:
        numbers = [exact_place(e, "edges") for e in listed(edges, "edges", MOST_POINTS + 1)]
        common_denominator(numbers, "edges")
        if any(a >= b for a, b in pairwise(numbers)):
            raise refuse("prior.edges-not-ascending")
        weights, _ = whole_weights(listed(masses, "masses"))
        if len(numbers) != len(weights) + 1:
            raise refuse("prior.edges-differ-from-masses", many=len(numbers), many2=len(weights))
        self._set(edges=tuple(numbers), weights=weights)

    @classmethod
    def of_weights(
        cls,
        edges: Sequence[Fraction],
        weights: Sequence[int],
        grid: Fraction | None,
        outer_half: bool = False,
    ) -> Histogram:
        """The density with these ascending edges and whole weights, rounded to the grid if given.

        outer_half: whether it reaches half a step beyond its outer points.
        """
        belief = cls.__new__(cls)
        belief._set(edges=tuple(edges), weights=tuple(weights), grid=grid, outer_half=outer_half)
        return belief

    def on_grid(self, grid: Number) -> Points | Density:
        step, first, last = grid_steps(self.low, self.high, grid)
        if self.grid == step:
            return self
        if not self.few(first, last):
            return Histogram.of_weights(self.edges, self.weights, step)
        borders = [self.cdf((k + Fraction(1, 2)) * step) for k in range(first, last)]
        masses = [b - a for a, b in pairwise([Fraction(0), *borders, Fraction(1)])]
        bottom = math.lcm(*(mass.denominator for mass in masses))
        kept = {k * step: int(mass * bottom) for k, mass in enumerate(masses, first) if mass}
        return Points.of_weights(kept, kept.values())

    def lattice(self, grid: Fraction) -> Lattice:
        _, first, last = grid_steps(self.low, self.high, grid)
        edges = np.array([float(edge) for edge in self.edges])
        masses = [float(Fraction(weight, self.total)) for weight in self.weights]
        with np.errstate(divide="ignore"):
            logs = np.log(masses) - np.log(np.diff(edges))

        def log_weights(low: int, high: int) -> Real:
            values = np.arange(low, high + 1) * float(grid)
            cells = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, logs.size - 1)
            return np.asarray(logs[cells], dtype=np.float64)

        def near(middle: float, rate: float, deep: float) -> tuple[int, int]:
            starts, ends = np.maximum(edges[:-1] / float(grid), first), edges[1:] / float(grid)
            ends = np.minimum(ends, last)
            gaps = np.maximum(0.0, np.maximum(starts - middle, middle - ends))
            heights = np.where(ends >= starts, logs - rate * gaps, -np.inf)
            alive = heights >= heights.max() - deep
            reach = (logs - heights.max() + deep)[alive] / rate if rate else np.inf
            low = np.maximum(starts[alive], middle - reach).min()
            high = np.minimum(ends[alive], middle + reach).max()
            return max(first, math.floor(low)), min(last, math.ceil(high))

        return Lattice(first, last, log_weights, near)

    def to_dict(self) -> dict[str, object]:
        facts: dict[str, object] = {
            "prior": "histogram",
            "edges": [written_number(edge) for edge in self.edges],
            "masses": [written_number(Fraction(w, self.total)) for w in self.weights],
        }
        if self.grid is not None:
            facts["grid"] = written_number(self.grid)
            facts["beyond"] = self.outer_half
        return facts

    def __repr__(self) -> str:
        return f"Histogram({len(self.weights)} intervals)"


# -- Nothing but the two ends is known -------------------------------------------------------------


def two_ends(low: Number, high: Number) -> tuple[Fraction, Fraction]:
    """`low` below `high`, both moderate numbers."""
    ends = exact_place(low, "low"), exact_place(high, "high")
    if not ends[0] < ends[1]:
        raise refuse("prior.empty-range", low=low, high=high)
    if ends[1] - ends[0] < Fraction(1, 10**100):
        raise refuse("prior.range-too-narrow")
    return ends


class Uniform(Density):
    """Every number between `low` and `high` is equally likely.

    On a grid, every multiple between the ends, ends included, has the same mass.

    Parameters
        low, high: the ends; low below high.

    Example
        >>> Uniform(0, 120).on_grid(1).mass(17)
        Fraction(1, 121)

    Source
        Thesis, section 5.1: nothing but the range is known.
    """

    @checked_call
    def __init__(self, low: Number, high: Number) -> None:
        self._set(edges=two_ends(low, high), weights=(1,))

    def on_grid(self, grid: Number) -> Points | Density:
        step, first, last = grid_steps(self.low, self.high, grid)
        if self.few(first, last):
            count = last - first + 1
            return Points.of_weights((step * k for k in range(first, last + 1)), [1] * count)
        half = step / 2
        return Histogram.of_weights([first * step - half, last * step + half], [1], step, True)

    def lattice(self, grid: Fraction) -> Lattice:
        _, first, last = grid_steps(self.low, self.high, grid)
        return Lattice.by_rise(first, last, lambda _: 0.0, np.zeros_like)

    def to_dict(self) -> dict[str, object]:
        ends = {"low": written_number(self.low), "high": written_number(self.high)}
        return {"prior": "uniform", **ends}

    def __repr__(self) -> str:
        return f"Uniform({float(self.low):g}, {float(self.high):g})"
