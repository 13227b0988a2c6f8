"""The propensity score: can a model tell masked rows from original ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...number import checked_call
from .attributes import Attribute, Names, Numeric, paired

Real = NDArray[np.float64]

_MOST_WORDS = 50
_MOST_ROWS = 100_000
_STEPS = 50
_SMALL = 1e-10
_RIDGE = 1e-6


@dataclass(frozen=True, kw_only=True)
class Propensity:
    """How well masked rows are told from original ones.

    score: the mean of (p - 1/2)^2, p being the estimated probability that a row is masked: 0 if
        they cannot be told apart, 1/4 if every row is recognised.
    ratio: the score over what a second sample of the same population would have on average, which
        is features / (4 * rows of both): below 1 the masked table is closer than such a sample.
    """

    score: float
    ratio: float


@checked_call
def propensity(original: object, masked: object, columns: Names = None) -> Propensity:
    """Tells masked rows from original ones by logistic regression on every column, linearly.

    Numbers enter once, and once more as a flag where some are missing; categories enter with a flag
    for each of their 50 most frequent values. Of a table with more than 100,000 rows every second,
    third, ... row is taken.

    Parameters
        columns: which columns; all that both have if not given.

    Example
        >>> propensity([[1.0], [2.0], [3.0]], [[3.0], [1.0], [2.0]]).score
        0.0

    Source
        Woo et al. 2009. By chance: the estimates have covariance 4 S^-1 / N where S is that of the
        features, and the score is about b'Sb / 16, whose mean is features / (4 N). (Snoke et al.
        2018 have half of it, for tables drawn from a model that was fitted to the original.)
    """
    return propensity_of(paired(original, masked, columns))


def propensity_of(attributes: list[Attribute]) -> Propensity:
    """The same, of attributes."""
    step = -(-attributes[0].original.size // _MOST_ROWS)
    features = [feature for attribute in attributes for feature in _features(attribute, step)]
    rows = attributes[0].original[::step].size
    design = np.column_stack([np.ones(2 * rows), *features])
    masked = np.repeat([0.0, 1.0], rows)
    chances = _fitted(design, masked)
    score = float(((chances - 0.5) ** 2).mean())
    by_chance = len(features) / (4 * 2 * rows)
    return Propensity(score=score, ratio=score / by_chance if by_chance else 0.0)


def _features(attribute: Attribute, step: int) -> list[Real]:
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
    return [(filled - filled.mean()) / filled.std(), *flags]


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
