"""The most frequent category of a column: how it is chosen, and what may be said about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

from ...mechanism.exponential_mechanism import Exponential
from ...noise.criterion import Criterion
from ...noise.source import Source
from ...schema import Category, Schema
from ...text import exactly, shortly
from ..question import Aggregate
from .contract import CATEGORY, Asked, Block, Family, Function, Levels
from .reading import SHOWN_LEVEL, Expectation, Noisy, Parts, Reading
from .strategy import Draw, Rows, Setting, Strategy

VOTE = "selection by votes"
"""The name of the mechanism."""


@dataclass(frozen=True)
class Ballot(Draw):
    """One vote that is paid for: among the categories of a column, at a price."""

    column: str
    vote: Exponential
    epsilon: Fraction
    name: str = VOTE

    chosen = True
    source = "McSherry and Talwar 2007, with one-sided scores"

    @property
    def line(self) -> str:
        return (
            f"{self.name} among {self.vote.candidates} categories of {self.column}: "
            f"epsilon {exactly(self.vote.epsilon)} for one row; with 95 % at most "
            f"{self.vote.behind(0.05):.3g} rows behind the most frequent"
        )

    @property
    def required(self) -> str:
        return self.column

    def check_draw(self, cells: int) -> None:
        self.vote.check_draw()

    def read(self, rows: Rows) -> None:
        rows.votes(self.column, self.vote.candidates)

    def released(self, rows: Rows, cells: Sequence[int], source: Source) -> list[list[int]]:
        votes = rows.votes(self.column, self.vote.candidates)
        return [[self.vote.choose(votes[cell], source)] for cell in cells]


@dataclass(frozen=True)
class CategoryReading(Reading):
    """The place of the chosen category; how many rows it is behind can be told, and nothing else.

    place: which of the selections of a cell it is.
    """

    place: int
    vote: Exponential

    def value(self, noisy: Noisy, rows: int | None) -> Fraction:
        return Fraction(noisy[-1][self.place])

    def rows_behind(self, level: Fraction) -> float:
        """By how many rows it is behind the most frequent one at most, with that probability."""
        return self.vote.behind(float(max(1 - level, Fraction(1, 10**12))))

    def size(self, parts: Parts, wanted: Criterion) -> float:
        return self.rows_behind(SHOWN_LEVEL)

    def moved(self, parts: int, places: int) -> CategoryReading:
        return replace(self, place=self.place + places)

    def expect(self, alias: str, parts: Parts, rows: int | None) -> Expectation:
        votes = self.rows_behind(SHOWN_LEVEL)
        words = ("", f"{shortly(votes)} rows behind")
        return Expectation(alias, None, None, None, votes=votes, words=words)

    def beside(self, *anything: object) -> str:
        return f"{shortly(self.rows_behind(SHOWN_LEVEL))} rows behind"


class Mode(Family):
    """MODE."""

    functions = (Function("MODE", "mode", CATEGORY),)
    of_column = True

    def blocks(self, asked: Asked, setting: Setting, levels: Levels) -> list[Block]:
        """A row more costs a vote at most `epsilon`, in whatever cell it lies; a unit has several.

        Replace is a row less and a row more.
        """

        def at(aggregate: Aggregate, price: Fraction) -> Strategy:
            column = aggregate.column or ""
            epsilon = setting.law_epsilon(price, native=False) / setting.rows_per_unit
            vote = Exponential(setting.categories[column], epsilon, 1, one_sided=True)
            draws = (Ballot(column, vote, price),)
            return Strategy(VOTE, draws, {aggregate: CategoryReading(0, vote)})

        return [partial(at, aggregate) for aggregate in asked]

    def as_held(self, aggregate: Aggregate, value: Fraction, schema: Schema) -> str | None:
        named = schema.column(aggregate.column or "")
        return named.categories[int(value)] if isinstance(named, Category) else None


MODE = Mode()
