"""Rows drawn column after column, each from a noisy table of itself and columns that are there.

Everything here is made of released numbers and of rows that were drawn from them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ....noise.source import Source
from ..column import Margin
from ..counts import Counts, Weights, uniforms
from ..domain import Places
from .grouping import Groups, by_group
from .leaning import leanings

_SMOOTH = 1e-3
_SWEEPS = 30


@dataclass(frozen=True)
class Family:
    """A column and the columns that it is drawn from."""

    child: int
    parents: tuple[int, ...]


def counted(parts: Sequence[Groups], family: Family, places: Places) -> Counts:
    """How many rows each cell has: groups of the child down, of the parents across."""
    wide = math.prod(groups.many for groups in parts[1:])
    child = parts[0].number(places[:, family.child])
    codes = child * wide + _codes(parts[1:], family.parents, places)
    counts = np.bincount(codes, minlength=parts[0].many * wide)
    return counts.reshape(parts[0].many, wide).astype(np.int64)


def independent(parts: Sequence[Groups], family: Family, made: Places, rows: int) -> Weights:
    """What the table would be if the child had nothing to do with its parents, in whole rows; from
    the released distribution of the child and the parents as they were drawn.

    rows: how many rows the table is about; a part of them may have been drawn so far.
    """
    shares = parts[0].weights / max(parts[0].weights.sum(), 1e-300)
    above = _across(_codes(parts[1:], family.parents, made), parts, rows)
    return np.asarray(np.rint(shares[:, None] * above[None, :]))


@dataclass(frozen=True)
class Conditional:
    """The released table of a family: noisy counts, fitted to the number of rows.

    ordered: whether near values of the child are alike.
    """

    family: Family
    parts: Sequence[Groups]
    table: Weights
    ordered: bool

    def column(self, made: Places, rows: int, source: Source) -> Counts:
        """The child's values in rows whose parents are there."""
        plain = independent(self.parts, self.family, made, rows)
        table = (1 - _SMOOTH) * self.table + _SMOOTH * np.maximum(plain, 1e-3)
        above = _codes(self.parts[1:], self.family.parents, made)
        weights = self.parts[0].weights
        down = weights * (rows / max(weights.sum(), 1e-300))
        table = raked(table, down, _across(above, self.parts, rows))
        chance = table / np.maximum(table.sum(axis=0), 1e-300)
        made_of = _drawn(chance, above, source)
        lean = None
        if self.ordered:
            lean = leanings(table, 0, blank=self.parts[0].blank)[made_of, above]
        return self.parts[0].drawn(made_of, source, lean)


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
        made = sampled(self.margins, len(rows), source)
        for table in self.tables:
            made[:, table.family.child] = table.column(made, self.rows, source)
        return made


def sampled(margins: Sequence[Margin], rows: int, source: Source) -> Places:
    """Rows of independent columns."""
    return np.array([margin.sample(rows, source) for margin in margins]).T.copy()


def _codes(parts: Sequence[Groups], columns: Sequence[int], table: Places) -> Counts:
    codes = np.zeros(table.shape[0], np.int64)
    for groups, column in zip(parts, columns, strict=True):
        codes = codes * groups.many + groups.number(table[:, column])
    return codes


def _across(codes: Counts, parts: Sequence[Groups], rows: int) -> Weights:
    """How many of all rows have each code of the parents, if these are a fair part of them."""
    wide = math.prod(groups.many for groups in parts[1:])
    return np.asarray(np.bincount(codes, minlength=wide) * (rows / codes.size))


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
