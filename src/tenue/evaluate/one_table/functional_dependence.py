"""Columns that follow from others: whoever has those has this one too, whatever was done to it.

Numbers are told by a linear regression, as a total is by its parts. Any value is told by the rows
that agree in one or two other columns, as a town is by its postcode. Both are lower bounds: what
follows in another way, or from three columns that are no sum, is not found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import Refused
from ...text import named, percent, shortly
from ..column_types import Values
from ..factorize import Codes
from .count import counted, grouped

Real = NDArray[np.float64]
Whole = NDArray[np.int64]

LINEAR = 0.99
"""The R² from which a number follows from others: what is left open has a tenth of its spread."""
PURE = 0.9
"""The share of what the most frequent value leaves open that other columns must tell: with it, nine
of ten who would be mistaken by guessing are right."""
ROWS_EACH = 10
"""So many rows are needed for each column that takes part; among fewer, agreement is chance."""
MOST_ROWS = 50_000
"""Of a longer table every second, third, ... row is looked at."""

_ALIKE = 1e-10


@dataclass(frozen=True, kw_only=True)
class Determined:
    """A column that follows from others.

    name: the column.
    by: the columns that tell it, no more of them than are needed.
    measure: "linear": R² of a regression, 0 to 1; or "groups": the share of what the most frequent
        value leaves open that is told by the other rows with equal values in `by`, 0 to 1.
    score: how much of it; 1 is all.
    """

    name: str
    by: tuple[str, ...]
    measure: Literal["linear", "groups"]
    score: float

    def __str__(self) -> str:
        if self.measure == "linear":
            much = f"R² = {shortly(self.score, 4)}"
        else:
            much = f"{percent(self.score)} of what the most frequent value leaves open"
        return f"`{self.name}` follows from {named(self.by)} ({much})"


@dataclass(frozen=True, eq=False)
class Seen:
    """One column as it is compared: codes for equal values, places on a line if it has numbers."""

    name: str
    codes: Codes
    line: Real | None = None

    @classmethod
    def of(cls, values: Values) -> Seen:
        """A column that was read; of infinite numbers only what is equal counts."""
        try:
            line = None if values.kind == "category" else values.numbers()
        except Refused:
            line = None
        return cls(values.name, values.coded(), line)

    def thinned(self, step: int) -> Seen:
        """Every so many rows of it."""
        return self if step == 1 else self.only(slice(None, None, step))

    def only(self, rows: slice) -> Seen:
        """These rows of it."""
        found, codes = np.unique(self.codes.codes[rows], return_inverse=True)
        blank = int(found.size > 0 and found[0] < 0)
        kept = Codes(codes.astype(np.int64).reshape(-1) - blank, found.size - blank)
        return Seen(self.name, kept, None if self.line is None else self.line[rows])

    @cached_property
    def standard(self) -> Real | None:
        """The numbers with mean 0 and length 1, blanks in the middle; None if they do not vary."""
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
        """How many rows have no value, or one that no other row has."""
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
    rows = targets[0].codes.codes.size
    step = -(-rows // MOST_ROWS)
    asked = [column.thinned(step) for column in targets]
    known = [column.thinned(step) for column in by]
    products = _Products(known)
    found = []
    for target in asked:
        best = max(_ways(target, known, products), key=lambda way: way.score, default=None)
        if best is not None:
            found.append(best)
    return found


def _ways(target: Seen, known: Sequence[Seen], products: _Products) -> Iterator[Determined]:
    linear = _linear(target, products)
    if linear is not None:
        yield linear
    groups = _by_groups(target, [column for column in known if column.name != target.name])
    if groups is not None:
        yield groups


class _Products:
    """Columns of numbers, and the correlation of every two of them."""

    def __init__(self, known: Sequence[Seen]) -> None:
        pairs = [(column.name, column.standard) for column in known]
        self.columns = {name: line for name, line in pairs if line is not None}
        self.names = list(self.columns)
        lines = np.array(list(self.columns.values()))
        self.square = lines @ lines.T if self.columns else np.empty((0, 0))

    def with_target(self, line: Real) -> Mapping[str, float]:
        """The correlation of each with another column."""
        return {name: float(column @ line) for name, column in self.columns.items()}

    def share(self, names: Sequence[str], toward: Mapping[str, float]) -> float:
        """R² of a regression on these columns."""
        places = [self.names.index(name) for name in names]
        right = np.array([toward[name] for name in names])
        square = self.square[np.ix_(places, places)]
        weights = np.linalg.lstsq(square, right, rcond=_ALIKE)[0]
        return float(np.clip(right @ weights, 0, 1))


def _linear(target: Seen, products: _Products) -> Determined | None:
    line = target.standard
    others = [name for name in products.names if name != target.name]
    if line is None or not others:
        return None
    toward = products.with_target(line)
    if products.share(others, toward) < LINEAR:
        return None
    chosen: list[str] = []
    while not chosen or products.share(chosen, toward) < LINEAR:
        left = [name for name in others if name not in chosen]
        chosen.append(max(left, key=lambda name: products.share([*chosen, name], toward)))
    for name in list(chosen):  # what was needed at first may not be any more
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
        best = max(range(len(left)), key=lambda place: (tried[place], -place))
        if tried[best] == _NOBODY:
            return None
        chosen.append(left[best])
        score = guess.share(tried[best].by_others)
        if score >= PURE:
            by = tuple(column.name for column in chosen)
            return Determined(name=target.name, by=by, measure="groups", score=score)
    return None


class _Right(NamedTuple):
    """How many values are guessed rightly: by the other rows of a group, and by all of them."""

    by_others: int
    by_all: int


_NOBODY = _Right(0, 0)


class _Guess:
    """How well the values of a column are guessed from the other rows of a group."""

    def __init__(self, target: Seen) -> None:
        self._codes = target.codes
        totals = np.bincount(self._codes.codes[self._codes.codes >= 0], minlength=1)
        self._rows, self._most = int(totals.sum()), int(totals.max())
        self._alone = int((totals == 1).sum())

    def share(self, right: int) -> float:
        """The share of what the most frequent value leaves open that is guessed rightly."""
        if self._rows == self._most:
            return 0.0
        return max(0.0, (right - self._most) / (self._rows - self._most))

    def right(self, columns: Sequence[Seen]) -> _Right:
        """How many values are guessed rightly in groups that agree in these columns.

        None are counted where it is clear that others guess too few: a value that occurs once, or
        has nobody beside it, is guessed by no other row.
        """
        if self._few(max(self._alone, *(one.alone for one in columns))):
            return _NOBODY
        groups = grouped([column.codes for column in columns], self._codes.codes.size)
        if self._few(int((groups.sizes == 1).sum())):
            return _NOBODY
        counts = counted(groups, self._codes)
        top = np.maximum.reduceat(counts.times, counts.starts)
        first = counts.times == np.repeat(top, counts.distinct[counts.filled])
        several = np.add.reduceat(first, counts.starts, dtype=np.int64) > 1
        second = np.maximum.reduceat(np.where(first, 0, counts.times), counts.starts)
        # a row does not vote for itself
        return _Right(int(top[~several & (top - 1 > second)].sum()), int(top.sum()))

    def _few(self, alone: int) -> bool:
        return self.share(self._rows - alone) < PURE
