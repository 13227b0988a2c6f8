"""How far apart two combinations are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..categorical import Ordinal
from ..joint import Independent, Joint, Table
from ..points import Points
from .value import SAFE, Keys, Line, Metric


class Combined(Metric):
    """Several components: their distances added, the largest of them, or how many differ.

    A component's distance is |x − y| or the difference of ranks over the largest among the belief's
    own values, and 0 or 1 for categories: so all components count alike.
    """

    def __init__(self, belief: Joint, how: str) -> None:
        self.belief = belief
        self.how = how
        self.components = [_component(belief, column, how) for column in range(belief.width)]

    @cached_property
    def _places(self) -> list[Keys]:
        """For each component, where that of each value stands among the component's values."""
        return [
            np.array([component.places[value[column]] for value in self.belief.values])
            for column, component in enumerate(self.components)
        ]

    def keys(self, truth: object) -> Keys | None:
        known = self.belief.canonical(truth)
        if known is None:
            return None
        columns = []
        for component, part in zip(self.components, known, strict=True):
            shares = component.shares(part)
            if shares is None:
                return None
            columns.append(shares)
        bottom = math.lcm(*(share.denominator for shares in columns for share in shares))
        scaled = [
            np.array([int(share * bottom) for share in shares], dtype=object)[places]
            for shares, places in zip(columns, self._places, strict=True)
        ]
        keys: Keys = np.max(scaled, axis=0) if self.how == "max" else np.sum(scaled, axis=0)
        return keys.astype(np.int64) if int(keys.max()) < SAFE else keys

    def row(self, place: int) -> npt.NDArray[np.float64]:
        rows = [
            component.share_rows[places[place]][places]
            for component, places in zip(self.components, self._places, strict=True)
        ]
        return np.asarray(np.max(rows, axis=0) if self.how == "max" else np.sum(rows, axis=0))


class _Component:
    """The values of one component and their distances, as shares of the largest."""

    def __init__(self, values: Sequence[Any], line: Line | None) -> None:
        self.values = values
        self.places = {value: place for place, value in enumerate(values)}
        self.line = line

    @cached_property
    def _widest(self) -> int:
        steps = [] if self.line is None else [int(step) for step in self.line.steps]
        return max(steps) - min(steps) or 1

    def shares(self, truth: Any) -> list[Fraction] | None:
        """The distance of each value from a truth; None where the truth has no place."""
        if self.line is None:
            return [Fraction(value != truth) for value in self.values]
        place = self.line.position(truth)
        if place is None:
            return None
        return [abs(int(step) - place) / self._widest for step in self.line.steps]

    @cached_property
    def share_rows(self) -> npt.NDArray[np.float64]:
        """The distances between all values."""
        if self.line is None:
            return 1.0 - np.eye(len(self.values))
        steps = self.line.steps.astype(np.float64)
        return np.asarray(np.abs(steps[:, None] - steps[None, :]) / float(self._widest))


def _component(belief: Joint, column: int, how: str) -> _Component:
    line: Line | None = None
    if isinstance(belief, Independent):
        one = belief.components[column]
        values: Sequence[Any] = one.values
        if isinstance(one, Points | Ordinal):
            line = Line(one)
    else:
        values = sorted({value[column] for value in belief.values}, key=_kind_first)
        if isinstance(belief, Table) and belief.numeric[column]:
            line = Line(Points.of_weights(values, [1] * len(values)))
    return _Component(values, None if how == "differing" else line)


def _kind_first(value: Any) -> tuple[str, Any]:
    """Text and booleans cannot be compared with each other."""
    return type(value).__name__, value
