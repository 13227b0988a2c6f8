"""Private quantiles of what each person has: rows, groups, sums; from all rows, before any limit.

Why it is private. Every person has one number in each of these lists, so one person more or less
is one number more or less, and to replace one is to change one. A quantile is chosen from a
declared grid by selection, with a score that one number moves by max(p, 1 − p), or by 1 under
replace; the prices of all quantiles add up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from ...engine.contract import Engine
from ...engine.request import Contribution, ContributionRequest, Key, Window
from ...errors import refuse
from ...mechanism.choose import rank_score
from ...mechanism.choose.selection import Selection
from ...noise.exact import LARGEST
from ...noise.source import SYSTEM, Source, require_safe
from ...number import NANO
from ...schema import Number, Schema
from ...screen.number import exactly
from ..family.strategy import split


@dataclass(frozen=True)
class Sought:
    """One number of each person whose quantiles are sought, and its grid: all whole numbers from
    `first` to `last`. What lies beyond counts as the end."""

    contribution: Contribution
    first: int
    last: int

    @property
    def line(self) -> str:
        """What a certificate says of it."""
        of = "" if self.contribution.column is None else f" sum of {self.contribution.column}"
        return (
            f"{self.contribution.kind}{of} of each person, from {self.first} to {self.last} steps"
        )


@dataclass(frozen=True)
class Quantiles:
    """Quantiles that are paid for together, an equal part of the price for each.

    Guarantee
        `epsilon`-differential privacy for one person, whatever number of rows they have.

    shares: which quantiles, in increasing order; of the least sums the mirror images.
    """

    sought: tuple[Sought, ...]
    shares: tuple[Fraction, ...]
    keys: tuple[Key, ...]
    unit: str
    neighbours: str
    nano: int

    @property
    def each(self) -> Fraction:
        """The price of one quantile."""
        return split(self.nano, len(self.sought) * len(self.shares))

    @property
    def epsilon(self) -> Fraction:
        """What is paid; the quantiles together use no more."""
        return Fraction(self.nano, NANO)

    def selections(self, sought: Sought) -> list[Selection]:
        """The selection of each quantile."""
        mirrored = sought.contribution.kind == "least"
        return [
            Selection(
                rank_score.quantile(1 - share if mirrored else share, self.neighbours),
                *(sought.first, sought.last, self.each),
            )
            for share in self.shares
        ]

    def choose(self, engine: Engine, source: Source = SYSTEM) -> list[list[int]]:
        """The chosen quantiles of each number that is sought; reads rows."""
        require_safe(source)
        return [self._chosen(sought, engine, source) for sought in self.sought]

    def _chosen(self, sought: Sought, engine: Engine, source: Source) -> list[int]:
        selections = self.selections(sought)
        windows = tuple(_window(selection) for selection in selections)
        found = engine.contributions(
            ContributionRequest(
                *(sought.contribution, self.unit, windows, sought.first, sought.last, None),
                keys=self.keys,
            )
        )
        return [selection.choose(found.rows, found.values, source) for selection in selections]

    def lines(self) -> list[str]:
        """What a certificate says of each."""
        price = f"epsilon {exactly(self.each)} for each quantile"
        shares = ", ".join(exactly(share) for share in self.shares)
        return [f"selection of quantiles {shares} of {one.line}: {price}" for one in self.sought]


def _window(selection: Selection) -> Window:
    score = selection.score
    return Window(score.b, score.a, score.above, score.below, selection.reach)


def sought_for(keys: Sequence[Key], column: Number | None, most: int) -> tuple[Sought, ...]:
    """Rows of each person; groups, if there are several; the sums of a column, if one is named.

    most: how many rows and groups the grid goes up to; a sum goes as far as so many rows can.
    """
    found = [Sought(Contribution("rows"), 1, most)]
    cells = 1
    for key in keys:
        cells *= key.cells
    if cells > 1:
        found.append(Sought(Contribution("cells"), 1, min(cells, most)))
    if column is not None:
        low, high = int(column.low / column.grid), int(column.high / column.grid)
        ends = most * min(low, 0), most * max(high, 0)
        if ends[1] - ends[0] >= LARGEST:
            raise refuse("query.person-sum-too-large", name=column.name, most=most)
        if high > 0:
            found.append(Sought(Contribution("largest", column.name), *ends))
        if low < 0:
            found.append(Sought(Contribution("least", column.name), *ends))
    return tuple(found)


def number_column(schema: Schema, name: str) -> Number:
    """The column whose sums are asked about; refused if it has none."""
    column = schema.column(name)
    if not isinstance(column, Number):
        raise refuse("query.limits-of-non-number", name=column.name, type=column.type)
    return column
