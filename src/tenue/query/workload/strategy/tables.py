"""Released marginals as a strategy: the atoms are the cells of the product of all columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .contract import Strategy
from .marginal import Columns, Marginals
from .rounding import SPARE, length, relative, residuals
from .runs import Places, Reals

_EXACT = 2.0**62


@dataclass(frozen=True, eq=False)
class TableRows:
    """The cells of some marginals, one marginal after the other, the last column fastest.

    orders: of each marginal the columns, in the order in which they are asked for.
    shown: of each of these how many cells are answers; the one beyond, of rows without a value, is
        none.
    """

    table: Marginals
    orders: tuple[tuple[int, ...], ...]
    shown: tuple[tuple[int, ...], ...]

    @cached_property
    def asked(self) -> tuple[Columns, ...]:
        return tuple(map(frozenset, self.orders))

    @cached_property
    def offsets(self) -> list[int]:
        sizes = [int(np.prod(shown, dtype=np.int64)) for shown in self.shown]
        return [0, *np.cumsum(sizes).tolist()]

    def __len__(self) -> int:
        return self.offsets[-1]

    @property
    def sizes(self) -> Places:
        """Over how many atoms each row is."""
        whole = self.table.cells(range(len(self.table.sizes)))
        each = [whole // self.table.cells(columns) for columns in self.asked]
        return np.repeat(np.array(each, dtype=np.int64), np.diff(self.offsets))

    def whole_sums(self, values: Sequence[int]) -> list[int]:
        exact = sum(map(abs, values)) < _EXACT
        whole = np.array([*values], dtype=np.int64 if exact else object).reshape(self.table.sizes)
        found: list[int] = []
        for order, shown in zip(self.orders, self.shown, strict=True):
            places = sorted(order)
            table = _marginal(whole, frozenset(order)).transpose([places.index(i) for i in order])
            found += (
                table[(*map(slice, shown), ...)].ravel().tolist()
            )  # `...`: a total stays an array
        return found

    def cell(self, place: int) -> tuple[Columns, tuple[int, ...]]:
        """The marginal that a row is of, and its cell there, in the order of the columns."""
        number = int(np.searchsorted(self.offsets, place, side="right")) - 1
        inside = place - self.offsets[number]
        places = dict(
            zip(self.orders[number], np.unravel_index(inside, self.shown[number]), strict=True)
        )
        return self.asked[number], tuple(int(places[i]) for i in sorted(places))


def _marginal(table: Any, columns: Columns) -> Any:
    others = tuple(i for i in range(table.ndim) if i not in columns)
    return np.asarray(table.sum(axis=others)) if others else table


@dataclass(frozen=True, eq=False)
class TableStrategy(Strategy):
    """Marginals over sets of columns. One row of the table is in one cell of each."""

    name: str
    table: Marginals
    released: tuple[Columns, ...]

    @property
    def atoms(self) -> int:  # type: ignore[override]
        return self.table.cells(range(len(self.table.sizes)))

    @property
    def heights(self) -> tuple[int, ...]:  # type: ignore[override]
        return (1,) * len(self.released)

    @property
    def lengths(self) -> tuple[int, ...]:  # type: ignore[override]
        return tuple(self.table.cells(columns) for columns in self.released)

    @property
    def digest(self) -> str:
        return f"{self.table.sizes} {[sorted(columns) for columns in self.released]}"

    def answers(self, truth: Sequence[int]) -> list[list[int]]:
        exact = sum(map(abs, truth)) < _EXACT
        whole = np.array([*truth], dtype=np.int64 if exact else object).reshape(self.table.sizes)
        return [_marginal(whole, columns).ravel().tolist() for columns in self.released]

    def largest_cost(self, prices: Sequence[int]) -> tuple[int, int]:
        return sum(prices), 1

    def swap_cost(self, prices: Sequence[int]) -> tuple[int, int]:
        """Two rows differ in every marginal at most; the grand total knows the outside only."""
        pairs = zip(self.released, prices, strict=True)
        between = sum(2 * price for columns, price in pairs if columns)
        return max(between, sum(prices)), 1

    def estimator(self, variances: Sequence[float]) -> TableEstimator:
        return TableEstimator(self, tuple(variances))


@dataclass(frozen=True, eq=False)
class TableEstimator:
    """Least squares for marginals, in closed form."""

    strategy: TableStrategy
    noise: tuple[float, ...]

    @cached_property
    def _precisions(self) -> Reals:
        table = self.strategy.table
        found = np.zeros(len(table.sets))
        for columns, v in zip(self.strategy.released, self.noise, strict=True):
            found[table.sets.index(columns)] = 1 / v
        return found

    def variances(self, rows: TableRows) -> Reals:
        each = self.strategy.table.variances(rows.asked, self._precisions)
        return np.repeat(each, np.diff(rows.offsets))

    def alike(self, rows: TableRows) -> Places:
        """All cells of a marginal are: each is any other, with the values of columns renamed."""
        return np.repeat(np.arange(len(rows.orders)), np.diff(rows.offsets))

    def weights(self, rows: TableRows, place: int) -> list[Reals]:
        table = self.strategy.table
        every = table.weights(*rows.cell(place), self._precisions)
        return [every[table.sets.index(columns)] for columns in self.strategy.released]

    def refined(self, released: Sequence[Sequence[int]], atoms: Sequence[int]) -> list[int]:
        return list(atoms)

    def missed(
        self, rows: TableRows, released: Sequence[Sequence[int]], atoms: Sequence[int]
    ) -> Reals:
        """As |w·(x* − x̃)| = |wM⁺r| ≤ |w|·|r|/λ for the residual r of the estimate x̃ and the least
        eigenvalue λ of M that is not 0: these are the μ_T."""
        table = self.strategy.table
        told = table.told(self._precisions)
        left, size = np.zeros(table.sizes), np.zeros(table.sizes)
        pairs = zip(self.strategy.released, released, self.strategy.answers(atoms), strict=True)
        for columns, own, answers in pairs:
            shape = [n if i in columns else 1 for i, n in enumerate(table.sizes)]
            found = residuals(own, answers).reshape(shape)
            precision = self._precisions[table.sets.index(columns)]
            left, size = left + found * precision, size + np.abs(found) * precision
        operations = 4 + 2 * len(self.strategy.released)
        most = length((np.abs(left) + relative(operations) * size).ravel())
        return np.asarray(np.sqrt(rows.sizes) * most * SPARE / told[told > 0].min())

    def doubts(self, rows: TableRows, place: int, weights: Sequence[Reals]) -> list[Reals]:
        """By a count of operations: the weights have a closed form."""
        table = self.strategy.table
        every = table.weights(*rows.cell(place), self._precisions, sizes=True)
        operations = 2 * len(table.sets) + 4 * len(table.sizes) + 12
        return [
            relative(operations) * every[table.sets.index(columns)]
            for columns in self.strategy.released
        ]

    def estimate(self, noisy: Sequence[Reals]) -> Reals:
        tables = dict(zip(self.strategy.released, noisy, strict=True))
        return self.strategy.table.estimate(tables, self._precisions).ravel()
