"""Beliefs in general, beliefs over finitely many values, and families of them on a grid."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np

from ..errors import refuse
from ..noise.law import Real, checked_source
from ..noise.source import Source
from .normalise import checked_size, picks


def written_number(number: Fraction | int) -> int | str:
    """A whole number as itself, any other as the exact text "numerator/denominator".

    Example
        >>> written_number(Fraction(7, 10)), written_number(Fraction(3))
        ('7/10', 3)
    """
    exact = Fraction(number)
    return exact.numerator if exact.denominator == 1 else str(exact)


class Belief(ABC):
    """A belief about a value, stated before asking.

    Guarantee
        Frozen. Its parameters are checked when it is made, without looking at data. Equal beliefs
        have equal JSON.
    """

    @abstractmethod
    def to_dict(self) -> dict[str, object]:
        """The belief as plain JSON values."""

    def to_json(self) -> str:
        """The belief as canonical JSON text; `from_json` gives it back."""
        facts = self.to_dict()  # one form only, so that equal beliefs are equal texts
        return json.dumps(facts, ensure_ascii=False, sort_keys=True, separators=(",", ":"))

    def _set(self, **facts: Any) -> None:
        for name, fact in facts.items():
            object.__setattr__(self, name, fact)

    def __setattr__(self, name: str, value: object) -> None:
        raise refuse("prior.belief-frozen", name=name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Belief) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(self.to_json())


# -- A belief over finitely many values, with whole weights over one total -------------------------


def plain(value: Any) -> Any:
    """A NumPy scalar as a Python value: engines return their own booleans and integers."""
    return value.item() if isinstance(value, np.generic) else value


def shown_value(value: Any) -> Any:
    """A value for output: an int, the double nearest to a fraction, text, or a tuple of them."""
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

    def _keep(self, values: Sequence[Any], weights: Sequence[int], total: int) -> None:
        kept = [(v, w) for v, w in zip(values, weights, strict=True) if w]
        self._set(values=tuple(v for v, _ in kept), weights=tuple(w for _, w in kept), total=total)

    @abstractmethod
    def canonical(self, value: object) -> Any:
        """The form that `value` has among `values`, or None if it cannot be one of them."""

    @cached_property
    def places(self) -> dict[Any, int]:
        """The index of each value in `values`."""
        return {value: place for place, value in enumerate(self.values)}

    @cached_property
    def cumulative(self) -> list[int]:
        return list(accumulate(self.weights))

    def mass(self, value: object) -> Fraction:
        """The exact probability of a value; 0 if it is not among the values."""
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


# A family of beliefs on the whole multiples of a step, as logarithms, for very many points.


@dataclass(frozen=True)
class Lattice:
    """Masses of the steps `first` … `last`, known up to a common factor.

    For estimation, not for release: logarithms are doubles.

    Attributes
        log_weights: the logarithms of consecutive masses, ends included, relative to each other.
        near: (middle, rate, deep) to a first and last step beyond which
            log-mass − rate·|k − middle| is more than `deep` below its largest value.
    """

    first: int
    last: int
    log_weights: Callable[[int, int], Real]
    near: Callable[[float, float, float], tuple[int, int]]

    @classmethod
    def by_rise(
        cls,
        first: int,
        last: int,
        log_weight: Callable[[int], float],
        log_rise: Callable[[Real], Real],
        concave: bool = True,
    ) -> Lattice:
        """The masses from the rises between neighbours, so that no large numbers cancel.

        log_weight: the logarithm of one mass. log_rise: that of mass(k+1) / mass(k).
        concave: whether the logarithms are concave; then both ends of the steps that are near are
            found by bisection, however many steps there are.
        """

        def log_weights(low: int, high: int) -> Real:
            rises = log_rise(np.arange(low, high, dtype=np.float64))
            return np.concatenate([[0.0], np.cumsum(rises)])

        def near(middle: float, rate: float, deep: float) -> tuple[int, int]:
            def falls(k: int) -> bool:
                gain = rate * (abs(k - middle) - abs(k + 1 - middle))
                return float(log_rise(np.array([float(k)]))[0]) + gain <= 0

            def height(k: int) -> float:
                return log_weight(k) - rate * abs(k - middle)

            peak = first + bisect_left(range(first, last), True, key=falls)
            floor = height(peak) - deep
            above = bisect_left(range(peak, last), True, key=lambda k: height(k + 1) < floor)
            below = bisect_left(range(first, peak), True, key=lambda k: height(k) >= floor)
            return first + below, peak + above

        return cls(first, last, log_weights, near if concave else lambda *_: (first, last))
