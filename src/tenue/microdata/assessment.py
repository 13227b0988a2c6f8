"""Risk and utility of a release, from original and release together: for the holder alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..evaluate import Risk, Utility, check, risk, utility
from ..evaluate.certificate import explained
from ..evaluate.check import check_persons
from ..noise.source import Source
from ..promise import ProbabilisticKAnonymity
from ..schema import Schema
from .history import Step
from .publish.permute import shuffled
from .table.cells import Numbers

MOST_LINKED = 50_000
"""In a larger table, the intruder's search is tried on this many rows drawn at random."""


def assessed(
    before: Any,
    after: Any,
    schema: Schema,
    source: Source,
    persons: Numbers | None = None,
    swapped: int | None = None,
) -> tuple[Risk, Utility, tuple[Step, ...]]:
    """What an intruder can do with the release, what it is still good for, and how that was found.

    Comparing every row with every other takes too long in a large table. There an intruder is tried
    who looks among fewer originals, drawn at random: each of his links is at least as likely to be
    right, so the risk that is stated is not below the true one, but for chance in the drawing.

    Parameters
        before, after: Arrow tables in which row i is the same record.
        persons: whose each row is, for k, l and t; None if each row is a person.
        swapped: the k of the swap that made the release, if one did.
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
    if harm.check is not None and persons is not None:
        harm = replace(harm, check=check_persons(after, schema, persons, None))
    elif harm.check is not None and told:
        harm = replace(harm, check=check(after, schema))
    if harm.check is not None and swapped is not None:
        harm = replace(harm, check=explained(harm.check, ProbabilisticKAnonymity(swapped)))
    return harm, use, told
