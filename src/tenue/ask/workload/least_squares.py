"""Least squares estimates of atoms from the noisy answers of a strategy, and their errors.

With rows A and noise of variances v, the estimate is x̂ = M⁺Aᵀ(y/v), M = Aᵀ diag(1/v) A, and a
question w has the variance w M⁺ wᵀ. It is computed after the noise is drawn, in floats.

Where the sum of all atoms is public, the estimate is the nearest one with that sum: x̂ + u·(N −
1x̂), u = M⁺1/(1M⁺1), and a question has the variance w M⁺ wᵀ − (w M⁺ 1)²/(1M⁺1).

Rounding errors are bounded afterwards (`level.py`). Where atoms are released by themselves with
variance v₀, M ≥ 1/v₀, so that no eigenvalue of M⁻¹ is above v₀:

* value. The estimate x̃ leaves the residual r = Aᵀ((y − Ax̃)/v), and w·(x* − x̃) = wM⁻¹r, which is
  at most v₀·|w|·|r|. Where the sum is public, M⁻¹ is P = M⁻¹ − M⁻¹11ᵀM⁻¹/(1M⁻¹1) ≤ M⁻¹ instead,
  P1 = 0 lets r lose its mean, and N − 1x̃ is added along u, |u|² ≤ v₀/(1M⁻¹1) ≤ v₀·(1M1)/n².
* weights. With s = v₀·(weights on atoms), z = w − Ms and f = ŵ − As/v, the exact weights differ
  from As/v by A(M⁻¹z)/v, whose variance is zM⁻¹z ≤ v₀|z|²: no single one by more than √(v₀/v)·|z|.
  Where the sum is public, z loses its mean, and 1s is added along u: (1s)²/(1M⁻¹1) of variance.

Where they are not, there may be no M⁻¹, and the exact weights are not needed: ŵ·y is compared with
the value, and (w − ŵA)·x is bounded by what was released. That needs atoms that are not negative,
each of which is at most the answer of any row that it is in (or the public sum).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ...noise.laplace_sum_tail import SPARE, Reals, relative
from .level import PLACES, Level, Places, Runs, length, residuals, whole

_PART = 2048
_NOTHING = 1e-11


class Estimator(ABC):
    """Estimates atoms from the noisy answers of a strategy's levels.

    rows: the answers, in the form of the strategy that they belong to.
    """

    @abstractmethod
    def variances(self, rows: Any) -> Reals:
        """The variance of each row's estimate; infinite where it is not determined."""

    @abstractmethod
    def weights(self, rows: Any, place: int) -> list[Reals]:
        """The weights of one row's estimate on the noisy answers of each level."""

    def alike(self, rows: Any) -> Places:
        """A number for each row: rows with the same number have the same weights on each level,
        in another order, so that their errors have one law."""
        return np.arange(len(rows))

    @abstractmethod
    def estimate(self, noisy: Sequence[Reals]) -> Reals:
        """The estimates of all atoms; the last number is their sum, where that is public."""

    def refined(self, released: Sequence[Sequence[int]], atoms: Sequence[int]) -> list[int]:
        """Atoms in multiples of 2⁻⁴⁰, nearer to the least squares estimate where possible."""
        return list(atoms)

    @abstractmethod
    def missed(self, rows: Any, released: Sequence[Sequence[int]], atoms: Sequence[int]) -> Reals:
        """A bound, for each row, of the distance of its sum over the atoms, in multiples of 2⁻⁴⁰,
        from the weighted sum of released numbers, by the weights of `weights` and `doubts`."""

    @abstractmethod
    def doubts(self, rows: Any, place: int, weights: Sequence[Reals]) -> list[Reals]:
        """A bound of the error of each weight on the noisy answers of each level."""


