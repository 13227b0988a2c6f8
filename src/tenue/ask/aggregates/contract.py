"""What a family of aggregates says of itself; everything else asks only this.

A family is one file: which SQL functions it answers and of which columns, the ways to answer them
at a price, and the draws and readings that these ways are made of (`strategy.py`, `reading.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ...errors import Refused
from ...noise.criterion import Criterion
from ...privacy.loss import EpsilonDelta
from ...schema import Bounded, Category, Column, Number, Schema
from ..question import Aggregate
from .reading import Reading
from .strategy import Setting, Strategy

Asked = Sequence[Aggregate]
Levels = Mapping[Aggregate, Fraction]
"""For values with a rank, those at which intervals in values are bought."""
Block = Callable[[Fraction], Strategy]
"""The one way, at a price, to answer aggregates that need one share of it."""


@dataclass(frozen=True)
class Takes:
    """Which columns a function takes, and how that is said."""

    words: str
    types: tuple[type[Column], ...]


ANYTHING = Takes("any column", (Column,))
NUMBER = Takes("a number", (Number,))
ORDERED = Takes("a number or a date", (Bounded,))
CATEGORY = Takes("a category", (Category,))


@dataclass(frozen=True)
class Function:
    """A SQL function, and what it takes.

    kind: what it asks: the `kind` of its `Aggregate`.
    rows: whether it takes * for all rows.
    columns: how many columns it takes.
    ordered: whether it matters which of two columns stands first.
    share: whether it takes a number between 0 and 1 besides; q: that number where it is fixed.
    """

    name: str
    kind: str
    takes: Takes = NUMBER
    rows: bool = False
    columns: int = 1
    ordered: bool = False
    share: bool = False
    q: Fraction | None = None


class Family:
    """Aggregates that are answered alike.

    functions: as they are asked. kinds: what they ask.
    sharing: the kinds that share one noise, in several ways.
    of_column: whether an answer is a value of the column: a day, a category.
    buys_intervals: whether part of the price can buy intervals in values.
    """

    functions: tuple[Function, ...] = ()
    sharing: frozenset[str] = frozenset()
    of_column = False
    buys_intervals = False

    @property
    def kinds(self) -> frozenset[str]:
        return frozenset(function.kind for function in self.functions)

    def ways(
        self,
        asked: Asked,
        setting: Setting,
        price: EpsilonDelta,
        wanted: Criterion,
        *,
        aside: bool = False,
    ) -> list[Strategy]:
        """Every way to answer aggregates that share a noise, in the same order at every price.

        aside: in two noises, where one is worse for some of them.
        """
        return []

    def blocks(self, asked: Asked, setting: Setting, levels: Levels) -> list[Block]:
        """How to answer aggregates that share no noise with other families."""
        return []

    def by_name(self, asked: Asked, setting: Setting, epsilon: Fraction) -> list[Strategy]:
        """Ways to answer the whole question, where the number of all rows is public, that are never
        preferred and chosen by name only."""
        return []

    def refuse_name(self, mechanism: str, names: Sequence[str]) -> Refused | None:
        """The refusal of a way of its own that does not answer the question."""
        return None

    def declared(self, asked: Asked, setting: Setting, rows: int) -> dict[Aggregate, Reading]:
        """What the schema states, where it states the number of rows: no row is read for it."""
        return {}

    def as_held(self, aggregate: Aggregate, value: Fraction, schema: Schema) -> Any:
        """A released value as the column holds it."""
        return value
