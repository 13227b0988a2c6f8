"""How far apart two values are, for one component: rational, so that ties are ties."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import InvalidPrior, Refused
from ...taxonomy import Taxonomy
from ..categorical import Categorical, Ordinal
from ..finite import Finite
from ..points import Points, numeric_place

Keys = npt.NDArray[Any]

SAFE = 1 << 61
"""Whole numbers below this add up in 64 bits."""


class Metric(ABC):
    """The distances from a truth to the values of a belief."""

    @abstractmethod
    def keys(self, truth: object) -> Keys | None:
        """A whole number for each value, in the order of its distance from the truth.

        None where the truth has no place among such values: then nothing is near or far.
        """

    @abstractmethod
    def row(self, place: int) -> npt.NDArray[np.float64]:
        """The distances from the value at `place` to every value."""


class Line(Metric):
    """Numbers or ranks: whole steps times a unit."""

    def __init__(self, belief: Points | Ordinal) -> None:
        self.belief = belief
        if isinstance(belief, Points):
            steps: Sequence[int] = belief.steps
            self.unit = belief.unit
        else:
            steps = [belief.rank(value) or 0 for value in belief.values]
            self.unit = Fraction(1)
        wide = max(map(abs, steps)) >= SAFE
        self.steps: Keys = np.array(steps, dtype=object if wide else np.int64)
        self._reach = max(map(abs, steps))

    def position(self, truth: object) -> Fraction | None:
        """Where a truth lies, in units; None where it has no place."""
        if isinstance(self.belief, Points):
            number = numeric_place(truth)
            return None if number is None else number / self.unit
        rank = self.belief.rank(truth)
        return None if rank is None else Fraction(rank)

    def keys(self, truth: object) -> Keys | None:
        place = self.position(truth)
        if place is None:
            return None
        top, bottom = place.numerator, place.denominator
        steps = self.steps
        if self._reach * bottom >= SAFE or abs(top) >= SAFE:
            steps = steps.astype(object)
        return np.asarray(np.abs(steps * bottom - top))

    def row(self, place: int) -> npt.NDArray[np.float64]:
        gaps = np.abs(self.steps - self.steps[place])
        return np.asarray(gaps.astype(np.float64) * float(self.unit))


class Equal(Metric):
    """The same or not."""

    def __init__(self, belief: Finite) -> None:
        self.belief = belief

    def keys(self, truth: object) -> Keys | None:
        place = self.belief.places.get(self.belief.canonical(truth))
        if place is None:
            return None
        keys = np.ones(len(self.belief.values), dtype=np.int64)
        keys[place] = 0
        return keys

    def row(self, place: int) -> npt.NDArray[np.float64]:
        row = np.ones(len(self.belief.values))
        row[place] = 0
        return row


class Semantic(Metric):
    """The distance of two concepts in a taxonomy."""

    def __init__(self, belief: Categorical, taxonomy: Taxonomy) -> None:
        self.belief = belief
        self.taxonomy = taxonomy
        for value in belief.values:
            try:
                taxonomy.concept_of(value)
            except Refused as refused:
                raise InvalidPrior(refused.what, refused.allowed, refused.fix) from None

    def keys(self, truth: object) -> Keys | None:
        try:
            self.taxonomy.concept_of(truth)  # type: ignore[arg-type]
        except (Refused, TypeError):
            return None
        steps = [self._steps(truth, value) for value in self.belief.values]
        return np.array(steps, dtype=np.int64)

    def _steps(self, a: Any, b: Any) -> int:
        return int(self.taxonomy.rational_distance(a, b) * (1 << 32))

    def row(self, place: int) -> npt.NDArray[np.float64]:
        keys = self.keys(self.belief.values[place])
        return np.asarray(keys, dtype=np.float64) / (1 << 32)
