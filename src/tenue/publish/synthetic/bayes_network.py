"""A Bayesian network: columns first, then a noisy table for each further column.

Every column after the first is drawn from a noisy table of itself and one or two columns drawn
before. The exponential mechanism chooses them: the score is the distance of the true table from
independence, less the expected sum of its noise. Everything else follows from released numbers and
from rows that were drawn from them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations

import numpy as np

from ...engine.contract import Passes
from ...mechanism.exponential_mechanism import Exponential
from ...noise.source import Source
from ...text import many
from .binning import Binning, binned, by_group, leanings, numbered, tabulated
from .counts import MOVED, Counts, Weights, fitted, noisy, uniforms
from .domain import Domain, Places
from .grid import raked
from .independent_columns import ColumnsFirst, Independent, Margin

_SMOOTH = 1e-3
_SWEEPS = 30


@dataclass(frozen=True)
class Family:
    """A column and the columns that it is drawn from."""

    child: int
    parents: tuple[int, ...]


def counted(parts: Sequence[Binning], family: Family, places: Places) -> Counts:
    """How many rows each cell has: groups of the child down, of the parents across."""
    columns = places[:, [family.child, *family.parents]]
    return tabulated(numbered(parts, columns), parts).reshape(parts[0].many, -1)


def independent(parts: Sequence[Binning], family: Family, made: Places, rows: int) -> Weights:
    """The table if the child were independent of its parents, in whole rows; from the released
    distribution of the child and the parents as they were drawn.

    rows: of the whole table; only a part of them may have been drawn so far.
    """
    shares = parts[0].weights / max(parts[0].weights.sum(), 1e-300)
    above = _across(_codes(parts, family, made), parts, rows)
    return np.asarray(np.rint(shares[:, None] * above[None, :]))


@dataclass(frozen=True)
class Conditional:
    """The released table of a family: noisy counts, fitted to the number of rows."""

    family: Family
    parts: Sequence[Binning]
    table: Weights

    def column(self, made: Places, rows: int, source: Source) -> Counts:
        """The child's values in rows whose parents are drawn."""
        plain = independent(self.parts, self.family, made, rows)
        table = (1 - _SMOOTH) * self.table + _SMOOTH * np.maximum(plain, 1e-3)
        above = _codes(self.parts, self.family, made)
        weights = self.parts[0].weights
        down = weights * (rows / max(weights.sum(), 1e-300))
        across = _across(above, self.parts, rows)
        table = raked(table, {0: down[:, None], 1: across[None, :]}, _SWEEPS)
        chance = table / np.maximum(table.sum(axis=0), 1e-300)
        groups = _drawn(chance, above, source)
        lean = None
        if self.parts[0].ordered:
            lean = leanings(table, 0, blank=self.parts[0].blank)[groups, above]
        return self.parts[0].drawn(groups, source, lean)


@dataclass(frozen=True)
class Chained:
    """Rows of independent columns, of which all but the first are then drawn anew.

    first: the rows of the first block, which were drawn while the tables were chosen.
    """

    margins: Sequence[Margin]
    tables: Sequence[Conditional]
    rows: int
    first: Places

    def block(self, rows: range, source: Source) -> Places:
        if rows.start == 0:
            return self.first
        made = Independent(self.margins).block(rows, source)
        for table in self.tables:
            made[:, table.family.child] = table.column(made, self.rows, source)
        return made


def _codes(parts: Sequence[Binning], family: Family, places: Places) -> Counts:
    """The cell of each row in the table of the parents."""
    numbers = numbered(parts[1:], places[:, list(family.parents)])
    return np.ravel_multi_index(numbers, [groups.many for groups in parts[1:]])


def _across(codes: Counts, parts: Sequence[Binning], rows: int) -> Weights:
    """The number of all rows with each code of the parents, if these are a fair sample."""
    wide = math.prod(groups.many for groups in parts[1:])
    return np.asarray(np.bincount(codes, minlength=wide) * (rows / codes.size))


def _drawn(chance: Weights, above: Counts, source: Source) -> Counts:
    """A row of `chance` for each of these columns, the rows of a column spread evenly."""
    order, many = by_group(above, chance.shape[1], source)
    begin = np.cumsum(many) - many
    rank = np.empty(above.size, np.int64)
    rank[order] = np.arange(above.size) - begin[above[order]]
    u = (rank + uniforms(above.size, source)) / many[above]
    ends = np.cumsum(chance, axis=0)
    ends /= np.maximum(ends[-1], 1e-300)
    ends[-1] = 1.0
    line = (ends.T + np.arange(chance.shape[1])[:, None]).reshape(-1)
    at = np.searchsorted(line, np.minimum(u, 1 - 2.0**-40) + above, side="right")
    return np.asarray(np.clip(at - above * chance.shape[0], 0, chance.shape[0] - 1))


COLUMNS, MORE_COLUMNS, CHOICES = Fraction(55, 100), Fraction(72, 100), Fraction(5, 100)
"""The parts of epsilon for the columns, and for choices; the rest is for tables."""
_MUCH = 10_000
"""Rows times epsilon a column from which on tables are as fine as they get, and columns gain from
`MORE_COLUMNS`."""
_ROWS_PER_CELL = 10
_MOST_GROUPS = 16


