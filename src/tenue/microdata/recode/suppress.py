"""Rows at the edge of a group are left out where that makes the rest more precise.

A row that is left out costs as much as one of which every value may be anything, so that none is
unless those who stay gain more than that. What gains most for each row that it costs comes first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..table.cells import Numbers
from .multidimensional import Ranked, runs_of
from .need import Need
from .scale import Scale
from .split import Level, Tally

OUT = -1
"""The group of a row that is left out."""

_WHOLE = 2**30


@dataclass(frozen=True, eq=False)
class _Edge:
    """Of each group the rows to leave out: those with a code outside `low` to `high` in a column.

    worth: what that gains for each row that it costs, 0 if nothing.
    rows: how many rows it costs.
    """

    worth: Numbers
    rows: Numbers
    column: Numbers
    low: Numbers
    high: Numbers


def suppressed(scales: Sequence[Scale], labels: Numbers, need: Need, most: int) -> Numbers:
    """The group of each row, `OUT` of those that are left out, at most so many.

    Guarantee
        Whoever stays is in a group that still has k units, l values and distance t. Which rows are
        left out does not depend on their order; confidential values forbid it, or nothing.
    """
    columns = [Ranked.of(scale) for scale in scales]
    labels = labels.copy()
    while most > 0:
        stay = np.flatnonzero(labels != OUT)
        found = _edges(columns, stay, labels[stay], need)
        taken = _affordable(columns, found, labels, most)
        fewer = _without(columns, found, taken, labels)
        fewer = _permitted(need, labels, fewer)
        lost = int((fewer == OUT).sum() - (labels == OUT).sum())
        if lost == 0:
            break
        labels, most = fewer, most - lost
    return labels


def _edges(columns: Sequence[Ranked], stay: Numbers, node: Numbers, need: Need) -> _Edge:
    """The best edge of each group, the first of equals."""
    count = int(node.max()) + 1
    persons = None if need.persons is None else need.persons[stay]
    level = Level(node, count, persons)
    tallies = [Tally.of(level, column.ranks[stay], column.values) for column in columns]
    ends = [(tally.code[tally.first], tally.code[tally.last]) for tally in tallies]
    shares = [c.scale.share(*end) for c, end in zip(columns, ends, strict=True)]
    cost = len(columns) * _WHOLE - sum(shares, np.zeros(count, np.int64))
    best = _Edge(*(np.zeros(count, np.int64) for _ in range(5)))
    for place, (tally, column) in enumerate(zip(tallies, columns, strict=True)):
        low, high = ends[place]
        below, above = tally.units_beside()
        size, inner = tally.upto[tally.last], tally.last[tally.node]
        here, after = np.arange(tally.node.size), np.minimum(np.arange(tally.node.size) + 1, inner)
        for kept, gone, first, last in (
            (above, tally.upto, tally.code[after], high[tally.node]),
            (below, size[tally.node] - tally.upto, low[tally.node], tally.code[here]),
        ):
            rest = size[tally.node] - gone
            gain = rest * (shares[place][tally.node] - column.scale.share(first, last))
            gain -= gone * cost[tally.node]
            worth = np.where((kept >= need.k) & (gone > 0), gain // np.maximum(gone, 1), 0)
            most = np.maximum.reduceat(worth, tally.first)
            where = np.flatnonzero((worth == most[tally.node]) & (worth > best.worth[tally.node]))
            pick = where[np.unique(tally.node[where], return_index=True)[1]]
            at = tally.node[pick]
            best.worth[at], best.rows[at], best.column[at] = worth[pick], gone[pick], place
            best.low[at], best.high[at] = first[pick], last[pick]
    return best


def _affordable(columns: Sequence[Ranked], found: _Edge, labels: Numbers, most: int) -> Numbers:
    """The groups whose edges are left out: the best first, as long as rows may be left out."""
    stay = labels != OUT
    runs = [
        end[found.worth > 0]
        for column in columns
        for end in runs_of(column.scale, labels, np.flatnonzero(stay))
    ]
    groups = np.flatnonzero(found.worth > 0)
    order = np.lexsort((*reversed(runs), -found.worth[groups]))  # groups differ in their runs
    taken = []
    for group in groups[order].tolist():
        if found.rows[group] <= most:
            taken.append(group)
            most -= int(found.rows[group])
    return np.array(taken, np.int64)


def _without(columns: Sequence[Ranked], found: _Edge, taken: Numbers, labels: Numbers) -> Numbers:
    chosen = np.zeros(found.worth.size + 1, np.bool_)  # one more, for those that are out
    chosen[taken] = True
    fewer = labels.copy()
    for place, column in enumerate(columns):
        rows = np.flatnonzero(chosen[labels])
        rows = rows[found.column[labels[rows]] == place]
        group, codes = labels[rows], column.scale.codes[rows]
        outside = (codes < found.low[group]) | (codes > found.high[group])
        fewer[rows[outside]] = OUT
    return fewer


def _permitted(need: Need, labels: Numbers, fewer: Numbers) -> Numbers:
    """What may be left out as far as l and t go; nothing at all if some group is then too far."""
    if not need.looks_inside:
        return fewer
    count = int(labels.max()) + 1
    stay = np.flatnonzero(fewer != OUT)
    short = ~need.of(stay).diverse(fewer[stay], count)
    fewer = np.where(short[np.maximum(labels, 0)] & (labels != OUT), labels, fewer)
    stay = np.flatnonzero(fewer != OUT)
    return fewer if need.of(stay).close(fewer[stay], count).all() else labels
