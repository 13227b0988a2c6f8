"""What was measured, in words. No value of any row is printed, only names, sizes and shares."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .check import Check

__all__ = ["check_text", "percent", "short"]


def percent(share: float) -> str:
    """A share as people read it.

    Example
        >>> percent(0.5), percent(0.00004), percent(0), percent(0.99999)
        ('50 %', 'less than 0.1 %', '0 %', 'more than 99.9 %')
    """
    if 0 < share < 0.001:
        return "less than 0.1 %"
    if 0.999 < share < 1:
        return "more than 99.9 %"
    return f"{100 * share:.3g} %"


def short(number: float) -> str:
    """Four digits, or the word infinite."""
    return "infinite" if number == math.inf else f"{number:.4g}"


def check_text(check: Check) -> str:
    """The screen of `tenue check`."""
    who = "row" if check.unit == "record" else check.unit
    names = ", ".join(check.quasi_identifiers)
    lines = [
        f"{check.rows:,} rows in {_many(check.groups, 'group')} of equal {names}",
        "",
        f"k = {check.k}",
        f"  In the smallest group {_many(check.k, who)} look alike; "
        f"{_many(check.smallest_groups, 'group')} {'is' if check.smallest_groups == 1 else 'are'} "
        f"so small. {percent(check.unique_share)} of all rows stand alone: who knows these columns "
        "of a person finds the row.",
    ]
    for column in check.confidential:
        word = "ordered values" if column.distance == "ordered" else "categories"
        lines += [
            "",
            f"{column.name}: l = {column.l} (entropy {short(column.l_entropy)}), "
            f"t = {short(column.t)} (ratio {short(column.t_ratio)})",
            f"  l: every group has at least {_many(column.l, 'different value')}. "
            + _homogeneous(column.homogeneous_groups, column.homogeneous_share),
            f"  t: 0 if every group is distributed like the whole table, 1 if none could be "
            f"further ({word}). The farthest group has {_many(column.size_of_farthest, 'row')}.",
        ]
    if not check.confidential:
        lines += ["", "No confidential column was named, so l and t were not measured."]
    if check.notes:
        lines += ["", *(f"Note: {note}" for note in check.notes)]
    lines += ["", "This is about one file. A second release of the same people may undo it."]
    return "\n".join(
        textwrap.fill(line, 88, subsequent_indent="  ") if line else "" for line in lines
    )


def _homogeneous(groups: int, share: float) -> str:
    if groups == 0:
        return "No group gives its value away."
    verb = "has" if groups == 1 else "have"
    return (
        f"{_many(groups, 'group')} ({percent(share)} of the rows) {verb} one value only: whoever "
        "is known to be in such a group has it."
    )


def _many(count: int, word: str) -> str:
    return f"{count:,} {word}" + ("" if count == 1 else "s")
