"""A belief over finitely many values, with whole weights over one total."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np

from ..noise.law import checked_source
from ..noise.source import Source
from .belief import Belief
from .draw import checked_size, picks


def plain(value: Any) -> Any:
    """A value without numpy's clothes: engines hand out their own booleans and integers."""
    return value.item() if isinstance(value, np.generic) else value


def shown_value(value: Any) -> Any:
    """A value as it leaves: an int, the double nearest to a fraction, text, or a tuple of those."""
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 else float(value)
    if isinstance(value, tuple):
        return tuple(shown_value(part) for part in value)
    return value


def shown_values(values: Sequence[Any]) -> Any:
    """An array of numbers, or a list of anything else."""
    shown = [shown_value(value) for value in values]
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in shown):
        return np.array(shown)
    return shown


class Finite(Belief):
    """A belief over at most 4,096 values.

    Guarantee
        Masses are rational and add up to exactly 1. Values of mass 0 are left out: they are
        impossible, and no refinement can ever return them.
    """

    values: tuple[Any, ...]
    """The possible values, each with a mass above 0."""
    weights: tuple[int, ...]
    """Whole, above 0, in the order of `values`."""
    total: int
    """What the weights add up to."""

    def _keep(self, values: Sequence[Any], weights: Sequence[int], total: int) -> None:
        kept = [(v, w) for v, w in zip(values, weights, strict=True) if w]
        self._set(values=tuple(v for v, _ in kept), weights=tuple(w for _, w in kept), total=total)

    @abstractmethod
    def canonical(self, value: object) -> Any:
        """`value` as it stands among `values`, or None where it cannot."""

    @cached_property
    def places(self) -> dict[Any, int]:
        """Where each value stands in `values`."""
        return {value: place for place, value in enumerate(self.values)}

    @cached_property
    def cumulative(self) -> list[int]:
        """Running sums of the weights."""
        return list(accumulate(self.weights))

    def mass(self, value: object) -> Fraction:
        """The exact probability of a value; 0 for what is not among the values."""
        place = self.places.get(self.canonical(value))
        return Fraction(0) if place is None else Fraction(self.weights[place], self.total)

    @property
    def masses(self) -> dict[Any, Fraction]:
        """The exact probability of every possible value."""
        pairs = zip(self.values, self.weights, strict=True)
        return {value: Fraction(weight, self.total) for value, weight in pairs}

    def sample(self, size: int | None = None, source: Source | None = None) -> Any:
        """Independent exact draws of the unmodified belief."""
        places = picks(self.cumulative, checked_size(size), checked_source(source))
        drawn = [self.values[place] for place in places]
        return shown_value(drawn[0]) if size is None else shown_values(drawn)
