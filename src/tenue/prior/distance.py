"""How far apart two values are: a closed list of distances.

    "absolute"   |x − y|                                  numbers; their default
    "rank"       how many places apart in the order       Ordinal; its default
    "equal"      0 if the same, else 1                    anything; the default of categories
    a Taxonomy   the semantic distance of two concepts    Categorical
    "sum"        components' distances, each over its largest, added      joint; their default
    "max"        the largest of them                                      joint
    "differing"  how many components differ                               joint

All are rational, so ties are ties and no float decides what is near.
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

from ..errors import InvalidPrior, Refused
from ..taxonomy import Taxonomy
from .categorical import Categorical, Ordinal
from .finite import Finite
from .joint import Independent, Joint, Table
from .points import Points, numeric_place

__all__ = ["Distance", "Equal", "Line", "Metric", "metric", "require_absolute"]

Distance = str | Taxonomy
Keys = npt.NDArray[Any]

_SAFE = 1 << 61


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
        wide = max(map(abs, steps)) >= _SAFE
        self.steps: Keys = np.array(steps, dtype=object if wide else np.int64)
        self._reach = max(map(abs, steps))

    def keys(self, truth: object) -> Keys | None:
        if isinstance(self.belief, Points):
            number = numeric_place(truth)
        else:
            rank = self.belief.rank(truth)
            number = None if rank is None else Fraction(rank)
        if number is None:
            return None
        place = number / self.unit
        top, bottom = place.numerator, place.denominator
        steps = self.steps
        if self._reach * bottom >= _SAFE or abs(top) >= _SAFE:
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


class Combined(Metric):
    """Several components: their distances added, the largest, or how many differ."""

    def __init__(self, belief: Joint, how: str) -> None:
        self.belief = belief
        self.how = how
        self.parts = [self._part(column) for column in range(belief.width)]

    def _part(self, column: int) -> _Part:
        column_values = sorted({value[column] for value in self.belief.values}, key=_sortable)
        belief = self.belief
        if self.how == "differing":
            inner: Metric | None = None
        elif isinstance(belief, Independent):
            inner = metric(belief.components[column], None)
        elif isinstance(belief, Table) and belief.numeric[column]:
            inner = Line(Points.of_weights(column_values, [1] * len(column_values)))
        else:
            inner = None
        values: Sequence[Any] = column_values
        if isinstance(belief, Independent) and inner is not None:
            values = belief.components[column].values
        return _Part(values, inner)

    @cached_property
    def _places(self) -> list[Keys]:
        """For each component, where each value's component stands among its part's values."""
        return [
            np.array([part.places[value[column]] for value in self.belief.values])
            for column, part in enumerate(self.parts)
        ]

    def keys(self, truth: object) -> Keys | None:
        known = self.belief.canonical(truth)
        if known is None:
            return None
        columns = [part.shares(place) for part, place in zip(self.parts, known, strict=True)]
        if any(column is None for column in columns):
            return None
        bottom = math.lcm(*(share.denominator for column in columns for share in column or ()))
        scaled = [
            np.array([int(share * bottom) for share in column or ()], dtype=object)[places]
            for column, places in zip(columns, self._places, strict=True)
        ]
        total = np.max(scaled, axis=0) if self.how == "max" else sum(scaled)
        keys: Keys = np.asarray(total, dtype=object)
        return keys.astype(np.int64) if int(keys.max()) < _SAFE else keys

    def row(self, place: int) -> npt.NDArray[np.float64]:
        rows = [
            part.share_rows[places[place]][places]
            for part, places in zip(self.parts, self._places, strict=True)
        ]
        return np.asarray(np.max(rows, axis=0) if self.how == "max" else sum(rows))


class _Part:
    """One component: its distances as shares of the largest among its values."""

    def __init__(self, values: Sequence[Any], inner: Metric | None) -> None:
        self.values = values
        self.places = {value: place for place, value in enumerate(values)}
        self.inner = inner

    @cached_property
    def _widest(self) -> Fraction:
        if not isinstance(self.inner, Line):
            return Fraction(1)
        steps = [int(step) for step in self.inner.steps]
        return Fraction(max(steps) - min(steps) or 1)

    def shares(self, truth: Any) -> list[Fraction] | None:
        if not isinstance(self.inner, Line):
            return [Fraction(value != truth) for value in self.values]
        if self.inner.keys(truth) is None:
            return None
        if isinstance(self.inner.belief, Points):
            place = truth / self.inner.unit
        else:
            place = Fraction(self.inner.belief.rank(truth) or 0)
        return [abs(int(step) - place) / self._widest for step in self.inner.steps]

    @cached_property
    def share_rows(self) -> npt.NDArray[np.float64]:
        if not isinstance(self.inner, Line):
            return 1.0 - np.eye(len(self.values))
        steps = self.inner.steps.astype(np.float64)
        return np.abs(steps[:, None] - steps[None, :]) / float(self._widest)


def _sortable(value: Any) -> tuple[str, Any]:
    kind = "number" if isinstance(value, Fraction) else type(value).__name__
    return kind, value


def metric(belief: Finite, distance: Distance | None) -> Metric:
    """The distance named, checked against the belief without any truth.

    Example
        >>> metric(Points({0: 0.5, 2: 0.5}), None).row(0).tolist()
        [0.0, 2.0]
    """
    if isinstance(belief, Joint):
        allowed = ["sum", "max", "differing", "equal"]
    elif isinstance(belief, Points):
        allowed = ["absolute", "equal"]
    elif isinstance(belief, Ordinal):
        allowed = ["rank", "equal"]
    else:
        allowed = ["equal"]
    wanted = allowed[0] if distance is None else distance
    if not isinstance(wanted, str | Taxonomy):
        wanted = type(wanted).__name__
    if isinstance(wanted, Taxonomy) and isinstance(belief, Categorical):
        return Semantic(belief, wanted)
    if wanted not in allowed:
        names = ", ".join(f'"{name}"' for name in allowed)
        more = ", or a Taxonomy" if isinstance(belief, Categorical) else ""
        raise InvalidPrior(
            f"`distance` is {wanted!r}"[:80],
            f"For {type(belief).__name__} the distances are {names}{more}",
            f'Leave it out for "{allowed[0]}"',
        )
    if wanted == "equal":
        return Equal(belief)
    if isinstance(belief, Joint):
        return Combined(belief, str(wanted))
    return Line(belief)  # type: ignore[arg-type]


def require_absolute(distance: object) -> None:
    """Refuses any distance but |x − y|, the only one for a density."""
    if distance is None or (isinstance(distance, str) and distance == "absolute"):
        return
    raise InvalidPrior(
        f"`distance` is {distance!r}"[:80],
        'For a density the distance is "absolute"',
        "Leave it out",
    )
