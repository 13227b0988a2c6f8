"""Marginals over several columns: which of them to release, at which prices.

A cell of the marginal over columns U is a sum over all cells of the product of the columns. If the
marginals over sets S are released with noise of variances v_S, least squares has a closed form:
μ_T = Σ_{S⊇T} Π_{i∉S} n_i / v_S for the part of the table that only the columns T together decide,
and Var_U = Σ_{T⊆U} Π_{i∈T}(1 − 1/n_i) Π_{i∈U∖T}(1/n_i) Π_{i∉U} n_i / μ_T.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from .descent import descend
from .runs import Reals

Columns = frozenset[int]

_FEW, _MANY = 60, 500
_BETTER = 0.999
_REST = 0.003
_LEAST = 0.004


@dataclass(frozen=True, eq=False)
class Marginals:
    """The sizes of the columns, and what can be said of every set of them."""

    sizes: tuple[int, ...]

    @cached_property
    def sets(self) -> list[Columns]:
        axes = range(len(self.sizes))
        return [frozenset(s) for many in range(len(axes) + 1) for s in combinations(axes, many)]

    def cells(self, columns: Iterable[int]) -> int:
        """How many cells the marginal over the columns has."""
        return math.prod(self.sizes[i] for i in columns)

    @cached_property
    def _outside(self) -> Reals:
        """Over how many cells of the whole table a cell of each marginal is."""
        whole = math.prod(self.sizes)
        return np.array([whole / self.cells(s) for s in self.sets])

    @cached_property
    def _within(self) -> Reals:
        return np.array([[1.0 if t <= s else 0.0 for s in self.sets] for t in self.sets])

    def told(self, precisions: Reals) -> Reals:
        """μ of every set, for marginals with these precisions 1/v."""
        return np.asarray(self._within @ (self._outside * precisions))

    def shares(self, asked: Sequence[Columns]) -> Reals:
        """What 1/μ_T counts in the variance of each marginal asked for."""
        found = np.zeros((len(asked), len(self.sets)))
        for row, u in enumerate(asked):
            over = math.prod(self.sizes) / self.cells(u)
            for place, t in enumerate(self.sets):
                if t <= u:
                    own = math.prod(1 - 1 / self.sizes[i] for i in t)
                    found[row, place] = own * over / self.cells(u - t)
        return found

    def variances(self, asked: Sequence[Columns], precisions: Reals) -> Reals:
        """The variance of a cell of each marginal; infinite where it is not told."""
        told, shares = self.told(precisions), self.shares(asked)
        with np.errstate(divide="ignore"):
            inverse = np.where(told > 0, 1 / np.where(told > 0, told, 1), np.inf)
        counted = np.where(shares > 0, inverse, 0) * shares
        return np.asarray(counted.sum(axis=1))

    def estimate(self, tables: dict[Columns, Reals], precisions: Reals) -> Reals:
        """The least squares estimate of the whole table, from noisy marginals.

        What no marginal tells is left out: it is in no answer.
        """
        added = np.zeros(self.sizes)
        for columns, table in tables.items():
            shape = [size if i in columns else 1 for i, size in enumerate(self.sizes)]
            added = added + table.reshape(shape) * precisions[self.sets.index(columns)]
        told = self.told(precisions)
        found = np.zeros(self.sizes)
        for place, columns in enumerate(self.sets):
            if told[place] > 0:
                found += self._decided(added, columns) / told[place]
        return found

    def _decided(self, table: Reals, columns: Columns) -> Reals:
        """The part of a table that just these columns decide together."""
        for axis in range(len(self.sizes)):
            mean = table.mean(axis=axis, keepdims=True)
            table = table - mean if axis in columns else mean
        return np.broadcast_to(table, self.sizes)

    def weights(
        self, asked: Columns, cell: Sequence[int], precisions: Reals, *, sizes: bool = False
    ) -> list[Reals]:
        """The weights of one cell of a marginal on the cells of every released one.

        sizes: instead, the sums of the sizes of what is added up to each weight.
        """
        told, found = self.told(precisions), []
        place = dict(zip(sorted(asked), cell, strict=True))
        for s, precision in zip(self.sets, precisions, strict=True):
            total = np.zeros([self.sizes[i] for i in sorted(s)])
            for t, mu in zip(self.sets, told, strict=True):
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

    def errors(p: Reals) -> tuple[Reals, object]:
        told = table.told(p**2 / 2)

        def gradient(weights: Reals) -> Reals:
            back = table._within.T @ ((weights @ shares) * (-1 / told**2))
            return np.asarray(back * table._outside * p)

        return shares @ (1 / told), gradient

    def found(family: Iterable[Columns]) -> tuple[float, Reals]:
        start = np.full(len(table.sets), _REST)
        for s in family:
            start[table.sets.index(s)] = 1
        return descend(errors, start / start.sum(), means, _FEW, bounded=bounded)  # type: ignore[arg-type]

    family = frozenset(asked)
    best, prices = found(family)
    while len(family) > 1:
        others = {family - {a, b} | {a | b} for a, b in combinations(sorted(family, key=sorted), 2)}
        tried = [(*found(other), other) for other in sorted(others, key=_order)]
        value, other_prices, other = min(tried, key=lambda one: one[0])
        if value >= best * _BETTER:
            break
        best, prices, family = value, other_prices, other
    _, prices = descend(errors, prices, means, _MANY, bounded=bounded)  # type: ignore[arg-type]
    return {s: float(p) for s, p in zip(table.sets, prices, strict=True) if p >= _LEAST}


def _order(family: frozenset[Columns]) -> list[list[int]]:
    return sorted(sorted(s) for s in family)
