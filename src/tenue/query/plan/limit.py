"""What may have been cut from an answer about people: limits that its ± does not cover.

How much was cut is a fact about the rows, so it is in no error that is told. That something can be
cut is known from schema and question, and is said wherever the number is.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Literal

from ...engine.request import People
from ...frozen import dataclass
from ...schema import Schema
from ..family.strategy import Strategy

NOT_COVERED = "± does not cover what that leaves out"
"""What is said wherever a limit is."""


@dataclass(frozen=True)
class Limit:
    """One limit of what counts.

    kind: "rows" (at most so many of each person), "groups" (each person in at most so many), or
        "sum" (each person's sum is cut at two ends).
    unit: who is limited.
    most: how many; None for a sum.
    words: the limit, as it is said.
    """

    kind: Literal["rows", "groups", "sum"]
    unit: str
    most: int | None
    words: str

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    def __str__(self) -> str:
        return self.words


def limits_of(
    strategy: Strategy, schema: Schema, people: People | None, cells: int
) -> tuple[Limit, ...]:
    """Every limit that can cut something; none if every record is a unit."""
    if people is None:
        return ()
    unit = schema.unit
    cuts = dict.fromkeys(cut for draw in strategy.draws for cut in draw.cuts(schema))
    found = [Limit("sum", unit, None, cut) for cut in cuts]
    if any(draw.counts_rows for draw in strategy.draws):
        rows = "1 row" if people.rows == 1 else f"{people.rows} rows"
        verb = "counts" if people.rows == 1 else "count"
        words = f"at most {rows} of each {unit} {verb}, chosen at random"
        found.append(Limit("rows", unit, people.rows, words))
    if people.groups is not None and people.groups < cells:
        groups = "1 group" if people.groups == 1 else f"{people.groups} groups"
        words = f"each {unit} counts in at most {groups}, chosen at random"
        found.append(Limit("groups", unit, people.groups, words))
    return tuple(found)
