"""Groups of k by splitting, level by level: all rows, then parts of them, then parts of those.

Of all columns by which a group can be split, the one is taken that leaves its values least open; a
group is final when no split leaves k units, l values and distance t in every part. Groups of a
level do not depend on each other, so that a level is one pass over the rows.

Source
    LeFevre, DeWitt and Ramakrishnan 2006 (Mondrian), with the gain in certainty for the width, and
    splits of categories along their taxonomy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..table.cells import Numbers
from .need import Need
from .scale import Run, Scale
from .split import NONE, Level, Offer, Tally


@dataclass(frozen=True, eq=False)
class Ranked:
    """A column whose different values are numbered in order."""

    scale: Scale
    values: Numbers
    ranks: Numbers

    @classmethod
    def of(cls, scale: Scale) -> Ranked:
        values, ranks = np.unique(scale.codes, return_inverse=True)
        return cls(scale, values, ranks.astype(np.int64).reshape(-1))

    def offer(self, level: Level, rows: Numbers, k: int) -> Offer:
        return self.scale.offer(Tally.of(level, self.ranks[rows], self.values), k)


def multidimensional(scales: Sequence[Scale], need: Need) -> Numbers:
    """The group of each row, numbered from 0.

    Guarantee
        Every group has at least k units, and l and t as asked. Rows with equal quasi-identifiers
        share a group, whatever the order of rows; confidential values decide nothing but whether a
        split is allowed, and that only for l and t.
    """
    columns = [Ranked.of(scale) for scale in scales]
    labels = np.zeros(scales[0].codes.size, np.int64)
    rows, node, count, done = np.arange(labels.size), labels.copy(), 1, 0
    while rows.size:
        persons = None if need.persons is None else need.persons[rows]
        level = Level(node, count, persons, [column.scale.codes[rows] for column in columns])
        offers = [column.offer(level, rows, need.k) for column in columns]
        chosen = _chosen(offers, level, rows, labels, need)
        final = chosen[node] == NONE
        done = _settle(labels, rows, node, chosen, done)
        part = _parts(offers, chosen, level)
        many = np.where(chosen == NONE, 0, _of_chosen([one.parts for one in offers], chosen))
        start = np.cumsum(many) - many
        rows, node = rows[~final], (start[node] + part)[~final]
        count = int(many.sum())
        labels[rows] = done + node
    return labels


def runs_of(scale: Scale, labels: Numbers, rows: Numbers | None = None) -> Run:
    """The least and the greatest code of each group, of all rows or of these."""
    codes = scale.codes if rows is None else scale.codes[rows]
    labels = labels if rows is None else labels[rows]
    order = np.argsort(labels, kind="stable")
    starts = np.flatnonzero(np.diff(labels[order], prepend=-1))
    codes = codes[order]
    return np.minimum.reduceat(codes, starts), np.maximum.reduceat(codes, starts)


def _chosen(
    offers: Sequence[Offer], level: Level, rows: Numbers, labels: Numbers, need: Need
) -> Numbers:
    """The column by which each group is split, the first of the best; `NONE` if it is final."""
    gains = np.stack([offer.gain for offer in offers])
    every = np.arange(level.count)
    if not need.looks_inside:
        best = np.argmax(gains, axis=0)
        return np.where(gains[best, every] == NONE, NONE, best)
    chosen = np.full(level.count, NONE)
    while True:
        best = np.argmax(gains, axis=0)
        tried = np.where((chosen == NONE) & (gains[best, every] != NONE), best, NONE)
        if (tried == NONE).all():
            break
        lacking, _ = _lacking(offers, tried, level, rows, labels, need)
        tried[lacking] = NONE
        chosen = np.where(tried == NONE, chosen, tried)
        gains[best, every] = NONE
    return chosen if need.persons is None else _steady(offers, chosen, level, rows, labels, need)


def _steady(
    offers: Sequence[Offer],
    chosen: Numbers,
    level: Level,
    rows: Numbers,
    labels: Numbers,
    need: Need,
) -> Numbers:
    """Those splits that together leave all groups as needed.

    A person with rows in two groups counts in both, so that a split changes the whole to which t
    compares every group, also those that are final.
    """
    while (chosen != NONE).any():
        lacking, others = _lacking(offers, chosen, level, rows, labels, need)
        if lacking.size:
            chosen = chosen.copy()
            chosen[lacking] = NONE
        elif others:
            return np.full(level.count, NONE)
        else:
            break
    return chosen


def _lacking(
    offers: Sequence[Offer],
    tried: Numbers,
    level: Level,
    rows: Numbers,
    labels: Numbers,
    need: Need,
) -> tuple[Numbers, bool]:
    """The groups that lack l or t in some part; and whether a group that is not split does."""
    split = tried[level.node] != NONE
    many = np.where(tried == NONE, 0, _of_chosen([one.parts for one in offers], tried))
    start = np.cumsum(many) - many
    part = _parts(offers, tried, level)
    groups = int(labels.max()) + 1
    attempt = labels.copy()
    attempt[rows[split]] = groups + (start[level.node] + part)[split]
    found, dense = np.unique(attempt, return_inverse=True)
    dense = dense.astype(np.int64).reshape(-1)
    fails = found[~(need.diverse(dense, found.size) & need.close(dense, found.size))]
    home = np.repeat(np.arange(level.count), many)
    return np.unique(home[fails[fails >= groups] - groups]), bool((fails < groups).any())


def _parts(offers: Sequence[Offer], chosen: Numbers, level: Level) -> Numbers:
    """The part of each row's group in which it comes to be."""
    part = np.zeros(level.node.size, np.int64)
    for column, offer in enumerate(offers):
        mine = np.flatnonzero(chosen[level.node] == column)
        if mine.size:
            part[mine] = offer.rule.part(level.node[mine], level.codes[column][mine])
    return part


def _of_chosen(each: Sequence[Numbers], chosen: Numbers) -> Numbers:
    found: Numbers = np.stack(each)[np.maximum(chosen, 0), np.arange(chosen.size)]
    return found


def _settle(labels: Numbers, rows: Numbers, node: Numbers, chosen: Numbers, done: int) -> int:
    """Numbers the groups that are final; returns how many there are by now."""
    final = chosen == NONE
    number = done + np.cumsum(final) - 1
    mine = final[node]
    labels[rows[mine]] = number[node[mine]]
    return done + int(final.sum())
