"""Answers as sums over atoms: each is the sum over some runs of neighbouring atoms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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
