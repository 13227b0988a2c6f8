"""Numbers with masses."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import cached_property

import numpy as np

from ..arguments import Number, above_zero, exact
from ..errors import InvalidPrior, Refused, refuse
from .belief import Finite, written_number
from .normalise import common_denominator, exact_place, paired, whole_weights


def numeric_place(value: object) -> Fraction | None:
    """The value as an exact number, or None; True and False are 1 and 0."""
    if isinstance(value, bool | np.bool_):
        return Fraction(bool(value))
    try:
        return exact(value, "value")
    except Refused:
        return None


class Points(Finite):
    """A belief about a number: each possible one with its mass.

    Guarantee
        The masses are exact and add up to exactly 1.

    Parameters
        masses: a mapping from number to mass, or (number, mass) pairs; at most 4,096. A float means
            the decimal it prints.

    Example
        >>> belief = Points({0: 0.99, 1: 0.01})
        >>> belief.mass(1), belief.mean
        (Fraction(1, 100), 0.01)
    """

    def __init__(self, masses: Mapping[object, object] | Iterable[object]) -> None:
        pairs = paired(masses)
        numbers = [exact_place(value, "value") for value, _ in pairs]
        common_denominator(numbers, "values")
        if len(set(numbers)) < len(numbers):
            raise refuse("prior.number-twice")
        weights, total = whole_weights([mass for _, mass in pairs])
        order = sorted(range(len(numbers)), key=numbers.__getitem__)
        self._keep([numbers[i] for i in order], [weights[i] for i in order], total)

    @classmethod
    def of_weights(cls, numbers: Iterable[Fraction], weights: Iterable[int]) -> Points:
        """The belief with these ascending numbers and whole weights above 0."""
        belief = cls.__new__(cls)
        whole = tuple(weights)
        belief._keep(tuple(numbers), whole, sum(whole))
        return belief

    def on_grid(self, grid: Number) -> Points:
        """The same belief, refused unless every number is a multiple of `grid`."""
        step = above_zero(grid, "grid", refusal=InvalidPrior)
        if any((value / step).denominator != 1 for value in self.values):
            raise refuse("prior.belief-off-grid", step=float(step))
        return self

    def canonical(self, value: object) -> Fraction | None:
        return numeric_place(value)

    @cached_property
    def unit(self) -> Fraction:
        """The largest number of which all values are whole multiples."""
        bottom = math.lcm(*(value.denominator for value in self.values))
        scaled = (value.numerator * (bottom // value.denominator) for value in self.values)
        return Fraction(math.gcd(*scaled) or 1, bottom)

    @cached_property
    def steps(self) -> tuple[int, ...]:
        """The values in units, ascending."""
        top, bottom = self.unit.numerator, self.unit.denominator
        return tuple(v.numerator * bottom // (v.denominator * top) for v in self.values)

    @cached_property
    def mean(self) -> float:
        """The expected number."""
        pairs = zip(self.steps, self.weights, strict=True)
        return float(self.unit * Fraction(sum(s * w for s, w in pairs), self.total))

    @cached_property
    def variance(self) -> float:
        """The expected squared distance from the mean."""
        pairs = list(zip(self.steps, self.weights, strict=True))
        mean = Fraction(sum(s * w for s, w in pairs), self.total)
        square = Fraction(sum(s * s * w for s, w in pairs), self.total)
        return float(self.unit**2 * (square - mean**2))

    def to_dict(self) -> dict[str, object]:
        pairs = [[written_number(v), written_number(m)] for v, m in self.masses.items()]
        return {"prior": "points", "masses": pairs}

    def __repr__(self) -> str:
        return f"Points({len(self.values)} numbers)"
