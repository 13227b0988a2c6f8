"""The columns that a question sees: those declared, and those that it computes."""

from __future__ import annotations

from dataclasses import replace

from ..engine.formula import Computed, DateField, Ends, Steps, check_range, leaf_ends, never_missing
from ..schema import Category, Column, Named, Number, Schema, Table
from ..taxonomy import Taxonomy
from .question import ComputedColumn, Question


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


def seen_by(question: Question, schema: Schema) -> Schema:
    """The schema with the columns that the question computes."""
    if not question.computed:
        return schema
    table = schema
    for computed in question.computed:
        entry = (computed.name, column_of(computed, table))
        table = replace(table, columns=Named([*table.columns.items(), entry]))
    return table


def asked_of(question: Question) -> tuple[Computed, ...]:
    """What an engine is asked to compute."""
    return tuple(Computed(one.name, one.formula) for one in question.computed)
