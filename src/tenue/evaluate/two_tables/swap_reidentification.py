"""Reassigning swapped values, by an intruder who learns from the release how columns relate.

A swap keeps all values of a group and hides whose they are. An intruder who learns from the release
that people with larger incomes pay larger taxes can assign the larger taxes of a group to its
larger incomes. No promise covers that. This attack on every swapped column gives a lower bound:
another intruder may do better.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..factorize import Real, Whole
from .information_loss import standard

EVERY = "all other columns"
_SWEEPS = 3
_RIDGE = 1e-3


@dataclass(frozen=True, eq=False)
class PublishedColumn:
    """One published column, unit by unit.

    true, shown: the values before and after, as numbers.
    labels: the groups in which they were swapped; None if they were not.
    ordered: whether the order of values has a meaning.
    """

    true: Real
    shown: Real
    labels: Whole | None = None
    ordered: bool = True


@dataclass(frozen=True, kw_only=True)
class Rematched:
    """The success of reassigning a column's values.

    records: the share of units that get the value of their own record; `records_blind` is the mean
        of 1/|G|, which random guessing inside groups reaches.
    values: the share of units that get their true value; `values_blind` is that of random guessing.
    by: the columns it relies on: one, or all others.
    """

    records: float
    records_blind: float
    values: float
    values_blind: float
    by: str


def rematched(columns: Mapping[str, PublishedColumn]) -> dict[str, Rematched]:
    """The success of the best attack on each swapped column.

    Units are scored by each other column alone, reversed if its ranks are negatively correlated,
    and by ridge regression on all of them, of values and of ranks. In each group the i-th smallest
    value is assigned to the i-th smallest score. Of another swapped column only the means of its
    groups are used at first, and in the next sweeps its reassigned values.

    Example
        >>> income, groups = np.array([1.0, 2.0, 3.0, 4.0]), np.array([0, 0, 1, 1])
        >>> tax = PublishedColumn(income / 10, income[[1, 0, 3, 2]] / 10, groups)
        >>> found = rematched({"income": PublishedColumn(income, income), "tax": tax})["tax"]
        >>> found.records, found.records_blind, found.by
        (1.0, 0.5, 'income')

    Source
        Tenue's own, from attacks on swapped releases.
    """
    guesses = {name: _Known(_means(column), column.ordered) for name, column in columns.items()}
    swapped = {name: column for name, column in columns.items() if column.labels is not None}
    best: dict[str, Rematched] = {}
    for _ in range(_SWEEPS):
        for name, column in swapped.items():
            others = {other: guesses[other] for other in columns if other != name}
            attempt = _Attempt(column)
            target = _Known(column.shown) if name not in best else guesses[name]
            for by, score in _scores(target, others):
                guess = attempt.assign(score)
                found = attempt.judged(guess, by)
                if name not in best or found.records > best[name].records:
                    best[name] = found
                if by == EVERY:
                    guesses[name] = _Known(guess, column.ordered)
    return best


def cells_share(columns: Mapping[str, PublishedColumn]) -> float:
    """The mean of 1/|cell|, a cell being the units that share the groups of all swapped columns."""
    labels = [column.labels for column in columns.values() if column.labels is not None]
    _, cells = np.unique(np.array(labels), axis=1, return_inverse=True)
    return float((1 / np.bincount(cells.reshape(-1))[cells.reshape(-1)]).mean())


class _Attempt:
    """One swapped column, and the success of reassignments."""

    def __init__(self, column: PublishedColumn) -> None:
        assert column.labels is not None  # noqa: S101 - only swapped columns are tried
        self._column, self._labels = column, column.labels
        self._places = self._sorted(column.shown)
        sizes = np.bincount(column.labels)[column.labels]
        _, codes = np.unique(column.true, return_inverse=True)
        pairs = column.labels * (int(codes.max()) + 1) + codes.reshape(-1)
        _, alike, many = np.unique(pairs, return_inverse=True, return_counts=True)
        self._alike = many[alike.reshape(-1)]
        self._records_blind = float((1 / sizes).mean())
        self._values_blind = float((self._alike / sizes).mean())

    def assign(self, score: Real) -> Real:
        """Each unit's value, if the values of a group are in the order of the scores."""
        guess = np.empty_like(self._column.shown)
        guess[self._sorted(score)] = self._column.shown[self._places]
        return guess

    def _sorted(self, score: Real) -> Whole:
        """Units by group, and by score inside each; sorting integers is faster than pairs."""
        order = np.argsort(score)
        bits = score.size.bit_length()
        packed = (self._labels[order] << bits) | np.arange(score.size)
        packed.sort()
        return np.asarray(order[packed & ((1 << bits) - 1)])

    def judged(self, guess: Real, by: str) -> Rematched:
        hit = guess == self._column.true
        return Rematched(
            records=float((hit / self._alike).mean()),
            records_blind=self._records_blind,
            values=float(hit.mean()),
            values_blind=self._values_blind,
            by=by,
        )


@dataclass(frozen=True, eq=False)
class _Known:
    """The intruder's knowledge of a column, with its ranks, which are needed more than once."""

    values: Real
    ordered: bool = True

    @cached_property
    def plain(self) -> Real:
        return standard(self.values)

    @cached_property
    def ranked(self) -> Real:
        return standard(_ranks(self.values))


def _scores(target: _Known, others: Mapping[str, _Known]) -> Iterator[tuple[str, Real]]:
    features = []
    for name, other in others.items():
        known = other
        if not other.ordered:  # the mean of the target over equal values
            words = np.unique(other.values, return_inverse=True)[1].reshape(-1)
            known = _Known(_group_means(words, target.values))
        features.append(known)
        yield name, known.values * (1.0 if known.ranked @ target.ranked >= 0 else -1.0)
    if features:
        yield EVERY, _ridge(np.array([one.ranked for one in features]).T, target.ranked)
        yield EVERY, _ridge(np.array([one.plain for one in features]).T, target.plain)


def _ridge(features: Real, target: Real) -> Real:
    square = features.T @ features
    square[np.diag_indices_from(square)] += _RIDGE * len(target)
    return features @ np.linalg.solve(square, features.T @ target)


def _means(column: PublishedColumn) -> Real:
    """The intruder's first knowledge of each unit: the value, or the mean of its group."""
    return column.shown if column.labels is None else _group_means(column.labels, column.shown)


def _group_means(labels: Whole, values: Real) -> Real:
    return (np.bincount(labels, weights=values) / np.bincount(labels))[labels]


def _ranks(values: Real) -> Real:
    _, codes, many = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(many) - many / 2)[codes.reshape(-1)]
