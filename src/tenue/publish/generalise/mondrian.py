"""Mondrian: groups of k by splitting, level by level; rows at their edges left out.

Of all columns by which a group can be split, the one is taken that leaves its values least open; a
group is final when no split leaves k units, l values and distance t in every part. Groups of a
level do not depend on each other, so that a level is one pass over the rows.

Source
    LeFevre, DeWitt and Ramakrishnan 2006 (Mondrian), with the gain in certainty for the width, and
    splits of categories along their taxonomy.

A row that is left out costs as much as one of which every value may be anything, so that none is
unless those who stay gain more than that. What gains most for each row that it costs comes first.

The groups are those of `multidimensional`, numbered alike: a level is one pass for each column,
which counts how often each value occurs in each group, in order. What is held grows with the number
of groups, not with that of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

import numpy as np

from ...engine.contract import Passes
from ...engine.passes.sorted_runs import begins_of, whole_runs
from ..table.cells import Numbers
from .hierarchy import Run, Scale
from .privacy_condition import Need
from .split import NONE, Branches, Level, Offer, Rule, Tally, in_two


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


# -- Rows at the edge of a group are left out where that makes the rest more precise ---------------

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


# -- Groups of k by splitting, level by level, of rows that are read in passes ---------------------

_FAR = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class Split:
    """One level: what becomes of each of its groups.

    column: by which column it is split; `NONE` if it is final.
    start: the first of its parts, among the groups of the next level.
    label: its number, if it is final.
    rules: of each column, in which part a value comes to be.
    parts: how many groups the next level has.
    """

    column: Numbers
    start: Numbers
    label: Numbers
    rules: Sequence[Rule]
    parts: int

    def next(self, codes: Numbers, group: Numbers) -> Numbers:
        """The group of the next level of each row, none of whose groups is final."""
        found = self.start[group]
        for column, rule in enumerate(self.rules):
            mine = np.flatnonzero(self.column[group] == column)
            if mine.size:
                found[mine] += rule.part(group[mine], codes[mine, column])
        return found


@dataclass(frozen=True, eq=False)
class Groups:
    """All groups.

    sizes: how many rows each has.
    runs: of each column the least and the greatest code of each group.
    levels: how they came to be.
    """

    sizes: Numbers
    runs: list[Run]
    levels: Sequence[Split]

    def labels(self, codes: Numbers) -> Numbers:
        """The group of each row, numbered from 0."""
        found = np.empty(len(codes), np.int64)
        rows, group = np.arange(len(codes)), np.zeros(len(codes), np.int64)
        for level in self.levels:
            final = level.column[group] == NONE
            found[rows[final]] = level.label[group[final]]
            rows, group = rows[~final], group[~final]
            group = level.next(codes[rows], group)
        return found


@dataclass(frozen=True, eq=False)
class _Column:
    """How each group of a level would be split by one column, and the ends of its values."""

    offer: Offer
    low: Numbers
    high: Numbers


def split_in_passes(
    passes: Passes, scales: Sequence[Scale], sizes: Sequence[int], k: int
) -> Groups:
    """The groups that `multidimensional` gives of the same rows, each of which is a unit.

    Parameters
        passes: of each row the code of each column.
        scales: what the codes mean; they need no rows.
        sizes: above the codes of each column.
    """
    levels: list[Split] = []
    settled: list[tuple[Numbers, ...]] = []
    done = 0
    with ExitStack() as before:
        width = len(scales)
        live = before.enter_context(passes.map(_with_root, [*sizes, 1]))
        while live.rows:
            rows_of = np.concatenate([part[1] for part in live.tally(lambda r: [r[:, width]])])
            columns = [_column(live, j, width, scale, rows_of, k) for j, scale in enumerate(scales)]
            level = _level([one.offer for one in columns], done)
            final = level.column == NONE
            ends = [end[final] for one in columns for end in (one.low, one.high)]
            settled.append((rows_of[final], *ends))
            levels.append(level)
            done += int(final.sum())
            after, groups = ExitStack(), max(level.parts, 1)
            live = after.enter_context(live.map(_onward(level, width), [*sizes, groups]))
            before.close()
            before = after
        before.close()
    counted, *ends = (np.concatenate(column) for column in zip(*settled, strict=True))
    return Groups(counted, list(zip(ends[::2], ends[1::2], strict=True)), levels)


def _with_root(codes: Numbers) -> Numbers:
    return np.append(codes, np.zeros((len(codes), 1), np.int64), axis=1)


def _onward(level: Split, width: int) -> Callable[[Numbers], Numbers]:
    """The rows of groups that are split, each with its new group."""

    def make(rows: Numbers) -> Numbers:
        stays = rows[level.column[rows[:, width]] != NONE]
        group = level.next(stays, stays[:, width])
        return np.column_stack([stays[:, :width], group])

    return make


def _level(offers: Sequence[Offer], done: int) -> Split:
    """The best split of each group, the first of equals."""
    gains = np.stack([offer.gain for offer in offers])
    best, every = np.argmax(gains, axis=0), np.arange(gains.shape[1])
    chosen = np.where(gains[best, every] == NONE, NONE, best)
    parts = np.stack([offer.parts for offer in offers])[best, every]
    many = np.where(chosen == NONE, 0, parts)
    label = done + np.cumsum(chosen == NONE) - 1
    rules = [offer.rule for offer in offers]
    return Split(chosen, np.cumsum(many) - many, label, rules, int(many.sum()))


def _column(live: Passes, column: int, width: int, scale: Scale, size: Numbers, k: int) -> _Column:
    counts = live.tally(lambda rows: [rows[:, width], rows[:, column]])
    if scale.in_two:
        return _halved(counts, scale, size, k)
    return _by_children(counts, scale, k)


def _by_children(counts: Iterator[Sequence[Numbers]], scale: Scale, k: int) -> _Column:
    """As `split.by_children`, some whole groups at a time; a group has few different categories."""
    found: list[tuple[Offer, Numbers, Numbers]] = []
    nothing = np.zeros(0, np.int64)
    for node, code, rows in whole_runs(counts, 1):
        begins = begins_of([node])
        values, ranks = np.unique(code, return_inverse=True)
        local = node - node[0]
        level = Level(nothing, begins.size)
        keys = local * values.size + ranks.reshape(-1)
        offer = scale.offer(Tally(level, nothing, values, keys, rows), k)
        ends = np.append(begins[1:], node.size) - 1
        found.append((offer, code[begins], code[ends]))
    offers, low, high = zip(*found, strict=True)
    rules = [offer.rule for offer in offers if isinstance(offer.rule, Branches)]
    joined = Offer(
        np.concatenate([offer.gain for offer in offers]),
        np.concatenate([offer.parts for offer in offers]),
        Branches.joined(rules),
    )
    return _Column(joined, np.concatenate(low), np.concatenate(high))


def _halved(counts: Iterator[Sequence[Numbers]], scale: Scale, size: Numbers, k: int) -> _Column:
    """As `split.halved`, one value after the other: a group may have very many."""
    groups = size.size
    off = np.full(groups, _FAR)
    left = np.zeros(groups, np.int64)
    low, cut, after, high = (np.zeros(groups, np.int64) for _ in range(4))
    group_before, reached = -1, 0
    for node, code, rows, next_code in _with_next(counts):
        begins = begins_of([node])
        total = np.cumsum(rows)
        base = (total - rows)[begins]
        if node[0] == group_before:
            base[0] -= reached
        upto = total - np.repeat(base, np.diff(begins, append=node.size))
        fresh = begins[1:] if node[0] == group_before else begins
        low[node[fresh]] = code[fresh]
        ends = np.append(begins[1:], node.size) - 1
        high[node[ends]] = code[ends]
        away = np.abs(2 * upto - size[node])
        away[(upto < k) | (size[node] - upto < k)] = _FAR
        least = np.minimum.reduceat(away, begins)
        spread = np.repeat(least, np.diff(begins, append=node.size))
        where = np.flatnonzero((away == spread) & (away < off[node]))
        where = where[begins_of([node[where]])] if where.size else where  # the lowest of equals
        at = node[where]
        off[at], left[at] = away[where], upto[where]
        cut[at], after[at] = code[where], next_code[where]
        group_before, reached = int(node[-1]), int(upto[-1])
    offer = in_two(off < _FAR, size, left, (low, cut, after, high), scale.share)
    return _Column(offer, low, high)


def _with_next(
    counts: Iterator[Sequence[Numbers]],
) -> Iterator[tuple[Numbers, Numbers, Numbers, Numbers]]:
    """Each entry with the value of the one that follows, in the next batch if need be."""
    held: list[Numbers] | None = None
    for batch in counts:
        joined = (
            [*batch]
            if held is None
            else [np.append(one, more) for one, more in zip(held, batch, strict=True)]
        )
        if joined[0].size > 1:
            yield joined[0][:-1], joined[1][:-1], joined[2][:-1], joined[1][1:]
        held = [column[-1:] for column in joined]
    if held is not None and held[0].size:
        yield held[0], held[1], held[2], held[1]  # the last of its group is never cut behind
