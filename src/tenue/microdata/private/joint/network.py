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

from ....engine.contract import Passes
from ....errors import refuse
from ....mechanism.choose.score import HighScore
from ....noise.source import Source
from ....screen.number import many
from ..column import Margin
from ..columns import columns_text, margins_error, margins_least, private_margins
from ..counts import MOVED, Counts, fitted, noisy
from ..domain import Domain, Places
from ..synthesis import Synthesis
from .conditional import Chained, Conditional, Family, counted, independent, sampled
from .grouping import Groups

COLUMNS, MORE_COLUMNS, CHOICES = Fraction(55, 100), Fraction(72, 100), Fraction(5, 100)
"""The parts of epsilon for the columns, and for choices; the rest is for tables."""
_MUCH = 10_000
"""Rows times epsilon a column from which on tables are as fine as they get, and columns gain from
`MORE_COLUMNS`."""
_ROWS_PER_CELL = 10
_MOST_GROUPS = 16


@dataclass(frozen=True, kw_only=True)
class Network(Synthesis):
    """Columns that hang together by a chain of small tables.

    Guarantee
        `epsilon` in all: .55 of it for the columns, .05 for the choices, .40 for the tables; or
        .72, .05 and .23 among many rows. One record
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
            raise refuse("microdata.too-few-columns", by=cls.name, least=2)
        return cls(domain=domain, rows=rows, epsilon=epsilon, **options)

    @property
    def steps(self) -> int:
        """How many tables are made."""
        return len(self.domain.axes) - 1

    @property
    def columns_epsilon(self) -> Fraction:
        """What all columns cost."""
        much = self.rows * self.epsilon >= _MUCH * len(self.domain.axes)
        return self.epsilon * (MORE_COLUMNS if much else COLUMNS)

    @property
    def table_epsilon(self) -> Fraction:
        """What each table costs."""
        return (self.epsilon * (1 - CHOICES) - self.columns_epsilon) / self.steps

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
            "columns": columns_text(self.columns_epsilon),
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
    def least_epsilon(self) -> Fraction:
        columns = margins_least(self.domain, self.rows, self.columns_epsilon)
        return min(columns, self.choice_epsilon, self.table_epsilon)

    @property
    def expected_error(self) -> float:
        return margins_error(self.domain, self.rows, self.columns_epsilon)

    def release(self, records: Passes, source: Source) -> Chained:
        margins = private_margins(self.domain, records, self.columns_epsilon, source)
        made = sampled(margins, self.first_block, source)
        groups = _Groupings(self.domain, margins)
        counts = _Counts(records)
        placed: list[int] = []
        tables: list[Conditional] = []
        rule = HighScore(self.choice_epsilon, MOVED)
        for _ in range(self.steps):
            families = list(self._candidates(placed))
            counts.read({family: self.grouping(family, groups) for family in families})
            scores = [self.score(family, groups, counts.of[family], made) for family in families]
            family = families[rule.choose(scores, source)]
            released = noisy(counts.of[family], self.table_epsilon, source)
            parts = self.grouping(family, groups)
            line = self.domain.axes[family.child].ordered
            tables.append(Conditional(family, parts, fitted(released, self.rows), line))
            made[:, family.child] = tables[-1].column(made, self.rows, source)
            placed += [one for one in (*family.parents, family.child) if one not in placed]
        return Chained(margins, tables, self.rows, made)

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

    def score(self, family: Family, groups: _Groupings, true: Counts, made: Places) -> int:
        """How far the true table is from independence, less what its noise would be.

        Guarantee
            One replaced record moves it by 2 at most.
        """
        expected = independent(self.grouping(family, groups), family, made, self.rows)
        apart = int(np.abs(true - expected.astype(np.int64)).sum())
        return apart - math.ceil(true.size / self.table_epsilon)


class _Counts:
    """The true tables of families, which are secret; each is counted once."""

    def __init__(self, records: Passes) -> None:
        self._records = records
        self.of: dict[Family, Counts] = {}

    def read(self, wanted: Mapping[Family, Sequence[Groups]]) -> None:
        """Counts the tables that are not known yet, all in one pass."""
        new = {family: parts for family, parts in wanted.items() if family not in self.of}
        if not new:
            return

        def measure(places: Places) -> Counts:
            return np.concatenate([counted(p, f, places).ravel() for f, p in new.items()])

        found = self._records.sum(measure)
        for family, parts in new.items():
            shape = parts[0].many, math.prod(groups.many for groups in parts[1:])
            self.of[family], found = np.split(found, [math.prod(shape)])
            self.of[family] = self.of[family].reshape(shape)


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
