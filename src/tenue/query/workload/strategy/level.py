"""Levels of a strategy: rows of whole numbers over atoms, with one price for each level."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .runs import Places, Reals


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
