"""From the rows as they are to the rows as they leave: prepare, partition, publish."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import refuse
from ..evaluate.group.meaning import word_codes
from ..noise.source import Source
from ..schema import Category
from .method.method import Method
from .partition.grow import Wanted, grown, single_valued
from .partition.individual_ranking import individual_ranking
from .partition.mdav import mdav
from .partition.mixed import Mixed, Records
from .partition.partition import Partition
from .partition.plain import Euclidean, Space
from .partition.v_mdav import GAIN, v_mdav
from .publish.centroid import centroids
from .publish.permute import shuffled
from .publish.swap import swap
from .table.cells import Cells, Numbers
from .table.original import Original
from .table.records import rank_of, records_of

EVERY = ""
"""The key of groups that hold for every column."""


@dataclass(frozen=True, eq=False)
class Protected:
    """The columns as they leave, row by row beside the original, and the groups they came from.

    groups: the group of each row; by confidential column where each has its own.
    """

    cells: Mapping[str, Cells]
    groups: Mapping[str, Numbers]


def prepared(original: Original, method: Method, source: Source) -> tuple[Original, int]:
    """The rows that can be published, in random order, and how many were left out.

    A missing value becomes what the schema declares for it. Where the schema declares nothing, the
    row is left out if the method must read or move that value, and else keeps its blank. Rows are
    shuffled first, so that equal distances are not decided by the order of a sorted file.
    """
    cells = {name: column.filled() for name, column in original.cells.items()}
    keep = np.ones(original.size, dtype=bool)
    for name in method.quasi + method.confidential:
        if not cells[name].present.any():
            raise refuse(
                "microdata.has-no-value-in-any-row", column=name, role=cells[name].column.role
            )
    for name in method.compared:
        keep &= cells[name].present
    full = Original(cells, original.persons, original.size)
    rows = np.flatnonzero(keep)
    if rows.size == 0:
        raise refuse("microdata.every-row-has-missing-value")
    left_out = original.size - int(rows.size)
    full = full.take(rows[shuffled(int(rows.size), source)])
    _check_enough(full, method)
    for name in method.quasi + method.confidential:
        _check_varies(full.cells[name])
    return full, left_out


def protected(original: Original, method: Method, source: Source) -> Protected:
    """The table after the method; refused if some group would tell a sensitive value."""
    if method.name == "microaggregate":
        labels = _by_quasi_identifiers(original, method)
        _check_homogeneous(original, method, dict.fromkeys(method.confidential, labels))
        cells = dict(original.cells)
        for name in method.quasi:
            cells[name] = centroids(cells[name], labels)
        return Protected(cells, {EVERY: labels})
    _check_one_value_each(original, method)
    shared = None
    if method.by == "quasi-identifiers":
        shared = _by_quasi_identifiers(original, method)

    def grouping(name: str, table: Mapping[str, Cells]) -> Numbers:
        if shared is not None:
            return shared
        if method.by == "each-confidential":
            line = rank_of(table[name])
            return _of_rows(individual_ranking(_one_each(line, original), method.k[name]), original)
        others = [table[other] for other in method.compared if other != name]
        return _of_rows(mdav(records_of(others, original.persons), method.k[name]), original)

    cells, groups = swap(original.cells, method.confidential, grouping, source, original.persons)
    _check_homogeneous(original, method, groups)
    return Protected(cells, groups)


def _by_quasi_identifiers(original: Original, method: Method) -> Numbers:
    records = records_of([original.cells[name] for name in method.quasi], original.persons)
    if method.by == "v-mdav":
        labels = v_mdav(records, method.least, method.gamma or GAIN).labels
    else:
        labels = mdav(records, method.least).labels
    if method.l is not None or method.t is not None:
        names = method.sensitive or method.confidential
        wanted = [_wanted(original.cells[name], method, original.persons) for name in names]
        labels = grown(_space(records), labels, wanted, original.persons)
    return labels if original.persons is None else labels[original.persons]


def _space(records: Records) -> Space:
    if records.semantic:
        return Mixed(records.coordinates, records.semantic)
    return Euclidean(records.coordinates)


def places(column: Cells) -> Numbers:
    """The place of each value among the different values, in order; -1 where it is missing.

    Categories that differ only in the way they are written, as flu and Flu do, are one value, as
    they are to `check`.
    """
    import pyarrow

    codes = np.full(column.size, -1, np.int64)
    values = column.numbers[column.present]
    if isinstance(column.column, Category):
        values = word_codes(pyarrow.array(column.labels), column.column)[values]
    codes[column.present] = np.unique(values, return_inverse=True)[1].reshape(-1)
    return codes


def _wanted(column: Cells, method: Method, persons: Numbers | None) -> Wanted:
    ordered = not isinstance(column.column, Category)
    return Wanted(column.name, places(column), ordered, method.l, method.t, persons)


def _one_each(values: NDArray[Any], original: Original) -> NDArray[Any]:
    """One value for each person."""
    if original.persons is None:
        return values
    return values[np.unique(original.persons, return_index=True)[1]]


def _of_rows(partition: Partition, original: Original) -> Numbers:
    labels = partition.labels
    return labels if original.persons is None else labels[original.persons]


def _check_enough(original: Original, method: Method) -> None:
    largest = max(method.k.values())
    units = original.size if original.persons is None else int(original.persons.max()) + 1
    if units < largest:
        raise refuse(
            "microdata.there-are-fewer-than-k",
            largest=largest,
            word="rows" if original.persons is None else "persons",
            word2=f"Choose k = {units} at most" if units > 1 else "Publish a larger table",
        )


def _check_varies(column: Cells) -> None:
    values = column.numbers[column.present]
    if values.size and (values == values[0]).all():
        raise refuse(
            "microdata.has-same-value-in-every-row", column=column.name, role=column.column.role
        )


def _check_one_value_each(original: Original, method: Method) -> None:
    if original.persons is None:
        return
    first = np.unique(original.persons, return_index=True)[1]
    for name in method.confidential:
        column = original.cells[name]
        if (column.numbers != column.numbers[first][original.persons]).any():
            raise refuse("microdata.some-persons-have-several-values-of", column=name)


def _check_homogeneous(original: Original, method: Method, groups: Mapping[str, Numbers]) -> None:
    # a wide t allows groups of one value; l of at least 2 does not
    if (method.l or 0) >= 2 or "homogeneous-groups" in method.override:
        return
    for name in method.sensitive:
        if single_valued(places(original.cells[name]), groups[name], original.persons):
            raise refuse(
                "microdata.some-groups-have-one-single-value-of",
                column=name,
                way_out=_way_out(method),
            )


def _way_out(method: Method) -> str:
    """What makes groups of several values: where no group grows for l, other groups."""
    if method.by in ("each-confidential", "other-attributes"):
        return 'Use by="quasi-identifiers" with l=2'
    return "Add l=2"
