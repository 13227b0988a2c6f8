"""Columns that follow from others: an intruder who knows those learns this one, however protected.

Numbers follow by linear regression, such as a total from its parts. Any value follows from the rows
that agree in one or two other columns, such as a town from its postcode. Both are lower bounds:
other dependences, or those on three columns that are not linear, are not detected.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from ...errors import Refused
from ...text import named, percent, shortly
from ..column_types import Values
from ..factorize import Codes, Real, used
from .count import counted, grouped

LINEAR = 0.99
"""The R² from which a number follows from others: residuals have a tenth of its spread."""
PURE = 0.9
"""The proportional reduction in error from which a column follows from others: of ten errors made
by guessing the most frequent value, nine are avoided."""
ROWS_EACH = 10
"""The number of rows needed for each column involved; in fewer, agreement may be chance."""
MOST_ROWS = 50_000
"""In a longer table every second, third, ... row is examined."""

_ALIKE = 1e-10


@dataclass(frozen=True, kw_only=True)
class Determined:
    """A column that follows from others.

    by: the columns it follows from, no more than needed.
    measure: "linear": R² of a regression; or "groups": the proportional reduction in error, over
        guessing the most frequent value, from the other rows with equal values in `by`.
    score: its value, from 0 to 1.
    """

    name: str
    by: tuple[str, ...]
    measure: Literal["linear", "groups"]
    score: float

    def __str__(self) -> str:
        if self.measure == "linear":
            score = f"R² = {shortly(self.score, 4)}"
        else:
            score = f"{percent(self.score)} fewer errors than by guessing the most frequent value"
        return f"`{self.name}` follows from {named(self.by)} ({score})"


@dataclass(frozen=True, eq=False)
class Seen:
    """A column to compare: codes, equal for equal values, and the values themselves if numeric."""

    name: str
    codes: Codes
    line: Real | None = None

    @classmethod
    def of(cls, values: Values) -> Seen:
        """A column that was read; if some number is infinite, only equality counts."""
        try:
            line = None if values.kind == "category" else values.numbers()
        except Refused:
            line = None
        return cls(values.name, values.coded(), line)

    def only(self, rows: slice) -> Seen:
        """These rows of the column."""
        kept = used(self.codes.codes[rows], self.codes.count)
        return Seen(self.name, kept, None if self.line is None else self.line[rows])

    @cached_property
    def standard(self) -> Real | None:
        """The numbers with mean 0 and length 1, missing ones 0; None if they do not vary."""
        if self.line is None:
            return None
        gone = np.isnan(self.line)
        if gone.all():
            return None
        largest = float(np.abs(self.line[~gone]).max()) or 1.0
        centred = self.line / largest
        centred = np.where(gone, 0.0, centred - centred[~gone].mean())
        length = float(np.sqrt(centred @ centred))
        return centred / length if length > _ALIKE * centred.size**0.5 else None

    @cached_property
    def alone(self) -> int:
        """The number of rows without a value, or with one that no other row has."""
        present = self.codes.codes[self.codes.codes >= 0]
        times = np.bincount(present, minlength=self.codes.count)
        return int((times == 1).sum()) + self.codes.codes.size - present.size


def determined(targets: Sequence[Seen], by: Sequence[Seen]) -> list[Determined]:
    """The targets that follow from columns of other names, each once.

    Parameters
        targets, by: columns of the same rows.
    """
    if not targets or not by:
        return []
    step = -(-targets[0].codes.codes.size // MOST_ROWS)
    if step > 1:
        every = slice(None, None, step)
        targets, by = ([column.only(every) for column in columns] for columns in (targets, by))
    products = _Products(by)
    found = []
    for target in targets:
        others = [column for column in by if column.name != target.name]
        both = (_linear(target, products), _by_groups(target, others))
        found += sorted(filter(None, both), key=lambda one: -one.score)[:1]
    return found


class _Products:
    """Numeric columns, and the correlation of every two."""

    def __init__(self, known: Sequence[Seen]) -> None:
        pairs = [(column.name, column.standard) for column in known]
        self.columns = {name: line for name, line in pairs if line is not None}
        self.names = list(self.columns)
        lines = np.array(list(self.columns.values()))
        self.square = lines @ lines.T if self.columns else np.empty((0, 0))

    def share(self, names: Sequence[str], toward: Mapping[str, float]) -> float:
        """R² of a regression on these columns."""
        indices = [self.names.index(name) for name in names]
        right = np.array([toward[name] for name in names])
        square = self.square[np.ix_(indices, indices)]
        weights = np.linalg.lstsq(square, right, rcond=_ALIKE)[0]
        return float(np.clip(right @ weights, 0, 1))


def _linear(target: Seen, products: _Products) -> Determined | None:
    line = target.standard
    others = [name for name in products.names if name != target.name]
    if line is None or not others:
        return None
    toward = {name: float(column @ line) for name, column in products.columns.items()}
    if products.share(others, toward) < LINEAR:
        return None
    chosen: list[str] = []
    while not chosen or products.share(chosen, toward) < LINEAR:
        left = [name for name in others if name not in chosen]
        chosen.append(max(left, key=lambda name: products.share([*chosen, name], toward)))
    for name in list(chosen):  # a column chosen early may no longer be needed
        rest = [other for other in chosen if other != name]
        if rest and products.share(rest, toward) >= LINEAR:
            chosen = rest
    if line.size < ROWS_EACH * (len(chosen) + 1):
        return None
    share = products.share(chosen, toward)
    by = tuple(name for name in products.names if name in chosen)
    return Determined(name=target.name, by=by, measure="linear", score=share)


def _by_groups(target: Seen, known: Sequence[Seen]) -> Determined | None:
    """By the best single column, or else by it and the best second one."""
    guess = _Guess(target)
    chosen: list[Seen] = []
    for _ in range(2):
        left = [column for column in known if column not in chosen]
        if not left or target.codes.codes.size < ROWS_EACH * (len(chosen) + 2):
            return None
        tried = [guess.right([*chosen, column]) for column in left]
        best = max(range(len(left)), key=lambda index: (tried[index], -index))
        by_others, by_all = tried[best]
        if by_all == 0:
            return None
        chosen.append(left[best])
        score = guess.share(by_others)
        if score >= PURE:
            by = tuple(column.name for column in chosen)
            return Determined(name=target.name, by=by, measure="groups", score=score)
    return None


class _Guess:
    """Guesses of a column's values from the other rows of a group."""

    def __init__(self, target: Seen) -> None:
        self._codes = target.codes
        totals = np.bincount(self._codes.codes[self._codes.codes >= 0], minlength=1)
        self._rows, self._most = int(totals.sum()), int(totals.max())
        self._alone = int((totals == 1).sum())

    def share(self, right: int) -> float:
        """The proportional reduction in error of so many correct guesses."""
        if self._rows == self._most:
            return 0.0
        return max(0.0, (right - self._most) / (self._rows - self._most))

    def right(self, columns: Sequence[Seen]) -> tuple[int, int]:
        """The number of correct guesses in groups that agree in these columns: by the other rows of
        a group, and by all of its rows.

        0 if clearly too few: a value that occurs once, or alone in its group, is guessed by no
        other row.
        """
        if self._few(max(self._alone, *(one.alone for one in columns))):
            return 0, 0
        groups = grouped([column.codes for column in columns], self._codes.codes.size)
        if self._few(int((groups.sizes == 1).sum())):
            return 0, 0
        counts = counted(groups, self._codes)
        top = np.maximum.reduceat(counts.times, counts.starts)
        first = counts.times == np.repeat(top, counts.distinct[counts.filled])
        several = np.add.reduceat(first, counts.starts, dtype=np.int64) > 1
        second = np.maximum.reduceat(np.where(first, 0, counts.times), counts.starts)
        # a row does not vote for itself
        return int(top[~several & (top - 1 > second)].sum()), int(top.sum())

    def _few(self, alone: int) -> bool:
        return self.share(self._rows - alone) < PURE
