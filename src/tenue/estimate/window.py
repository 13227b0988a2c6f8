"""The possible truths worth counting, when there are very many."""

from __future__ import annotations

from bisect import bisect_left
from fractions import Fraction
from typing import Any

import numpy as np

from ..errors import InvalidArgument, InvalidPrior
from ..prior.counts import Counts
from ..prior.density import Density
from ..prior.lattice import Lattice
from ..prior.points import Points
from .likelihood import Likelihood, Real
from .posterior import Ints

__all__ = ["Possible", "possible", "prior_points", "worth_counting"]

# What lies further below the peak than this many e-folds weighs nothing in a double.
_DEEP = 60.0
_MOST = 1 << 24

Possible = tuple[Ints, Real, Fraction]
"""Whole steps, logarithms of the prior's masses up to a constant, and the step."""


def possible(
    prior: Any, noisy: Fraction, found: Likelihood, step: Fraction | None = None
) -> Possible:
    """The steps at which prior times likelihood is not negligible, for one noisy value.

    `step` is the grid of a density; None means its own, or the law's.
    """
    if isinstance(prior, Points):
        return _listed(prior)
    lattice, unit = _lattice(prior, found, step)
    middle = float(noisy / unit)
    rate = found.rate * float(unit / found.unit)
    first, last = worth_counting(lattice, middle, rate, _DEEP + 2 * found.slack)
    return np.arange(first, last + 1), lattice.log_weights(first, last), unit


def prior_points(prior: Any, found: Likelihood, step: Fraction | None = None) -> Possible:
    """The steps at which the prior alone is not negligible."""
    if isinstance(prior, Points):
        return _listed(prior)
    lattice, unit = _lattice(prior, found, step)
    first, last = worth_counting(lattice, 0.0, 0.0, _DEEP)
    return np.arange(first, last + 1), lattice.log_weights(first, last), unit


def _listed(prior: Points) -> Possible:
    if max(abs(prior.steps[0]), abs(prior.steps[-1])) >= 1 << 53:
        raise InvalidPrior(
            "The prior's numbers are very large multiples of their common unit",
            "They are at most 2^53 units",
            "Round them to a coarser grid",
        )
    logs = np.log(np.array([weight / prior.total for weight in prior.weights]))
    return np.array(prior.steps, dtype=np.int64), logs, prior.unit


def _lattice(prior: Any, found: Likelihood, step: Fraction | None) -> tuple[Lattice, Fraction]:
    if isinstance(prior, Counts):
        return prior.lattice, Fraction(1)
    if isinstance(prior, Density):
        unit = step or prior.grid or found.unit
        return prior.lattice(unit), unit
    raise InvalidPrior(
        f"`prior` is of type {type(prior).__name__}",
        "`prior` is a belief about a number: Binomial, BetaBinomial, Points, Uniform, Normal or "
        "Histogram",
        "Give tn.prior.Binomial(n, p), for instance",
    )


def worth_counting(lattice: Lattice, middle: float, rate: float, deep: float) -> tuple[int, int]:
    """The first and last step within `deep` e-folds of the peak.

    The peak is that of prior times e^(-rate·|k − middle|) For a concave
    prior both are found by halving, whatever the number of steps.
    """
    first, last = lattice.first, lattice.last
    if lattice.concave and lattice.log_rise is not None:
        rises = lattice.log_rise

        def falls(k: int) -> bool:
            gain = rate * (abs(k - middle) - abs(k + 1 - middle))
            return float(rises(np.array([float(k)]))[0]) + gain <= 0

        def height(k: int) -> float:
            return lattice.log_weight(k) - rate * abs(k - middle)

        peak = first + bisect_left(range(first, last), True, key=falls)
        floor = height(peak) - deep
        last = peak + bisect_left(range(peak, last), True, key=lambda k: height(k + 1) < floor)
        first += bisect_left(range(first, peak), True, key=lambda k: height(k) >= floor)
    if last - first >= _MOST:
        raise InvalidArgument(
            f"There are {last - first + 1} possible values",
            f"At most {_MOST} can be weighed against each other",
            "Use a narrower prior, a coarser grid, or more epsilon",
        )
    return first, last
