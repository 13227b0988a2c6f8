"""What one noisy number tells about the truth."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from ..arguments import Number, checked_call, exact, whole
from ..errors import refuse
from ..prior.points import Points
from .posterior import Posterior
from .truncated_support import likelihood, noisy_steps, possible


@checked_call
def count(noisy: Number, law: object, prior: Any) -> Posterior:
    """What is known about a count after its noisy answer.

    Guarantee
        Bayes' rule with the law actually used, in logarithms, over the counts that matter: stable
        and fast to n = 10^7. Free of charge, where prior and noise do not depend on the rows;
        refused after individual differential privacy and smooth sensitivity.

    Parameters
        noisy: the released count.
        law: the noise it was released with: Laplace, DiscreteLaplace, Optimal, or one on its grid.
        prior: a belief about whole numbers, such as tn.prior.Binomial(n, p).

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
    """What is known about a sum after its noisy answer.

    Guarantee
        As `count`. The possible sums are the prior's points or, for Uniform, Normal and Histogram,
        the multiples of the law's grid between their ends. Where more than a million of those
        matter, they are multiples of a coarser grid, so that `mass` is that of a whole block.

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
    return Posterior(steps, logs + found.log(_gaps(steps, ratio, seen)), unit)


def _gaps(steps: Any, ratio: Fraction, seen: Fraction) -> Any:
    """|seen − step·ratio|, without loss where both are large."""
    near = int(steps[0])
    offset = seen - near * ratio
    return np.abs(float(offset) - (steps - near) * float(ratio))


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
