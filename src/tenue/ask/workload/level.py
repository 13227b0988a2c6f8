"""Levels of a strategy: rows of whole numbers over atoms, with one price for each level.

Floats compute the value of an answer and its weights on the noise. Both are checked afterwards,
however they were computed. With the released numbers y = Ax + e, a question w and the least squares
weights w* of exact arithmetic (w*A = w),

    value − w·x = (value − w*·y) + ŵ·e + (w* − ŵ)·e,

for the weights ŵ in floats. The law of ŵ·e is computed from ŵ; `Estimator.missed` bounds
the first term from the residual of the estimate, which is computed in whole numbers, and
`Estimator.doubts` bounds |w* − ŵ|, number by number, from what ŵA leaves of w.

Every bound is a sum of non-negative numbers. After n operations a float has an error of at most
n·2⁻⁵³/(1 − n·2⁻⁵³) relative to the sizes of the summands (Higham 2002, section 3.1); one percent
more covers the rounding of the bound itself, for any n below 2⁴⁰.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...noise.laplace_sum_tail import SPARE, Reals

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
    def of_ends(cls, atoms: int, ends: Sequence[tuple[int, int]]) -> Runs:
        """One run for each row, from `first` up to but not including `last`."""
        pairs = np.array(ends, dtype=np.int64).reshape(-1, 2)
        return cls(atoms, np.arange(len(pairs) + 1), pairs[:, 0], pairs[:, 1])

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def sizes(self) -> Places:
        return self._added(self.last - self.first)

    @property
    def covered(self) -> NDArray[np.bool_]:
        change = np.zeros(self.atoms + 1, dtype=np.int64)
        np.add.at(change, self.first, 1)
        np.add.at(change, self.last, -1)
        return np.asarray(np.cumsum(change)[:-1] > 0)

    def _added(self, parts: NDArray[Any]) -> NDArray[Any]:
        """The sum of the parts of each row, given one part for each run."""
        counts = np.diff(self.offsets)
        if (counts == 1).all():
            return parts
        sums = np.zeros((len(self), *parts.shape[1:]), dtype=parts.dtype)
        some = counts > 0
        if some.any():
            sums[some] = np.add.reduceat(parts, self.offsets[:-1][some], axis=0)
        return sums

    def sums(self, values: NDArray[Any]) -> NDArray[Any]:
        """The sum of the values over the atoms of each row; a value of an atom may be a vector."""
        zero = np.zeros((1, *values.shape[1:]), dtype=values.dtype)
        upto = np.concatenate([zero, np.cumsum(values, axis=0)])
        return self._added(upto[self.last] - upto[self.first])

    def whole_sums(self, values: Sequence[int]) -> list[int]:
        """The same for whole numbers of any size, exactly."""
        return self.sums(whole_array(values)).tolist()  # type: ignore[no-any-return]

    def row(self, place: int) -> Reals:
        ones = np.zeros(self.atoms)
        for k in range(self.offsets[place], self.offsets[place + 1]):
            ones[self.first[k] : self.last[k]] = 1
        return ones

    def dense(self) -> Reals:
        return np.array([self.row(i) for i in range(len(self))]).reshape(len(self), self.atoms)


def whole_array(values: Sequence[int]) -> NDArray[Any]:
    """As int64 if no sum of them can overflow, else as whole numbers of any size."""
    fits = sum(map(abs, values)) < _EXACT
    return np.array([*values], dtype=np.int64 if fits else object)


# -- rounding errors of floats ---------------------------------------------------------------------

PLACES = 40
"""Estimates are whole multiples of 2⁻⁴⁰ where residuals are computed."""


def whole(values: Reals) -> list[int]:
    """Floats rounded to whole multiples of 2⁻⁴⁰."""
    return [int(value) for value in np.rint(np.ldexp(values, PLACES))]


def residuals(released: Sequence[int], estimated: Sequence[int]) -> Reals:
    """Released numbers minus their estimates, which are in multiples of 2⁻⁴⁰.

    The difference is exact, and rounded once.
    """
    pairs = zip(released, estimated, strict=True)
    differences = np.array([float((y << PLACES) - estimate) for y, estimate in pairs])
    return np.asarray(np.ldexp(differences, -PLACES))


def length(values: Reals) -> float:
    """An upper bound of the Euclidean norm."""
    return SPARE * float(np.sqrt(values @ values))


# -- levels ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Level:
    """Rows that get noise of one scale.

    Row i has values[k] at atom atoms[k], for offsets[i] ≤ k < offsets[i + 1]. A row of the table
    in atom j moves the level's answers by `column_sums[j]` in all, `height` at most.
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
        sizes = [len(atoms) for atoms, _ in rows]
        return cls(
            many,
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            np.concatenate([atoms for atoms, _ in rows]).astype(np.int64),
            np.concatenate([values for _, values in rows]).astype(np.int64),
        )

    @cached_property
    def digest(self) -> str:
        arrays = (self.offsets, self.atoms, self.values)
        rows = b"".join(np.ascontiguousarray(x, dtype=np.int64).tobytes() for x in arrays)
        return hashlib.sha256(rows).hexdigest()

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def column_sums(self) -> Places:
        """The L1 sensitivity of the answers to one row in each atom."""
        sums = np.zeros(self.many, dtype=np.int64)
        np.add.at(sums, self.atoms, np.abs(self.values))
        return sums

    @cached_property
    def height(self) -> int:
        """The L1 sensitivity of the answers to one row."""
        return int(self.column_sums.max())

    def answers(self, truth: Sequence[int]) -> list[int]:
        pairs = zip(self.atoms.tolist(), self.values.tolist(), strict=True)
        products = [value * truth[atom] for atom, value in pairs]
        ends = self.offsets.tolist()
        return [sum(products[start:end]) for start, end in itertools.pairwise(ends)]

    def times(self, vector: Reals) -> Reals:
        """The rows times a vector over atoms."""
        parts = self.values * vector[self.atoms]
        return np.asarray(np.add.reduceat(parts, self.offsets[:-1]))

    def transposed(self, vector: Reals) -> Reals:
        """The transposed rows times a vector."""
        spread = np.repeat(vector, np.diff(self.offsets)) * self.values
        return np.bincount(self.atoms, spread, minlength=self.many).astype(np.float64)

    def dense(self) -> Reals:
        table = np.zeros((len(self), self.many))
        table[np.repeat(np.arange(len(self)), np.diff(self.offsets)), self.atoms] = self.values
        return table