@dataclass(frozen=True, kw_only=True)
class Network(ColumnsFirst):
    """Columns that depend on each other through a chain of small tables.

    Guarantee
        `epsilon` in all: .55 of it for the columns, .05 for the choices, .40 for the tables; or
        .72, .05 and .23 among many rows. One record moves a table by 2 in the L1 norm, and so every
        score by 2 at most: the table of independence is computed from released numbers.

    Source
        After Zhang, Cormode, Procopiuc, Srivastava and Xiao 2017 (PrivBayes).
    """

    name = "network"
    mechanism = "noisy columns, then a noisy table of each further column with one or two others"
    source = "Zhang et al. 2017 (PrivBayes), with discrete noise and expected tables from releases"
    fewest = 2

    @property
    def steps(self) -> int:
        """How many tables there are."""
        return len(self.domain.axes) - 1

    @property
    def columns_epsilon(self) -> Fraction:
        much = self.rows * self.epsilon >= _MUCH * len(self.domain.axes)
        return self.epsilon * (MORE_COLUMNS if much else COLUMNS)

    @property
    def table_epsilon(self) -> Fraction:
        return (self.epsilon * (1 - CHOICES) - self.columns_epsilon) / self.steps

    @property
    def choice_epsilon(self) -> Fraction:
        return self.epsilon * CHOICES / self.steps

    @property
    def most_cells(self) -> int:
        """Cells of a table, at most: with so many rows in each, noise is a tenth of a row."""
        return max(4, int(self.rows * self.table_epsilon / _ROWS_PER_CELL))

    @property
    def parameters(self) -> Mapping[str, str]:
        return {
            "columns": self.columns_text,
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
        return min(super().least_epsilon, self.choice_epsilon, self.table_epsilon)

    def release(self, records: Passes, source: Source) -> Chained:
        margins = self.margins(records, source)
        made = Independent(margins).block(range(self.first_block), source)
        groups = _Groupings(self.domain, margins)
        counts: dict[Family, Counts] = {}  # the true tables, which are secret; each is counted once
        placed: list[int] = []
        tables: list[Conditional] = []
        for _ in range(self.steps):
            families = list(self._candidates(placed))
            new = {f: self.grouping(f, groups) for f in families if f not in counts}
            counts |= _counts_of(new, records) if new else {}
            scores = [self.score(family, groups, counts[family], made) for family in families]
            rule = Exponential(len(families), self.choice_epsilon, MOVED)
            family = families[rule.choose(scores, source)]
            released = noisy(counts[family], self.table_epsilon, source)
            parts = self.grouping(family, groups)
            tables.append(Conditional(family, parts, fitted(released, self.rows)))
            made[:, family.child] = tables[-1].column(made, self.rows, source)
            placed += [column for column in (*family.parents, family.child) if column not in placed]
        return Chained(margins, tables, self.rows, made)

    def _candidates(self, placed: Sequence[int]) -> Iterator[Family]:
        """The candidates for the next table; at first any two columns, of which one stays as it was
        drawn."""
        columns = range(len(self.domain.axes))
        if not placed:
            yield from (Family(child, (parent,)) for parent, child in combinations(columns, 2))
            return
        sizes = (1, 2) if self.most_cells >= 2**3 else (1,)
        for child in (column for column in columns if column not in placed):
            for size in sizes:
                yield from (Family(child, parents) for parents in combinations(placed, size))

    def grouping(self, family: Family, groups: _Groupings) -> list[Binning]:
        """The groups of child and parents, as fine as the cells allow."""
        return groups.of((family.child, *family.parents), self.most_cells)

    def score(self, family: Family, groups: _Groupings, true: Counts, made: Places) -> int:
        """How far the true table is from independence, less the expected sum of its noise.

        Guarantee
            One replaced record moves it by 2 at most.
        """
        expected = independent(self.grouping(family, groups), family, made, self.rows)
        apart = int(np.abs(true - expected.astype(np.int64)).sum())
        return apart - math.ceil(true.size / self.table_epsilon)


def _counts_of(
    families: Mapping[Family, Sequence[Binning]], records: Passes
) -> dict[Family, Counts]:
    """The true tables of these families, in one pass."""

    def measure(places: Places) -> Counts:
        return np.concatenate([counted(p, f, places).ravel() for f, p in families.items()])

    shapes = [(p[0].many, math.prod(groups.many for groups in p[1:])) for p in families.values()]
    tables = np.split(records.sum(measure), np.cumsum([math.prod(shape) for shape in shapes])[:-1])
    return {f: t.reshape(shape) for f, t, shape in zip(families, tables, shapes, strict=True)}


class _Groupings:
    """Groups of every column, formed once for each number of them."""

    def __init__(self, domain: Domain, margins: Sequence[Margin]) -> None:
        self._margins = margins
        self._binned = lru_cache(maxsize=None)(
            lambda j, most: binned(domain.axes[j], margins[j], most)
        )

    def of(self, columns: Sequence[int], cells: int) -> list[Binning]:
        """The finest groups whose product is within `cells`; the largest shrinks by one in turn."""
        most = [min(_MOST_GROUPS, self._margins[j].weights.size) for j in columns]
        while math.prod(most) > cells and max(most) > 2:
            widest = max(range(len(most)), key=most.__getitem__)
            most[widest] -= 1
        return [self._binned(j, m) for j, m in zip(columns, most, strict=True)]
