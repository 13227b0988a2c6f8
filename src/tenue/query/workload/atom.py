"""Atoms: classes of rows that no question of a block can tell apart.

Cells of the grid are refined by one question at a time, and cells that every question treats alike
are one atom. Cells that no question is about are in no atom.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ...frozen import dataclass as frozen_dataclass
from ..question import Question
from .grid import Grid
from .strategy.runs import Places, Runs

MOST_ATOMS = 4096
MOST_IN_A_LINE = 10_000
_MOST_WORK = 5 * 10**8
_MANY = 200
"""More ranges than this are not compared with one another: few of them hold the same rows."""


@frozen_dataclass(frozen=True)
class Slice:
    """What of a question a block answers: one row for each of its cells.

    question: its number. present: the column of which it counts values, if that may be missing.
    """

    question: int
    cells: int
    present: str = ""


@dataclass(frozen=True, eq=False)
class Atoms:
    """The atom of each cell of the grid, −1 for none; and the answers, as sums over atoms.

    many: how many atoms there are. The last one may be the outside, of all rows that are in no
        answer: no cell is said to be in it.
    line: whether the atoms are pieces of one column, in its order.
    """

    many: int
    labels: Places
    rows: Runs
    line: bool


def with_outside(atoms: Atoms, grid: Grid) -> Atoms:
    """The same with an atom of all other rows, if there may be any."""
    if grid.where is None and (atoms.labels[grid.possible] >= 0).all():
        return atoms
    rows = atoms.rows
    more = Runs(rows.atoms + 1, rows.offsets, rows.first, rows.last)
    return Atoms(atoms.many + 1, atoms.labels, more, atoms.line)


def atoms_of(grid: Grid, questions: Sequence[Question], slices: Sequence[Slice]) -> Atoms | None:
    """The atoms of some slices; None if they are too many."""
    if grid.cells * len(slices) > _MOST_WORK:
        return None
    line = len(grid.shape) == 1
    spans = [grid.span(questions[one.question]) for one in slices] if line else [None]
    if len(spans) > _MANY and None not in spans:
        return _ranges(grid, spans)  # type: ignore[arg-type]
    most = MOST_IN_A_LINE + 1 if line else MOST_ATOMS + 1
    labels = np.zeros(grid.cells, dtype=np.int64)
    first = np.zeros(1, dtype=np.int64)
    covered = np.zeros(grid.cells, dtype=np.bool_)
    for one in slices:
        member = grid.members(questions[one.question], one.present)
        covered |= member >= 0
        if (member[first][labels] == member).all():
            continue
        labels, first = _numbered(labels * (one.cells + 1) + member + 1)
        if len(first) > most:
            return None
    labels = np.where(covered, labels, -1)
    kept, labels = np.unique(labels, return_inverse=True)
    if len(kept) and kept[0] == -1:
        kept, labels = kept[1:], labels - 1
    if not len(kept) or len(kept) > most - 1:
        return None
    places = first[kept]
    members = (grid.members(questions[one.question], one.present)[places] for one in slices)
    return Atoms(len(kept), labels, _runs(members, slices, len(kept)), line)


def _ranges(grid: Grid, spans: Sequence[tuple[int, int]]) -> Atoms | None:
    """Many ranges of one column: its pieces are the atoms, as far as some range holds them."""
    rows = Runs.of_ends(grid.cells, spans)
    kept = rows.covered
    many = int(kept.sum())
    if not 0 < many <= MOST_IN_A_LINE:
        return None
    before = np.concatenate([[0], np.cumsum(kept)])
    rows = Runs(many, rows.offsets, before[rows.first], before[rows.last])
    return Atoms(many, np.where(kept, before[:-1], -1), rows, True)


def _numbered(labels: Places) -> tuple[Places, Places]:
    """Labels numbered in the order in which they first appear, and where that is."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return rank[inverse], first[order]


def _runs(members: Iterable[Places], slices: Sequence[Slice], many: int) -> Runs:
    """One row for each cell of each slice: the atoms that are in it."""
    counts, firsts, lasts = [], [], []
    for member, one in zip(members, slices, strict=True):
        change = np.nonzero(np.diff(member))[0] + 1
        first = np.concatenate([[0], change])
        last = np.concatenate([change, [many]])
        cell = member[first]
        there = cell >= 0
        order = np.argsort(cell[there], kind="stable")
        firsts.append(first[there][order])
        lasts.append(last[there][order])
        counts.append(np.bincount(cell[there], minlength=one.cells))
    offsets = np.concatenate([[0], np.cumsum(np.concatenate(counts))]).astype(np.int64)
    return Runs(many, offsets, np.concatenate(firsts), np.concatenate(lasts))
