"""Which rows and groups of each person count, from schema, question and price alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from ...engine.request import People
from ...errors import refuse
from ...schema import Schema
from ...schema.table import RECORD
from ..aggregates.strategy import Setting
from ..question import Aggregate, Question

WORTH = 2
"""Groups are not truncated where the noise is at most so many times larger without a limit."""


def check_limited(schema: Schema) -> None:
    """Refuses questions about people who may have any number of rows."""
    if schema.unit != RECORD and schema.rows_per_unit is None:
        raise refuse("ask.rows-per-unit-missing", name=schema.name, unit=schema.unit)


def kept_rows(schema: Schema) -> People | None:
    """The contribution bounds that the schema states; None if every record is a unit."""
    if schema.unit == RECORD:
        return None
    return People(schema.unit, schema.rows_per_unit or 1, schema.groups_per_unit)


def people_of(question: Question, schema: Schema) -> People | None:
    """The contribution bounds at any price; None if every record is a unit.

    A limit of rows takes nothing from a person who counts once in each group. Where nothing limits
    groups, or only persons are counted, groups are not truncated if that at most doubles how far
    one person moves the counts; else the limit of groups is that of rows.
    """
    kept = kept_rows(schema)
    if kept is None or question.persons is not None:  # one value of a person needs no limit
        return None
    counts_people = [aggregate.kind == "units" for aggregate in question.aggregates()]
    if any(counts_people) and (kept.groups is None or all(counts_people)):
        limit = kept.groups or kept.rows
        return replace(kept, groups=None if question.cells <= WORTH * limit else limit)
    return kept


def ways_to_keep(question: Question, schema: Schema) -> list[People | None]:
    """The admissible contribution bounds: first all groups of a person, then as many as stated.

    `spares` decides between the two. One if no group can be truncated.
    """
    usual = people_of(question, schema)
    if usual is None:
        return [None]
    counts_people = any(aggregate.kind == "units" for aggregate in question.aggregates())
    limit = schema.groups_per_unit or (usual.rows if counts_people else None)
    if limit is None or question.cells <= limit:
        return [usual]
    return [replace(usual, groups=groups) for groups in (None, limit)]


def spares(
    whole: Mapping[Aggregate, float], cut: Mapping[Aggregate, float], *, setting: Setting
) -> bool:
    """Whether counting all groups is worth its error: at most twice that of truncating them.

    Half a step of the answer is allowed besides, which rounding hides. Reported errors contain the
    noise and not the truncation, so noise is preferred.
    """

    def step(aggregate: Aggregate) -> Fraction:
        stated = setting.ranges.get(aggregate.column or "")
        return Fraction(1) if stated is None or aggregate.kind == "count" else stated.grid

    return all(size <= WORTH * cut[a] + float(step(a) / 2) for a, size in whole.items())
