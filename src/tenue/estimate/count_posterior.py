"""The posterior of one noisy count or sum, and of several counts that add up to a known total.

Conditioned on their sum, independent counts keep their distribution when each mass at k is
multiplied by e^(θk). θ is chosen so that the expected sum is the total; then the total lies in the
middle of what has to be convolved, nothing underflows, and all terms are positive: no cancellation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np

from ..arguments import Number, checked_call, exact, whole
from ..errors import refuse
from ..noise.law import Real
from ..noise.likelihood import Likelihood
from ..prior.counts import Counts
from ..prior.density import Density
from ..prior.normalise import listed, whole_weights
from ..prior.points import Points
from .posterior import Conflict, Posterior
from .truncated_support import likelihood, noisy_steps, possible

_MOST_TOTAL = 10**6
_MOST_CELLS = 4096
_WIDEST = 1 << 15
_FAR, _PLACES = 40.0, 4000
"""Noise is summed up to so many e-folds, at so many places."""
_NOTHING = 1e-30


@checked_call
def count(noisy: Number, law: object, prior: Any) -> Posterior:
    """The posterior of a count, given its noisy answer.

    Guarantee
        Bayes' rule with the law actually used, in logarithms, over all counts of more than
        negligible mass: stable and fast up to n = 10^7. Post-processing, where prior and noise do
        not depend on the rows; refused after individual differential privacy and smooth
        sensitivity.

    Parameters
        noisy: the released count.
        law: the noise it was released with: Laplace, DiscreteLaplace, Optimal, or one on its grid.
        prior: a prior about whole numbers, such as tn.prior.Binomial(n, p).

    Example
        >>> from tenue.noise import DiscreteLaplace
        >>> from tenue.prior import Binomial
        >>> found = count(400, DiscreteLaplace(sensitivity=1, epsilon=0.1), Binomial(1080, 0.3))
        >>> round(found.mean, 3), found.median, found.interval(0.95)
        (347.114, 347, (317, 377))

    Source
        Naldi and D'Acquisto, section 3.
    """
    if isinstance(prior, Points) and prior.unit.denominator != 1:
        raise refuse("estimate.prior-not-whole")
    return _posterior(noisy, law, prior, Fraction(1))


@checked_call
def total(noisy: Number, law: object, prior: Any) -> Posterior:
    """The posterior of a sum, given its noisy answer.

    Guarantee
        As `count`. The possible sums are the prior's points or, for Uniform, Normal and Histogram,
        the multiples of the law's grid between their ends; of a coarser grid where more than a
        million have a mass that counts, so that `mass` is the mass of a block.

    Example
        >>> from tenue.noise import DiscreteLaplace
        >>> from tenue.prior import Normal
        >>> law = DiscreteLaplace(sensitivity=100, epsilon=1, grid=10)
        >>> found = total(5300, law, Normal(5000, 100, 0, 10000))
        >>> found.median, found.interval(0.9)
        (5100, (4940, 5260))
    """
    return _posterior(noisy, law, prior, None)


def _posterior(noisy: Number, law: object, prior: Any, step: Fraction | None) -> Posterior:
    found = likelihood(law)
    value = exact(noisy, "noisy")
    if abs(value) > 10**100:
        raise refuse("estimate.noisy-value-too-large", noisy=noisy)
    seen = noisy_steps(value, found)
    steps, logs, unit = possible(prior, value, found, step)
    ratio = unit / found.unit
    if found.exact and ratio.denominator != 1:
        raise refuse("estimate.prior-off-law-grid", unit=float(found.unit))
    near = int(steps[0])  # |seen − step·ratio| without loss where both are large
    gaps = np.abs(float(seen - near * ratio) - (steps - near) * float(ratio))
    conflict = Conflict.between(*_spread_of(prior), float(value), _noise_of(found))
    return Posterior(steps, logs + found.log(gaps), unit, conflict)


def _spread_of(prior: Any) -> tuple[float, float]:
    """The mean and the standard deviation of a prior about a number."""
    if not isinstance(prior, Density):
        return float(prior.mean), math.sqrt(max(float(prior.variance), 0.0))
    edges = np.array([float(edge) for edge in prior.edges])  # the density is even between two edges
    shares = np.array([weight / prior.total for weight in prior.weights])
    middles, widths = (edges[1:] + edges[:-1]) / 2, np.diff(edges)
    mean = float(shares @ middles)
    return mean, math.sqrt(float(shares @ ((middles - mean) ** 2 + widths**2 / 12)))


def _noise_of(found: Likelihood) -> float:
    """The standard deviation of the noise, to a few digits, in units of the answer."""
    far = _FAR / found.rate + 1
    gaps = np.linspace(0.0, far, _PLACES)
    if found.exact:
        gaps = np.arange(0.0, far, max(1, math.ceil(far / _PLACES)))
    with np.errstate(under="ignore"):
        logs = found.log(gaps)
        weights = np.exp(logs - logs.max())
    weights[0] /= 2  # the others stand for both sides
    return math.sqrt(float(weights @ gaps**2) / float(weights.sum())) * float(found.unit)


@checked_call
def out_of_range(true: Number, n: Number, law: Any) -> float:
    """The probability that the noisy count lies below 0 or above n, when the count is `true`.

    Guarantee
        Exact up to rounding, for the law given: (e^(-εa) + e^(-ε(n−a)))/2 for Laplace noise.

    Example
        >>> from tenue.noise import Laplace
        >>> round(out_of_range(5, 100, Laplace(sensitivity=1, epsilon=0.05)), 6)
        0.393726

    Source
        Naldi and D'Acquisto, section 2.
    """
    rows = whole(n, "n")
    count = whole(true, "true")
    if count > rows:
        raise refuse("estimate.count-above-total", true=true, n=n)
    found = likelihood(law)
    # on a grid the noise must be one step further; laws are symmetric, so both tails are lower ones
    beyond = found.unit if found.exact else 0
    return float(law.cdf(float(-count - beyond)) + law.cdf(float(count - rows - beyond)))


# -- Counts with a known total ---------------------------------------------------------------------


@checked_call
def counts(
    noisy: Sequence[Number], law: object, *, total: Number, prior: Any = None
) -> tuple[Posterior, ...]:
    """The posterior of several counts with a public total, given their noisy answers.

    Guarantee
        The exact posterior of each count given all the noisy ones and the total, up to rounding.
        The posterior means add up to the total.

    Parameters
        noisy: the released counts.
        law: the noise of each count: one law for all, or a list; independent draws.
        total: what the true counts add up to, public.
        prior: None makes all combinations of counts with this total equally likely. A list of
            masses that add up to 1 is multinomial: each row falls into a cell with that
            probability. A list of priors (Binomial, Points, …) stands for independent cells,
            conditioned on the total.

    Example
        >>> from tenue.noise import DiscreteLaplace
        >>> found = counts([7, 1], DiscreteLaplace(sensitivity=1, epsilon=1), total=10)
        >>> [round(each.mean, 4) for each in found]
        [7.9797, 2.0203]
    """
    size = whole(total, "total")
    if isinstance(noisy, str | bytes) or not hasattr(noisy, "__len__"):
        raise refuse("estimate.noisy-not-a-list")
    cells = len(noisy)
    if not 1 <= cells <= _MOST_CELLS or size > _MOST_TOTAL:
        raise refuse(
            "estimate.too-many-counts",
            cells=cells,
            size=size,
            most_cells=_MOST_CELLS,
            most_total=_MOST_TOTAL,
        )
    laws = list(law) if isinstance(law, list | tuple) else [law] * cells
    if len(laws) != cells:
        raise refuse("estimate.laws-differ-from-counts", many=len(laws), cells=cells)
    logs = [
        before + _log_likelihood(value, one, size)
        for value, one, before in zip(noisy, laws, _log_priors(prior, cells, size), strict=True)
    ]
    return _conditioned(logs, size)


def _log_likelihood(noisy: Number, law: object, size: int) -> Real:
    found = likelihood(law)
    seen = noisy_steps(exact(noisy, "noisy"), found)
    if found.exact and (1 / found.unit).denominator != 1:
        raise refuse("estimate.law-grid-not-whole", unit=float(found.unit))
    gaps = np.abs(float(seen) - np.arange(size + 1) * float(1 / found.unit))
    return found.log(gaps)


def _log_priors(prior: Any, cells: int, size: int) -> list[Real]:
    if prior is None:
        return [np.zeros(size + 1)] * cells
    given = listed(prior, "prior")
    if len(given) != cells:
        raise refuse("estimate.prior-differs-from-counts", many=len(given), cells=cells)
    k = np.arange(size + 1, dtype=np.float64)
    if all(isinstance(part, Counts | Points) for part in given):
        return [_log_belief(part, size) for part in given]
    weights, total = whole_weights(given)
    factorials = np.concatenate([[0.0], np.cumsum(np.log(k[1:]))])
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = [math.log(weight / total) if weight else -math.inf for weight in weights]
        return [np.where(k > 0, k * share, 0.0) - factorials for share in shares]


def _log_belief(belief: Counts | Points, size: int) -> Real:
    logs = np.full(size + 1, -np.inf)
    if isinstance(belief, Counts):
        last = min(size, belief.n)
        logs[: last + 1] = belief.lattice.log_weights(0, last)
        return logs
    for value, weight in zip(belief.values, belief.weights, strict=True):
        if value.denominator == 1 and 0 <= value <= size:
            logs[int(value)] = math.log(weight / belief.total)
    return logs


def _conditioned(logs: list[Real], size: int) -> tuple[Posterior, ...]:
    possible_counts = [np.flatnonzero(np.isfinite(one)) for one in logs]
    if not all(counts.size for counts in possible_counts):
        raise refuse("estimate.no-possible-count")
    least = sum(int(counts[0]) for counts in possible_counts)
    reachable = sum(int(counts[-1]) for counts in possible_counts)
    if not least <= size <= reachable:
        raise refuse("estimate.beliefs-miss-total", size=size, least=least, reachable=reachable)
    k = np.arange(size + 1, dtype=np.float64)

    def tilted(theta: float) -> list[Real]:
        with np.errstate(under="ignore"):
            masses = [np.exp(one + theta * k - np.max(one + theta * k)) for one in logs]
        return [one / one.sum() for one in masses]

    def expected_total(theta: float) -> float:
        return sum(float(one @ k) for one in tilted(theta))

    low, high = -1.0, 1.0
    while expected_total(low) > size and low > -1e6:
        low *= 2
    while expected_total(high) < size and high < 1e6:
        high *= 2
    for _ in range(60):
        theta = (low + high) / 2
        low, high = (theta, high) if expected_total(theta) < size else (low, theta)
    parts = [_without_negligible_ends(one, 0) for one in tilted(high)]
    nothing = (np.ones(1), 0)
    before = accumulate(parts[:-1], _distribution_of_sum, initial=nothing)
    after = reversed(list(accumulate(parts[:0:-1], _distribution_of_sum, initial=nothing)))
    found = []
    for (masses, start), one, other in zip(parts, before, after, strict=True):
        rest, first = _distribution_of_sum(one, other)
        where = size - (start + np.arange(masses.size)) - first
        inside = (where >= 0) & (where < rest.size)
        joint = np.where(inside, masses * rest[np.clip(where, 0, rest.size - 1)], 0.0)
        with np.errstate(divide="ignore"):
            found.append(Posterior(start + np.arange(masses.size), np.log(joint), Fraction(1)))
    return tuple(found)


def _without_negligible_ends(masses: Real, start: int) -> tuple[Real, int]:
    kept = np.flatnonzero(masses > masses.max() * _NOTHING)
    first, last = int(kept[0]), int(kept[-1])
    if last - first >= _WIDEST:
        raise refuse("estimate.too-many-count-values", last=last - first + 1, widest=_WIDEST)
    return masses[first : last + 1], start + first


def _distribution_of_sum(one: tuple[Real, int], two: tuple[Real, int]) -> tuple[Real, int]:
    with np.errstate(under="ignore"):
        return _without_negligible_ends(np.convolve(one[0], two[0]), one[1] + two[1])