def least_squares(
    levels: Sequence[Level], variances: Sequence[float], *, sum_public: bool = False
) -> Estimator:
    """The estimator for levels whose answers have noise of these variances.

    sum_public: whether the sum of all atoms is public.
    """
    first = levels[0]
    if len(first) == first.many and first.height == 1:
        leaves = _Leaves(levels, variances)
        return _OfPublicSum(leaves) if sum_public else leaves
    if not sum_public:
        return _Dense(levels, variances)
    places = np.arange(first.many)
    every = Level.of_rows([(places, np.ones_like(places))], first.many)
    # a row for the sum determines what the sum alone decides; its variance makes no difference
    return _OfPublicSum(_Dense([*levels, every], [*variances, min(variances)]), spare=1)


class _OfLevels(Estimator):
    def __init__(self, levels: Sequence[Level], variances: Sequence[float]) -> None:
        self.levels, self._noise = levels, variances

    @abstractmethod
    def solved(self, vector: Reals) -> Reals:
        """M⁺ times a vector over atoms."""

    def weights(self, rows: Runs, place: int) -> list[Reals]:
        return self.weights_of(self.solved(rows.row(place)))

    def weights_of(self, solved: Reals) -> list[Reals]:
        pairs = zip(self.levels, self._noise, strict=True)
        return [level.times(solved) / v for level, v in pairs]

    def estimate(self, noisy: Sequence[Reals]) -> Reals:
        return self.solved(self._carried_back(noisy))

    def _carried_back(self, noisy: Sequence[Reals]) -> Reals:
        """Aᵀ(y/v)."""
        total = np.zeros(self.levels[0].many)
        for level, y, v in zip(self.levels, noisy, self._noise, strict=True):
            total += level.transposed(y) / v
        return total


class _Leaves(_OfLevels):
    """For strategies that release every atom by itself, on the first level.

    M is a diagonal and few rows more, so that the matrix to invert has only their size.
    """

    def __init__(self, levels: Sequence[Level], variances: Sequence[float]) -> None:
        super().__init__(levels, variances)
        self._leaf = variances[0]
        extra = zip(levels[1:], variances[1:], strict=True)
        self._spread = np.concatenate(
            [np.full(len(level), v) for level, v in extra] or [np.ones(0)]
        )

    @cached_property
    def _rows(self) -> Reals:
        many = self.levels[0].many
        return np.concatenate([np.zeros((0, many)), *(level.dense() for level in self.levels[1:])])

    @cached_property
    def _root(self) -> Reals:
        """The inverse of the Cholesky factor of diag(v) + v₀·B·Bᵀ for the rows B above leaves."""
        products = self._rows @ self._rows.T
        return np.linalg.inv(np.linalg.cholesky(np.diag(self._spread) + self._leaf * products))

    def variances(self, rows: Runs) -> Reals:
        variances = np.array(self._leaf * rows.sizes, dtype=np.float64)
        if not len(self._spread):
            return variances
        met = self._leaf * rows.sums(np.ascontiguousarray(self._rows.T))
        for start in range(0, len(met), _PART):
            part = slice(start, start + _PART)
            variances[part] -= ((met[part] @ self._root.T) ** 2).sum(axis=1)
        return variances

    def alike(self, rows: Runs) -> Places:
        return np.arange(len(rows)) if len(self.levels) > 1 else np.asarray(rows.sizes)

    def solved(self, vector: Reals) -> Reals:
        solution = self._leaf * vector
        if len(self._spread):
            met = self._root @ (self._rows @ solution)
            solution = solution - self._leaf * (self._rows.T @ (self._root.T @ met))
        return solution

    def refined(self, released: Sequence[Sequence[int]], atoms: Sequence[int]) -> list[int]:
        return _moved(atoms, self.solved(self.left(released, atoms)[0]))

    def missed(
        self,
        rows: Runs,
        released: Sequence[Sequence[int]],
        atoms: Sequence[int],
        known: int | None = None,
    ) -> Reals:
        """known: the sum of all atoms, where it is public."""
        left, off = self.left(released, atoms)
        if known is None:
            most = self._leaf * length(np.abs(left) + off)
        else:
            rest = np.abs(left - left.mean()) + off + relative(2) * np.abs(left)
            astray = abs(float((known << PLACES) - sum(atoms))) * 2.0**-PLACES
            most = self._leaf * length(rest) + float(np.sqrt(self._leaf)) * self._along * astray
        return np.asarray(np.sqrt(rows.sizes) * most * SPARE)

    @cached_property
    def _along(self) -> float:
        """An upper bound of √(1/(1M⁻¹1))."""
        many = self.levels[0].many
        ones = zip(self.levels, self._noise, strict=True)
        return SPARE * float(
            np.sqrt(sum((level.times(np.ones(many)) ** 2).sum() / v for level, v in ones)) / many
        )

    @cached_property
    def _operations(self) -> int:
        """At most so many operations lead from the levels to one atom."""
        return 8 + sum(2 + int(np.bincount(level.atoms).max()) for level in self.levels)

    def left(self, released: Sequence[Sequence[int]], atoms: Sequence[int]) -> tuple[Reals, Reals]:
        """The residual of an estimate, carried back to atoms, and a bound of its rounding error."""
        pairs = zip(released, self.levels, strict=True)
        left = [residuals(own, level.answers(atoms)) for own, level in pairs]
        size = self._carried_back([np.abs(own) for own in left])
        return self._carried_back(left), relative(self._operations) * size

    def doubts(
        self, rows: Runs, place: int, weights: Sequence[Reals], *, sum_public: bool = False
    ) -> list[Reals]:
        solved = self._leaf * weights[0]
        left, size = rows.row(place) - weights[0], 1 + np.abs(weights[0])
        found = [np.zeros(len(weights[0]))]
        if len(self.levels) == 1 and not sum_public and not left.any():
            return found
        moved = np.zeros(len(left))
        for level, v, own in zip(self.levels[1:], self._noise[1:], weights[1:], strict=True):
            longest = 4 + int(np.diff(level.offsets).max())
            off = relative(longest) * (level.times(np.abs(solved)) / v + np.abs(own))
            found.append(np.abs(own - level.times(solved) / v) + off)
            left, size = left - level.transposed(own), size + level.transposed(np.abs(own))
            moved += level.transposed(found[-1])
        astray = 0.0
        if sum_public:
            left = left - left.mean()
            astray = abs(solved.sum()) + relative(len(solved) + 2) * np.abs(solved).sum()
        left = np.abs(left) + relative(self._operations) * size + SPARE * moved
        spread = np.sqrt(self._leaf) * length(left) + astray * self._along
        return [
            own + SPARE * spread / np.sqrt(v) for own, v in zip(found, self._noise, strict=True)
        ]


