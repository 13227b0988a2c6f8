"""The grid of all questions, and the atoms of a block, from questions and schema alone.

No question distinguishes two rows in one cell of the grid, so a question is a set of its cells; a
question with keys is one set for each of its own cells. Cells of the grid that no question of a
block distinguishes form one atom. Cells that no question is about are in no atom.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...engine.computed_column import All, Among, Any_, Missing, Not, Predicate, Within
from ...engine.request import Bin, Calendar, Group, Key, Pieces
from ...engine.sql.grid_values import first_step, last_step
from ...schema import Bounded, Category, Column, Schema
from ..cells import key_labels
from ..question import Question
from .level import Places, Runs

Truth = NDArray[np.bool_]

MOST_CELLS = 1_000_000
"""The most cells that a grid may have."""
_KEYS = (Group, Bin, Calendar)


@dataclass(frozen=True, eq=False)
class Axis:
    """One column, split into pieces.

    samples: a value in each piece, as steps or as the number of a category; None for missing ones.
    """

    column: Column
    key: Pieces
    samples: tuple[int | None, ...]

    @property
    def may_miss(self) -> bool:
        return self.column.missing is None

    @property
    def present(self) -> Truth:
        return np.array([sample is not None for sample in self.samples])


@dataclass(frozen=True, eq=False)
class Grid:
    """The axes, and the condition that all questions share."""

    axes: tuple[Axis, ...]
    where: Predicate | None
    schema: Schema

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(axis.key.cells for axis in self.axes)

    @property
    def cells(self) -> int:
        return math.prod(self.shape)

    @cached_property
    def index(self) -> dict[str, int]:
        return {axis.column.name: index for index, axis in enumerate(self.axes)}

    def axis(self, column: str) -> Axis:
        return self.axes[self.index[column]]

    def span(self, question: Question) -> tuple[int, int] | None:
        """The range of pieces of a question about one range of the only column; else None."""
        asked = question.where
        if len(self.axes) != 1 or question.keys:
            return None
        if asked is None or asked == self.where:
            return 0, self.cells - (not self.axes[0].may_miss)
        if not isinstance(asked, Within):
            return None
        column = self.axes[0].column
        assert isinstance(column, Bounded)  # noqa: S101 - only such columns have ranges
        low, high = first_step(column), last_step(column)
        begin = low if asked.first is None else asked.first
        end = high if asked.last is None else asked.last
        if begin > high or end < low:
            return 0, 0
        starts = self.axes[0].key.starts
        first, last = bisect_right(starts, begin), bisect_right(starts, end)
        return first, max(first, last + 1) if begin <= end else first

    def members(self, question: Question, present: str = "") -> Places:
        """For each cell of the grid its cell of the question, −1 if none.

        present: a column whose values the question counts.
        """
        members = np.where(self.possible.reshape(self.shape), 0, -1)
        for key in question.keys:
            cells = self._along(key.column, _cells_of(key, self.axis(key.column), self.schema))
            members = np.where((members < 0) | (cells < 0), -1, members * key.cells + cells)
        if question.where is not None and question.where != self.where:
            holds, _ = self._truth(question.where)
            members = np.where(holds, members, -1)
        if present:
            there = self._along(present, self.axis(present).present)
            members = np.where(there, members, -1)
        return np.broadcast_to(members, self.shape).ravel()

    @cached_property
    def possible(self) -> Truth:
        """Which cells a row may be in: columns that are never missing have a value there."""
        possible = np.ones(self.shape, dtype=np.bool_)
        for axis in self.axes:
            if not axis.may_miss:
                possible &= self._along(axis.column.name, axis.present)
        return possible.ravel()

    def _along(self, column: str, values: NDArray[Any]) -> NDArray[Any]:
        shape = [1] * len(self.axes)
        shape[self.index[column]] = -1
        return values.reshape(shape)

    def _truth(self, predicate: Predicate) -> tuple[Truth, Truth]:
        """Where the predicate is true, and where it is false; SQL has a third truth value."""
        if isinstance(predicate, Not):
            holds, fails = self._truth(predicate.part)
            return fails, holds
        if isinstance(predicate, All | Any_):
            decisive = isinstance(predicate, Any_)
            some, every = np.array(False), np.array(True)
            for part in predicate.parts:
                holds, fails = self._truth(part)
                some = some | (holds if decisive else fails)
                every = every & (fails if decisive else holds)
            return (some, every) if decisive else (every, some)
        axis = self.axis(predicate.column)
        truth = [_holds(predicate, axis.column, sample) for sample in axis.samples]
        holds = self._along(predicate.column, np.array([one is True for one in truth]))
        fails = self._along(predicate.column, np.array([one is False for one in truth]))
        return holds, fails


def grid_of(questions: Sequence[Question], present: Iterable[str], schema: Schema) -> Grid | None:
    """The grid of the questions; None if some key does not split a column, or cells are too many.

    present: columns whose values questions count.
    """
    if any(type(key) not in _KEYS for q in questions for key in q.keys):
        return None
    conditions = {question.where for question in questions}
    shared = conditions.pop() if len(conditions) == 1 else None
    splits: dict[str, list[Predicate | Key]] = {}
    for question in questions:
        for key in question.keys:
            splits.setdefault(key.column, []).append(key)
        if question.where is not None and question.where != shared:
            for leaf in _leaves(question.where):
                splits.setdefault(leaf.column, []).append(leaf)
    for name in present:
        splits.setdefault(name, [])
    axes: list[Axis] = []
    for name, own in splits.items():
        axes.append(_axis(schema.column(name), list(dict.fromkeys(own)), schema))
        if math.prod(axis.key.cells for axis in axes) > MOST_CELLS:
            return None
    return Grid(tuple(axes), shared, schema)


def _leaves(predicate: Predicate) -> Iterator[Within | Among | Missing]:
    if isinstance(predicate, Not):
        yield from _leaves(predicate.part)
    elif isinstance(predicate, All | Any_):
        for part in predicate.parts:
            yield from _leaves(part)
    else:
        yield predicate


def _axis(column: Column, splits: Sequence[Predicate | Key], schema: Schema) -> Axis:
    if isinstance(column, Bounded):
        low, high = first_step(column), last_step(column)
        starts = {start for split in splits for start in _starts(split, column, schema)}
        inside = sorted(start for start in starts if low < start <= high)
        key = Pieces(column.name, len(inside) + 2, starts=tuple(inside))
        return Axis(column, key, (low, *inside, None))
    many = len(column.categories) if isinstance(column, Category) else 2
    signs = [
        tuple(
            i if isinstance(split, Group) else _holds(split, column, i)  # type: ignore[arg-type]
            for split in splits
        )
        for i in range(many)
    ]
    samples = {sign: i for i, sign in reversed([*enumerate(signs)])}
    ordered = sorted(samples.values())
    numbers = tuple(bisect_right(ordered, samples[sign]) - 1 for sign in signs)
    return Axis(column, Pieces(column.name, len(ordered) + 1, classes=numbers), (*ordered, None))


def _starts(split: Predicate | Key, column: Column, schema: Schema) -> Iterator[int]:
    """The first steps of the pieces into which a key or predicate splits a column."""
    if isinstance(split, Within):
        if split.first is not None:
            yield split.first
        if split.last is not None:
            yield split.last + 1
    elif isinstance(split, Group):  # of a computed column, which has a step for each of its names
        yield from range(split.cells + 1)
    elif isinstance(split, Bin):
        yield from ((split.first + i) * split.width for i in range(split.cells + 1))
    elif isinstance(split, Calendar) and isinstance(column, Bounded):
        for label in key_labels(split, schema):
            yield math.ceil((_number(label, column) - column.low) / column.grid)


def _number(label: object, column: Bounded) -> Fraction:
    """The days, or for datetimes the seconds, since 1970 began."""
    assert isinstance(label, date)  # noqa: S101 - narrows the type
    moment = label if isinstance(label, datetime) else datetime(label.year, label.month, label.day)
    since = moment - datetime(1970, 1, 1)
    whole = timedelta(days=1) if column.type == "date" else timedelta(seconds=1)
    return Fraction(since // whole)


def _holds(predicate: Within | Among | Missing, column: Column, sample: int | None) -> bool | None:
    if isinstance(predicate, Missing):
        return sample is None
    if sample is None:
        return None
    if isinstance(predicate, Within):
        low = predicate.first is None or predicate.first <= sample
        return low and (predicate.last is None or sample <= predicate.last)
    if isinstance(column, Category):
        return column.categories[sample] in predicate.values
    return bool(sample) in predicate.values


def _cells_of(key: Key, axis: Axis, schema: Schema) -> Places:
    """The key's cell of each piece; −1 for none."""
    if isinstance(key, Group) and not isinstance(axis.column, Bounded):
        return np.array([-1 if sample is None else sample for sample in axis.samples])
    starts = list(_starts(key, axis.column, schema))
    cells = [-1 if s is None else bisect_right(starts, s) - 1 for s in axis.samples]
    return np.array([cell if cell < key.cells else -1 for cell in cells])


