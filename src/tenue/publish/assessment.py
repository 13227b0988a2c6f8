"""Risk and utility of a release, from original and release together: for the holder only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from ..evaluate import Check, Likeness, Risk, Utility, risk, utility
from ..evaluate.check import check_groups
from ..noise.source import Source
from ..schema import Schema
from .permute import shuffled
from .table.cells import Numbers

MOST_LINKED = 50_000
"""In a larger table, attacks are tried on this many rows, drawn at random."""


@dataclass(frozen=True)
class Step:
    """One entry of a release's history."""

    name: str
    text: str

    def __str__(self) -> str:
        return f"{self.name}: {self.text}"


class Assessment(NamedTuple):
    """Risk and utility of a release, and how they were measured.

    risk: None for a private table, in which no row is a person's record.
    utility: row by row; table by table for a private table.
    """

    risk: Risk | None
    utility: Utility | Likeness
    steps: tuple[Step, ...]


def assessed(
    before: Any,
    after: Any,
    schema: Schema,
    source: Source,
    persons: Numbers | None = None,
    explained: Callable[[Check], Check] = lambda check: check,
) -> Assessment:
    """Risk and utility, by comparing every row with every other.

    In a large table, linkage is tried among fewer originals, drawn at random: each link is at least
    as likely to be correct, so apart from chance the stated risk is not below the true one.

    Parameters
        before, after: Arrow tables in which row i is the same record.
        persons: the person of each row, for k, l and t; None if each row is a person.
        explained: adds the notes that the method requires to k, l and t.
    """
    use = utility(before, after, schema)
    steps: tuple[Step, ...] = ()
    if before.num_rows <= MOST_LINKED:
        harm = risk(before, after, schema)
    else:
        drawn = shuffled(before.num_rows, source)[:MOST_LINKED]
        harm = risk(before.take(drawn), after.take(drawn), schema)
        text = f"linkage among {MOST_LINKED} rows drawn at random; k, l, t of all rows"
        steps = (Step("evaluate", text),)
    check = harm.check
    if check is not None:
        if persons is not None or steps:
            check = check_groups(after, schema, persons)
        harm = replace(harm, check=explained(check))
    return Assessment(harm, use, steps)


def measured_groups(
    found: Assessment, table: Any, schema: Schema, persons: Numbers | None
) -> Assessment:
    """Replaces k, l and t by those of the table as it is published."""
    if found.risk is None:
        return found
    return found._replace(risk=replace(found.risk, check=check_groups(table, schema, persons)))
