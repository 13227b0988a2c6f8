"""What `check` found: k, l and t of one table, and what limits them."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Confidential:
    """What the groups tell of one confidential column.

    l: the least number of different values in a group; 1 is bad. Where a column names persons with
        several rows, how many values it takes so that everybody in a group has one of them.
    l_entropy: the least effective number of values in a group, from 1 (bad) to l.
    t: the largest earth mover's distance of a group from the whole table, from 0 (good) to 1.
    t_ratio: the largest quotient of shares, from 1 (good); infinite if a group lacks a value.
    distance: "ordered" for numbers and dates, "equal" for categories.
    homogeneous_groups: how many groups have one value only, or one that all their persons have.
    homogeneous_share: the share of rows in them.
    size_of_farthest: how many rows the group has in which t is reached.
    exact_t, exact_t_ratio: the same as fractions; None where infinite.
    """

    name: str
    l: int
    l_entropy: float
    t: float
    t_ratio: float
    distance: str
    homogeneous_groups: int
    homogeneous_share: float
    size_of_farthest: int
    exact_t: Fraction
    exact_t_ratio: Fraction | None


@dataclass(frozen=True, kw_only=True)
class Check:
    """What a table shows of its groups. It describes one file, and promises nothing.

    rows: how many rows were read.
    quasi_identifiers: the columns by which rows were grouped.
    unit: who is counted: "record", or the column that names a person.
    groups: how many groups there are.
    k: the least number of units in a group; 1 is bad.
    smallest_groups: how many groups have no more than k units.
    smallest_rows: how many rows the group with the fewest has.
    unique_share: the share of rows whose group has one unit only, from 0 (good) to 1.
    homogeneous_groups, homogeneous_share: how many groups, and the share of rows in them, have only
        one value of some confidential column.
    confidential: l, t and more of each confidential column.
    notes: what limits these numbers, in sentences.
    swapped: whether confidential values are known to have changed places between people; what a
        group shows is then not known to be its members'.
    """

    rows: int
    quasi_identifiers: tuple[str, ...]
    unit: str
    groups: int
    k: int
    smallest_groups: int
    smallest_rows: int
    unique_share: float
    homogeneous_groups: int
    homogeneous_share: float
    confidential: tuple[Confidential, ...]
    notes: tuple[str, ...] = ()
    swapped: bool = False

    @property
    def l(self) -> int | None:  # noqa: E743 - the paper's name
        """The least distinct l of all confidential columns; None without such a column."""
        return min((column.l for column in self.confidential), default=None)

    @property
    def l_entropy(self) -> float | None:
        """The least entropy l of all confidential columns; None without such a column."""
        return min((column.l_entropy for column in self.confidential), default=None)

    @property
    def t(self) -> float | None:
        """The largest earth mover's t of all confidential columns; None without such a column."""
        return max((column.t for column in self.confidential), default=None)

    @property
    def t_ratio(self) -> float | None:
        """The largest ratio t of all confidential columns; None without such a column."""
        return max((column.t_ratio for column in self.confidential), default=None)

    def to_dict(self) -> dict[str, Any]:
        """The facts as JSON has them: fractions as text, and "inf" for what is infinite."""
        facts: dict[str, Any] = {part.name: getattr(self, part.name) for part in fields(self)}
        worst = ("l", "l_entropy", "t", "t_ratio")
        facts.update({name: plain(getattr(self, name)) for name in worst})
        facts["quasi_identifiers"] = list(self.quasi_identifiers)
        facts["notes"] = list(self.notes)
        facts["confidential"] = [
            {part.name: plain(getattr(column, part.name)) for part in fields(column)}
            for column in self.confidential
        ]
        return facts

    def to_json(self) -> str:
        """One JSON object."""
        return json.dumps(self.to_dict())

    def __str__(self) -> str:
        from .screen import check_text

        return check_text(self)


def plain(value: Any) -> Any:
    """A number as JSON has it: a fraction as text, and "inf" for what is infinite."""
    if isinstance(value, Fraction):
        return str(value)
    return "inf" if value == math.inf else value
