"""The analyst's belief, refined as far as the promise allows; and its average error.

The average is over the truths that the analyst's own prior expects. By the shape of the law it is,
for each truth f, down·E d + (up − down)·G(f): E d is the prior's mean distance from f, and G(f) the
part of it that comes from the nearest points of mass P(U_u).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ...arguments import Number, checked_call
from ...errors import refuse
from ...prior.belief import Finite
from ...prior.counts import with_points
from ...prior.density import Density
from ...prior.distance import Distance, Equal, Line, Metric, metric, require_absolute
from .density import RefinedDensity
from .points import RefinedPoints
from .update_factors import Factors, factors, float_factors


@checked_call
def refine(
    prior: Any,
    truth: object,
    epsilon: Number,
    *,
    kind: str,
    distance: Distance | None = None,
    delta: Number = 0,
    alpha_up: Number | None = None,
) -> RefinedPoints | RefinedDensity:
    """The law of the answer: the prior raised near the truth and lowered far from it.

    Guarantee
        Only a sample of the law, the answer, may be shown.
        kind="individual": every mass stays within [e^-ε, e^ε] of the prior's, so a sample is
        ε-differentially private when one person is added or removed ((ε, δ) with delta), and costs
        2ε when a person is replaced. kind="statistical": the masses of any two truths stay within
        e^ε of each other, so a sample is ε-differentially private for questions of any
        sensitivity. Mass never leaves the prior's support. The prior is accepted or refused before
        the truth is looked at; no truth is ever refused.

    Parameters
        prior: any belief of `tn.prior` with at most 4,096 points, or a density.
        truth: the true value; None if there is no row or there are several. For None, and for a
            truth that has no place in the prior, the law is the unmodified prior.
        epsilon: finite, above 0.
        kind: "individual" if the answer depends on one person's rows, else "statistical".
        distance: as in `tenue.prior.distance`. None means the default of the prior.
        delta: moves δ·e^-ε (individual) or δ/(1+e^ε) (statistical) from the far end to the nearest
            point; needs a prior with points.
        alpha_up: for statistical questions, the upper factor, from 1 to e^ε; None means e^(ε/2).

    Example
        >>> from tenue.prior import Categorical
        >>> law = refine(Categorical({"flu": 0.01, "none": 0.99}), "flu", 1, kind="individual")
        >>> round(float(law.mass("flu")), 6)
        0.027183

    Source
        Thesis, algorithm 5.1, with the masses and the factor between corrected.
    """
    found = factors(epsilon, kind, delta, alpha_up)
    belief = with_points(prior)
    if isinstance(belief, Finite):
        return RefinedPoints.of(belief, metric(belief, distance), found, truth)
    if isinstance(belief, Density):
        require_absolute(distance)
        if found.delta:
            raise refuse("mechanism.delta-with-density")
        return RefinedDensity.of(belief, found, truth)
    raise refuse("mechanism.mechanism-prior-type", type=type(prior).__name__)


# -- The average error of a refined answer, known before any row is read ---------------------------

Real = npt.NDArray[np.float64]
Steps = npt.NDArray[Any]

_GAUSS = np.polynomial.legendre.leggauss(4)
_HALVINGS = 100


@checked_call
def expected_error(
    prior: Any,
    epsilon: Number,
    *,
    kind: str,
    distance: Distance | None = None,
    alpha_up: Number | None = None,
) -> float:
    """The mean distance of a refined answer from the truth, averaged over the prior.

    Guarantee
        A function of prior, epsilon, kind and distance: it reads no rows and may be shown. Computed
        by sums and integrals, not by simulation; correct to 1e-11 of the range. In units of the
        distance: units of the answer for numbers, the probability of a wrong answer for categories.
        A law with delta is never worse.

    Example
        >>> from tenue.prior import Categorical, Uniform
        >>> round(expected_error(Uniform(0, 1), 1, kind="statistical"), 6)
        0.243988
        >>> round(expected_error(Categorical({"a": 0.5, "b": 0.5}), 1, kind="individual"), 6)
        0.18394

    Source
        Thesis, section 5.5: the only error of a refined law that may be shown.
    """
    found = float_factors(epsilon, kind, alpha_up)
    belief = with_points(prior)
    if isinstance(belief, Density):
        require_absolute(distance)
        return _density_error(belief, found)
    if not isinstance(belief, Finite):
        raise refuse("mechanism.refined-prior-type", type=type(prior).__name__)
    masses = _float_masses(belief)
    means, nearest = _near_and_all(metric(belief, distance), masses, float(found.core_mass))
    up, down = float(found.up), float(found.down)
    return float(masses @ (down * means + (up - down) * nearest))


def _float_masses(belief: Finite) -> Real:
    return np.array([weight / belief.total for weight in belief.weights])


def _near_and_all(found: Metric, masses: Real, core: float) -> tuple[Real, Real]:
    """For each truth, E d and G."""
    if isinstance(found, Equal):
        return 1 - masses, np.maximum(0.0, core - masses)
    if isinstance(found, Line):
        return _on_line(found, masses, core)
    means, nearest = np.empty_like(masses), np.empty_like(masses)
    for place in range(masses.size):
        row = found.row(place)
        order = np.argsort(row)
        sums = np.cumsum(masses[order])
        taken = np.clip(core - (sums - masses[order]), 0, masses[order])
        means[place], nearest[place] = masses @ row, taken @ row[order]
    return means, nearest


def _sums(masses: Real) -> Real:
    """Running sums that begin with 0."""
    return np.concatenate([[0.0], np.cumsum(masses)])


def _ball(places: Steps, radius: Steps) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """The first place within the radius of every place, and the first beyond."""
    left = np.searchsorted(places, places - radius, side="left")
    return left, np.maximum(np.searchsorted(places, places + radius, side="right"), left)


def _mass(places: Steps, sums: Real, radius: Steps) -> Real:
    """The mass of the ball around every place."""
    left, right = _ball(places, radius)
    return np.asarray(sums[right] - sums[left])


def _on_line(line: Line, masses: Real, core: float) -> tuple[Real, Real]:
    places = line.steps - line.steps[0]
    values = places.astype(np.float64)
    sums, firsts = _sums(masses), _sums(masses * values)

    def within(radius: Steps) -> tuple[Real, Real]:
        """The mass of the ball around every place, and its mean distance from the middle."""
        left, right = _ball(places, radius)
        middle = np.clip(np.arange(places.size), left, right)
        below = values * (sums[middle] - sums[left]) - (firsts[middle] - firsts[left])
        above = firsts[right] - firsts[middle] - values * (sums[right] - sums[middle])
        return sums[right] - sums[left], below + above

    radius = _radius(places, sums, core)
    mass, near = within(radius)
    means = within(np.full_like(places, places[-1] + 1))[1]
    nearest = near + np.maximum(0.0, core - mass) * (radius + 1).astype(np.float64)
    unit = float(line.unit)
    return means * unit, np.minimum(nearest, means) * unit


def _radius(places: Steps, sums: Real, core: float) -> Steps:
    """The largest whole radius whose ball is not too heavy, around every place."""
    low, high = np.full_like(places, -1), np.full_like(places, places[-1] + 1)
    while (high - low > 1).any():
        middle = (low + high) // 2
        light = _mass(places, sums, middle) <= core
        low, high = np.where(light, middle, low), np.where(light, high, middle)
    return low


def core_balls(line: Line, masses: Real, core: float) -> tuple[Steps, Real]:
    """For every truth, the radius that is raised in full, in steps of the line, and the share of
    the shell one step further that is raised."""
    places = line.steps - line.steps[0]
    sums = _sums(masses)
    radius = _radius(places, sums, core)
    inside = _mass(places, sums, radius)
    shell = _mass(places, sums, radius + 1) - inside
    return radius, np.clip((core - inside) / np.where(shell > 0, shell, 1.0), 0, 1)


def response_factors(belief: Finite, found: Metric, sample: int, used: Factors) -> Real:
    """For every truth, the factor its law applies to the value at place `sample`."""
    masses = _float_masses(belief)
    core, up, down = (float(x) for x in (used.core_mass, used.up, used.down))
    if isinstance(found, Equal):
        same = np.arange(masses.size) == sample
        nearer = np.where(same, 0.0, masses)
        level = np.where(same, masses, 1 - masses)
    elif isinstance(found, Line):
        steps = found.steps
        gaps = np.abs(steps - steps[sample])
        sums = _sums(masses)
        nearer = np.where(gaps == 0, 0.0, _mass(steps, sums, gaps - 1))
        level = _mass(steps, sums, gaps) - nearer
    else:
        nearer, level = np.empty_like(masses), np.empty_like(masses)
        for place in range(masses.size):
            row = found.row(place)
            gap = row[sample]
            close = np.abs(row - gap) <= 1e-12 * (1 + gap)
            level[place] = masses[close].sum()
            nearer[place] = masses[(row < gap) & ~close].sum()
    share = np.clip((core - nearer) / level, 0, 1)
    return np.asarray(down + (up - down) * share)


def _density_error(prior: Density, found: Factors) -> float:
    """Exact panels: between kinks the ball's radius is linear in the truth, the error cubic."""
    middle = (prior.low + prior.high) / 2
    edges = np.array([float(edge - middle) for edge in prior.edges])
    masses = np.array([weight / prior.total for weight in prior.weights])
    heights = masses / np.diff(edges)
    cdf = _sums(masses)
    firsts = _sums(heights * np.diff(edges**2) / 2)
    core = min(float(found.core_mass), 1.0)

    def mass_below(x: Real) -> Real:
        return np.asarray(np.interp(x, edges, cdf))

    def first_below(x: Real) -> Real:
        cell = np.clip(np.searchsorted(edges, x, side="right") - 1, 0, heights.size - 1)
        inside = np.clip(x, edges[0], edges[-1])
        return np.asarray(firsts[cell] + heights[cell] * (inside**2 - edges[cell] ** 2) / 2)

    def radius(centre: Real) -> Real:
        low, high = np.zeros_like(centre), np.full_like(centre, edges[-1] - edges[0])
        for _ in range(_HALVINGS):
            half = (low + high) / 2
            light = mass_below(centre + half) - mass_below(centre - half) <= core
            low, high = np.where(light, half, low), np.where(light, high, half)
        return low

    def distance_mass(f: Real, a: Real, b: Real) -> Real:
        """∫ |x − f| over [a, b] under the prior."""
        here, at = mass_below(f), first_below(f)
        below = f * (here - mass_below(a)) - (at - first_below(a))
        above = first_below(b) - at - f * (mass_below(b) - here)
        return below + above

    positive = masses > 0
    grid = np.concatenate([cdf[:-1][positive], [1.0]])
    places = np.concatenate([edges[:-1][positive], [edges[-1]]])
    opposite = [np.interp(np.clip(cdf + sign * core, 0, 1), grid, places) for sign in (-1.0, 1.0)]
    kinks = np.concatenate([edges, *((edges + other) / 2 for other in opposite)])
    panels = np.unique(np.clip(kinks, edges[0], edges[-1]))
    start, end = panels[:-1], panels[1:]
    nodes, weights = _GAUSS
    f = (start + end)[:, None] / 2 + (end - start)[:, None] / 2 * nodes
    cell = np.clip(np.searchsorted(edges, f, side="right") - 1, 0, heights.size - 1)
    height = heights[cell]
    half = radius(f)
    a, b = np.maximum(f - half, edges[0]), np.minimum(f + half, edges[-1])
    ends = np.full_like(f, edges[0]), np.full_like(f, edges[-1])
    # a ball inside one cell needs no differences of nearly equal sums, whatever epsilon
    with np.errstate(divide="ignore"):
        inside = core / (2 * height) <= np.minimum(f - edges[cell], edges[cell + 1] - f)
        near = np.where(inside, core**2 / (4 * height), distance_mass(f, a, b))
    up, down = float(found.up), float(found.down)
    error = down * distance_mass(f, *ends) + (up - down) * np.maximum(near, 0.0)
    return float((error * height * weights * (end - start)[:, None] / 2).sum())
