"""Which answers are the totals of which, as far as question and schema can tell.

An answer is the total of another if it asks the same of the same rows by fewer keys, and no row is
without one of the further keys. Nothing may be cut: what is kept of a person is drawn anew for each
question. GROUPING SETS, once they exist, state their totals themselves; they come in here.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from ...engine.request import Key
from ...errors import refuse
from ...schema import Schema
from ..computed import seen_by
from ..plan.plan import Plan


def totals_of(plans: Sequence[Plan], schema: Schema) -> dict[int, int]:
    """For each answer that has a total among the others, the number of the nearest one.

    Refused where an answer has two totals neither of which is the total of the other: its parts
    would have to add up in both ways at once.
    """
    found: dict[int, int] = {}
    for number, plan in enumerate(plans):
        above = [
            other
            for other in range(len(plans))
            if other != number and _is_total(plans[other], plan, schema, first=other < number)
        ]
        if not above:
            continue
        nearest = max(above, key=lambda other: (len(plans[other].question.keys), other))
        keys = set(plans[nearest].question.keys)
        if any(not set(plans[other].question.keys) <= keys for other in above):
            raise refuse("query.totals-disagree", sql=plan.sql)
        found[number] = nearest
    return found


def _is_total(total: Plan, part: Plan, schema: Schema, *, first: bool) -> bool:
    fewer, more = set(total.question.keys), set(part.question.keys)
    same_rows = (total.question.where, total.question.persons) == (
        part.question.where,
        part.question.persons,
    )
    if total.limits or part.limits or not same_rows or not fewer <= more:
        return False
    if fewer == more and not first:
        return False
    seen = seen_by(part.question, schema)
    return all(seen.column(key.column).missing is not None for key in more - fewer)


def cells_of(total: Sequence[Key], part: Sequence[Key]) -> list[list[int]]:
    """For each cell of the total the cells of its parts, by number: the last key runs fastest."""
    places = [part.index(key) for key in total]
    number = {place: i for i, place in enumerate(product(*(range(key.cells) for key in total)))}
    found: list[list[int]] = [[] for _ in number]
    for cell, place in enumerate(product(*(range(key.cells) for key in part))):
        found[number[tuple(place[i] for i in places)]].append(cell)
    return found
