"""The likelihood of a noisy value, and the truths of more than negligible probability."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from ..errors import refuse
from ..noise.law import Real
from ..noise.likelihood import Likelihood, likelihood_of, scaled_by_rows
from ..prior.counts import Counts
from ..prior.density import Density
from ..prior.points import Points
from ..privacy import Approximate, Individual, Pure
from .posterior import Ints


def require_free(*, law: object = None, promise: object = None) -> None:
    """Refuses an estimate that would depend on the rows, or reveal something about them.

    Guarantee
        Passes only for differential privacy with noise whose law is a function of question and
        schema. Individual differential privacy and smooth sensitivity take their scale from the
        rows, so a likelihood would depend on a secret number.

    Parameters
        law: the noise, if known.
        promise: the promise of the answer, if known.

    Example
        >>> from tenue.promise import Pure
        >>> require_free(promise=Pure(1))
    """
    if scaled_by_rows(law):
        raise refuse("estimate.bayes-after-smooth-sensitivity")
    if isinstance(promise, Individual):
        raise refuse("estimate.bayes-after-individual")
    if promise is not None and not isinstance(promise, Pure | Approximate):
        raise refuse("estimate.bayes-promise-type", type=type(promise).__name__)


def likelihood(law: object) -> Likelihood:
    """The likelihood of a law of noise for one answer; other laws are refused.

    Example
        >>> import numpy as np
        >>> from tenue.noise import DiscreteLaplace
        >>> found = likelihood(DiscreteLaplace(sensitivity=1, epsilon=0.5))
        >>> found.log(np.array([1.0, 3.0])).tolist()
        [-0.5, -1.5]
    """
    require_free(law=law)
    found = likelihood_of(law)
    if found is None:
        raise refuse("estimate.posterior-law-type", type=type(law).__name__)
    return found


def noisy_steps(noisy: Fraction, found: Likelihood) -> Fraction:
    """The noisy value in the law's units; refused if a law on a grid could not have made it."""
    steps = noisy / found.unit
    if found.exact and steps.denominator != 1:
        raise refuse("estimate.noisy-value-off-grid", noisy=float(noisy), unit=float(found.unit))
    return steps


# -- The truths of more than negligible probability ------------------------------------------------

# masses more than so many e-folds below the peak are negligible in doubles
_DEEP = 60.0
_MOST = 1 << 24
_BLOCKS = 1 << 20
_LARGEST = 1 << 52
# a coarser grid must still be fine compared with the noise: steps of a quarter of its scale
_COARSEST = 0.25

Possible = tuple[Ints, Real, Fraction]
"""Whole steps, logarithms of the prior's masses up to a constant, and the step."""


def possible(
    prior: Any, noisy: Fraction, found: Likelihood, step: Fraction | None = None
) -> Possible:
    """The steps at which prior times likelihood is not negligible, for one noisy value.

    `step` is the grid of a density; None means its own, or the law's.
    """
    rate = found.rate / float(found.unit)
    return _windowed(prior, found, step, float(noisy), rate, _DEEP + 2 * found.slack)


def prior_points(prior: Any, found: Likelihood) -> Possible:
    """The steps at which the prior alone is not negligible."""
    return _windowed(prior, found, None, 0.0, 0.0, _DEEP)


def _windowed(
    prior: Any, found: Likelihood, step: Fraction | None, middle: float, rate: float, deep: float
) -> Possible:
    """The prior's steps within `deep` e-folds of the peak; `middle` and `rate` in units of 1.

    A density is put on a coarser grid if more than a million steps are in that range, and refused
    if that grid would be too coarse for the noise.
    """
    if isinstance(prior, Points):
        if max(abs(prior.steps[0]), abs(prior.steps[-1])) >= 1 << 53:
            raise refuse("estimate.prior-numbers-too-large")
        logs = np.log(np.array([weight / prior.total for weight in prior.weights]))
        return np.array(prior.steps, dtype=np.int64), logs, prior.unit
    if isinstance(prior, Counts):
        lattice = prior.lattice
        first, last = lattice.near(middle, rate, deep)
        if last - first >= _MOST:
            raise refuse("estimate.too-many-possible-counts", last=last - first + 1, most=_MOST)
        return np.arange(first, last + 1), lattice.log_weights(first, last), Fraction(1)
    if not isinstance(prior, Density):
        raise refuse("estimate.numeric-prior-type", type=type(prior).__name__)
    unit = fine = step or prior.grid or found.unit
    unit *= max(1, math.ceil(max(abs(prior.low), abs(prior.high)) / unit / _LARGEST))
    while True:
        lattice = prior.lattice(unit)
        size = float(unit)
        if unit > fine and rate * size > _COARSEST:
            raise refuse("estimate.noise-too-small", blocks=_BLOCKS)
        first, last = lattice.near(middle / size, rate * size, deep)
        if last - first < _BLOCKS:
            return np.arange(first, last + 1), lattice.log_weights(first, last), unit
        unit *= -(-2 * (last - first) // _BLOCKS)
