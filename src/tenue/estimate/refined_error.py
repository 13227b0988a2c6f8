"""How far the posterior median after a refined answer is off, averaged over the prior.

A refined answer is one draw, and a draw is off more than the best guess that follows from it. So
refinement and noise are compared after Bayes' rule on both sides.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from ..errors import InvalidPrior
from ..mechanism.refinement_error import core_balls
from ..mechanism.refinement_factor import float_factors
from ..number import checked_call
from ..prior.counts import Counts
from ..prior.density import Density
from ..prior.distance import Line
from ..prior.points import Points
from .posterior import Real
from .refined import as_points

__all__ = ["guess_error", "refined_error"]

_MOST = 1024
_CHUNK = 256
_ROUNDING = 1e-12


@checked_call
def refined_error(
    prior: Any, epsilon: object, *, kind: str, alpha_up: object | None = None
) -> float:
    """The mean absolute error of the posterior median given a refined answer about a number.

    Guarantee
        A function of prior and epsilon: it reads no rows and may be shown. Exact up to rounding for
        priors of at most 1,024 points; others are merged into as many, which moves it by less than
        a thousandth of the prior's range.

    Example
        >>> from tenue.prior import Binomial
        >>> round(refined_error(Binomial(100, 0.3), 1, kind="statistical"), 4)
        3.325
    """
    found = float_factors(epsilon, kind, alpha_up)
    belief = _few(prior)
    masses = np.array([weight / belief.total for weight in belief.weights])
    line = Line(belief)
    radius, share = core_balls(line, masses, float(found.core_mass))
    steps = line.steps - line.steps[0]
    values = steps.astype(np.float64)
    up, down = float(found.up), float(found.down)
    between = down + (up - down) * share
    error = 0.0
    for start in range(0, steps.size, _CHUNK):
        away = np.abs(steps[None, :] - steps[start : start + _CHUNK, None])
        factor = np.where(away <= radius, up, np.where(away == radius + 1, between, down))
        joint = masses[start : start + _CHUNK, None] * masses * factor
        sums = np.cumsum(joint, axis=1)
        middle = np.argmax(sums >= sums[:, -1:] * (0.5 - _ROUNDING), axis=1)
        error += float((joint * np.abs(values - values[middle][:, None])).sum())
    return error * float(line.unit)


@checked_call
def guess_error(prior: Any) -> float:
    """The mean absolute error of the prior's own median: what is known without asking.

    Example
        >>> from tenue.prior import Points
        >>> guess_error(Points({0: 0.25, 1: 0.5, 2: 0.25}))
        0.5
    """
    belief = _few(prior)
    masses: Real = np.array([weight / belief.total for weight in belief.weights])
    values = np.array([float(value - belief.values[0]) for value in belief.values])
    middle = values[int(np.argmax(np.cumsum(masses) >= 0.5 - _ROUNDING))]
    return float(masses @ np.abs(values - middle))


def _few(prior: Any) -> Points:
    """The belief, with points of at most 1,024 different places."""
    if isinstance(prior, Counts):
        prior = prior.points
    if isinstance(prior, Density):
        return as_points(prior, _MOST)
    if not isinstance(prior, Points):
        raise InvalidPrior(
            f"`prior` is of type {type(prior).__name__}",
            "`prior` is a belief about a number",
            "Give tn.prior.Points({0: 0.5, 1: 0.5}), for instance",
        )
    if len(prior.values) <= _MOST:
        return prior
    low, high = prior.values[0], prior.values[-1]
    block = Fraction(high - low) / (_MOST - 1)
    merged: dict[int, int] = {}
    for value, weight in zip(prior.values, prior.weights, strict=True):
        place = round((value - low) / block)
        merged[place] = merged.get(place, 0) + weight
    return Points.of_weights((low + block * place for place in merged), merged.values())
