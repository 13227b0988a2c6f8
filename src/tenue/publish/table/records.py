"""Columns with a schema as records that can be partitioned."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ...arguments import checked_call
from ...errors import nearest, refuse
from ...evaluate.one_table.cell_equality import word_codes
from ...schema import Bounded, Category, Column, Identifier, Schema
from ..partition.individual_ranking import Classes
from ..partition.mixed_records import Meaning, Records, Semantic
from .cells import Cells, Numbers
from .input_table import read_original

MOST_CORNERS = 32
"""A flat list of more categories than this is compared as a taxonomy of one level."""


@checked_call
def records(table: object, schema: Schema, columns: Sequence[str] | None = None) -> Records:
    """The records of a table, as `mdav` and `v_mdav` compare them: numbers, dates and categories
    by their declared domains (equation 6.7).

    Parameters
        table: a path or a data frame, as for `tn.publish`.
        schema: its declaration.
        columns: which columns count; None for the quasi-identifiers.

    Example
        >>> schema = Schema.from_dict({
        ...     "table": {"name": "t", "unit": "record", "neighbours": "replace"},
        ...     "columns": {"age": {"type": "number", "bounds": [0, 100]},
        ...                 "sex": {"type": "category", "categories": ["f", "m"]}}})
        >>> import pyarrow
        >>> people = pyarrow.table({"age": [20, 70], "sex": ["f", "m"]})
        >>> records(people, schema, ["age", "sex"]).coordinates.round(2).tolist()
        [[0.2, 0.71, 0.0], [0.7, 0.0, 0.71]]

    Source
        Thesis, section 6.3.6.
    """
    if columns is None:
        names = [column.name for column in schema.quasi_identifiers]
    else:
        names = [schema.column(name).name for name in columns]
    hidden = [name for name in names if isinstance(schema.columns[name], Identifier)]
    if not names or hidden:
        wrong = f"`{hidden[0]}` is an identifier" if hidden else "There is no column to compare"
        near = nearest(hidden[0] if hidden else "", schema.columns)
        raise refuse("publish.nothing-to-compare", wrong=wrong, nearest=near)
    original = read_original(table, schema)
    cells = [original.cells[name].filled() for name in names]
    for column in cells:
        if not column.complete:
            raise refuse("publish.published-values-missing", column=column.name)
    return records_of(cells, original.persons)


def records_of(cells: Sequence[Cells], persons: Numbers | None = None) -> Records:
    """One record for each row, or for each person: the centre of the person's rows."""
    semantic = tuple(_semantic(column, persons) for column in cells if _has_meaning(column))
    blocks = [_coordinates(column) for column in cells if not _has_meaning(column)]
    coordinates = np.concatenate([np.empty((cells[0].size, 0)), *blocks], axis=1)
    if persons is not None:
        rows = np.bincount(persons)
        sums = [np.bincount(persons, weights=part) / rows for part in coordinates.T]
        coordinates = np.array(sums).T.reshape(rows.size, coordinates.shape[1])
    return Records(np.ascontiguousarray(coordinates), semantic)


def classes_of(column: Cells) -> Classes:
    """The different values of a column without missing values, in order, on a line.

    A number lies at itself, a category at its depth-first position: neighbours in that order are as
    far apart on the line as in the taxonomy, so that values close on the line are close in meaning.
    Categories that differ in spelling only, as flu and Flu, are one value.
    """
    if not isinstance(column.column, Category):
        values, codes = np.unique(column.numbers, return_inverse=True)
        # from the least one on, so that values beyond 2^53 keep their distances
        return Classes(codes.astype(np.int64).reshape(-1), (values - values[0]).astype(np.float64))
    import pyarrow

    order, distance = column.column.taxonomy.depth_first, column.column.taxonomy.rational_distance
    steps = (float(distance(*pair)) for pair in itertools.pairwise(order))
    positions = dict(zip(order, itertools.accumulate(steps, initial=0.0), strict=True))
    first = np.array([positions[label] for label in column.labels])
    words = word_codes(pyarrow.array(column.labels), column.column)
    for word in np.unique(words):
        first[words == word] = first[words == word].min()
    line, codes = np.unique(first[column.numbers], return_inverse=True)
    return Classes(codes.astype(np.int64).reshape(-1), line)


def order_of(column: Column) -> Callable[[Numbers], Numbers]:
    """The function from numbers of a `Coding` to positions in the order of `classes_of`."""
    if isinstance(column, Bounded):
        return lambda numbers: numbers
    empty = Cells(column, np.zeros(0, np.int64), np.zeros(0, np.bool_), None)
    every = np.arange(empty.last + 1)
    codes = classes_of(Cells(column, every, np.ones(every.size, np.bool_), None)).codes
    return lambda numbers: codes[numbers - 1]


def _has_meaning(cells: Cells) -> bool:
    column = cells.column
    if not isinstance(column, Category):
        return False
    return not isinstance(column.stated, tuple) or len(column.categories) > MOST_CORNERS


def _coordinates(column: Cells) -> NDArray[np.float64]:
    if isinstance(column.column, Category):
        corners = np.eye(len(column.labels)) * math.sqrt(0.5)
        return corners[column.numbers]
    span = column.last - column.first if isinstance(column.column, Bounded) else 1
    return ((column.numbers - column.first) / span)[:, np.newaxis]


def _semantic(column: Cells, persons: Numbers | None) -> Semantic:
    assert isinstance(column.column, Category)  # noqa: S101 - the caller asks `_has_meaning`
    taxonomy = column.column.taxonomy
    number = {concept: i for i, concept in enumerate(taxonomy.concepts)}
    attached = np.array([number[taxonomy.concept_of(label)] for label in column.labels])
    occurring, codes = np.unique(attached[column.numbers], return_inverse=True)
    found = Semantic(Meaning(taxonomy, occurring), codes.astype(np.int64).reshape(-1))
    return found if persons is None else found.centres(persons)
