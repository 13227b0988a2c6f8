"""The contract of a family of aggregates: its SQL functions, and the candidates that answer them.

Candidates consist of draws (`strategy.py`) and readings (`reading.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
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
"""For order statistics, the levels of the value intervals that part of the price pays for."""
Ends = tuple[Fraction | None, Fraction | None]
"""The least and the greatest possible value; None where there is no end."""
ANY_VALUE: Ends = (None, None)
Block = Callable[[Fraction], Strategy]
"""The strategy, at a price, of aggregates that share one part of the whole price."""


@dataclass(frozen=True)
class Takes:
    """Which columns a function takes, in words and as types."""

    words: str
    types: tuple[type[Column], ...]


ANYTHING = Takes("any column", (Column,))
NUMBER = Takes("a number", (Number,))
ORDERED = Takes("a number or a date", (Bounded,))
CATEGORY = Takes("a category", (Category,))


@dataclass(frozen=True)
class Function:
    """A SQL function and its arguments.

    kind: the `kind` of its `Aggregate`. rows: whether it takes * for all rows.
    columns: how many it takes. ordered: whether the order of two columns matters.
    share: whether it takes a number between 0 and 1 too; q: that number where it is fixed.
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
    """Aggregates that are answered by the same mechanisms.

    functions: their SQL functions. kinds: the kinds of `Aggregate`.
    sharing: the kinds that can share one noise.
    adding_up: the kinds whose answers people add up over cells.
    of_column: whether an answer is a value of the column: a day, a category.
    buys_intervals: whether part of the price can pay for intervals in values.
    """

    functions: tuple[Function, ...] = ()
    sharing: frozenset[str] = frozenset()
    adding_up: frozenset[str] = frozenset()
    of_column = False
    buys_intervals = False

    @property
    def kinds(self) -> frozenset[str]:
        return frozenset(function.kind for function in self.functions)

    def ways(
        self, asked: Asked, setting: Setting, price: EpsilonDelta, wanted: Criterion
    ) -> list[Strategy]:
        """Every candidate for aggregates that share a noise, in the same order at every price."""
        return []

    def ways_aside(
        self, asked: Asked, setting: Setting, price: EpsilonDelta, wanted: Criterion
    ) -> list[Strategy]:
        """The same with two noises, where one noise is worse for some of them."""
        return []

    def blocks(self, asked: Asked, setting: Setting, levels: Levels) -> list[Block]:
        """The blocks of aggregates that share no noise with other families."""
        known = [a for a in asked if a.kind in self.kinds]
        return [partial(self.block, a, setting, levels.get(a)) for a in known]

    def block(
        self, aggregate: Aggregate, setting: Setting, level: Fraction | None, price: Fraction
    ) -> Strategy:
        """The strategy of one aggregate at a price.

        level: of the value interval that part of the price pays for; None for no interval.
        """
        raise NotImplementedError

    def by_name(self, asked: Asked, setting: Setting, epsilon: Fraction) -> list[Strategy]:
        """Candidates for the whole question, where the number of all rows is public, that are never
        preferred but can be chosen by name."""
        return []

    def refuse_name(self, mechanism: str, names: Sequence[str]) -> Refused | None:
        """The refusal of one of its mechanisms that does not answer the question."""
        return None

    def declared(self, asked: Asked, setting: Setting, rows: int) -> dict[Aggregate, Reading]:
        """Answers that follow from the number of rows that the schema states; no row is read."""
        return {}

    def possible(self, aggregate: Aggregate, schema: Schema) -> Ends:
        """The ends of the true value, as a reading computes it, of any rows."""
        return ANY_VALUE

    def as_held(self, aggregate: Aggregate, value: Fraction, schema: Schema) -> Any:
        """A released value in the type of the column."""
        return value


def bounds_of_number(name: str | None, schema: Schema) -> Ends:
    """The declared ends of a number; of anything else none."""
    column = schema.column(name or "")
    return (column.low, column.high) if isinstance(column, Number) else ANY_VALUE


def ends_of_sum(name: str | None, schema: Schema) -> Ends:
    """0 on the side on which no value of the column lies."""
    low, high = bounds_of_number(name, schema)
    zero = Fraction(0)
    return (zero if low is not None and low >= 0 else None), (
        zero if high is not None and high <= 0 else None
    )
