"""How far chance may move a number: one budget of false alarms for the whole book.

A number that depends on draws is compared with the mean of other runs, and with the print. Either
comparison may go wrong although everything is right. All that a run of the book compares turn one
verdict red by mistake with probability at most `RED`, and doubt an honest print with probability at
most `DOUBT`; each comparison has its equal share. Seeds are fixed, so the chance is that of having
chosen unlucky ones.

How means are compared
    The difference of two means over a standard deviation that was estimated from n runs follows
    Student's law with n − 1 degrees of freedom, and so do pooled deviations with those of all.
How counts are compared
    Two sums of rare events with the same rate: given both together, one of them is binomial. No
    deviation is estimated, so it holds for three events as for three hundred.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from ..frozen import dataclass
from .cell import PRECISE, half_digit

RED = 1e-6
"""The probability that a run of the book turns red although the library is right."""
DOUBT = 1e-2
"""The probability that some print is called not reproducible although only chance is in it."""

COMPARED = {
    "3.8": 63,
    "3.9": 63,
    "3.10": 36,
    "3.11": 36,
    "6.1": 32,
    "6.2": 32,
    "6.5": 160,
    "bayes.fig1": 6,
    "bayes.fig2": 6,
    "bayes.fig3": 6,
    "bayes.fig4": 6,
    "bayes.fig5": 2,
    "bayes.fig6": 12,
    "bayes.fig7": 12,
    "bayes.fig8": 2,
}
"""How many random numbers each exhibit compares with what is right."""

SHARE = RED / sum(COMPARED.values())
PRINT_SHARE = DOUBT / sum(COMPARED.values())


@dataclass(frozen=True)
class Spread:
    """The standard deviation of one run, and from how many degrees of freedom it is known.

    freedom: 0 if it is known exactly.
    """

    deviation: float
    freedom: int = 0

    def between(self, runs: float, others: float, chance: float) -> float:
        """How far the means of so many runs are apart, but for one case in 1/chance.

        `others` is infinite for a number that is not drawn.
        """
        return self.deviation * math.sqrt(1 / runs + 1 / others) * quantile(self.freedom, chance)


def pooled(*known: tuple[float, int]) -> Spread:
    """One deviation from several estimates of the same: (deviation, runs), divisor runs − 1.

    Example
        >>> pooled((3.0, 11), (4.0, 11))
        Spread(deviation=3.5355339059327378, freedom=20)
    """
    freedom = sum(runs - 1 for _, runs in known)
    squares = sum((runs - 1) * deviation**2 for deviation, runs in known)
    return Spread(math.sqrt(squares / freedom), freedom)


def explains(ours: float, right: float | None, spread: Spread, runs: float, others: float) -> bool:
    """Whether chance explains how far the mean of our runs is from that of others."""
    if right is None:
        return True
    return abs(ours - right) <= spread.between(runs, others, SHARE) + PRECISE * abs(right)


def explains_print(ours: float, printed: str, spread: Spread, runs: float, others: float) -> bool:
    """The same of a printed mean, which was rounded."""
    away = spread.between(runs, others, PRINT_SHARE) + half_digit(printed)
    return abs(ours - float(printed)) <= away


@cache
def quantile(freedom: int, chance: float) -> float:
    """What |T| exceeds with this probability; the normal law's if freedom is 0.

    Example
        >>> round(quantile(10, 0.05), 6), round(quantile(0, 0.05), 6)
        (2.228139, 1.959964)
    """
    low, high = 0.0, 1.0
    while _beyond(high, freedom) > chance:
        low, high = high, 2 * high
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if _beyond(middle, freedom) > chance else (low, middle)
    return high


def _beyond(t: float, freedom: int) -> float:
    """P(|T| > t): Student's law as a finite sum (Abramowitz and Stegun, 26.7.3 and 26.7.4)."""
    if not freedom:
        return math.erfc(t / math.sqrt(2))
    angle = math.atan2(t, math.sqrt(freedom))
    square = math.cos(angle) ** 2
    odd = freedom % 2
    term = math.cos(angle) if odd else 1.0
    total = term if freedom > 1 else 0.0
    for i in range(2 + odd, freedom - 1, 2):
        term *= square * (i - 1) / i
        total += term
    inside = math.sin(angle) * total
    return 1 - (2 / math.pi * (angle + inside) if odd else inside)


def alike(count: int, runs: int, other: int, others: int) -> float:
    """The probability that two counts with the same rate differ as much as these, or more.

    Example
        >>> round(alike(3, 10, 108, 100), 4), alike(90, 10, 108, 100) < 1e-9
        (0.015, True)
    """
    both = count + other
    places = np.arange(both + 1)
    logs = np.concatenate([[0.0], np.cumsum(np.log(places[1:]))])
    share = runs / (runs + others)
    masses = np.exp(
        logs[-1] - logs - logs[::-1] + places * math.log(share) + places[::-1] * math.log1p(-share)
    )
    return min(1.0, 2 * float(min(masses[: count + 1].sum(), masses[count:].sum())))
