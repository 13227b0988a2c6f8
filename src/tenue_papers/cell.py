"""One number of a paper beside ours, and how far chance may move it.

A verdict is computed, not stated: a cell that calls the print wrong also states the right value,
and turns `DIFFERENT` as soon as the library computes anything else.

A number that depends on draws is compared with the mean of other runs, and with the print. Either
comparison may fail although everything is right. All comparisons of a run together turn some
verdict red by mistake with probability at most `RED`, and doubt a correct print with probability at
most `DOUBT`; each comparison has an equal share. Seeds are fixed, so these are the probabilities of
having chosen unlucky ones.

How means are compared
    The difference of two means over a standard deviation that was estimated from n runs follows
    Student's law with n − 1 degrees of freedom; with a pooled deviation, with the sum of them.
How counts are compared
    Two sums of rare events with the same rate: given their sum, one of them is binomial. No
    deviation is estimated, so it holds for three events as for three hundred.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from functools import cache
from typing import Any

import numpy as np

from tenue.noise import Seeded

from .data import Printed

Value = float | str
Right = Value | None
PRECISE = 1e-10
"""How closely a right value is met, relative to it."""
TRUNCATED = "The print is the right value truncated after its last digit, not rounded."


class Verdict(Enum):
    """The result of a comparison, for a cell or a whole exhibit."""

    EQUAL = "equal"
    """Ours is the print, to half its last digit; or the claim of the paper holds."""
    CORRECTED = "corrected"
    """The print is wrong; ours is the right value, and the remark says why."""
    IRREPRODUCIBLE = "not reproducible"
    """The text is incomplete, or its data is not available; the remark says which."""
    MISSING = "data missing"
    """The table that it is computed from is not on this machine."""
    BESIDE = "not printed"
    """Ours only: a number that the paper does not give."""
    DIFFERENT = "different"
    """Neither the print nor the right value: something is broken here."""


_SEVERITY = list(Verdict)
_SEVERITY.remove(Verdict.BESIDE)

SIGNS = {
    Verdict.EQUAL: "=",
    Verdict.CORRECTED: "✎",
    Verdict.IRREPRODUCIBLE: "?",
    Verdict.MISSING: "∅",
    Verdict.BESIDE: "+",
    Verdict.DIFFERENT: "≠",
}
"""Signs, so that no verdict is shown by its colour alone."""


def overall(verdicts: list[Verdict]) -> Verdict:
    """The gravest of several verdicts; numbers that are not printed do not count.

    Example
        >>> overall([Verdict.EQUAL, Verdict.CORRECTED, Verdict.BESIDE]).value
        'corrected'
    """
    judged = [verdict for verdict in verdicts if verdict is not Verdict.BESIDE]
    return max(judged, key=_SEVERITY.index) if judged else Verdict.BESIDE


@dataclass(frozen=True)
class Cell:
    """A printed number beside ours.

    printed: the number as it is printed, or the claim in few words; None if neither exists.
    difference: ours − printed, where both are numbers.
    """

    row: str
    column: str
    printed: str | None
    ours: float | str | None
    difference: float | None
    verdict: Verdict
    remark: str = ""

    def to_dict(self) -> dict[str, Any]:
        return vars(self) | {"verdict": self.verdict.value}


def half_digit(printed: str) -> float:
    """Half a unit of the last printed digit.

    Example
        >>> half_digit("1.92"), half_digit("3.07E+09")
        (0.005, 5000000.0)
    """
    return 0.5 * 10.0 ** int(Decimal(printed).as_tuple().exponent)


def rounds_to(number: float, printed: str) -> bool:
    return abs(number - float(printed)) <= half_digit(printed) * (1 + 1e-9)


def met(
    row: str, column: str, printed: str, ours: float, *, right: Right = None, remark: str = ""
) -> Cell:
    """The paper is right: ours must round to the print, and be `right` where that is known."""
    good = rounds_to(ours, printed) and _is_right(ours, right)
    return _numeric(row, column, printed, ours, Verdict.EQUAL, good, remark)


def amended(
    row: str, column: str, printed: str, ours: float, *, right: Value, because: str
) -> Cell:
    """The paper is wrong: ours must be `right`, and must not round to the print."""
    off = abs(ours - float(printed)) > half_digit(printed) * (1 - 1e-9)
    good = off and _is_right(ours, right)
    return _numeric(row, column, printed, ours, Verdict.CORRECTED, good, because)


def met_or_amended(
    row: str, column: str, printed: str, ours: float, *, right: Value, because: str = TRUNCATED
) -> Cell:
    """`met` if the right value rounds to the print, otherwise `amended`."""
    if rounds_to(float(right), printed):
        return met(row, column, printed, ours, right=right)
    return amended(row, column, printed, ours, right=right, because=because)


def unmet(
    row: str, column: str, printed: str, ours: float, *, because: str, right: Right = None
) -> Cell:
    """The print cannot be reproduced; `right` is what this reading of the text gave elsewhere."""
    good = right is None or _is_right(ours, right)
    return _numeric(row, column, printed, ours, Verdict.IRREPRODUCIBLE, good, because)


def drawn(
    row: str,
    column: str,
    printed: str,
    ours: float,
    *,
    right: float | None,
    possible: bool,
    same: bool,
    because: str,
) -> Cell:
    """A number that depends on draws, in the paper and here.

    right: the mean of many runs made elsewhere; None if there are none.
    possible: whether chance explains how far ours is from it.
    same: whether chance explains how far ours is from the print.
    because: why the print may differ beyond chance.
    """
    if not (possible and math.isfinite(ours)):
        why = "" if right is None else f"Expected {right:.6g}."
        return _numeric(row, column, printed, ours, Verdict.EQUAL, False, why)
    verdict = Verdict.EQUAL if same else Verdict.IRREPRODUCIBLE
    return _numeric(row, column, printed, ours, verdict, True, "" if same else because)


def _numeric(
    row: str, column: str, printed: str, ours: float, verdict: Verdict, good: bool, remark: str
) -> Cell:
    """A printed number; the verdict is DIFFERENT unless ours is `good`."""
    verdict = verdict if good else Verdict.DIFFERENT
    return Cell(row, column, printed, ours, ours - float(printed), verdict, remark)


def beside(row: str, column: str, ours: Value, *, right: Right = None, remark: str = "") -> Cell:
    """A number that the paper does not give; it must be `right` where that is known."""
    verdict = Verdict.BESIDE if _is_right(ours, right) else Verdict.DIFFERENT
    return Cell(row, column, None, ours, None, verdict, remark)


def claimed(
    row: str,
    column: str,
    says: str,
    ours: Value,
    *,
    holds: bool,
    right: Right = None,
    remark: str = "",
) -> Cell:
    """A claim of the paper, and whether it holds of what we computed, which must be `right` too."""
    verdict = Verdict.EQUAL if holds and _is_right(ours, right) else Verdict.DIFFERENT
    return Cell(row, column, says, ours, None, verdict, remark)


def formula(
    row: str,
    column: str,
    says: str,
    ours: float,
    value: float,
    *,
    within: float = 1e-12,
    right: Right = None,
) -> Cell:
    """A formula of the paper: ours must equal its value up to a relative error of `within`."""
    holds = math.isclose(ours, value, rel_tol=within)
    return claimed(row, column, says, float(ours), holds=holds, right=right)


def listed(row: str, column: str, says: str, ours: Iterable[int]) -> Cell:
    """Several whole numbers: ours must be those that the paper prints with commas."""
    text = ", ".join(map(str, ours))
    return claimed(row, column, says, text, holds=text == says)


def refuted(
    row: str, column: str, says: str, ours: Value, *, fails: bool, because: str, right: Right = None
) -> Cell:
    """A claim of the paper that does not hold; `fails` is computed, and must be true."""
    verdict = Verdict.CORRECTED if fails and _is_right(ours, right) else Verdict.DIFFERENT
    return Cell(row, column, says, ours, None, verdict, because)


def missing(files: tuple[str, ...]) -> Cell:
    """Stands for all cells of a table whose data is not here."""
    named = " and ".join(files)
    return Cell("all", "all", None, None, None, Verdict.MISSING, f"Needs {named}.")


def _is_right(ours: Value, right: Right) -> bool:
    if isinstance(ours, str):
        return True
    if right is None:
        return math.isfinite(ours)
    return abs(ours - float(right)) <= PRECISE * max(abs(float(right)), 1e-300)


# -- How far chance may move a number: one budget of false alarms for the whole book ---------------

RED = 1e-6
"""The probability that a run of the book turns red although the library is right."""
DOUBT = 1e-2
"""The probability that some print is called not reproducible although chance explains it."""

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
"""How many random numbers each exhibit compares with the right ones."""

SHARE = RED / sum(COMPARED.values())
PRINT_SHARE = DOUBT / sum(COMPARED.values())


def seeded(name: str) -> Seeded:
    """The same draws in every run for the same name."""
    return Seeded(zlib.crc32(name.encode()))


@dataclass(frozen=True)
class Spread:
    """The standard deviation of one run, and the degrees of freedom of its estimate.

    freedom: 0 if it is known exactly.
    """

    deviation: float
    freedom: int = 0

    def between(self, runs: float, others: float, chance: float) -> float:
        """The distance that the means of so many runs exceed with this probability only.

        `others` is infinite for a number that is not drawn.
        """
        return self.deviation * math.sqrt(1 / runs + 1 / others) * quantile(self.freedom, chance)


def pooled(*known: tuple[float, int]) -> Spread:
    """One deviation from several estimates of it: (deviation, runs), divisor runs − 1.

    Example
        >>> pooled((3.0, 11), (4.0, 11))
        Spread(deviation=3.5355339059327378, freedom=20)
    """
    freedom = sum(runs - 1 for _, runs in known)
    squares = sum((runs - 1) * deviation**2 for deviation, runs in known)
    return Spread(math.sqrt(squares / freedom), freedom)


def explains(ours: float, right: float | None, spread: Spread, runs: float, others: float) -> bool:
    """Whether chance explains how far the mean of our runs is from the mean of others."""
    if right is None:
        return True
    return abs(ours - right) <= spread.between(runs, others, SHARE) + PRECISE * abs(right)


def explains_print(ours: float, printed: str, spread: Spread, runs: float, others: float) -> bool:
    """The same for a printed mean, which was rounded."""
    away = spread.between(runs, others, PRINT_SHARE) + half_digit(printed)
    return abs(ours - float(printed)) <= away


def mean_of_runs(
    row: str,
    column: str,
    cell: Printed,
    ours: float,
    spread: Spread,
    because: str,
    *,
    runs: int,
    others: int,
    print_runs: int,
) -> Cell:
    """The mean of our runs beside the right mean, of `others`, and the print, of `print_runs`."""
    return drawn(
        *(row, column, cell.text, ours),
        right=cell.right,
        possible=explains(ours, cell.right, spread, runs, others),
        same=explains_print(ours, cell.text, spread, runs, print_runs),
        because=because,
    )


@cache
def quantile(freedom: int, chance: float) -> float:
    """The value that |T| exceeds with this probability; T is normal if freedom is 0.

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
