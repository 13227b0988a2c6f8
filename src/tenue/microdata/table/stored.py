"""One column of a table that does not fit into memory: groups, and values that change places.

The engine sorts, and puts on disk what does not fit. The sorted column then lies in files that are
walked from both ends inwards, or from one end to the other, so that only the pages around these
places need to be in memory. Everything lies in a private folder that is removed at the end; the
result is one Parquet file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...engine.contract import Ordered
from ...engine.open import open_ordered
from ...engine.source.location import Database, Files, locate
from ...errors import EngineFault, nearest, refuse
from ...noise.source import SYSTEM, Source
from ...number import checked_call, whole
from ..partition.individual_ranking import sorted_mdav
from ..partition.whole_values import cut
from ..permute import permuted

if TYPE_CHECKING:
    import pyarrow


MEMORY = 1 << 30
"""What sorting may hold in memory, in bytes, if nothing else is said."""
LEAST_MEMORY = 128 << 20
BATCH = 1 << 20

Numbers = NDArray[np.int64]


@checked_call
def rank_file(
    table: str | os.PathLike[str],
    column: str,
    k: int,
    *,
    out: str | os.PathLike[str],
    memory: int = MEMORY,
) -> int:
    """Groups of at least `k` similar values of a stored column; returns how many.

    Guarantee
        The groups are those of `individual_ranking` on the column, ties included. The memory that
        is held does not grow with the table, but for pages of files that the system may drop.

    Parameters
        table: the path of Parquet files, or duckdb://file#table.
        column: one of its columns, of finite numbers, none missing.
        k: the least size of a group.
        out: a new Parquet file with one column `group`, a row for each of the table's, in order.
        memory: how many bytes sorting may hold in memory.

    Source
        Thesis, sections 2.8 and 3.3.3.
    """
    return _passed(table, column, k, out, memory, None)


@checked_call
def swap_file(
    table: str | os.PathLike[str],
    column: str,
    k: int,
    *,
    out: str | os.PathLike[str],
    memory: int = MEMORY,
    source: Source = SYSTEM,
) -> int:
    """The values of a stored column after they changed places in groups of similar ones (IR-SWAP).

    Guarantee
        A value is linked to its row with probability at most 1/k, by whoever knows the groups and
        nothing by which some orders are likelier than others: inside each group every order is
        equally likely. The groups are those of `whole_values`: equal values are in one group,
        with at least one other value if there is any. It is no release: nothing is said of other
        columns, and nothing is registered. A group is held in memory, and all rows with one value
        are in one group.

    Parameters
        out: a new Parquet file with the one column, a row for each of the table's, in order.
        source: where uniform words come from.

    The others are those of `rank_file`. Returns how many groups there are.

    Source
        Thesis, section 3.3.3; equal values stay in one group.
    """
    return _passed(table, column, k, out, memory, source)


def _passed(
    table: object, column: object, k: object, out: object, memory: object, source: Source | None
) -> int:
    """Writes the groups of rows or, if a source is given, the values that it swaps inside them."""
    size = whole(k, "k", least=1)
    room = whole(memory, "memory", least=LEAST_MEMORY)
    target = _new_file(out)
    found = locate(table, "table")
    if not isinstance(found, Files | Database) or (
        isinstance(found, Files) and found.kind != "parquet"
    ):
        raise refuse("microdata.unsupported-stored-column")
    try:
        with open_ordered(found, memory=room, batch=BATCH) as ordered:
            name, rows, largest = _taken(ordered, column)
            if rows < size:
                raise refuse("microdata.stored-rows-below-k", k=size)
            places, labels = _grouped(ordered, rows, largest, size, whole=source is not None)
            batches = _batches(places, labels)
            if source is None:
                ordered.write(target, "group", batches)
            else:
                ordered.write(target, name, _swapped(ordered.group(batches), source))
            return int(labels.max()) + 1
    except EngineFault:
        pass
    raise refuse("microdata.stored-column-unreadable")


def _batches(*columns: Numbers) -> Iterator[tuple[Numbers, ...]]:
    for begin in range(0, columns[0].size, BATCH):
        yield tuple(np.array(column[begin : begin + BATCH]) for column in columns)


def _swapped(batches: Iterator[pyarrow.Table], source: Source) -> Iterator[tuple[Any, Any]]:
    """Row and new value, some whole groups at a time."""
    import pyarrow as pa

    rest = None
    for batch in batches:
        part = batch if rest is None else pa.concat_tables([rest, batch]).combine_chunks()
        labels = part.column("label").to_numpy()
        # the last group may go on in the next batch
        whole_groups = int(np.searchsorted(labels, labels[-1]))
        rest = part.slice(whole_groups)
        if whole_groups:
            yield _permuted(part.slice(0, whole_groups), source)
    if rest is not None:
        yield _permuted(rest, source)


def _permuted(part: Any, source: Source) -> tuple[Any, Any]:
    labels = part.column("label").to_numpy()
    giver = permuted(labels - labels[0], source)
    values = part.column("value").take(giver).combine_chunks()
    return part.column("row").to_numpy(), values


def _taken(ordered: Ordered, column: object) -> tuple[str, int, float]:
    """Takes in the column, ties by row; refuses bad values."""
    names = {name.lower(): name for name in ordered.names}
    if not isinstance(column, str) or column.lower() not in names:
        near = nearest(str(column), names.values())
        raise refuse("microdata.stored-column-unknown", column=column, nearest=near)
    name = names[column.lower()]
    found = ordered.take(name, lambda rows: rows)
    if found is None:
        raise refuse("microdata.stored-column-not-numeric", column=name)
    rows, unfit, largest = found
    if unfit:
        raise refuse("microdata.stored-value-not-finite", column=name)
    return name, rows, largest


def _grouped(
    ordered: Ordered, rows: int, largest: float, k: int, *, whole: bool
) -> tuple[Numbers, Numbers]:
    """The row, and the group, of each place of the sorted column; `whole` keeps equal values
    together."""
    exponent = int(np.frexp(largest)[1])
    on_disk = _Arrays(ordered.folder, rows)
    place = runs = 0
    last = None
    for row, tie, value in ordered.sort():
        part = slice(place, place + row.size)
        values = np.ldexp(value, -exponent) + 0.0
        on_disk.row[part], on_disk.tie[part] = row, tie
        begins = np.append(last is None or values[0] != last, values[1:] != values[:-1])
        new = np.flatnonzero(begins)
        on_disk.value[runs : runs + new.size] = values[new]
        on_disk.start[runs : runs + new.size] = place + new
        place, runs, last = place + row.size, runs + new.size, values[-1]
    on_disk.start[runs] = rows
    if whole:
        return on_disk.row, _whole_groups(on_disk, runs, k)
    on_disk.head[:runs] = on_disk.start[:runs]
    values, starts = on_disk.value[:runs], on_disk.start[: runs + 1]
    labels = sorted_mdav(k, values, on_disk.tie, starts, on_disk.head[:runs], on_disk.label)
    return on_disk.row, labels


def _whole_groups(on_disk: _Arrays, runs: int, k: int) -> Numbers:
    values, counts = on_disk.value[:runs], on_disk.head[:runs]
    for begin in range(0, runs, BATCH):
        end = min(begin + BATCH, runs)
        counts[begin:end] = np.diff(on_disk.start[begin : end + 1])
    groups = cut(values, counts, k, min(2, runs), on_disk.array)
    for begin in range(0, runs, BATCH):
        end = min(begin + BATCH, runs)
        places = slice(on_disk.start[begin], on_disk.start[end])
        on_disk.label[places] = np.repeat(groups[begin:end], counts[begin:end])
    labels: Numbers = on_disk.label
    return labels


class _Arrays:
    """Whole numbers and doubles in files, as arrays."""

    def __init__(self, folder: Path, rows: int) -> None:
        def array(name: str, size: int, kind: type) -> Any:
            path = folder / f"{name}.bin"
            return np.asarray(np.memmap(path, kind, mode="w+", shape=(size,)))

        self.array = array
        self.row = array("row", rows, np.int64)
        self.tie = array("tie", rows, np.int64)
        self.label = array("label", rows, np.int64)
        self.value = array("value", rows, np.float64)
        self.start = array("start", rows + 1, np.int64)
        self.head = array("head", rows, np.int64)


def _new_file(out: object) -> Path:
    if not isinstance(out, str | os.PathLike):
        raise refuse("microdata.output-wrong-type", type=type(out).__name__)
    target = Path(out)
    if target.exists() or not target.absolute().parent.is_dir():
        raise refuse("microdata.output-not-new", name=target.name)
    return target
