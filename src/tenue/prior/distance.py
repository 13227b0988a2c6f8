"""Distances between two values of a belief: rational, so that ties are exact.

"absolute"   |x − y|                                  numbers; their default
"rank"       the difference of ranks                  Ordinal; its default
"equal"      0 if equal, else 1                       anything; the default of categories
a Taxonomy   the semantic distance of two concepts    Categorical
"sum"        components' distances, each over its largest, added      joint; their default
"max"        the largest of them                                      joint
"differing"  the number of components that differ                     joint
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InvalidPrior, Refused, refuse
from ..taxonomy import Taxonomy
from .belief import Finite
from .categorical import Categorical, Ordinal
from .joint import Independent, Joint, Table
from .points import Points, numeric_place

Keys = npt.NDArray[Any]

SAFE = 1 << 61
"""Whole numbers below this add up in 64 bits."""


class Metric(ABC):
    """The distances from a truth to the values of a belief; keys count them in units."""

    belief: Finite
    unit = Fraction(1)

    @abstractmethod
    def keys(self, truth: object) -> Keys | None:
        """A whole number for each value, in the order of its distance from the truth.

        None if the truth has no place among such values: then nothing is near or far.
        """

    def row(self, place: int) -> npt.NDArray[np.float64]:
        """The distances from the value at `place` to every value."""
        keys = self.keys(self.belief.values[place])
        return np.asarray(keys, dtype=np.float64) * float(self.unit)


class Line(Metric):
    """Numbers or ranks: whole steps times a unit."""

    belief: Points | Ordinal

    def __init__(self, belief: Points | Ordinal) -> None:
        self.belief = belief
        if isinstance(belief, Points):
            steps: Sequence[int] = belief.steps
            self.unit = belief.unit
        else:
            steps = [belief.rank(value) or 0 for value in belief.values]
        self._reach = max(map(abs, steps))
        self.steps: Keys = np.array(steps, dtype=object if self._reach >= SAFE else np.int64)

    def position(self, truth: object) -> Fraction | None:
        """The position of a truth, in units; None if it has none."""
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


class Equal(Metric):
    """0 if two values are equal, else 1."""

    def __init__(self, belief: Finite) -> None:
        self.belief = belief

    def keys(self, truth: object) -> Keys | None:
        place = self.belief.places.get(self.belief.canonical(truth))
        if place is None:
            return None
        keys = np.ones(len(self.belief.values), dtype=np.int64)
        keys[place] = 0
        return keys


class Semantic(Metric):
    """The distance of two concepts in a taxonomy."""

    unit = Fraction(1, 1 << 32)

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
        away = [self.taxonomy.rational_distance(truth, v) for v in self.belief.values]  # type: ignore[arg-type]
        return np.array([int(distance / self.unit) for distance in away], dtype=np.int64)


# -- Distances between combinations ----------------------------------------------------------------


class Combined(Metric):
    """Several components: the sum of their distances, the largest, or the number that differ.

    A component's distance is |x − y| or the difference of ranks over the largest in the belief, and
    0 or 1 for categories, so that all components count equally.
    """

    def __init__(self, belief: Joint, how: str) -> None:
        self.belief = belief
        self.how = how
        self.components = [_component(belief, column, how) for column in range(belief.width)]

    @cached_property
    def _places(self) -> list[Keys]:
        """For each component, the index of every value's part among the component's values."""
        return [
            np.array([component.places[value[column]] for value in self.belief.values])
            for column, component in enumerate(self.components)
        ]

    def keys(self, truth: object) -> Keys | None:
        known = self.belief.canonical(truth)
        if known is None:
            return None
        columns: list[list[Fraction]] = []
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
        """The distance of each value from a truth; None if the truth has no position."""
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
        # text and booleans cannot be compared with each other
        own = {value[column] for value in belief.values}
        values = sorted(own, key=lambda value: (type(value).__name__, value))
        if isinstance(belief, Table) and belief.numeric[column]:
            line = Line(Points.of_weights(values, [1] * len(values)))
    return _Component(values, None if how == "differing" else line)


# -- The closed list of distances ------------------------------------------------------------------

Distance = str | Taxonomy


def metric(belief: Finite, distance: Distance | None) -> Metric:
    """The named distance, checked against the belief without a truth.

    Example
        >>> metric(Points({0: 0.5, 2: 0.5}), None).row(0).tolist()
        [0.0, 2.0]
    """
    own = {Joint: ["sum", "max", "differing"], Points: ["absolute"], Ordinal: ["rank"]}
    names = [name for kind, some in own.items() if isinstance(belief, kind) for name in some]
    allowed = [*names, "equal"]
    wanted = allowed[0] if distance is None else distance
    if not isinstance(wanted, str | Taxonomy):
        wanted = type(wanted).__name__
    if isinstance(wanted, Taxonomy) and isinstance(belief, Categorical):
        return Semantic(belief, wanted)
    if wanted not in allowed:
        listed = ", ".join(f'"{name}"' for name in allowed)
        listed += ", or a Taxonomy" if isinstance(belief, Categorical) else ""
        facts = {"type": type(belief).__name__, "names": listed, "usual": allowed[0]}
        raise refuse("prior.unknown-distance", distance=wanted, **facts)
    if wanted == "equal":
        return Equal(belief)
    if isinstance(belief, Joint):
        return Combined(belief, str(wanted))
    return Line(belief)  # type: ignore[arg-type]


def require_absolute(distance: object) -> None:
    """Refuses any distance but |x − y|, the only one for a density."""
    if distance is not None and not (isinstance(distance, str) and distance == "absolute"):
        raise refuse("prior.density-distance", distance=distance)
