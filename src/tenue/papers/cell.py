"""One number of a paper beside ours, and what may be said of the two.

A verdict is earned, not stated: whoever says that the print is wrong gives the right value too, and
the cell turns `DIFFERENT` as soon as the library computes anything else.
"""

from __future__ import annotations

import math
from decimal import Decimal
from enum import Enum
from typing import Any

from ..frozen import dataclass

PRECISE = 1e-10
"""How closely a right value is met, relative to it."""


class Verdict(Enum):
    """What a cell, or a whole table, has come to."""

    EQUAL = "equal"
    """Ours is the print, to half its last digit; or what the paper says holds."""
    CORRECTED = "corrected"
    """The print is wrong; ours is the right value, and the remark says why."""
    IRREPRODUCIBLE = "not reproducible"
    """The text does not say enough, or its data cannot be had; the remark says which."""
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
"""So that nobody needs colours to tell them apart."""


def overall(verdicts: list[Verdict]) -> Verdict:
    """The verdict on many: the gravest of them; numbers that are not printed do not count.

    Example
        >>> overall([Verdict.EQUAL, Verdict.CORRECTED, Verdict.BESIDE]).value
        'corrected'
    """
    judged = [verdict for verdict in verdicts if verdict is not Verdict.BESIDE]
    return max(judged, key=_SEVERITY.index) if judged else Verdict.BESIDE


@dataclass(frozen=True)
class Cell:
    """A printed number beside ours.

    printed: as it is printed, or what the paper says in few words; None if it prints nothing.
    ours: computed now.
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
        shown = {name: getattr(self, name) for name in ("row", "column", "printed", "ours")}
        return shown | {
            "difference": self.difference,
            "verdict": self.verdict.value,
            "remark": self.remark,
        }


def half_digit(printed: str) -> float:
    """Half a unit of the last printed digit.

    Example
        >>> half_digit("1.92"), half_digit("3.07E+09")
        (0.005, 5000000.0)
    """
    return 0.5 * 10.0 ** int(Decimal(printed).as_tuple().exponent)


def met(
    row: str,
    column: str,
    printed: str,
    ours: float,
    *,
    right: float | str | None = None,
    remark: str = "",
) -> Cell:
    """The paper is right: ours must round to the print, and be `right` where that is known."""
    away = ours - float(printed)
    good = abs(away) <= half_digit(printed) * (1 + 1e-9) and _is_right(ours, right)
    verdict = Verdict.EQUAL if good else Verdict.DIFFERENT
    return Cell(row, column, printed, ours, away, verdict, remark)


def amended(
    row: str, column: str, printed: str, ours: float, *, right: float | str, because: str
) -> Cell:
    """The paper is wrong: ours must be `right`, and must not round to the print."""
    away = ours - float(printed)
    good = _is_right(ours, right) and abs(away) > half_digit(printed) * (1 - 1e-9)
    verdict = Verdict.CORRECTED if good else Verdict.DIFFERENT
    return Cell(row, column, printed, ours, away, verdict, because)


def beside(
    row: str, column: str, ours: float | str, *, right: float | str | None = None, remark: str = ""
) -> Cell:
    """A number that the paper does not give; it must be `right` where that is known."""
    good = isinstance(ours, str) or _is_right(ours, right)
    verdict = Verdict.BESIDE if good else Verdict.DIFFERENT
    return Cell(row, column, None, ours, None, verdict, remark)


def claimed(
    row: str,
    column: str,
    says: str,
    ours: float | str,
    *,
    holds: bool,
    right: float | str | None = None,
    remark: str = "",
) -> Cell:
    """What the paper says, and whether it holds of what we computed, which must be `right` too."""
    good = holds and (isinstance(ours, str) or _is_right(ours, right))
    verdict = Verdict.EQUAL if good else Verdict.DIFFERENT
    return Cell(row, column, says, ours, None, verdict, remark)


def refuted(
    row: str,
    column: str,
    says: str,
    ours: float | str,
    *,
    fails: bool,
    because: str,
    right: float | str | None = None,
) -> Cell:
    """What the paper says and what is not so; `fails` is computed, and must be true."""
    good = fails and (isinstance(ours, str) or _is_right(ours, right))
    verdict = Verdict.CORRECTED if good else Verdict.DIFFERENT
    return Cell(row, column, says, ours, None, verdict, because)


def unmet(
    row: str,
    column: str,
    printed: str,
    ours: float,
    *,
    because: str,
    right: float | str | None = None,
) -> Cell:
    """The print cannot be reproduced; `right` is what this reading gave elsewhere."""
    away = ours - float(printed)
    good = right is None or _is_right(ours, right)
    verdict = Verdict.IRREPRODUCIBLE if good else Verdict.DIFFERENT
    return Cell(row, column, printed, ours, away, verdict, because)


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
    """A number that depends on draws, in the paper and here; `chance.py` says what chance explains.

    right: the mean of many runs made elsewhere; None if there are none.
    possible: whether chance explains how far ours is from it.
    same: whether chance explains how far ours is from the print.
    because: why the print may differ beyond chance.
    """
    away = ours - float(printed)
    if not (possible and math.isfinite(ours)):
        why = "" if right is None else f"Expected {right:.6g}."
        return Cell(row, column, printed, ours, away, Verdict.DIFFERENT, why)
    if same:
        return Cell(row, column, printed, ours, away, Verdict.EQUAL)
    return Cell(row, column, printed, ours, away, Verdict.IRREPRODUCIBLE, because)


def missing(files: tuple[str, ...]) -> Cell:
    """Stands for all cells of a table whose data is not here."""
    named = " and ".join(files)
    return Cell("all", "all", None, None, None, Verdict.MISSING, f"Needs {named}.")


def _is_right(ours: float, right: float | str | None) -> bool:
    if right is None:
        return math.isfinite(ours)
    wanted = float(right)
    return abs(ours - wanted) <= PRECISE * max(abs(wanted), 1e-300)
