"""What is kept of each person for a question, from schema, question and price alone."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from ...engine.request import People
from ...errors import refuse
from ...schema import Schema
from ...schema.table import RECORD
from ..aggregates.strategy import Setting
from ..question import Aggregate, Question

WORTH = 2
"""Nobody is cut if the noise is so many times larger at most."""
_HALF = Fraction(1, 2)


def check_limited(schema: Schema) -> None:
    """Refuses questions about people who may have any number of rows."""
    if schema.unit != RECORD and schema.rows_per_unit is None:
        raise refuse("ask.rows-per-unit-missing", name=schema.name, unit=schema.unit)


def kept_rows(schema: Schema) -> People | None:
    """What is kept of each person where rows are counted, as the schema states it; None if every
    record is a unit."""
    if schema.unit == RECORD:
        return None
    return People(schema.unit, schema.rows_per_unit or 1, schema.groups_per_unit)


def people_of(question: Question, schema: Schema) -> People | None:
    """What is kept of each person whatever the price is; None if every record is a unit.

    Who is counted once in each group loses nothing by a limit of rows. Where nothing limits groups,
    or people are all that is counted, nobody is cut if that at most doubles how far one person
    moves the counts; else as many groups are kept of each as there may be rows.
    """
    kept = kept_rows(schema)
    if kept is None or question.persons is not None:  # one value of a person needs no limit
        return None
    rows, groups = kept.rows, kept.groups
    counts_people = [aggregate.kind == "units" for aggregate in question.aggregates()]
    if any(counts_people) and (groups is None or all(counts_people)):
        limit = groups or rows
        groups = None if question.cells <= WORTH * limit else limit
    return People(schema.unit, rows, groups)


def ways_to_keep(question: Question, schema: Schema) -> list[People | None]:
    """What may be kept of each person: first all of their groups, then as many as are stated.

    Of the two that is taken whose error `spares` says. One way if no group can be cut.
    """
    usual = people_of(question, schema)
    if usual is None:
        return [None]
    counts_people = any(aggregate.kind == "units" for aggregate in question.aggregates())
    limit = schema.groups_per_unit or (usual.rows if counts_people else None)
    if limit is None or question.cells <= limit:
        return [usual]
    return [People(usual.unit, usual.rows, groups) for groups in (None, limit)]


def spares(
    whole: Mapping[Aggregate, float], cut: Mapping[Aggregate, float], *, setting: Setting
) -> bool:
    """Whether to cut no group of anybody is worth its error: at most twice that of cutting.

    Half a step of the answer is allowed besides, which rounding hides. What is cut is in no error
    that is told, so noise that is, is preferred to it.
    """
    return all(
        size <= WORTH * cut[a] + float(_HALF * _step(a, setting)) for a, size in whole.items()
    )


def _step(aggregate: Aggregate, setting: Setting) -> Fraction:
    stated = setting.ranges.get(aggregate.column or "")
    return Fraction(1) if stated is None or aggregate.kind == "count" else stated.grid
