"""Groups of k by splitting, level by level, of rows that are read in passes.

The groups are those of `multidimensional`, numbered alike: a level is one pass for each column,
which counts how often each value occurs in each group, in order. What is held grows with the number
of groups, not with that of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

import numpy as np

from ...engine.contract import Numbers, Passes
from ...engine.runs import begins_of, whole_runs
from ..recode.scale import Run, Scale
from ..recode.split import NONE, Branches, Level, Offer, Rule, Tally, in_two

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
