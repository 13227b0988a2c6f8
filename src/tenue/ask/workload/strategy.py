"""The contract of a strategy: a list of levels, which are released, each at a price.

The true answers of level l are whole numbers; one row of the table moves all of them together by at
most `heights[l]`, and they get discrete Laplace noise whose loss for each step is a price over that
height. Everything after that is least squares.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .least_squares import Estimator, least_squares
from .level import Level

_MOST_SWAPS = 30_000_000


class BlockStrategy(ABC):
    """Levels of whole-number answers.

    name: as shown to users. atoms: their number. heights, lengths: of each level.
    sum_public: whether the sum of all atoms is public, and used: each unit is one row, which may be
        replaced, so that their number is the same for all neighbours.
    """

    name: str
    sum_public: bool = False
    atoms: int
    heights: tuple[int, ...]
    lengths: tuple[int, ...]

    @abstractmethod
    def answers(self, truth: Sequence[int]) -> list[list[int]]:
        """The true answers of each level, exactly, from those of all atoms."""

    @property
    @abstractmethod
    def digest(self) -> str:
        """A hash of its rows: strategies with the same digest release the same."""

    @abstractmethod
    def largest_cost(self, prices: Sequence[int]) -> tuple[int, int]:
        """The largest cost of one row at these prices, exactly: a numerator and denominator."""

    def swap_cost(self, prices: Sequence[int]) -> tuple[int, int]:
        """The largest cost of replacing one row by another; never more than twice that."""
        top, bottom = self.largest_cost(prices)
        return 2 * top, bottom

    @abstractmethod
    def estimator(self, variances: Sequence[float]) -> Estimator:
        """How atoms are estimated from noise of these variances, and their sum if it is public."""


@dataclass(frozen=True, eq=False)
class AtomStrategy(BlockStrategy):
    name: str
    levels: tuple[Level, ...]
    sum_public: bool = False

    @property
    def atoms(self) -> int:  # type: ignore[override]
        return self.levels[0].many

    @property
    def heights(self) -> tuple[int, ...]:  # type: ignore[override]
        return tuple(level.height for level in self.levels)

    @property
    def lengths(self) -> tuple[int, ...]:  # type: ignore[override]
        return tuple(len(level) for level in self.levels)

    @property
    def digest(self) -> str:
        rows = " ".join(level.digest for level in self.levels)
        return f"{rows} of a public sum" if self.sum_public else rows

    def answers(self, truth: Sequence[int]) -> list[list[int]]:
        return [level.answers(truth) for level in self.levels]

    def _price_per_step(self, prices: Sequence[int]) -> tuple[list[tuple[Level, int]], int]:
        """The levels with a price, each with its price for one step over a common denominator.

        The others are not released.
        """
        used = [(level, price) for level, price in zip(self.levels, prices, strict=True) if price]
        bottom = math.lcm(*(level.height for level, _ in used))
        return [(level, price * (bottom // level.height)) for level, price in used], bottom

    def largest_cost(self, prices: Sequence[int]) -> tuple[int, int]:
        """Level l has noise with a loss of prices[l] / height[l] for each step, so a row in atom j
        costs Σ prices[l]·column_sums[l][j] / height[l]: the largest of these."""
        priced, bottom = self._price_per_step(prices)
        cost = np.zeros(self.atoms, dtype=object)
        for level, price in priced:
            cost += level.column_sums.astype(object) * price
        return max(cost), bottom

    def swap_cost(self, prices: Sequence[int]) -> tuple[int, int]:
        """Exact for counts if atoms are few: the largest Σ prices[l]·|a[l][i][j] − a[l][i][k]| /
        height[l] over all pairs of atoms j, k and the outside, where a row is in no atom."""
        if self.atoms**2 * sum(self.lengths) > _MOST_SWAPS:
            return super().swap_cost(prices)
        priced, bottom = self._price_per_step(prices)
        tables = [(level.dense().astype(np.int64), price) for level, price in priced]
        most = 0
        for atom in range(self.atoms):
            cost = np.zeros(self.atoms + 1, dtype=object)
            for table, price in tables:
                away = np.abs(table - table[:, [atom]]).sum(axis=0)
                cost[:-1] += away.astype(object) * price
                cost[-1] += int(np.abs(table[:, atom]).sum()) * price
            most = max(most, *cost)
        return most, bottom

    def estimator(self, variances: Sequence[float]) -> Estimator:
        return least_squares(self.levels, variances, sum_public=self.sum_public)


@dataclass(frozen=True, eq=False)
class PricedStrategy:
    """A strategy with prices of its levels, as fractions of the whole price.

    rows: the answers, as sums over its atoms.
    labels: the atom of each cell of the grid, −1 if none.
    """

    strategy: BlockStrategy
    prices: tuple[float, ...]
    rows: Any
    labels: Any
