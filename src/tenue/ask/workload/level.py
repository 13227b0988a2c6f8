"""Levels of a strategy: rows of whole numbers over atoms, with one price for each level.

What is told of an answer rests on two things that floats compute: its value, and its weights on the
noise that was drawn. Both are checked afterwards, whichever way they were found. With the released
numbers y = Ax + e, a question w and the least squares weights w* of exact arithmetic (w*A = w),

    value − w·x = (value − w*·y) + ŵ·e + (w* − ŵ)·e,

for the weights ŵ that floats found. The law of ŵ·e is computed from ŵ; `Estimator.missed` bounds
the first term from the residual of the estimate, which is computed in whole numbers, and
`Estimator.doubts` bounds |w* − ŵ|, number by number, from what ŵA leaves of w.

Every bound is a sum of numbers that are not negative. With n operations in a row a float is off by
at most n·2⁻⁵³/(1 − n·2⁻⁵³) in parts of the sizes of what was added (Higham 2002, section 3.1); one
part in a hundred more covers the rounding of the bound itself, for any n below 2⁴⁰.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float64]
Places = NDArray[np.int64]

_EXACT = 2.0**62


@dataclass(frozen=True, eq=False)
class Runs:
    """Rows of zeros and ones over atoms.

    Row i is one at atoms first[k] ≤ atom < last[k], for offsets[i] ≤ k < offsets[i + 1].
    """

    atoms: int
    offsets: Places
    first: Places
    last: Places

    @classmethod
    def of_members(cls, members: NDArray[np.bool_]) -> Runs:
        """From a table of truth, a row for each answer and a column for each atom."""
        many, atoms = members.shape
        padded = np.zeros((many, atoms + 2), dtype=np.int8)
        padded[:, 1:-1] = members
        change = np.diff(padded, axis=1)
        row, first = np.nonzero(change == 1)
        last = np.nonzero(change == -1)[1]
        offsets = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=many))])
        return cls(atoms, offsets.astype(np.int64), first.astype(np.int64), last.astype(np.int64))

    @classmethod
    def of_ends(cls, atoms: int, ends: Sequence[tuple[int, int]]) -> Runs:
        """One run for each row, from `first` up to but not including `last`."""
        pairs = np.array(ends, dtype=np.int64).reshape(-1, 2)
        return cls(atoms, np.arange(len(pairs) + 1), pairs[:, 0], pairs[:, 1])

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def sizes(self) -> Places:
        """Over how many atoms each row is."""
        return self._added(self.last - self.first)

    @property
    def covered(self) -> NDArray[np.bool_]:
        """Which atoms are in some row."""
        change = np.zeros(self.atoms + 1, dtype=np.int64)
        np.add.at(change, self.first, 1)
        np.add.at(change, self.last, -1)
        return np.asarray(np.cumsum(change)[:-1] > 0)

    def _added(self, parts: NDArray[Any]) -> NDArray[Any]:
        """The sum of what belongs to the runs of each row."""
        counts = np.diff(self.offsets)
        if (counts == 1).all():
            return parts
        found = np.zeros((len(self), *parts.shape[1:]), dtype=parts.dtype)
        some = counts > 0
        if some.any():
            found[some] = np.add.reduceat(parts, self.offsets[:-1][some], axis=0)
        return found

    def sums(self, values: NDArray[Any]) -> NDArray[Any]:
        """The sum of the values over the atoms of each row; a value of an atom may be a vector."""
        zero = np.zeros((1, *values.shape[1:]), dtype=values.dtype)
        upto = np.concatenate([zero, np.cumsum(values, axis=0)])
        return self._added(upto[self.last] - upto[self.first])

    def whole_sums(self, values: Sequence[int]) -> list[int]:
        """The same for whole numbers of any size, exactly."""
        if sum(map(abs, values)) < _EXACT:
            return self.sums(np.array(values, dtype=np.int64)).tolist()  # type: ignore[no-any-return]
        return list(self.sums(np.array([*values], dtype=object)))

    def row(self, place: int) -> Reals:
        """One row, as zeros and ones."""
        found = np.zeros(self.atoms)
        for k in range(self.offsets[place], self.offsets[place + 1]):
            found[self.first[k] : self.last[k]] = 1
        return found

    def dense(self) -> Reals:
        """All rows, as zeros and ones."""
        return np.array([self.row(i) for i in range(len(self))]).reshape(len(self), self.atoms)


# -- How far floats may be off: bounds, computed beside the numbers that they are about ------------

UNIT = 2.0**-53
SPARE = 1.01
PLACES = 40
"""Residuals are those of estimates in whole multiples of 2⁻⁴⁰."""


def relative(operations: int) -> float:
    """How far so many operations in a row may be off, in parts of the sizes of what was added."""
    return SPARE * operations * UNIT


def whole(values: Reals) -> list[int]:
    """Floats in whole multiples of 2⁻⁴⁰: each off by half of one at most."""
    return [int(value) for value in np.rint(np.ldexp(values, PLACES))]


def residuals(released: Sequence[int], told: Sequence[int]) -> Reals:
    """What was released less what an estimate in multiples of 2⁻⁴⁰ makes of it.

    The difference is exact, and rounded once.
    """
    pairs = zip(released, told, strict=True)
    left = np.array([float((y << PLACES) - t) for y, t in pairs])
    return np.asarray(np.ldexp(left, -PLACES))


def length(values: Reals) -> float:
    """At least the Euclidean norm."""
    return SPARE * float(np.sqrt(values @ values))


# Levels of a strategy: rows of whole numbers over atoms, with one price for each level.


@dataclass(frozen=True, eq=False)
class Level:
    """Rows that get noise of one scale.

    Row i has values[k] at atom atoms[k], for offsets[i] ≤ k < offsets[i + 1]. A row of the table
    that is in atom j moves the level's answers by `column_sums[j]` in all, `height` at most.
    """

    many: int
    offsets: Places
    atoms: Places
    values: Places

    @classmethod
    def leaves(cls, many: int) -> Level:
        """Every atom by itself."""
        each = np.arange(many)
        return cls(many, np.arange(many + 1), each, np.ones(many, dtype=np.int64))

    @classmethod
    def of_rows(cls, rows: Sequence[tuple[Places, Places]], many: int) -> Level:
        """From the atoms of each row and the values there."""
        sizes = [len(atoms) for atoms, _ in rows]
        return cls(
            many,
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            np.concatenate([atoms for atoms, _ in rows]).astype(np.int64),
            np.concatenate([values for _, values in rows]).astype(np.int64),
        )

    @cached_property
    def digest(self) -> str:
        """A name for its rows."""
        parts = (np.ascontiguousarray(x, dtype=np.int64) for x in (self.offsets, self.atoms))
        rows = hashlib.sha256(b"".join(part.tobytes() for part in parts))
        rows.update(np.ascontiguousarray(self.values, dtype=np.int64).tobytes())
        return rows.hexdigest()

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def column_sums(self) -> Places:
        """By how much one row of each atom moves all answers together."""
        found = np.zeros(self.many, dtype=np.int64)
        np.add.at(found, self.atoms, np.abs(self.values))
        return found

    @cached_property
    def height(self) -> int:
        """By how much one row moves all answers together, wherever it is."""
        return int(self.column_sums.max())

    def answers(self, truth: Sequence[int]) -> list[int]:
        """The true answers, exactly."""
        found = [0] * len(self)
        if len(self) == self.many == len(self.atoms) and (self.values == 1).all():
            return [truth[atom] for atom in self.atoms]
        atoms, values = self.atoms.tolist(), self.values.tolist()
        for row in range(len(self)):
            places = range(self.offsets[row], self.offsets[row + 1])
            found[row] = sum(values[k] * truth[atoms[k]] for k in places)
        return found

    def times(self, vector: Reals) -> Reals:
        """The rows times a vector over atoms."""
        parts = self.values * vector[self.atoms]
        return np.asarray(np.add.reduceat(parts, self.offsets[:-1]))

    def transposed(self, vector: Reals) -> Reals:
        """A vector over rows, carried back to atoms."""
        spread = np.repeat(vector, np.diff(self.offsets)) * self.values
        return np.bincount(self.atoms, spread, minlength=self.many).astype(np.float64)

    def dense(self) -> Reals:
        """The rows as a matrix."""
        found = np.zeros((len(self), self.many))
        found[np.repeat(np.arange(len(self)), np.diff(self.offsets)), self.atoms] = self.values
        return found


def largest_cost(levels: Sequence[Level], prices: Sequence[int]) -> tuple[int, int]:
    """What one row of the table can cost at most, as a fraction of whole numbers.

    Guarantee
        Exact. Level l has noise with a loss of prices[l] / height[l] for each step, so a row in
        atom j costs Σ prices[l]·column_sums[l][j] / height[l]; the largest over all atoms is
        returned, over a common denominator. Levels without a price are not released.
    """
    used = [(level, price) for level, price in zip(levels, prices, strict=True) if price]
    if not used:
        return 0, 1
    bottom = math.lcm(*(level.height for level, _ in used))
    cost = np.zeros(used[0][0].many, dtype=object)
    for level, price in used:
        cost += level.column_sums.astype(object) * (price * (bottom // level.height))
    return max(cost), bottom


def swap_cost(levels: Sequence[Level], prices: Sequence[int]) -> tuple[int, int]:
    """What it can cost at most to replace one row by another, as a fraction of whole numbers.

    Guarantee
        Exact for counts: the largest Σ prices[l]·|a[l][i][j] − a[l][i][k]| / height[l] over all
        pairs of atoms j, k and the outside, where a row is in no atom.
    """
    used = [(level, price) for level, price in zip(levels, prices, strict=True) if price]
    if not used:
        return 0, 1
    bottom = math.lcm(*(level.height for level, _ in used))
    most = 0
    tables = [
        (level.dense().astype(np.int64), price * (bottom // level.height)) for level, price in used
    ]
    for atom in range(used[0][0].many):
        cost = np.zeros(used[0][0].many + 1, dtype=object)
        for table, price in tables:
            away = np.abs(table - table[:, [atom]]).sum(axis=0)
            cost[:-1] += away.astype(object) * price
            cost[-1] += int(np.abs(table[:, atom]).sum()) * price
        most = max(most, *cost)
    return most, bottom