# -- atoms -----------------------------------------------------------------------------------------

MOST_ATOMS = 4096
MOST_IN_A_LINE = 10_000
_MOST_WORK = 5 * 10**8
_MANY = 200
"""More ranges than this are not compared with one another: few of them have the same rows."""


@dataclass(frozen=True)
class Slice:
    """The cells of a question as rows of a block.

    question: its number. present: the column whose values it counts, if they may be missing.
    """

    question: int
    cells: int
    present: str = ""


@dataclass(frozen=True, eq=False)
class Atoms:
    """The atom of each cell of the grid, −1 for none; and the answers, as sums over atoms.

    many: the number of atoms. The last one may be the outside, of all rows in no answer, which is
        the label of no cell.
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
    rows = replace(atoms.rows, atoms=atoms.rows.atoms + 1)
    return replace(atoms, many=atoms.many + 1, rows=rows)


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
    kept = np.unique(labels[covered])
    if not 0 < len(kept) < most:
        return None
    labels = np.where(covered, np.searchsorted(kept, labels), -1)
    members = (grid.members(questions[one.question], one.present)[first[kept]] for one in slices)
    return Atoms(len(kept), labels, _runs(members, slices, len(kept)), line)


def _ranges(grid: Grid, spans: Sequence[tuple[int, int]]) -> Atoms | None:
    """Many ranges of one column: its pieces in some range are the atoms."""
    rows = Runs.of_ends(grid.cells, spans)
    kept = rows.covered
    many = int(kept.sum())
    if not 0 < many <= MOST_IN_A_LINE:
        return None
    before = np.concatenate([[0], np.cumsum(kept)])
    rows = Runs(many, rows.offsets, before[rows.first], before[rows.last])
    return Atoms(many, np.where(kept, before[:-1], -1), rows, True)


def _numbered(labels: Places) -> tuple[Places, Places]:
    """Labels numbered in the order of their first positions, and these."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return rank[inverse], first[order]


def _runs(members: Iterable[Places], slices: Sequence[Slice], many: int) -> Runs:
    """One row for each cell of each slice: its atoms."""
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
