"""What a strategy says of itself: what is released at which price, and what follows from it.

A strategy is a list of levels. The true answers of level l are whole numbers; one row of the table
moves all of them together by at most `heights[l]`, and they get discrete Laplace noise whose loss
for each step is a price over that height. Everything after that is least squares.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from .least_squares import Estimator, least_squares
from .level import Level, Places, Runs, largest_cost, swap_cost

_MOST_SWAPS = 30_000_000


class BlockRows(Protocol):
    """The answers of a block, as sums over atoms."""

    def __len__(self) -> int: ...
    @property
    def sizes(self) -> Places:
        """Over how many atoms each row is."""
        ...

    def whole_sums(self, values: Sequence[int]) -> list[int]:
        """The sum over the atoms of each row, exactly."""
        ...


class BlockStrategy(ABC):
    """Levels of whole-number answers.

    name: as it is shown. atoms: how many there are. heights, lengths: of each level.
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
        """The true answers of each level, exactly, from the true numbers of all atoms."""

    @property
    @abstractmethod
    def digest(self) -> str:
        """A name for its rows: strategies that share it release the same."""

    @abstractmethod
    def largest_cost(self, prices: Sequence[int]) -> tuple[int, int]:
        """What one row can cost at most at these prices, exactly: a numerator and denominator."""

    def swap_cost(self, prices: Sequence[int]) -> tuple[int, int]:
        """What it can cost at most to replace one row by another; never more than twice that."""
        top, bottom = self.largest_cost(prices)
        return 2 * top, bottom

    @abstractmethod
    def estimator(self, variances: Sequence[float]) -> Estimator:
        """How atoms are estimated, if the levels' noise has these variances; and, where it is
        public, from their sum."""


@dataclass(frozen=True, eq=False)
class AtomStrategy(BlockStrategy):
    """Rows over atoms."""

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

    def largest_cost(self, prices: Sequence[int]) -> tuple[int, int]:
        return largest_cost(self.levels, prices)

    def swap_cost(self, prices: Sequence[int]) -> tuple[int, int]:
        if self.levels[0].many ** 2 * sum(self.lengths) > _MOST_SWAPS:
            return super().swap_cost(prices)
        return swap_cost(self.levels, prices)

    def estimator(self, variances: Sequence[float]) -> Estimator:
        return least_squares(self.levels, variances, sum_public=self.sum_public)


@dataclass(frozen=True, eq=False)
class PricedStrategy:
    """A strategy with prices for its levels, in parts of the whole price.

    rows: the answers, as sums over its atoms.
    labels: the atom of each cell of the grid, −1 if none.
    """

    strategy: BlockStrategy
    prices: tuple[float, ...]
    rows: Any
    labels: Any


def of_levels(
    name: str,
    levels: Sequence[Level],
    prices: Sequence[float],
    rows: Runs,
    labels: Any,
    *,
    sum_public: bool = False,
) -> PricedStrategy:
    """The candidate of levels of rows over atoms."""
    strategy = AtomStrategy(name, tuple(levels), sum_public)
    return PricedStrategy(strategy, tuple(prices), rows, labels)
