"""The columns that a question sees: those declared, and those that it computes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction

from ..engine.formula import Computed, DateField, Ends, Steps, check_range, leaf_ends, never_missing
from ..engine.request import Bin, Group, Key
from ..schema import Bounded, Category, Column, Named, Number, Schema, Table
from ..schema.named import folded
from ..taxonomy import Taxonomy
from .question import ComputedColumn, GroupingSets, Persons, Question

MOST_TOGETHER = 64
"""The most columns that questions compute which are asked as one."""


def column_of(computed: ComputedColumn, table: Table) -> Column:
    """A computed column as if it were declared.

    What it may be follows from the bounds of the columns it is made of. It is never missing if
    none of them is. One that has the same value wherever it is there may be 0, too: a mean needs
    two ends, and a sum of it moves as far either way.
    """
    if computed.labels:
        words = tuple(str(label) for label in computed.labels)
        return Category(
            name=computed.name, role="other", taxonomy=Taxonomy.flat(words), stated=words
        )

    def ends(leaf: Steps | DateField) -> Ends:
        return leaf_ends(table.column(leaf.column), leaf)

    low, high = check_range(computed.formula, ends)
    if low == high:
        low, high = min(low, 0), max(high, 0) or (1 if low == 0 else 0)
    there = never_missing(computed.formula, lambda name: table.column(name).missing is not None)
    grid = computed.grid
    return Number(
        name=computed.name,
        role="other",
        missing=low * grid if there else None,
        low=low * grid,
        high=high * grid,
        grid=grid,
    )


def person_columns(persons: Persons) -> Named[Column]:
    """The columns of a table that has one row for each person."""
    found = []
    for value, grid in zip(persons.units.values, persons.grids, strict=True):
        ends = value.low * grid, value.high * grid
        never = Fraction(0) if value.kind in ("rows", "present") else None
        column = Number(
            name=value.name, role="other", low=ends[0], high=ends[1], grid=grid, missing=never
        )
        found.append((value.name, column))
    return Named(found)


def seen_by(question: Question | GroupingSets, schema: Schema) -> Schema:
    """The schema with the columns that the question computes, of rows or of persons."""
    if not question.computed and question.persons is None:
        return schema
    table = schema
    if question.persons is not None:
        table = replace(table, columns=person_columns(question.persons))
    return with_columns(table, question.computed)


def with_columns(schema: Schema, several: Iterable[ComputedColumn]) -> Schema:
    """The schema with computed columns, each of which may be made of those before it."""
    for computed in several:
        entry = (computed.name, column_of(computed, schema))
        schema = replace(schema, columns=Named([*schema.columns.items(), entry]))
    return schema


def computed_by(questions: Mapping[int, Question]) -> tuple[list[int], list[ComputedColumn]]:
    """The numbers of the questions that may be asked as one, and all columns that these compute.

    What a column is made of comes before it. A name means one column: a question that means
    another by it stays by itself, and so do all that compute columns if these are too many.
    """
    known: dict[str, ComputedColumn] = {}
    found = []
    for number, question in questions.items():
        own = {folded(one.name): one for one in question.computed}
        if all(known.get(name, one) == one for name, one in own.items()):
            known |= own
            found.append(number)
    if len(known) > MOST_TOGETHER:
        return [number for number in found if not questions[number].computed], []
    return found, list(known.values())


def seen_together(several: Iterable[ComputedColumn], schema: Schema) -> Schema:
    """The schema with computed columns in whole steps, as an engine sees them: names have none."""
    return with_columns(schema, (replace(one, labels=()) for one in several))


def asked_of(question: Question) -> tuple[Computed, ...]:
    """What an engine is asked to compute."""
    return engine_columns(question.computed)


def engine_columns(several: Iterable[ComputedColumn]) -> tuple[Computed, ...]:
    """Computed columns, as an engine is asked for them."""
    return tuple(Computed(one.name, one.formula) for one in several)


def every_value(column: Column) -> Key:
    """The key that tells all values of a column apart."""
    if isinstance(column, Bounded):
        low = int(column.low / column.grid) if isinstance(column, Number) else 0
        return Bin(column.name, 1, low, column.steps + 1)
    return Group(column.name, len(column.categories) if isinstance(column, Category) else 2)
