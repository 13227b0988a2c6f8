"""How often a noisy count is patently wrong."""

from __future__ import annotations

from typing import Any

from ..errors import refuse
from ..number import Number, checked_call, whole
from .likelihood import likelihood


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
        raise refuse("estimate.true-is-and-n-is", true=true, n=n)
    found = likelihood(law)
    # on a grid the noise must be one step further; laws are symmetric, so both tails are lower ones
    beyond = found.unit if found.exact else 0
    return float(law.cdf(float(-count - beyond)) + law.cdf(float(count - rows - beyond)))
