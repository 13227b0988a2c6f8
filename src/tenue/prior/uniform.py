"""No more is known than the two ends."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ..errors import refuse
from ..number import checked_call
from .belief import written_number
from .density import Density, grid_steps
from .histogram import Histogram
from .lattice import Lattice
from .mass import exact_place
from .points import Points


def two_ends(low: object, high: object) -> tuple[Fraction, Fraction]:
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
        Thesis, section 5.1: the belief of who knows nothing but the range.
    """

    @checked_call
    def __init__(self, low: object, high: object) -> None:
        self._set(_edges=two_ends(low, high))

    @property
    def edges(self) -> tuple[Fraction, ...]:
        edges: tuple[Fraction, Fraction] = self.__dict__["_edges"]
        return edges

    @property
    def weights(self) -> tuple[int, ...]:
        return (1,)

    def on_grid(self, grid: object) -> Points | Density:
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
