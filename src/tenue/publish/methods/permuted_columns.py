"""Confidential values that change places inside groups: how, and what that leaves open.

`swap`, `anatomy` and `t-close` move values so. Whoever sees in the release how columns relate may
put some of them back; how far one such intruder comes is tried of every method that has groups, for
in a group of look-alikes too it is only not said whose value is whose.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...engine.contract import Passes
from ...errors import refuse
from ...evaluate.two_tables.swap_reidentification import (
    PublishedColumn,
    Rematched,
    cells_share,
    rematched,
)
from ...noise.source import Source
from ...schema import Boolean, Category, Column
from ..assessment import MOST_LINKED, Assessment, Step
from ..partition.exact_means import WHOLE
from ..permute import permuted, shuffled
from ..table.cells import Cells, Numbers
from ..table.input_table import Original
from .contract import Method, Published
from .streamed import CellsOf

PRESENCE = (
    "That a person is in the release is not hidden: columns that are not confidential are "
    "published as they are."
)
VOIDED = (
    "Groups that were formed or grew for l or t depend on confidential values, so in them 1/k is "
    "not promised against whoever knows the method."
)
GUESS = (
    "Whoever can guess a value from what else is known of a person may recognise it among the "
    "values of the group."
)
LAST = "Whoever knows the values of all other members of a group knows the last one."

_ANY = 1 << 62

Grouping = Callable[[str, Mapping[str, Cells]], Numbers]
"""The groups in which a column's values change places, given the table as it is by then."""


def moved(
    cells: Mapping[str, Cells],
    confidential: tuple[str, ...],
    grouping: Grouping,
    source: Source,
    persons: Numbers | None = None,
) -> tuple[dict[str, Cells], dict[str, Numbers]]:
    """The table after each confidential column was permuted inside its groups.

    Guarantee
        For each column a fresh permutation, uniform inside every group and independent of those of
        the other columns. Columns that are not confidential stay as they are, and so does the
        multiset of values of each column in each group.

    Parameters
        cells: the columns, by name.
        confidential: which of them are permuted, in this order.
        grouping: gives the groups of a column. It sees the columns permuted before it as they are
            by then, as in the thesis, section 3.3.2.
        source: where uniform words come from.
        persons: whose each row is; values then move between persons, and a person's rows must agree
            in each confidential column. None if each row is a person.

    Source
        Thesis, section 3.3, with a permutation of its own for each column.
    """
    table = dict(cells)
    groups = {}
    for name in confidential:
        labels = grouping(name, table)
        groups[name] = labels
        table[name] = table[name].take(givers(labels, source, persons))
    return table, groups


def givers(labels: Numbers, source: Source, persons: Numbers | None = None) -> Numbers:
    """For each row, the row of its own group whose values it gets: all rows of a person the same.

    Guarantee
        Uniform over all permutations of the persons of each group.
    """
    if persons is None:
        return permuted(labels, source)
    first = np.unique(persons, return_index=True)[1]  # one row of each person stands for all
    found: Numbers = first[permuted(labels[first], source)][persons]
    return found


class Seen(NamedTuple):
    """A column before and after, and the groups in which its values changed places, row by row;
    None if they did not."""

    before: Cells
    after: Cells
    labels: Numbers | None


def as_moved(
    before: Mapping[str, Cells], made: Published, names: Collection[str]
) -> dict[str, Seen]:
    """What an intruder sees of a table in which confidential values changed places.

    Parameters
        before: the columns as they were.
        names: the columns that leave.
    """
    return {
        name: Seen(before[name], column, made.groups.get(name))
        for name, column in made.cells.items()
        if name in names
    }


def undone(
    found: Assessment,
    original: Original,
    columns: Mapping[str, Seen],
    source: Source,
    *,
    together: bool = True,
) -> Assessment:
    """What was found, with how much of values inside groups an intruder puts back.

    Parameters
        columns: what he sees.
        together: whether one partition holds for all columns. Of a large table he then looks at
            some groups, drawn at random.
    """
    if found.risk is None:
        return found
    some = _drawn(original, columns, source) if together else slice(None)
    shown = {name: _shown(original, seen, some) for name, seen in columns.items()}
    told = replace(
        found.risk,
        rematched=MappingProxyType(rematched(shown)),
        in_all_groups=None if together else cells_share(shown),
    )
    return found._replace(risk=told)


def among_look_alikes(
    method: Method, found: Assessment, original: Original, made: Published, source: Source
) -> Assessment:
    """The same of a table whose rows look alike in each group, and are true otherwise.

    The intruder has the quasi-identifiers of everybody, and so their groups. Whose a row of a group
    is he does not know: to him its confidential values are in random order.
    """
    cells, labels = original.cells, next(iter(made.groups.values()))
    rows = givers(labels, source, original.persons)
    seen = {name: Seen(cells[name], cells[name], None) for name in method.quasi}
    for name in method.confidential:
        seen[name] = Seen(cells[name], cells[name].take(rows), labels)
    return undone(found, original, seen, source)


class Sides(NamedTuple):
    """Rows before and after values changed places inside groups, row by row.

    columns: those that changed places.
    label: the group of rows, before and after the same.
    sizes: how many rows each group has.
    """

    columns: Collection[str]
    before: Passes
    after: Passes
    label: Callable[[Numbers], Numbers]
    sizes: Numbers


