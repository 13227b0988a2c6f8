"""How far the posterior median after a refined answer is off, averaged over the prior.

A refined answer is one draw, and a draw is off more than the best guess that follows from it. So
refinement and noise are compared after Bayes' rule on both sides.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from fractions import Fraction
from typing import Any

import numpy as np

from ..errors import refuse
from ..mechanism.refinement.error import core_balls
from ..mechanism.refinement.factor import float_factors
from ..number import checked_call
from ..prior.counts import with_points
from ..prior.density import Density
from ..prior.distance.value import Line
from ..prior.points import Points
from .posterior import Real
from .refined import as_points

_MOST = 1024
_CHUNK = 256
_ROUNDING = 1e-12
_NOTHING = 10**16


@checked_call
def refined_error(
    prior: Any, epsilon: object, *, kind: str, alpha_up: object | None = None
) -> float:
    """The mean absolute error of the posterior median given a refined answer about a number.

    Guarantee
        A function of prior and epsilon: it reads no rows and may be shown. Exact up to rounding for
        priors of at most 1,024 points that weigh anything; others are merged into as many, which
        leaves two digits or more.

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
    belief = _points(prior)
    masses: Real = np.array([weight / belief.total for weight in belief.weights])
    values = np.array([float(value - belief.values[0]) for value in belief.values])
    middle = values[int(np.argmax(np.cumsum(masses) >= 0.5 - _ROUNDING))]
    return float(masses @ np.abs(values - middle))


def _points(prior: Any) -> Points:
    belief = as_points(prior, _MOST) if isinstance(prior, Density) else with_points(prior)
    if not isinstance(belief, Points):
        raise refuse("estimate.posterior-prior-type", type=type(prior).__name__)
    return belief


def _few(prior: Any) -> Points:
    """The belief with few points: without the ends that weigh nothing, and merged if need be."""
    belief = _points(prior)
    least = Fraction(belief.total, _NOTHING)
    sums = belief.cumulative
    first, last = bisect_left(sums, least), bisect_right(sums, belief.total - least)
    kept = slice(first, min(last, len(sums) - 1) + 1)
    belief = Points.of_weights(belief.values[kept], belief.weights[kept])
    return belief if len(belief.values) <= _MOST else _merged(belief)


def _merged(prior: Points) -> Points:
    """Neighbours put together until at most 1,024 places are left, about equal in mass."""
    kept: dict[Any, int] = {}
    share, held = Fraction(prior.total, _MOST // 2), 0
    spaced = max(1, -(-len(prior.values) // (_MOST // 2)))
    start = 0
    for place, weight in enumerate(prior.weights):
        held += weight
        last = place == len(prior.weights) - 1
        if last or held >= share or place - start + 1 >= spaced:
            middle = prior.values[(start + place) // 2]
            kept[middle] = held
            start, held = place + 1, 0
    return Points.of_weights(kept.keys(), kept.values())
