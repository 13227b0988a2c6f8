"""What was measured, in words. No value of any row is printed, only names, sizes and shares."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING

from ..screen.number import many, percent, shortly
from ..screen.page import WIDTH, sentence

if TYPE_CHECKING:
    from .verdict import Check, Confidential


def _short(number: float) -> str:
    return shortly(number, digits=4)


def check_text(check: Check) -> str:
    """The screen of `tenue check`."""
    who = "row" if check.unit == "record" else check.unit
    lines = [
        f"{many(check.rows, 'row')} in {many(check.groups, 'group')} that share "
        f"{', '.join(check.quasi_identifiers)}",
        *(line for note in check.notes for line in ("", f"Note: {note}")),
        "",
        f"k = {check.k}",
        f"  {_smallest(check, who)} {_alone(check.unique_share)}",
    ]
    for column in check.confidential:
        lines += [
            "",
            f"{column.name}: l = {column.l} (entropy {_short(column.l_entropy)}), "
            f"t = {_short(column.t)} (ratio {_short(column.t_ratio)})",
            f"  l: {_diversity(column, swapped=check.swapped)}",
            f"  t: {_closeness(column)}",
        ]
    if not check.confidential:
        lines += ["", "No confidential column was named, so l and t were not measured."]
    lines += [
        "",
        "This is about this file, and about an intruder who knows these columns and no others. "
        "A second release of the same people may undo it.",
    ]
    return "\n".join(map(_wrapped, lines))


def _wrapped(line: str) -> str:
    indent = "  " if line.startswith("  ") else ""
    return textwrap.fill(line, WIDTH, subsequent_indent=indent)


def _smallest(check: Check, who: str) -> str:
    if check.k == 1:
        return f"{many(check.smallest_groups, 'group')} of one {who} only."
    verb = "is" if check.smallest_groups == 1 else "are"
    return (
        f"Everybody is among at least {many(check.k, who)} that look alike; "
        f"{many(check.smallest_groups, 'group')} {verb} no larger."
    )


def _alone(share: float) -> str:
    if share == 0:
        return "Nobody stands alone."
    return (
        f"{sentence(percent(share))} of the rows stand alone: who knows these columns of a person "
        "finds the row."
    )


def _diversity(column: Confidential, *, swapped: bool) -> str:
    if column.l > 1:
        return (
            f"every group has at least {column.l} different values, so none shows one value for "
            "all. A group that was made larger to reach that may still give away what its first "
            "members had in common."
        )
    groups = column.homogeneous_groups
    what = "has one value only" if groups == 1 else "have one value only"
    told = (
        ", which may be somebody else's"
        if swapped
        else ": whoever is known to be in such a group has it"
    )
    return (
        f"{many(groups, 'group')} ({percent(column.homogeneous_share)} of the rows) {what}{told}."
    )


def _closeness(column: Confidential) -> str:
    kind = "ordered values" if column.distance == "ordered" else "categories"
    farthest = many(column.size_of_farthest, "row")
    text = (
        f"0 if every group is distributed like the whole table, 1 at most ({kind}). The group "
        f"farthest from it has {farthest}. "
    )
    if column.t_ratio == math.inf:
        return text + "Some group lacks a value that the table has, so the ratio is infinite."
    return (
        text + f"A value is up to {_short(column.t_ratio)} times rarer or more frequent in a group."
    )
