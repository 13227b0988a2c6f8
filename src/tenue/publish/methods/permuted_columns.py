"""Confidential values that are permuted within groups, and the attack that reassigns them.

`swap`, `anatomy` and `t-close` permute values. An intruder who learns from the release how columns
relate may reassign some of them to their records. The attack is tried on every method that forms
groups: within an equivalence class, too, only the assignment of values to people is hidden.
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
    "It does not hide that a person is in the release: columns that are not confidential are "
    "published unchanged."
)
VOIDED = (
    "It does not bound the probability by 1/k, against an intruder who knows the method, in groups "
    "that were formed or enlarged for l or t: these depend on confidential values."
)
GUESS = (
    "It does not protect a value that an intruder can guess from what else is known about a "
    "person: they may recognise it among the values of the group."
)
LAST = (
    "It does not protect against an intruder who knows the values of all other members of a group: "
    "the remaining value is the last member's."
)

_ANY = 1 << 62

Grouping = Callable[[str, Mapping[str, Cells]], Numbers]
"""The groups within which a column is permuted, given the table with earlier columns permuted."""


def moved(
    cells: Mapping[str, Cells],
    confidential: tuple[str, ...],
    grouping: Grouping,
    source: Source,
    persons: Numbers | None = None,
) -> tuple[dict[str, Cells], dict[str, Numbers]]:
    """The table after each confidential column was permuted within its groups.

    Guarantee
        For each column a fresh permutation, uniform within every group and independent of those of
        the other columns. Columns that are not confidential stay unchanged, and so does the
        multiset of values of each column in each group.

    Parameters
        confidential: the columns that are permuted, in this order.
        grouping: sees columns that were permuted earlier as they are then, as in the thesis,
            section 3.3.2.
        persons: the person of each row; values then move between persons, and a person's rows must
            agree in each confidential column. None if each row is a person.

    Source
        Thesis, section 3.3, with a permutation of its own for each column.
    """
    table = dict(cells)
    groups = {}
    for name in confidential:
        groups[name] = grouping(name, table)
        table[name] = table[name].take(givers(groups[name], source, persons))
    return table, groups


def givers(labels: Numbers, source: Source, persons: Numbers | None = None) -> Numbers:
    """For each row, the row of its group whose values it receives; the same for all of a person.

    Guarantee
        Uniform over all permutations of the persons of each group.
    """
    if persons is None:
        return permuted(labels, source)
    first = np.unique(persons, return_index=True)[1]  # one row of each person stands for all
    found: Numbers = first[permuted(labels[first], source)][persons]
    return found


class Seen(NamedTuple):
    """A column before and after, and the groups within which it was permuted, row by row; None if
    it was not."""

    before: Cells
    after: Cells
    labels: Numbers | None


def reassigned(
    method: Method,
    found: Assessment,
    original: Original,
    before: Mapping[str, Cells],
    made: Published,
    source: Source,
    *,
    together: bool = True,
) -> Assessment:
    """`undone` for the released columns of a method, given as they were before permutation."""
    columns = {
        name: Seen(before[name], made.cells[name], made.groups.get(name))
        for name in made.cells
        if name in method.released
    }
    return undone(found, original, columns, source, together=together)


def undone(
    found: Assessment,
    original: Original,
    columns: Mapping[str, Seen],
    source: Source,
    *,
    together: bool = True,
) -> Assessment:
    """Adds the share of values that an intruder reassigns to their original records.

    Parameters
        columns: what the intruder sees.
        together: whether one partition applies to all columns. In a large table, the attack is then
            tried on some groups, drawn at random.
    """
    if found.risk is None:
        return found
    units = _drawn(original, columns, source) if together else slice(None)
    shown = {name: _shown(original, seen, units) for name, seen in columns.items()}
    risk = replace(
        found.risk,
        rematched=MappingProxyType(rematched(shown)),
        in_all_groups=None if together else cells_share(shown),
    )
    return found._replace(risk=risk)


def within_classes(
    method: Method, found: Assessment, original: Original, made: Published, source: Source
) -> Assessment:
    """`undone` for a table whose rows share quasi-identifiers in each group and are true otherwise.

    The intruder knows everybody's quasi-identifiers, and so their groups, but not whose a row of a
    group is: to them, its confidential values are in random order.
    """
    cells, labels = original.cells, next(iter(made.groups.values()))
    rows = givers(labels, source, original.persons)
    seen = {name: Seen(cells[name], cells[name], None) for name in method.quasi}
    for name in method.confidential:
        seen[name] = Seen(cells[name], cells[name].take(rows), labels)
    return undone(found, original, seen, source)


class Sides(NamedTuple):
    """Rows before and after some columns were permuted within groups.

    label: the group of rows, the same before and after.
    sizes: how many rows each group has.
    """

    columns: Collection[str]
    before: Passes
    after: Passes
    label: Callable[[Numbers], Numbers]
    sizes: Numbers


def undone_in_passes(
    found: Assessment,
    cells: CellsOf,
    names: Collection[str],
    partitions: Sequence[Sides],
    width: int,
    source: Source,
) -> Assessment:
    """As `undone`, for rows that are read in passes, each of which is a unit.

    In a large table it is tried on some groups of each partition, drawn at random, with all their
    rows; columns that were permuted in other groups are then taken as they are shown.

    Parameters
        cells: the columns of rows.
        names: the released columns.
        width: how many numbers of a row these need.
    """
    if found.risk is None:
        return found
    restored: dict[str, Rematched] = {}
    steps = []
    for sides in partitions:
        rows, groups = _some_groups(sides, width, source)
        listed = ", ".join(sides.columns)
        if not groups:
            text = f"{listed}: every group has more than {MOST_LINKED:,} rows"
            steps.append(Step("not measured", f"reassignment of {text}"))
            continue
        whole = len(rows[0]) == sides.before.rows
        true, shown = cells(rows[0]), cells(rows[1])
        seen = {name: Seen(true[name], shown[name], None) for name in names}
        for part in partitions if whole else [sides]:
            labels = part.label(rows[0])
            seen |= {name: seen[name]._replace(labels=labels) for name in part.columns}
        attacked = undone(found, Original(true, None, len(rows[0])), seen, source, together=False)
        assert attacked.risk is not None  # noqa: S101 - there was one
        restored |= attacked.risk.rematched
        if whole:
            break
        drawn = f"{groups:,} of {sides.sizes.size:,} groups drawn at random"
        text = f"reassignment of {listed}: measured on {len(rows[0]):,} rows of {drawn}"
        steps.append(Step("rematched", text))
    risk = replace(found.risk, rematched=MappingProxyType(restored))
    return found._replace(risk=risk, steps=(*found.steps, *steps))


def _some_groups(sides: Sides, width: int, source: Source) -> tuple[tuple[Numbers, Numbers], int]:
    """All rows of some groups, before and after, and how many groups these are: `MOST_LINKED` rows
    at most, so larger groups are never drawn."""
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
    """The units of whole groups drawn at random, about `MOST_LINKED`."""
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
    """A published column as the intruder sees it, one row of each person."""
    true, after = (original.of_persons(_line(cells))[some] for cells in (seen.before, seen.after))
    groups = None
    if seen.labels is not None:
        labels = original.of_persons(seen.labels)[some]
        groups = np.unique(labels, return_inverse=True)[1].reshape(-1)
    return PublishedColumn(true, after, groups, ordered=not without_order(seen.before.column))


def _line(column: Cells) -> NDArray[np.float64]:
    """Each value as a number, from 0; the median where it is missing."""
    line = np.zeros(column.size)
    present = column.numbers[column.present]
    if present.size:
        line[column.present] = present - present.min()
        if line.max() > WHOLE:  # ranks distinguish what doubles would not
            line[column.present] = np.unique(present, return_inverse=True)[1].reshape(-1)
        line[~column.present] = np.median(line[column.present])
    return line


def without_order(column: Column) -> bool:
    """Whether a column has no order, so that groups of similar values are homogeneous."""
    flat = isinstance(column, Category) and isinstance(column.stated, tuple)
    return flat or isinstance(column, Boolean)


def check_one_value_each(original: Original, confidential: tuple[str, ...]) -> None:
    """Refuses persons who have several values of a confidential column."""
    for name in confidential:
        if varies(original, original.cells[name]):
            raise refuse("publish.person-swap-values-vary", column=name)


def varies(original: Original, column: Cells) -> bool:
    """Whether some person has several values of a column."""
    own = original.of_rows(original.of_persons(column.numbers))
    return bool((column.numbers != own).any())
