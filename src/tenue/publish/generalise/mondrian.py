"""Mondrian: groups of k by splitting, level by level; rows at their edges are suppressed.

Each group is split by the column that gains most certainty about its values; a group is final when
no split leaves k units, l values and distance t in every part. Groups of a level do not depend on
each other, so that a level is one pass over the rows for each column, which counts how often each
value occurs in each group, in order. Memory grows with the number of groups, not of rows.

A suppressed row costs as much as one of which every value may be anything, so that none is
suppressed unless the other rows gain more than that. The largest gain for each row comes first.

Source
    LeFevre, DeWitt and Ramakrishnan 2006 (Mondrian), with the gain in certainty for the width, and
    splits of categories along their taxonomy.
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
        level = Level(node, count, persons)
        codes = np.stack([scale.codes[rows] for scale in scales], axis=1)
        offers = [column.offer(level, rows, need.k) for column in columns]
        choice = _Choice(offers, level, rows, codes, labels, need)
        split = Split.of(offers, choice.columns(), done)
        final = split.column[node] == NONE
        labels[rows[final]] = split.label[node[final]]
        done += int((split.column == NONE).sum())
        rows, node = rows[~final], split.next(codes[~final], node[~final])
        count = split.parts
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


@dataclass(frozen=True, eq=False)
class _Choice:
    """The column by which each group of a level is split, `NONE` if it is final.

    rows, codes: of each row of the level its number in the table, and its code in each column.
    labels: the group of each row of the table.
    """

    offers: Sequence[Offer]
    level: Level
    rows: Numbers
    codes: Numbers
    labels: Numbers
    need: Need

    def columns(self) -> Numbers:
        """The first of the best columns whose split keeps what is needed."""
        chosen, gains = _best(self.offers)
        if not self.need.looks_inside:
            return chosen
        tried, chosen = chosen, np.full(self.level.count, NONE)
        while (tried != NONE).any():
            gains[tried, np.arange(tried.size)] = NONE  # groups that are not tried never will be
            lacking, _ = self._lacking(tried)
            tried[lacking] = NONE
            chosen = np.where(tried == NONE, chosen, tried)
            best = np.where(gains.max(axis=0) == NONE, NONE, np.argmax(gains, axis=0))
            tried = np.where(chosen == NONE, best, NONE)
        return chosen if self.need.persons is None else self._together(chosen)

    def _together(self, chosen: Numbers) -> Numbers:
        """Those splits that together leave all groups as needed.

        A person with rows in two groups counts in both, so that a split changes the whole to which
        t compares every group, also those that are final.
        """
        while (chosen != NONE).any():
            lacking, others = self._lacking(chosen)
            if lacking.size:
                chosen = chosen.copy()
                chosen[lacking] = NONE
            elif others:
                return np.full(self.level.count, NONE)
            else:
                break
        return chosen

    def _lacking(self, tried: Numbers) -> tuple[Numbers, bool]:
        """The groups that lack l or t in some part; and whether a group that is not split does."""
        split, node = Split.of(self.offers, tried, 0), self.level.node
        mine = tried[node] != NONE
        groups = int(self.labels.max()) + 1
        attempt = self.labels.copy()
        attempt[self.rows[mine]] = groups + split.next(self.codes[mine], node[mine])
        present, dense = np.unique(attempt, return_inverse=True)
        dense, many = dense.astype(np.int64).reshape(-1), present.size
        fails = present[~(self.need.diverse(dense, many) & self.need.close(dense, many))]
        home = np.repeat(np.arange(tried.size), np.diff(split.start, append=split.parts))
        return np.unique(home[fails[fails >= groups] - groups]), bool((fails < groups).any())


def _best(offers: Sequence[Offer]) -> tuple[Numbers, Numbers]:
    """The best column of each group, the first of equals, `NONE` if no column splits it; and the
    gain of every column."""
    gains = np.stack([offer.gain for offer in offers])
    best = np.argmax(gains, axis=0)
    return np.where(gains[best, np.arange(best.size)] == NONE, NONE, best), gains


OUT = -1
"""The group of a suppressed row."""

_WHOLE = 2**30


@dataclass(frozen=True, eq=False)
class _Edge:
    """Of each group the rows to suppress: those with a code outside `low` to `high` in a column.

    worth: the gain for each suppressed row, 0 if there is none.
    rows: how many rows are suppressed.
    """

    worth: Numbers
    rows: Numbers
    column: Numbers
    low: Numbers
    high: Numbers


def suppressed(scales: Sequence[Scale], labels: Numbers, need: Need, most: int) -> Numbers:
    """The group of each row, `OUT` if it is suppressed, as at most `most` rows are.

    Guarantee
        All other rows are in groups that still have k units, l values and distance t. The
        suppressed rows do not depend on the order of rows; confidential values decide nothing but
        whether rows may be suppressed.
    """
    columns = [Ranked.of(scale) for scale in scales]
    labels = labels.copy()
    while most > 0:
        stay = np.flatnonzero(labels != OUT)
        edge = _edges(columns, stay, labels[stay], need)
        taken = _affordable(columns, edge, labels, most)
        fewer = _permitted(need, labels, _without(columns, edge, taken, labels))
        lost = int((fewer == OUT).sum() - (labels == OUT).sum())
        if lost == 0:
            break
        labels, most = fewer, most - lost
    return labels


def _edges(columns: Sequence[Ranked], stay: Numbers, node: Numbers, need: Need) -> _Edge:
    """The best edge of each group, the first of equals."""
    count = int(node.max()) + 1
    level = Level(node, count, None if need.persons is None else need.persons[stay])
    tallies = [Tally.of(level, column.ranks[stay], column.values) for column in columns]
    ends = [(tally.code[tally.first], tally.code[tally.last]) for tally in tallies]
    shares = [c.scale.share(*end) for c, end in zip(columns, ends, strict=True)]
    cost = len(columns) * _WHOLE - sum(shares, np.zeros(count, np.int64))
    best = _Edge(*(np.zeros(count, np.int64) for _ in range(5)))
    for place, (tally, column) in enumerate(zip(tallies, columns, strict=True)):
        low, high = ends[place]
        below, above = tally.units_beside()
        size, inner = tally.upto[tally.last], tally.last[tally.node]
        after = np.minimum(np.arange(tally.node.size) + 1, inner)
        for kept, gone, first, last in (
            (above, tally.upto, tally.code[after], high[tally.node]),
            (below, size[tally.node] - tally.upto, low[tally.node], tally.code),
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


def _affordable(columns: Sequence[Ranked], edge: _Edge, labels: Numbers, most: int) -> Numbers:
    """The groups whose edges are suppressed: the best first, as long as `most` rows allow."""
    stay, groups = np.flatnonzero(labels != OUT), np.flatnonzero(edge.worth > 0)
    runs = [end[groups] for column in columns for end in runs_of(column.scale, labels, stay)]
    order = np.lexsort((*reversed(runs), -edge.worth[groups]))  # groups differ in their runs
    taken = []
    for group in groups[order].tolist():
        if edge.rows[group] <= most:
            taken.append(group)
            most -= int(edge.rows[group])
    return np.array(taken, np.int64)


def _without(columns: Sequence[Ranked], edge: _Edge, taken: Numbers, labels: Numbers) -> Numbers:
    rows = np.flatnonzero(np.isin(labels, taken))
    group = labels[rows]
    codes = np.stack([column.scale.codes[rows] for column in columns])
    code = codes[edge.column[group], np.arange(rows.size)]
    fewer = labels.copy()
    fewer[rows[(code < edge.low[group]) | (code > edge.high[group])]] = OUT
    return fewer


def _permitted(need: Need, labels: Numbers, fewer: Numbers) -> Numbers:
    """The rows that l and t allow to suppress; none at all if some group is then too far."""
    if not need.looks_inside:
        return fewer
    count = int(labels.max()) + 1
    stay = np.flatnonzero(fewer != OUT)
    short = ~need.of(stay).diverse(fewer[stay], count)
    fewer = np.where(short[np.maximum(labels, 0)] & (labels != OUT), labels, fewer)
    stay = np.flatnonzero(fewer != OUT)
    return fewer if need.of(stay).close(fewer[stay], count).all() else labels


_FAR = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class Split:
    """The splits of the groups of one level.

    column: by which column each is split; `NONE` if it is final.
    start: the first of its parts, among the groups of the next level.
    label: its number, if it is final.
    rules: of each column, to which part a value belongs.
    parts: how many groups the next level has.
    """

    column: Numbers
    start: Numbers
    label: Numbers
    rules: Sequence[Rule]
    parts: int

    @classmethod
    def of(cls, offers: Sequence[Offer], column: Numbers, done: int) -> Split:
        """The splits by these columns, where `done` groups are final already."""
        final = column == NONE
        parts = np.stack([offer.parts for offer in offers])[column, np.arange(column.size)]
        many = np.where(final, 0, parts)
        label, rules = done + np.cumsum(final) - 1, [offer.rule for offer in offers]
        return cls(column, np.cumsum(many) - many, label, rules, int(many.sum()))

    def next(self, codes: Numbers, group: Numbers) -> Numbers:
        """The group of the next level of each row, none of whose groups is final."""
        parts = self.start[group]
        for column, rule in enumerate(self.rules):
            mine = np.flatnonzero(self.column[group] == column)
            if mine.size:
                parts[mine] += rule.part(group[mine], codes[mine, column])
        return parts


@dataclass(frozen=True, eq=False)
class Groups:
    """All groups.

    sizes: how many rows each has.
    runs: of each column the least and the greatest code of each group.
    levels: the splits that led to them.
    """

    sizes: Numbers
    runs: list[Run]
    levels: Sequence[Split]

    def labels(self, codes: Numbers) -> Numbers:
        """The group of each row, numbered from 0."""
        labels = np.empty(len(codes), np.int64)
        rows, group = np.arange(len(codes)), np.zeros(len(codes), np.int64)
        for level in self.levels:
            final = level.column[group] == NONE
            labels[rows[final]] = level.label[group[final]]
            rows, group = rows[~final], group[~final]
            group = level.next(codes[rows], group)
        return labels


_Column = tuple[Offer, Numbers, Numbers]
"""How each group of a level would be split by one column, and the ends of its values."""


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
        root = passes.map(lambda codes: np.pad(codes, ((0, 0), (0, 1))), [*sizes, 1])
        live = before.enter_context(root)
        while live.rows:
            rows_of = np.concatenate([part[1] for part in live.tally(lambda r: [r[:, width]])])
            columns = [_column(live, j, width, scale, rows_of, k) for j, scale in enumerate(scales)]
            offers = [offer for offer, *_ in columns]
            level = Split.of(offers, _best(offers)[0], done)
            final = level.column == NONE
            ends = [end[final] for _, *ends in columns for end in ends]
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


def _onward(level: Split, width: int) -> Callable[[Numbers], Numbers]:
    """The rows of groups that are split, each with its new group."""

    def make(rows: Numbers) -> Numbers:
        open_ = rows[level.column[rows[:, width]] != NONE]
        group = level.next(open_, open_[:, width])
        return np.column_stack([open_[:, :width], group])

    return make


def _column(live: Passes, column: int, width: int, scale: Scale, size: Numbers, k: int) -> _Column:
    counts = live.tally(lambda rows: [rows[:, width], rows[:, column]])
    if scale.in_two:
        return _halved(counts, scale, size, k)
    return _by_children(counts, scale, k)


def _by_children(counts: Iterator[Sequence[Numbers]], scale: Scale, k: int) -> _Column:
    """As `split.by_children`, some whole groups at a time; a group has few different categories."""
    some: list[_Column] = []
    nothing = np.zeros(0, np.int64)
    for node, code, rows in whole_runs(counts, 1):
        begins = begins_of([node])
        values, ranks = np.unique(code, return_inverse=True)
        keys = (node - node[0]) * values.size + ranks.reshape(-1)
        tally = Tally(Level(nothing, begins.size), nothing, values, keys, rows)
        ends = np.append(begins[1:], node.size) - 1
        some.append((scale.offer(tally, k), code[begins], code[ends]))
    offers, low, high = zip(*some, strict=True)
    joined = Offer(
        np.concatenate([offer.gain for offer in offers]),
        np.concatenate([offer.parts for offer in offers]),
        Branches.joined([offer.rule for offer in offers if isinstance(offer.rule, Branches)]),
    )
    return joined, np.concatenate(low), np.concatenate(high)


def _halved(counts: Iterator[Sequence[Numbers]], scale: Scale, size: Numbers, k: int) -> _Column:
    """As `split.halved`, one value after the other: a group may have very many."""
    groups = size.size
    off = np.full(groups, _FAR)
    left, low, border, after, high = (np.zeros(groups, np.int64) for _ in range(5))
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
        border[at], after[at] = code[where], next_code[where]
        group_before, reached = int(node[-1]), int(upto[-1])
    return in_two(off < _FAR, size, left, (low, border, after, high), scale.share), low, high


def _with_next(
    counts: Iterator[Sequence[Numbers]],
) -> Iterator[tuple[Numbers, Numbers, Numbers, Numbers]]:
    """Each entry with the value of the one that follows, in the next batch if necessary."""
    last = [np.zeros(0, np.int64)] * 3
    for batch in counts:
        node, code, rows = (np.append(one, more) for one, more in zip(last, batch, strict=True))
        if node.size > 1:
            yield node[:-1], code[:-1], rows[:-1], code[1:]
        last = [node[-1:], code[-1:], rows[-1:]]
    if last[0].size:
        yield last[0], last[1], last[2], last[1]  # no group is split behind its last entry
