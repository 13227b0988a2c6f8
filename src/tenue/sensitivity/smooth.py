"""How far one record can move an order statistic, in this table or in any table near it."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

import numpy as np

from ..errors import refuse
from ..number import above_zero, checked_call
from .column import domain, exact_column
from .order_statistic import PARAMETERS, order_statistic
from .parameters import unknown
from .window import Opening, openings

ROUNDING = Fraction(1, 2**52)
"""What rounding up costs in smoothness: the float of `smooth` is (beta + ROUNDING)-smooth."""


@dataclass(frozen=True)
class Peak:
    """The smooth sensitivity exactly: local * exp(-beta * distance).

    `local` is the largest local sensitivity among the tables that differ in `distance` records, and
    no other distance gives a larger product.
    """

    distance: int
    local: Fraction


@checked_call
def smooth(
    statistic: str,
    values: object,
    *,
    bounds: object,
    beta: object,
    k: object = None,
    q: object = None,
    rows_public: bool = True,
) -> float:
    """The beta-smooth sensitivity: the largest exp(-beta * j) * A_j over distances j.

    A_j is the largest local sensitivity among the tables that differ from `values` in at most j
    records.

    Guarantee
        The distance is found exactly. The float is never below the exact value, and above it by
        less than one part in 10**12 (values below 2**-1022 become that). As a function of the table
        it is at least the local sensitivity, and between neighbours it grows by a factor of at most
        exp(beta + ROUNDING). Noise of `noise.HeavyTail` scaled by it is differentially private when
        gamma * (beta + ROUNDING) <= epsilon: pass beta = admissible_beta(gamma, epsilon) - ROUNDING
        to a mechanism that has no slack.

    What it is not
        It is an exact function of the rows: never print it, nor a scale, an interval or an error
        that follows from it. It is not smooth where the number of rows is not public (a filter, a
        group, a person with several rows): state rows_public=False there, and it is refused.

    Parameters
        statistic: "median", "max", "min", "second-max", "kth-largest" and "kth-smallest" with `k`,
            "quantile" with `q`, as in `local`.
        values, bounds: as in `local`. beta: above 0; epsilon / gamma, *not* epsilon.

    Example
        >>> round(smooth("median", [1, 2, 2, 5, 9], bounds=(0, 10), beta="1/3"), 10)
        5.015719174

    Source
        Nissim, Raskhodnikova and Smith 2007; Soria-Comas et al. 2017, section 6.1.2 (ranks and
        beta corrected). O(n log n) where the paper has O(n²).
    """
    peak = smooth_peak(
        statistic, values, bounds=bounds, beta=beta, k=k, q=q, rows_public=rows_public
    )
    return _rounded_up(peak, above_zero(beta, "beta"))


@checked_call
def smooth_peak(
    statistic: str,
    values: object,
    *,
    bounds: object,
    beta: object,
    k: object = None,
    q: object = None,
    rows_public: bool = True,
) -> Peak:
    """Where the smooth sensitivity is reached, exactly; parameters and warnings as in `smooth`.

    Example
        >>> smooth_peak("median", [1, 2, 2, 5, 9], bounds=(0, 10), beta="1/3")
        Peak(distance=1, local=Fraction(7, 1))
    """
    _check_parameters(statistic, k=k, q=q)
    if not rows_public:
        raise refuse("sensitivity.smooth-count-secret")
    rate = above_zero(beta, "beta")
    low, high = domain(bounds)
    if high - low > Fraction(sys.float_info.max):
        raise refuse("sensitivity.bounds-too-wide")
    column = exact_column(values, bounds)
    ranks = order_statistic(statistic, column.rows, k=k, q=q)
    padded = np.empty(column.rows + 2, dtype=column.steps.dtype)
    padded[0], padded[1:-1], padded[-1] = column.low, np.sort(column.steps), column.high
    best = Opening(0, 0)
    for opening in openings(padded, ranks.windows, rate):
        if _beats(opening, best, rate):
            best = opening
    return Peak(best.distance, Fraction(best.width, ranks.count) * column.step)


def _check_parameters(statistic: str, **given: object) -> None:
    if not isinstance(statistic, str) or statistic not in PARAMETERS:
        raise unknown("smooth", statistic, PARAMETERS)
    for name, value in given.items():
        if (value is not None) != (name in PARAMETERS[statistic]):
            verb, word = "needs", f"Add {name}=... to the call"
            if value is not None:
                verb, word = "has no", f"Leave `{name}` out"
            raise refuse(
                "sensitivity.statistic-parameter-mismatch",
                statistic=statistic,
                verb=verb,
                name=name,
                word=word,
            )


def _beats(challenger: Opening, champion: Opening, beta: Fraction) -> bool:
    """Whether width * exp(-beta * distance) is larger, decided however close the two are.

    exp of a rational other than 0 is irrational: at different distances the two are never equal, so
    enough digits always decide.
    """
    if not champion.width or challenger.distance == champion.distance:
        return challenger.width > champion.width
    ahead = beta * (challenger.distance - champion.distance)
    digits = 20
    while True:
        context = Context(prec=digits, Emin=MIN_EMIN, Emax=MAX_EMAX)
        logs = [context.ln(Decimal(x.width)) for x in (challenger, champion)]
        gain = Fraction(logs[0]) - Fraction(logs[1])
        # a logarithm is rounded correctly, hence by less than 10**(1 - digits) of itself
        doubt = sum(Fraction(log) for log in logs) / 10 ** (digits - 1)
        if abs(gain - ahead) > doubt:
            return gain > ahead
        digits *= 2


def _rounded_up(peak: Peak, beta: Fraction) -> float:
    least = sys.float_info.min
    if not peak.local:
        return 0.0
    decay = beta * peak.distance
    if decay > 1100 + peak.local.numerator.bit_length():  # far below the least normal double
        return least
    bound = peak.local * _exponential_up(decay)
    value = float(bound)
    return max(math.nextafter(value, math.inf) if value < bound else value, least)


def _exponential_up(decay: Fraction) -> Fraction:
    """exp(-decay), or a little more: less than one part in 10**50."""
    if not decay:
        return Fraction(1)
    context = Context(prec=60, rounding=ROUND_FLOOR, Emin=MIN_EMIN, Emax=MAX_EMAX)
    exponent = context.divide(Decimal(decay.numerator), Decimal(decay.denominator))
    return Fraction(context.exp(-exponent)) * (1 + Fraction(1, 10**55))
