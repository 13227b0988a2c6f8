"""The most frequent category of a column, chosen by the exponential mechanism."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from ...mechanism.exponential_mechanism import Exponential
from ...noise.criterion import Criterion
from ...noise.source import Source
from ...schema import Category, Schema
from ...text import exactly, shortly
from ..question import Aggregate
from .contract import CATEGORY, Family, Function
from .reading import SHOWN_LEVEL, Expectation, Noisy, Parts, Reading, miss
from .strategy import Draw, Rows, Setting, Strategy

VOTE = "selection by votes"


@dataclass(frozen=True)
class Ballot(Draw):
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
    """The number of the chosen category; only how many rows it may be behind can be stated.

    place: which of the selections of a cell it is.
    """

    place: int
    vote: Exponential

    def value(self, noisy: Noisy, rows: int | None) -> Fraction:
        return Fraction(noisy[-1][self.place])

    def rows_behind(self, level: Fraction) -> float:
        """At most so many rows behind the most frequent one, with that probability."""
        return self.vote.behind(miss(level))

    def rows_off(self, level: Fraction) -> float:
        return self.rows_behind(level)

    def size(self, parts: Parts, wanted: Criterion) -> float:
        return self.rows_behind(SHOWN_LEVEL)

    def moved(self, parts: int, places: int) -> CategoryReading:
        return replace(self, place=self.place + places)

    def expect(self, alias: str, parts: Parts, rows: int | None) -> Expectation:
        votes = self.rows_behind(SHOWN_LEVEL)
        words = ("", f"{shortly(votes)} rows behind")
        return Expectation(alias, votes=votes, words=words)

    def beside(self, *anything: object) -> str:
        return f"{shortly(self.rows_behind(SHOWN_LEVEL))} rows behind"


class Mode(Family):
    functions = (Function("MODE", "mode", CATEGORY),)
    of_column = True

    def block(
        self, aggregate: Aggregate, setting: Setting, level: Fraction | None, price: Fraction
    ) -> Strategy:
        """One row more costs at most `epsilon`, in any cell; a unit may have several rows, and
        replace is one row less and one more."""
        column = aggregate.column or ""
        epsilon = setting.law_epsilon(price, native=False) / setting.rows_per_unit
        vote = Exponential(setting.categories[column], epsilon, 1, one_sided=True)
        draws = (Ballot(column, vote, price),)
        return Strategy(VOTE, draws, {aggregate: CategoryReading(0, vote)})

    def as_held(self, aggregate: Aggregate, value: Fraction, schema: Schema) -> str | None:
        column = schema.column(aggregate.column or "")
        return column.categories[int(value)] if isinstance(column, Category) else None


MODE = Mode()
