"""Beliefs about several values at once."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

from ..arguments import checked_call
from ..errors import refuse
from .belief import Finite, plain, written_number
from .counts import Counts, with_points
from .normalise import MOST_POINTS, common_denominator, exact_place, listed, paired, whole_weights
from .points import numeric_place


class Joint(Finite):
    """A belief about several components: each value is a tuple."""

    width: int
    """The number of components of a value."""

    @abstractmethod
    def _place(self, value: object, column: int) -> Any:
        """The form that one component has among the values."""

    def canonical(self, value: object) -> tuple[Any, ...] | None:
        if not isinstance(value, tuple | list) or len(value) != self.width:
            return None
        return tuple(self._place(part, column) for column, part in enumerate(value))


class Independent(Joint):
    """Several independent components.

    Guarantee
        The mass of a combination is the exact product; at most 4,096 combinations.

    Parameters
        components: beliefs with finitely many values (put densities on their grid first).

    Example
        >>> from tenue.prior.categorical import Categorical
        >>> coin = Categorical({"head": 0.5, "tail": 0.5})
        >>> Independent([coin, coin]).mass(("head", "tail"))
        Fraction(1, 4)

    Source
        Thesis, section 5.1.
    """

    components: tuple[Finite, ...]

    @checked_call
    def __init__(self, components: Iterable[Finite | Counts]) -> None:
        given = [with_points(component) for component in listed(components, "components")]
        for component in given:
            if not isinstance(component, Finite) or isinstance(component, Joint):
                kind = type(component).__name__
                raise refuse("prior.component-wrong-type", type=kind, most_points=MOST_POINTS)
        points = math.prod(len(component.values) for component in given)
        if points > MOST_POINTS:
            raise refuse("prior.too-many-combinations", points=points, most_points=MOST_POINTS)
        self._set(components=tuple(given), width=len(given))
        weights = [math.prod(parts) for parts in product(*(c.weights for c in given))]
        values = list(product(*(c.values for c in given)))
        self._keep(values, weights, math.prod(c.total for c in given))

    def _place(self, value: object, column: int) -> Any:
        return self.components[column].canonical(value)

    def to_dict(self) -> dict[str, object]:
        return {"prior": "independent", "components": [c.to_dict() for c in self.components]}

    def __repr__(self) -> str:
        return f"Independent({len(self.components)} components)"


class Table(Joint):
    """Combinations of components, each with its mass; all others are impossible.

    Parameters
        masses: a mapping from tuple to mass, or (tuple, mass) pairs; at most 4,096. Components are
            numbers, text or booleans.

    Example
        >>> belief = Table({("employed", "no benefits"): 0.9, ("unemployed", "benefits"): 0.1})
        >>> belief.mass(("employed", "benefits"))
        Fraction(0, 1)

    Source
        Thesis, section 5.6: consistency.
    """

    numeric: tuple[bool, ...]
    """Which components are numbers."""

    def __init__(self, masses: Mapping[object, object] | Iterable[object]) -> None:
        pairs = paired(masses)
        rows = [_row(value) for value, _ in pairs]
        common_denominator([v for row in rows for v in row if isinstance(v, Fraction)], "values")
        widths = {len(row) for row in rows}
        if len(widths) != 1:
            raise refuse("prior.combination-lengths-differ")
        if len(set(rows)) < len(rows):
            raise refuse("prior.combination-twice")
        columns = [[isinstance(v, Fraction) for v in column] for column in zip(*rows, strict=True)]
        if any(any(column) and not all(column) for column in columns):
            raise refuse("prior.component-kind-mixed")
        numeric = tuple(all(column) for column in columns)
        self._set(width=widths.pop(), numeric=numeric)
        self._keep(rows, *whole_weights([mass for _, mass in pairs]))

    def _place(self, value: object, column: int) -> Any:
        if self.numeric[column]:
            return numeric_place(value)
        bare = plain(value)
        return bare if isinstance(bare, str | bool) else None

    def to_dict(self) -> dict[str, object]:
        rows = []
        for value, mass in self.masses.items():
            parts = [written_number(v) if isinstance(v, Fraction) else v for v in value]
            rows.append([parts, written_number(mass)])
        return {"prior": "table", "numeric": list(self.numeric), "masses": sorted(rows, key=str)}

    def __repr__(self) -> str:
        return f"Table({len(self.values)} combinations of {self.width})"


def _row(value: object) -> tuple[Any, ...]:
    if not isinstance(value, tuple | list) or not value:
        raise refuse("prior.combination-not-a-tuple", type=type(value).__name__)
    parts: Sequence[Any] = value
    return tuple(
        part if isinstance(part, str | bool) else exact_place(part, "value") for part in parts
    )
