"""How many different values of a column there are.

A row brings at most one value, or takes one away, in the cell where it lies. So a unit with up to r
rows moves all counts together by r at most. Without groups replacing a unit moves the one count by
r at most, too: what leaves lowers it and what enters raises it. With groups some cells may fall
while others rise, 2r in all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from ...mechanism.additive_noise import Component, Part, Term
from ...noise.discrete_laplace import DiscreteLaplace
from ...noise.source import Source, require_safe
from ..question import Aggregate
from .contract import Asked, Block, Family, Levels
from .noise import noise_source
from .reading import Linear
from .strategy import Draw, Rows, Setting, Strategy

LAPLACE = "discrete Laplace"
MOST_VALUES = 1_000_000
"""How many values a column may have whose different values are counted."""


@dataclass(frozen=True)
class DistinctNoise(Part, Draw):
    """The number of different values of a column in every cell, each with its noise."""

    @property
    def column(self) -> str:
        return self.components[0].column

    @property
    def source(self) -> str:
        return noise_source(self.name)

    @property
    def line(self) -> str:
        return f"{self.name} on different values of {self.column}: {self.noise.words}"

    @property
    def required(self) -> str:
        return self.column

    def read(self, rows: Rows) -> None:
        rows.distinct(self.column)

    def released(self, rows: Rows, cells: Sequence[int], source: Source) -> list[list[int]]:
        require_safe(source)
        counts, noise = rows.distinct(self.column), self.draw(len(cells), source)
        return [
            [counts[cell] + extra for extra in drawn]
            for cell, drawn in zip(cells, noise, strict=True)
        ]


class Distinct(Family):
    """COUNT(DISTINCT column)."""

    kinds = frozenset({"distinct"})

    def blocks(self, asked: Asked, setting: Setting, levels: Levels) -> list[Block]:
        """Discrete Laplace on the sum over all cells of what one unit moves."""
        both = 2 if setting.neighbours == "replace" and setting.grouped else 1
        moved = both * setting.rows_per_unit

        def at(aggregate: Aggregate, price: Fraction) -> Strategy:
            law = DiscreteLaplace(sensitivity=moved, epsilon=price)
            component = Component("distinct", aggregate.column or "")
            noise = DistinctNoise(LAPLACE, (component,), law, price)
            reading = Linear((Term(0, 0, Fraction(1)),), grid=Fraction(1))
            return Strategy(LAPLACE, (noise,), {aggregate: reading})

        return [partial(at, aggregate) for aggregate in asked]


DISTINCT = Distinct()
