"""Risk and utility of a release, from original and release together: for the holder alone."""

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
"""In a larger table, the intruder's search is tried on this many rows drawn at random."""


@dataclass(frozen=True)
class Step:
    """One thing that was done to the table on its way."""

    name: str
    text: str

    def __str__(self) -> str:
        return f"{self.name}: {self.text}"


class Assessment(NamedTuple):
    """What an intruder can do with a release, what it is still good for, how that was found.

    risk: None where no row is anybody's, and nobody can be found again.
    utility: row by row; or, where rows have nothing to do with each other, table by table.
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

    That takes too long in a large table. There an intruder is tried who looks among fewer
    originals, drawn at random: each of his links is at least as likely to be right, so the risk
    that is stated is not below the true one, but for chance in the drawing.

    Parameters
        before, after: Arrow tables in which row i is the same record.
        persons: whose each row is, for k, l and t; None if each row is a person.
        explained: adds to k, l and t what must be known of the method.
    """
    use = utility(before, after, schema)
    rows = before.num_rows
    if rows <= MOST_LINKED:
        harm, told = risk(before, after, schema), tuple[Step, ...]()
    else:
        drawn = shuffled(rows, source)[:MOST_LINKED]
        harm = risk(before.take(drawn), after.take(drawn), schema)
        text = (
            f"an intruder who looks among {MOST_LINKED} rows drawn at random; k, l, t of all rows"
        )
        told = (Step("evaluate", text),)
    found = harm.check
    if found is not None:
        if persons is not None or told:
            found = check_groups(after, schema, persons)
        harm = replace(harm, check=explained(found))
    return Assessment(harm, use, told)


def measured_groups(
    found: Assessment, table: Any, schema: Schema, persons: Numbers | None
) -> Assessment:
    """The same, with k, l and t of the table as it is written, which was read to be assessed."""
    if found.risk is None:
        return found
    return found._replace(risk=replace(found.risk, check=check_groups(table, schema, persons)))