def _moved(atoms: Sequence[int], by: Reals) -> list[int]:
    return [atom + more for atom, more in zip(atoms, whole(by), strict=True)]


class _Dense(_OfLevels):
    """Any levels, where atoms are few; M may be singular. Atoms must not be negative."""

    def __init__(self, levels: Sequence[Level], variances: Sequence[float]) -> None:
        super().__init__(levels, variances)
        tables = [level.dense() for level in levels]
        self._m = sum(t.T @ t / v for t, v in zip(tables, variances, strict=True))
        sizes, vectors = np.linalg.eigh(self._m)
        some = sizes > sizes.max() * _NOTHING
        self._inverse = (vectors[:, some] / sizes[some]) @ vectors[:, some].T

    def variances(self, rows: Runs) -> Reals:
        asked = rows.dense()
        solved = asked @ self._inverse
        found: Reals = (solved * asked).sum(axis=1)
        lost = np.abs(solved @ self._m - asked).max(axis=1, initial=0) > 1e-6
        found[lost] = np.inf
        return found

    def solved(self, vector: Reals) -> Reals:
        return np.asarray(self._inverse @ vector)

    def missed(self, rows: Runs, released: Sequence[Sequence[int]], atoms: Sequence[int]) -> Reals:
        found = np.empty(len(rows))
        for place, estimated in enumerate(rows.whole_sums(atoms)):
            weights = self.weights(rows, place)
            off = zip(self.doubts(rows, place, weights), released, strict=True)
            more = sum(float(own @ np.abs(np.array(y, dtype=np.float64))) for own, y in off)
            found[place] = _distance(estimated, weights, released) + SPARE * more
        return found

    def doubts(self, rows: Runs, place: int, weights: Sequence[Reals]) -> list[Reals]:
        left = _residual(self.levels, rows.row(place), weights, 0.0)
        found = [np.zeros(len(level)) for level in self.levels]
        for level, own in zip(self.levels, found, strict=True):
            owner = np.repeat(np.arange(len(level)), np.diff(level.offsets))
            np.add.at(own, owner, left[level.atoms])
            left[level.atoms] = 0
        return found


