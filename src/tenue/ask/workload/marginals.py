"""Marginals over several columns: which of them to release, at which prices, and their estimates.

A cell of the marginal over columns U is a sum over all cells of the product of the columns. If the
marginals over sets S are released with noise of variances v_S, least squares has a closed form:
μ_T = Σ_{S⊇T} Π_{i∉S} n_i / v_S for the part of the table that is the interaction of the columns T,
and Var_U = Σ_{T⊆U} Π_{i∈T}(1 − 1/n_i) Π_{i∈U∖T}(1/n_i) Π_{i∉U} n_i / μ_T.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from ...noise.laplace_sum_tail import SPARE, Reals, relative
from .least_squares import Estimator
from .level import Places, length, residuals, whole_array
from .range_strategies import descend
from .strategy import BlockStrategy

Columns = frozenset[int]

_FEW, _MANY = 60, 500
_BETTER = 0.999
_REST = 0.003
_LEAST = 0.004


@dataclass(frozen=True, eq=False)
class Marginals:
    sizes: tuple[int, ...]

    @cached_property
    def sets(self) -> list[Columns]:
        axes = range(len(self.sizes))
        return [frozenset(s) for many in range(len(axes) + 1) for s in combinations(axes, many)]

    def cells(self, columns: Iterable[int]) -> int:
        return math.prod(self.sizes[i] for i in columns)

    @cached_property
    def _outside(self) -> Reals:
        """How many cells of the whole table a cell of each marginal adds up."""
        whole = math.prod(self.sizes)
        return np.array([whole / self.cells(s) for s in self.sets])

    @cached_property
    def _within(self) -> Reals:
        return np.array([[1.0 if t <= s else 0.0 for s in self.sets] for t in self.sets])

    def information(self, precisions: Reals) -> Reals:
        """μ of every set, for marginals with these precisions 1/v."""
        return np.asarray(self._within @ (self._outside * precisions))

    def shares(self, asked: Sequence[Columns]) -> Reals:
        """The factor of 1/μ_T in the variance of each marginal asked for."""
        factors = np.zeros((len(asked), len(self.sets)))
        for row, u in enumerate(asked):
            over = math.prod(self.sizes) / self.cells(u)
            for column, t in enumerate(self.sets):
                if t <= u:
                    own = math.prod(1 - 1 / self.sizes[i] for i in t)
                    factors[row, column] = own * over / self.cells(u - t)
        return factors

    def variances(self, asked: Sequence[Columns], precisions: Reals) -> Reals:
        """The variance of a cell of each marginal; infinite where it is not determined."""
        mu, shares = self.information(precisions), self.shares(asked)
        inverse = np.where(mu > 0, 1 / np.where(mu > 0, mu, 1), np.inf)
        counted = np.where(shares > 0, inverse, 0) * shares
        return np.asarray(counted.sum(axis=1))

    def estimate(self, tables: dict[Columns, Reals], precisions: Reals) -> Reals:
        """The least squares estimate of the whole table, from noisy marginals.

        Interactions that no marginal determines are left out: no answer needs them.
        """
        added = np.zeros(self.sizes)
        for columns, table in tables.items():
            added = added + self.spread(table, columns) * precisions[self.sets.index(columns)]
        estimates = np.zeros(self.sizes)
        for columns, mu in zip(self.sets, self.information(precisions), strict=True):
            if mu > 0:
                estimates += self._interaction(added, columns) / mu
        return estimates

    def spread(self, table: Reals, columns: Columns) -> Reals:
        """A marginal in the shape of the whole table, of size 1 along all other columns."""
        return table.reshape([size if i in columns else 1 for i, size in enumerate(self.sizes)])

    def _interaction(self, table: Reals, columns: Columns) -> Reals:
        for axis in range(len(self.sizes)):
            mean = table.mean(axis=axis, keepdims=True)
            table = table - mean if axis in columns else mean
        return np.broadcast_to(table, self.sizes)

    def weights(
        self, asked: Columns, cell: Sequence[int], precisions: Reals, *, sizes: bool = False
    ) -> list[Reals]:
        """The weights of one cell of a marginal on the cells of every released one.

        sizes: instead, for each weight the sum of the sizes of its summands.
        """
        information, found = self.information(precisions), []
        place = dict(zip(sorted(asked), cell, strict=True))
        for s, precision in zip(self.sets, precisions, strict=True):
            total = np.zeros([self.sizes[i] for i in sorted(s)])
            for t, mu in zip(self.sets, information, strict=True):
                if precision and mu > 0 and t <= asked and t <= s:
                    part: Reals = np.ones([1] * len(s))
                    for axis, i in enumerate(sorted(s)):
                        along = np.full(self.sizes[i], 1 / self.sizes[i] if i in asked else 1.0)
                        if i in t:
                            along = along if sizes else -along
                            along[place[i]] += 1
                        part = part * along.reshape([-1 if k == axis else 1 for k in range(len(s))])
                    outside = math.prod(
                        n for i, n in enumerate(self.sizes) if i not in asked and i not in s
                    )
                    total = total + part * (precision * outside / mu)
            found.append(total.ravel())
        return found


def choose_marginals(
    table: Marginals, asked: Sequence[Columns], allowed: Reals, means: Reals, *, bounded: bool
) -> dict[Columns, float]:
    """The marginals to release and their prices, which add up to 1.

    Parameters
        allowed: the variance that each marginal asked for may have at a price of 1 in all.
        means: their weights in the mean.
        bounded: whether none may have more.

    Two marginals are replaced by the one over the columns of both, as long as that is better.
    """
    shares = table.shares(asked) / allowed[:, None]

    def errors(p: Reals) -> tuple[Reals, Callable[[Reals], Reals]]:
        mu = table.information(p**2 / 2)

        def gradient(weights: Reals) -> Reals:
            back = table._within.T @ ((weights @ shares) * (-1 / mu**2))
            return np.asarray(back * table._outside * p)

        return shares @ (1 / mu), gradient

    def descended(family: Iterable[Columns]) -> tuple[float, Reals]:
        start = np.full(len(table.sets), _REST)
        for s in family:
            start[table.sets.index(s)] = 1
        return descend(errors, start / start.sum(), means, _FEW, bounded=bounded)

    family = frozenset(asked)
    best, prices = descended(family)
    while len(family) > 1:
        others = {family - {a, b} | {a | b} for a, b in combinations(sorted(family, key=sorted), 2)}
        ordered = sorted(others, key=lambda one: sorted(map(sorted, one)))
        tried = [(*descended(other), other) for other in ordered]
        value, other_prices, other = min(tried, key=lambda one: one[0])
        if value >= best * _BETTER:
            break
        best, prices, family = value, other_prices, other
    _, prices = descend(errors, prices, means, _MANY, bounded=bounded)
    return {s: float(p) for s, p in zip(table.sets, prices, strict=True) if p >= _LEAST}


# -- released marginals as a strategy: atoms are the cells of the product of all columns -----------


@dataclass(frozen=True, eq=False)
class TableRows:
    """The cells of some marginals, one marginal after the other, the last column fastest.

    orders: the columns of each marginal, in the order in which they are asked for.
    shown: how many cells along each of these are answers; the one for missing values is not.
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
        whole = self.table.cells(range(len(self.table.sizes)))
        each = [whole // self.table.cells(columns) for columns in self.asked]
        return np.repeat(np.array(each, dtype=np.int64), np.diff(self.offsets))

    def whole_sums(self, values: Sequence[int]) -> list[int]:
        whole = whole_array(values).reshape(self.table.sizes)
        sums: list[int] = []
        for order, shown in zip(self.orders, self.shown, strict=True):
            axes = [sorted(order).index(i) for i in order]
            table = _marginal(whole, frozenset(order)).transpose(axes)
            answers = table[(*map(slice, shown), ...)]  # `...`: a total stays an array
            sums += answers.ravel().tolist()
        return sums

    def cell(self, place: int) -> tuple[Columns, tuple[int, ...]]:
        """The marginal of a row, and its cell there, in the order of the columns."""
        number = int(np.searchsorted(self.offsets, place, side="right")) - 1
        inside = np.unravel_index(place - self.offsets[number], self.shown[number])
        along = dict(zip(self.orders[number], inside, strict=True))
        return self.asked[number], tuple(int(along[i]) for i in sorted(along))


def _marginal(table: Any, columns: Columns) -> Any:
    others = tuple(i for i in range(table.ndim) if i not in columns)
    return np.asarray(table.sum(axis=others)) if others else table


@dataclass(frozen=True, eq=False)
class TableStrategy(BlockStrategy):
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
        whole = whole_array(truth).reshape(self.table.sizes)
        return [_marginal(whole, columns).ravel().tolist() for columns in self.released]

    def largest_cost(self, prices: Sequence[int]) -> tuple[int, int]:
        return sum(prices), 1

    def swap_cost(self, prices: Sequence[int]) -> tuple[int, int]:
        """Two rows differ at most in every marginal, but not in the grand total."""
        pairs = zip(self.released, prices, strict=True)
        between = sum(2 * price for columns, price in pairs if columns)
        return max(between, sum(prices)), 1

    def estimator(self, variances: Sequence[float]) -> TableEstimator:
        return TableEstimator(self, tuple(variances))


@dataclass(frozen=True, eq=False)
class TableEstimator(Estimator):
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
        """All cells of a marginal: a permutation of the columns' values maps each to any other."""
        return np.repeat(np.arange(len(rows.orders)), np.diff(rows.offsets))

    def weights(self, rows: TableRows, place: int, *, sizes: bool = False) -> list[Reals]:
        table = self.strategy.table
        every = table.weights(*rows.cell(place), self._precisions, sizes=sizes)
        return [every[table.sets.index(columns)] for columns in self.strategy.released]

    def missed(
        self, rows: TableRows, released: Sequence[Sequence[int]], atoms: Sequence[int]
    ) -> Reals:
        """As |w·(x* − x̃)| = |wM⁺r| ≤ |w|·|r|/λ for the residual r of the estimate x̃ and the least
        eigenvalue λ of M that is not 0: these are the μ_T."""
        table = self.strategy.table
        mu = table.information(self._precisions)
        left, size = np.zeros(table.sizes), np.zeros(table.sizes)
        pairs = zip(self.strategy.released, released, self.strategy.answers(atoms), strict=True)
        for columns, own, answers in pairs:
            residual = table.spread(residuals(own, answers), columns)
            precision = self._precisions[table.sets.index(columns)]
            left, size = left + residual * precision, size + np.abs(residual) * precision
        operations = 4 + 2 * len(self.strategy.released)
        most = length((np.abs(left) + relative(operations) * size).ravel())
        return np.asarray(np.sqrt(rows.sizes) * most * SPARE / mu[mu > 0].min())

    def doubts(self, rows: TableRows, place: int, weights: Sequence[Reals]) -> list[Reals]:
        """By a count of operations: the weights have a closed form."""
        table = self.strategy.table
        operations = 2 * len(table.sets) + 4 * len(table.sizes) + 12
        return [relative(operations) * own for own in self.weights(rows, place, sizes=True)]

    def estimate(self, noisy: Sequence[Reals]) -> Reals:
        tables = dict(zip(self.strategy.released, noisy, strict=True))
        return self.strategy.table.estimate(tables, self._precisions).ravel()
