"""The posterior after a refined answer, and its average error.

A refined answer is one random draw, whose error is larger than that of the best estimate computed
from it. So refinement and noise are compared after Bayes' rule on both sides.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from ..arguments import Number, checked_call
from ..errors import refuse
from ..mechanism.refinement.refine import core_balls, refine, response_factors
from ..mechanism.refinement.update_factors import float_factors
from ..noise.law import Real
from ..prior.belief import Finite, shown_value
from ..prior.counts import with_points
from ..prior.density import Density
from ..prior.distance import Distance, Line, metric
from ..prior.normalise import MOST_POINTS
from ..prior.points import Points, numeric_place
from ..text import html_facts
from .posterior import Posterior

_FEW = 5
_MOST = 1024
_CHUNK = 256
_ROUNDING = 1e-12
_NOTHING = 10**16
MOST_WITH_DELTA = 512
"""The largest number of points of a prior with delta, for which a posterior is computed."""
_RARE = Fraction(1, 1 << 30)


@dataclass(frozen=True, repr=False)
class Opinion:
    """The posterior of a category, or of several values, after a refined answer.

    Attributes
        masses: the probability of each possible truth.
        names: the names of a truth's components, if it has several.
    """

    masses: dict[Any, float]
    names: tuple[str, ...] = ()

    @property
    def mode(self) -> Any:
        """The most likely truth; of several, the first."""
        return max(self.masses, key=self.masses.__getitem__)

    def mass(self, value: object) -> float:
        """The probability of one truth."""
        return self.masses.get(value, 0.0)

    def likeliest(self) -> list[tuple[str, str]]:
        """The few most likely truths and their probabilities, as texts."""
        order = sorted(self.masses.items(), key=lambda pair: -pair[1])
        lines = [(self._text(value), f"{mass:.1%}") for value, mass in order[:_FEW]]
        rest = sum(mass for _, mass in order[_FEW:])
        more = len(order) - _FEW
        return [*lines, (f"{more} others", f"{rest:.1%}")] if more > 0 else lines

    def _text(self, value: Any) -> str:
        if not isinstance(value, tuple):
            return str(value)
        names = self.names or ("",) * len(value)
        return " and ".join(f"{n} {v}".strip() for n, v in zip(names, value, strict=True))

    def __repr__(self) -> str:
        return f"Opinion({', '.join(f'{name} {share}' for name, share in self.likeliest())})"

    def _repr_html_(self) -> str:
        return f"<table><tbody>{html_facts(self.likeliest())}</tbody></table>"


@checked_call
def refined(
    sample: Any,
    prior: Any,
    epsilon: Number,
    *,
    kind: str,
    distance: Distance | None = None,
    alpha_up: Number | None = None,
    delta: Number = 0,
) -> Posterior | Opinion:
    """The posterior of the truth after a refined answer, given that there is a truth.

    Guarantee
        Computed from the prior and the released sample: post-processing. It assumes that the person
        is in the table, and says nothing about whether they are. Numbers give a `Posterior`,
        anything else an `Opinion`.

    Parameters
        sample: the answer.
        prior, epsilon, kind, distance, alpha_up, delta: as in the question. A density is put on
            4,096 points. With delta, a prior of more than 512 points is refused, because every
            truth needs a law of its own.

    Example
        >>> from tenue.prior import Categorical
        >>> belief = Categorical({"flu": 0.01, "none": 0.99})
        >>> round(refined("flu", belief, 1, kind="individual").mass("flu"), 4)
        0.0695

    Source
        Bayes' rule with the law of the thesis, algorithm 5.1.
    """
    used = float_factors(epsilon, kind, alpha_up)
    belief = with_points(prior)
    if isinstance(belief, Density):
        belief = as_points(belief)
    if not isinstance(belief, Finite):
        raise refuse("estimate.estimate-prior-type", type=type(prior).__name__)
    index = belief.places.get(belief.canonical(sample))
    if index is None and isinstance(belief, Points) and isinstance(prior, Density):
        number = numeric_place(sample)
        if number is not None and prior.low <= number <= prior.high:
            right = min(bisect_left(belief.values, number), len(belief.values) - 1)
            left = max(right - 1, 0)
            index = min(left, right, key=lambda k: abs(belief.values[k] - number))
    if index is None:
        said = f"{sample!r} has mass 0 in the prior"[:80]
        raise refuse("estimate.outside-prior-support", said=said)
    options: dict[str, Any] = {"kind": kind, "distance": distance, "alpha_up": alpha_up}
    if not delta:
        factors = response_factors(belief, metric(belief, distance), index, used)
    elif (points := len(belief.values)) > MOST_WITH_DELTA:
        raise refuse("estimate.too-many-points-delta", many=points, most_with_delta=MOST_WITH_DELTA)
    else:  # the very laws that answers are drawn from, one for each truth
        truths = map(shown_value, belief.values)
        laws = (refine(belief, truth, epsilon, delta=delta, **options) for truth in truths)
        answer = shown_value(belief.values[index])
        factors = np.array([float(law.mass(answer)) for law in laws])
    masses = np.array([weight / belief.total for weight in belief.weights]) * factors
    if isinstance(belief, Points):
        return Posterior(np.array(belief.steps), np.log(masses), belief.unit)
    masses /= masses.sum()
    shown = (shown_value(value) for value in belief.values)
    return Opinion(dict(zip(shown, masses.tolist(), strict=True)))


def as_points(belief: Density, count: int = MOST_POINTS) -> Points:
    """A density as at most `count` of the points it is drawn on, each with the mass nearest to it.

    Half of the points divide the mass evenly and half the range in which it lies, so that a narrow
    peak in a wide range keeps its shape. If all points are few enough, all are kept.
    """
    unit, (first, last) = belief.sampling_grid, belief.limits
    steps: list[int] = list(range(first, last + 1)) if last - first < count else []
    if not steps:
        half = count // 2 - 1
        evenly = [belief.quantile(Fraction(2 * k + 1, 2 * half)) for k in range(half)]
        low, high = belief.quantile(_RARE), belief.quantile(1 - _RARE)
        spaced = [low + (high - low) * k / (half - 1) for k in range(half)]
        near = (min(max(round(x / unit), first), last) for x in (*evenly, *spaced))
        steps = sorted({first, last, *near})
    middles = [Fraction(a + b, 2) * unit for a, b in pairwise(steps)]
    borders = [Fraction(0), *(belief.cdf(middle) for middle in middles), Fraction(1)]
    rises = [b - a for a, b in pairwise(borders)]
    kept = [(step, rise) for step, rise in zip(steps, rises, strict=True) if rise]
    scale = 1 << 128
    return Points.of_weights(
        [step * unit for step, _ in kept], [max(1, int(rise * scale)) for _, rise in kept]
    )


@checked_call
def refined_error(
    prior: Any, epsilon: Number, *, kind: str, alpha_up: Number | None = None
) -> float:
    """The mean absolute error of the posterior median given a refined answer about a number.

    Guarantee
        A function of prior and epsilon: it reads no rows and may be shown. Exact up to rounding for
        priors of at most 1,024 points of more than negligible mass; others are merged into as many,
        which leaves two digits or more.

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
    """The mean absolute error of the prior's median: the error without asking.

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
    """The prior without ends of negligible mass, merged into few points if needed."""
    belief = _points(prior)
    least = Fraction(belief.total, _NOTHING)
    sums = belief.cumulative
    first, last = bisect_left(sums, least), bisect_right(sums, belief.total - least)
    kept = slice(first, min(last, len(sums) - 1) + 1)
    belief = Points.of_weights(belief.values[kept], belief.weights[kept])
    return belief if len(belief.values) <= _MOST else _merged(belief)


def _merged(prior: Points) -> Points:
    """Neighbours merged into at most 1,024 points of about equal mass."""
    kept: dict[Any, int] = {}
    share, mass = Fraction(prior.total, _MOST // 2), 0
    spaced = max(1, -(-len(prior.values) // (_MOST // 2)))
    start = 0
    for index, weight in enumerate(prior.weights):
        mass += weight
        last = index == len(prior.weights) - 1
        if last or mass >= share or index - start + 1 >= spaced:
            kept[prior.values[(start + index) // 2]] = mass
            start, mass = index + 1, 0
    return Points.of_weights(kept.keys(), kept.values())
