"""The propensity score: can a model tell masked rows from original ones.

A model of single columns sees their means only. Whoever replaces every row by the mean of all
would pass it, so squares and products of columns are features too: spreads and correlations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ...number import checked_call
from .attributes import Attribute, Names, Numeric, paired

Real = NDArray[np.float64]

_MOST_WORDS = 50
_MOST_CROSSED = 20
_MOST_ROWS = 100_000
_MOST_CELLS = 2**22
_STEPS = 50
_SMALL = 1e-10
_RIDGE = 1e-6


@dataclass(frozen=True, kw_only=True)
class Propensity:
    """How well masked rows are told from original ones.

    score: the mean of (p - 1/2)^2, p being the estimated probability that a row is masked. 0 if the
        model cannot tell them apart: the columns then agree in means, spreads and correlations, and
        may still differ in what no square or product shows. 1/4 if every row is recognised.
    ratio: the score over what a second sample of the same population would have on average, which
        is features / (4 * rows of both): below 1 the masked table is closer than such a sample.
    """

    score: float
    ratio: float


@checked_call
def propensity(original: object, masked: object, columns: Names = None) -> Propensity:
    """Tells masked rows from original ones by logistic regression on columns, squares and products.

    Numbers enter with their values and squares, and once more as a flag where some are missing;
    categories enter with a flag for each of their 50 most frequent values. Of the first 20 columns,
    the products of every two are features too; a category enters them with the flag of its second
    most frequent value. Of a long table every second, third, ... row is taken: at most 100,000
    rows, and 4 million numbers in all.

    Parameters
        columns: which columns; all that both have if not given.

    Example
        >>> propensity([[1.0], [2.0], [3.0]], [[3.0], [1.0], [2.0]]).score
        0.0
        >>> propensity([[1.0], [2.0], [3.0]], [[2.0], [2.0], [2.0]]).score > 0.1
        True

    Source
        Woo et al. 2009. By chance: the estimates have covariance 4 S^-1 / N where S is that of the
        features, and the score is about b'Sb / 16, whose mean is features / (4 N). (Snoke et al.
        2018 have half of it, for tables drawn from a model that was fitted to the original.)
    """
    return propensity_of(paired(original, masked, columns))


def propensity_of(attributes: list[Attribute]) -> Propensity:
    """The same, of attributes."""
    size = attributes[0].original.size
    width = sum(map(len, _features(attributes, _stride(size, _MOST_ROWS))))
    step = _stride(size, min(_MOST_ROWS, max(1, _MOST_CELLS // (2 * (width + 1)))))
    own, crossed = _features(attributes, step)
    rows = attributes[0].original[::step].size
    design = np.column_stack([np.ones(2 * rows), *own, *crossed])
    chances = _fitted(design, np.repeat([0.0, 1.0], rows))
    score = float(((chances - 0.5) ** 2).mean())
    # a feature that others make up, as the square of a flag, cannot fit chance once more
    features = int(np.linalg.matrix_rank(design.T @ design / (2 * rows), hermitian=True)) - 1
    by_chance = features / (4 * 2 * rows)
    return Propensity(score=score, ratio=score / by_chance if by_chance else 0.0)


def _stride(rows: int, most: int) -> int:
    return -(-rows // most)


def _features(attributes: Sequence[Attribute], step: int) -> tuple[list[Real], list[Real]]:
    """What columns say by themselves; and what squares and every two of them say together."""
    own, leading, squares = [], [], []
    for attribute in attributes:
        found = _of_column(attribute, step)
        own += found
        leading += [_standard(column) for column in found[:1]]
        if isinstance(attribute, Numeric) and found:
            squares.append(_standard(leading[-1] ** 2))
    pairs = combinations(leading[:_MOST_CROSSED], 2)
    return own, squares + [_standard(one * other) for one, other in pairs]


def _of_column(attribute: Attribute, step: int) -> list[Real]:
    """The first of these stands for the column where columns are multiplied."""
    both = np.concatenate([attribute.original[::step], attribute.masked[::step]])
    if not isinstance(attribute, Numeric):
        found, times = np.unique(both, return_counts=True)
        frequent = found[np.argsort(-times, kind="stable")][:_MOST_WORDS]
        # the most frequent one is what the others are compared with
        return [(both == word).astype(np.float64) for word in frequent[1:]]
    gone = np.isnan(both)
    flags = [gone.astype(np.float64)] if gone.any() and not gone.all() else []
    if gone.all() or np.ptp(both[~gone]) == 0:
        return flags
    scaled = both / np.abs(both[~gone]).max()
    filled = np.where(gone, scaled[~gone].mean(), scaled)
    return [_standard(filled), *flags]


def _standard(column: Real) -> Real:
    spread = float(column.std())
    found: Real = (column - column.mean()) / (spread or 1.0)
    return found


def _fitted(design: Real, masked: Real) -> Real:
    """The probabilities of a logistic regression, by Newton's method.

    A trace of ridge keeps it finite where rows can be told apart completely.
    """
    weights = np.zeros(design.shape[1])
    ridge = _RIDGE * np.eye(design.shape[1])
    chances = np.full(design.shape[0], 0.5)
    for _ in range(_STEPS):
        slope = design.T @ (masked - chances) / masked.size - _RIDGE * weights
        curve = (design * (chances * (1 - chances))[:, None]).T @ design / masked.size + ridge
        step = np.linalg.solve(curve, slope)
        weights += step / max(1.0, float(np.abs(step).max()) / 5)
        chances = 1 / (1 + np.exp(-np.clip(design @ weights, -30, 30)))
        if np.abs(step).max() < _SMALL:
            break
    return chances
