"""A private table of many columns: columns first, then one table for each column that is added.

Every column after the first is drawn from a noisy table of itself and one or two columns that are
there already. Which, is chosen by the exponential mechanism: how far the true table is from what
independence would give, less what its noise would cost.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from typing import Any, Self

import numpy as np

from ....errors import refuse
from ....mechanism.choose.score import HighScore
from ....noise.source import Source
from ....screen.number import many
from ..column import Margin
from ..columns import columns_text, margins_error, private_margins
from ..counts import MOVED, Counts, Weights, fitted, noisy, uniforms
from ..domain import Domain, Places
from ..synthesis import Synthesis
from .grouping import Groups, by_group

COLUMNS, CHOICES, TABLES = Fraction(55, 100), Fraction(5, 100), Fraction(40, 100)
"""The parts of epsilon."""
_ROWS_PER_CELL = 10
_MOST_GROUPS = 16
_SMOOTH = 1e-3
_SWEEPS = 30


@dataclass(frozen=True)
class Family:
    """A column and the columns that it is drawn from."""

    child: int
    parents: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Network(Synthesis):
    """Columns that hang together by a chain of small tables.

    Guarantee
        `epsilon` in all: .55 for the columns, .05 for the choices, .40 for the tables. One record
        moves a table by 2 in the L1 norm, and so every score by 2 at most: what independence would
        give is computed from released numbers.

    Source
        After Zhang, Cormode, Procopiuc, Srivastava and Xiao 2017 (PrivBayes).
    """

    name = "network"
    mechanism = "noisy columns, then a noisy table of each further column with one or two others"
    source = "Zhang et al. 2017 (PrivBayes), with discrete noise and expected tables from releases"

    @classmethod
    def planned(cls, domain: Domain, rows: int, epsilon: Fraction, **options: Any) -> Self:
        if len(domain.axes) < 2:
            raise refuse("microdata.way-needs-more-columns", by=cls.name, least=2)
        return cls(domain=domain, rows=rows, epsilon=epsilon, **options)

    @property
    def steps(self) -> int:
        """How many tables are made."""
        return len(self.domain.axes) - 1

    @property
    def table_epsilon(self) -> Fraction:
        """What each table costs."""
        return self.epsilon * TABLES / self.steps

    @property
    def choice_epsilon(self) -> Fraction:
        """What each choice costs."""
        return self.epsilon * CHOICES / self.steps

    @property
    def most_cells(self) -> int:
        """Cells of a table, at most: with so many rows in each, noise is a tenth of a row."""
        return max(4, int(self.rows * self.table_epsilon / _ROWS_PER_CELL))

    @property
    def parameters(self) -> Mapping[str, str]:
        return {
            "columns": columns_text(self.epsilon * COLUMNS),
            "choices": (
                f"{many(self.steps, 'noisy choice')} of which columns a column is drawn from, "
                f"for epsilon {float(self.choice_epsilon):.6g} each."
            ),
            "tables": (
                f"{many(self.steps, 'noisy table')} of at most {self.most_cells:,} cells, "
                f"for epsilon {float(self.table_epsilon):.6g} each."
            ),
        }

    @property
    def limits(self) -> Sequence[str]:
        return (
            "Columns depend on each other through tables of two or three of them only, in groups "
            "of values.",
        )

    @property
    def expected_error(self) -> float:
        return margins_error(self.domain, self.rows, self.epsilon * COLUMNS)

    def draw(self, places: Places, source: Source) -> Places:
        margins = private_margins(self.domain, places, self.epsilon * COLUMNS, source)
        made = np.array([margin.sample(self.rows, source) for margin in margins]).T.copy()
        groups = _Groupings(self.domain, margins)
        placed: list[int] = []
        rule = HighScore(self.choice_epsilon, MOVED)
        for _ in range(self.steps):
            families = list(self._candidates(placed))
            scores = [self.score(family, groups, places, made) for family in families]
            family = families[rule.choose(scores, source)]
            made[:, family.child] = self._column(family, groups, places, made, source)
            placed += [one for one in (*family.parents, family.child) if one not in placed]
        return made

    def _candidates(self, placed: Sequence[int]) -> Iterator[Family]:
        """What may come next; first of all any two columns, of which one stays as it was drawn."""
        columns = range(len(self.domain.axes))
        if not placed:
            yield from (Family(child, (parent,)) for parent, child in combinations(columns, 2))
        for child in columns if placed else ():
            if child in placed:
                continue
            for parent in placed:
                yield Family(child, (parent,))
            if self.most_cells >= 2**3:
                for parents in combinations(placed, 2):
                    yield Family(child, parents)

    def grouping(self, family: Family, groups: _Groupings) -> list[Groups]:
        """The groups of child and parents, as fine as the cells allow."""
        return groups.of((family.child, *family.parents), self.most_cells)

    def score(self, family: Family, groups: _Groupings, places: Places, made: Places) -> int:
        """How far the true table is from independence, less what its noise would be.

        Guarantee
            One replaced record moves it by 2 at most.
        """
        parts = self.grouping(family, groups)
        true = _table(parts, family, places)
        apart = int(np.abs(true - _independent(parts, family, made).astype(np.int64)).sum())
        return apart - math.ceil(true.size / self.table_epsilon)

    def _column(
        self, family: Family, groups: _Groupings, places: Places, made: Places, source: Source
    ) -> Counts:
        """The values of a column, drawn from its noisy table with its parents."""
        parts = self.grouping(family, groups)
        true = _table(parts, family, places)
        independent = _independent(parts, family, made)
        table = fitted(noisy(true, self.table_epsilon, source), self.rows)
        table = (1 - _SMOOTH) * table + _SMOOTH * np.maximum(independent, 1e-3)
        above = _codes(parts[1:], family.parents, made)
        many = np.bincount(above, minlength=table.shape[1]).astype(np.float64)
        table = raked(table, _normalised(parts[0].weights, self.rows), many)
        chance = table / np.maximum(table.sum(axis=0), 1e-300)
        return parts[0].drawn(_drawn(chance, above, source), source)


class _Groupings:
    """Groups of every column, made once for each number of them."""

    def __init__(self, domain: Domain, margins: Sequence[Margin]) -> None:
        self._margins = margins
        self._made = lru_cache(maxsize=None)(
            lambda j, most: Groups.of(
                margins[j],
                ordered=domain.axes[j].ordered,
                # a tree that was not split has no cell of blanks
                blank=domain.axes[j].blank and int(margins[j].edges[-2]) == domain.axes[j].held,
                most=most,
            )
        )

    def of(self, columns: Sequence[int], cells: int) -> list[Groups]:
        """The finest groups whose product is within `cells`; the largest is halved in turn."""
        most = [min(_MOST_GROUPS, self._margins[j].weights.size) for j in columns]
        while math.prod(most) > cells and max(most) > 2:
            widest = max(range(len(most)), key=most.__getitem__)
            most[widest] -= 1
        return [self._made(j, m) for j, m in zip(columns, most, strict=True)]


def _normalised(weights: Weights, total: float) -> Weights:
    return np.asarray(weights * (total / max(weights.sum(), 1e-300)))


def _codes(parts: Sequence[Groups], columns: Sequence[int], table: Places) -> Counts:
    codes = np.zeros(table.shape[0], np.int64)
    for groups, column in zip(parts, columns, strict=True):
        codes = codes * groups.many + groups.number(table[:, column])
    return codes


def _table(parts: Sequence[Groups], family: Family, table: Places) -> Counts:
    """How many rows each cell has: groups of the child down, of the parents across."""
    wide = math.prod(groups.many for groups in parts[1:])
    child = parts[0].number(table[:, family.child])
    codes = child * wide + _codes(parts[1:], family.parents, table)
    counts = np.bincount(codes, minlength=parts[0].many * wide)
    return counts.reshape(parts[0].many, wide).astype(np.int64)


def _independent(parts: Sequence[Groups], family: Family, made: Places) -> Weights:
    """What the table would be if the child had nothing to do with its parents, in whole rows; from
    the released distribution of the child and the parents as they were drawn."""
    wide = math.prod(groups.many for groups in parts[1:])
    above = np.bincount(_codes(parts[1:], family.parents, made), minlength=wide)
    shares = parts[0].weights / max(parts[0].weights.sum(), 1e-300)
    return np.asarray(np.rint(shares[:, None] * above[None, :]))


def raked(table: Weights, down: Weights, across: Weights) -> Weights:
    """The table scaled to these sums of rows and columns, as nearly as it can be; the columns'
    sums are met."""
    made = table.astype(np.float64)
    for _ in range(_SWEEPS):
        made *= (down / np.maximum(made.sum(axis=1), 1e-300))[:, None]
        made *= (across / np.maximum(made.sum(axis=0), 1e-300))[None, :]
    return made


def _drawn(chance: Weights, above: Counts, source: Source) -> Counts:
    """A row of `chance` for each column that is named, rows of one column spread evenly."""
    order, many = by_group(above, chance.shape[1], source)
    begin = np.cumsum(many) - many
    rank = np.empty(above.size, np.int64)
    rank[order] = np.arange(above.size) - begin[above[order]]
    u = (rank + uniforms(above.size, source)) / many[above]
    ends = np.cumsum(chance, axis=0)
    ends /= np.maximum(ends[-1], 1e-300)
    ends[-1] = 1.0
    line = (ends.T + np.arange(chance.shape[1])[:, None]).reshape(-1)
    found = np.searchsorted(line, np.minimum(u, 1 - 2.0**-40) + above, side="right")
    return np.asarray(np.clip(found - above * chance.shape[0], 0, chance.shape[0] - 1))