def _distance(estimated: int, weights: Sequence[Reals], released: Sequence[Sequence[int]]) -> float:
    """An upper bound of |estimated·2⁻⁴⁰ − Σ weight·released|."""
    own = np.concatenate([*weights])
    parts = own * np.concatenate([np.array(level, dtype=np.float64) for level in released])
    value = float(estimated) * 2.0**-PLACES
    size = abs(value) + float(np.abs(parts).sum())
    return abs(value - float(parts.sum())) + relative(len(parts) + 4) * size


def _residual(levels: Sequence[Level], row: Reals, weights: Sequence[Reals], every: float) -> Reals:
    """An upper bound of |row − weights·A − every·1|."""
    left, size, operations = row - every, row + abs(every), 4
    for level, own in zip(levels, weights, strict=True):
        left, size = left - level.transposed(own), size + level.transposed(np.abs(own))
        operations += 2 + int(np.bincount(level.atoms).max())
    return np.abs(left) + relative(operations) * size


class _OfPublicSum(Estimator):
    """Another estimator, projected to where the atoms have their public sum.

    spare: how many levels of it are not released.
    """

    def __init__(self, inner: _Leaves | _Dense, spare: int = 0) -> None:
        self._inner, self._spare = inner, spare
        solved = inner.solved(np.ones(inner.levels[0].many))
        self._shift, self._size = solved / solved.sum(), solved.sum()

    def variances(self, rows: Runs) -> Reals:
        known = rows.sums(self._shift)
        return np.asarray(np.maximum(self._inner.variances(rows) - known**2 * self._size, 0))

    def alike(self, rows: Runs) -> Places:
        return self._inner.alike(rows)

    def weights(self, rows: Runs, place: int) -> list[Reals]:
        row = rows.row(place)
        found = self._inner.weights_of(self._inner.solved(row - row @ self._shift))
        return found[: len(found) - self._spare]

    def estimate(self, noisy: Sequence[Reals]) -> Reals:
        *levels, (known,) = noisy
        found = self._inner.estimate([*levels, *([np.array([known])] * self._spare)])
        return np.asarray(found + self._shift * (known - found.sum()))

    def refined(self, released: Sequence[Sequence[int]], atoms: Sequence[int]) -> list[int]:
        *noisy, (known,) = released
        if not isinstance(self._inner, _Leaves):
            return list(atoms)
        left, _ = self._inner.left(noisy, atoms)
        astray = float((known << PLACES) - sum(atoms)) * 2.0**-PLACES
        moved = self._inner.solved(left - left @ self._shift)
        return _moved(atoms, moved + self._shift * (astray - moved.sum()))

    def missed(self, rows: Runs, released: Sequence[Sequence[int]], atoms: Sequence[int]) -> Reals:
        *noisy, (known,) = released
        if isinstance(self._inner, _Leaves):
            return self._inner.missed(rows, noisy, atoms, known)
        levels = self._inner.levels[: -self._spare]
        found = np.empty(len(rows))
        for place, estimated in enumerate(rows.whole_sums(atoms)):
            weights, row = self.weights(rows, place), rows.row(place)
            every = float(row @ self._shift)
            left = float(_residual(levels, row, weights, every).max())
            both = [*weights, np.array([every])]
            found[place] = _distance(estimated, both, released) + SPARE * left * known
        return found

    def doubts(self, rows: Runs, place: int, weights: Sequence[Reals]) -> list[Reals]:
        if isinstance(self._inner, _Leaves):
            return self._inner.doubts(rows, place, weights, sum_public=True)
        return [np.zeros(len(own)) for own in weights]
