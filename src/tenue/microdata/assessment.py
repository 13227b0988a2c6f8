"""Risk and utility of a release, from original and release together: for the holder alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..evaluate import Risk, Utility, check, risk, utility
from ..noise.source import Source
from ..schema import Schema
from .history import Step
from .publish.permute import shuffled

__all__ = ["MOST_LINKED", "assessed"]

MOST_LINKED = 50_000
"""In a larger table, the intruder's search is tried on this many rows drawn at random."""


def assessed(
    before: Any, after: Any, schema: Schema, source: Source
) -> tuple[Risk, Utility, tuple[Step, ...]]:
    """What an intruder can do with the release, what it is still good for, and how that was found.

    Comparing every row with every other takes too long in a large table. There an intruder is tried
    who looks among fewer originals, drawn at random: each of his links is at least as likely to be
    right, so the risk that is stated is not below the true one, but for chance in the drawing.

    Parameters
        before, after: Arrow tables in which row i is the same record.
    """
    use = utility(before, after, schema)
    if before.num_rows <= MOST_LINKED:
        return risk(before, after, schema), use, ()
    drawn = shuffled(before.num_rows, source)[:MOST_LINKED]
    harm = risk(before.take(drawn), after.take(drawn), schema)
    if harm.check is not None:
        harm = replace(harm, check=check(after, schema))
    text = f"an intruder who looks among {MOST_LINKED} rows drawn at random; k, l and t of all rows"
    return harm, use, (Step("evaluate", text),)