def undone_in_passes(
    found: Assessment,
    before: CellsOf,
    after: CellsOf,
    names: Collection[str],
    moved: Sequence[Sides],
    width: int,
    source: Source,
) -> Assessment:
    """As `undone`, of rows that are read in passes, each of which is a unit.

    Of a large table it is tried on some groups of each partition, drawn at random, all rows of
    each; what changed places in other groups is then taken as it is shown.

    Parameters
        before, after: the columns of rows.
        names: the columns that leave.
        moved: the partitions.
        width: how many numbers a row has that these need.
    """
    if found.risk is None:
        return found
    restored: dict[str, Rematched] = {}
    steps = []
    for sides in moved:
        rows, many = _some_groups(sides, width, source)
        listed = ", ".join(sides.columns)
        if not many:
            text = f"{listed}: every group has more than {MOST_LINKED:,} rows"
            steps.append(Step("not measured", f"how much an intruder puts back of {text}"))
            continue
        whole = len(rows[0]) == sides.before.rows
        true, shown = before(rows[0]), after(rows[1])
        seen = {name: Seen(true[name], shown[name], None) for name in names}
        for part in moved if whole else [sides]:
            labels = part.label(rows[0])
            seen |= {name: seen[name]._replace(labels=labels) for name in part.columns}
        attacked = undone(found, Original(true, None, len(rows[0])), seen, source, together=False)
        assert attacked.risk is not None  # noqa: S101 - there was one
        restored |= attacked.risk.rematched
        if whole:
            break
        of = f"{len(rows[0]):,} rows of {many:,} of {sides.sizes.size:,} groups drawn at random"
        steps.append(Step("rematched", f"what an intruder puts back of {listed}: {of}"))
    told = replace(found.risk, rematched=MappingProxyType(restored))
    return found._replace(risk=told, steps=(*found.steps, *steps))


def _some_groups(sides: Sides, width: int, source: Source) -> tuple[tuple[Numbers, Numbers], int]:
    """All rows of groups that are drawn at random, before and after, and how many groups these
    are: about as many rows as an intruder's search is tried on. No group is larger than that."""
    small = np.flatnonzero(sides.sizes <= MOST_LINKED)
    order = small[shuffled(small.size, source)]
    taken = order[np.cumsum(sides.sizes[order]) <= MOST_LINKED]
    chosen = np.zeros(sides.sizes.size, np.bool_)
    chosen[taken] = True
    rows = []
    for passes in (sides.before, sides.after):
        with passes.map(_of_groups(chosen, sides.label, width), [_ANY] * width) as found:
            rows.append(np.concatenate(list(found.batches())))
    return (rows[0], rows[1]), taken.size


def _of_groups(
    chosen: NDArray[np.bool_], label: Callable[[Numbers], Numbers], width: int
) -> Callable[[Numbers], Numbers]:
    return lambda rows: rows[chosen[label(rows)]][:, :width]


def _drawn(original: Original, columns: Mapping[str, Seen], source: Source) -> Numbers | slice:
    """The units of whole groups, about as many as an intruder's search is tried on."""
    labels = next((seen.labels for seen in columns.values() if seen.labels is not None), None)
    if labels is None:
        return slice(None)
    groups = original.of_persons(labels)
    if groups.size <= MOST_LINKED:
        return slice(None)
    order = shuffled(int(groups.max()) + 1, source)
    sizes = np.bincount(groups)[order]
    chosen = np.zeros(order.size, np.bool_)
    chosen[order[np.cumsum(sizes) - sizes < MOST_LINKED]] = True
    found: Numbers = np.flatnonzero(chosen[groups])
    return found


def _shown(original: Original, seen: Seen, some: Numbers | slice) -> PublishedColumn:
    """A published column as an intruder sees it, one row of each person."""
    true, after = (original.of_persons(_line(cells))[some] for cells in (seen.before, seen.after))
    groups = None
    if seen.labels is not None:
        labels = original.of_persons(seen.labels)[some]
        groups = np.unique(labels, return_inverse=True)[1].reshape(-1)
    return PublishedColumn(true, after, groups, ordered=not without_order(seen.before.column))


def _line(column: Cells) -> NDArray[np.float64]:
    """Each value as a place on a line; the middle where it is missing."""
    line = np.zeros(column.size)
    present = column.numbers[column.present]
    if present.size:
        line[column.present] = present - present.min()
        if line.max() > WHOLE:  # ranks keep apart what doubles would not
            line[column.present] = np.unique(present, return_inverse=True)[1].reshape(-1)
        line[~column.present] = np.median(line[column.present])
    return line


def without_order(column: Column) -> bool:
    """Whether the values of a column are in no order: groups of similar ones hold one each."""
    flat = isinstance(column, Category) and isinstance(column.stated, tuple)
    return flat or isinstance(column, Boolean)


def check_one_value_each(original: Original, confidential: tuple[str, ...]) -> None:
    """Refuses persons who have several values of a confidential column."""
    for name in confidential:
        column = original.cells[name]
        own = original.of_rows(original.of_persons(column.numbers))
        if (column.numbers != own).any():
            raise refuse("publish.person-swap-values-vary", column=name)
