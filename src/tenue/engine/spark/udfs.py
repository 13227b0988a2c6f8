"""What runs on the machines of a cluster, beside the rows.

They need only what Spark itself needs to run Python there, numpy and pyarrow: the functions are
sent by value. Their errors say nothing, for what went wrong may be a value.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from ...noise import keyed_stream
from ...noise.keyed_stream import keyed_words

if TYPE_CHECKING:
    import pyarrow

Sent = TypeVar("Sent")
Batches = Iterator["pyarrow.RecordBatch"]

_CELLS, _ROWS = b"cells", b"rows"
_WORD = 64


def by_value(function: Sent) -> Sent:
    """The function, to be sent as what it says and not by its name.

    From then on every function of these two modules is sent so: none of them may need a module
    that holds what cannot be sent, as a source of bits may.
    """
    from pyspark import cloudpickle

    for module in (sys.modules[__name__], keyed_stream):
        cloudpickle.register_pickle_by_value(module)
    return function


def equipped(batches: Batches) -> Batches:
    """What the machine has that the others here need, in words."""
    import platform
    from importlib.util import find_spec

    import pyarrow

    for _ in batches:
        words = f"Python {platform.python_version()}, numpy {np.__version__}, "
        words += f"pyarrow {pyarrow.__version__}, {'' if find_spec('tenue') else 'without '}Tenue"
        yield pyarrow.RecordBatch.from_pydict({"found": [words]})


def packed(batches: Batches) -> Batches:
    """Each batch as one row that holds its bytes."""
    import pyarrow

    for batch in batches:
        sink = pyarrow.BufferOutputStream()
        with pyarrow.ipc.new_stream(sink, batch.schema) as writer:
            writer.write_batch(batch)
        yield pyarrow.RecordBatch.from_pydict({"part": [sink.getvalue().to_pybytes()]})


def chooser(
    key: bytes, limit: int, groups: int | None, cells: int, every: bool
) -> Callable[[Batches], Batches]:
    """What keeps few rows of each unit, all of whose rows are in one partition.

    Guarantee
        What is kept is a function of the key and the multiset of each unit's rows: not of their
        order, nor of partitions, nor of other units. So a task that is done again keeps the same.
        As the key is drawn, each set of `groups` of the unit's cells is as likely as any other, and
        then each set of `limit` of its rows in those, for each unit by itself: the law of `People`.

    Parameters
        key: drawn for one question, and for no other.
        limit, groups: the most rows, and the most cells, of a unit; None for no such limit.
        cells: how many columns after the first, the unit, make the cell.
        every: whether rows are handed on that are in a cell kept, and not kept themselves.
    """

    def choose(batches: Batches) -> Batches:
        import pyarrow

        parts = list(batches)
        if not parts:
            return
        made = None
        try:
            table = pyarrow.Table.from_batches(parts)
            placed, chosen = choice(table, key, limit, groups, cells)
            marked = table.append_column("chosen", [chosen]).append_column("placed", [placed])
            made = marked.filter(placed if every else chosen)
        except Exception:
            made = None
        if made is None:  # raised out of reach of the error above
            raise RuntimeError("the rows could not be chosen")
        yield from made.to_batches()

    return choose


def choice(
    table: pyarrow.Table, key: bytes, limit: int, groups: int | None, cells: int
) -> tuple[Any, Any]:
    """Which rows are in a cell that is kept, and which of those are kept: see `chooser`."""
    import pyarrow

    rows = table.num_rows
    coded = table.column(0).combine_chunks().dictionary_encode()
    units = coded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    names = coded.dictionary
    content = [_sortable(table.column(i)) for i in range(1, table.num_columns)]
    placed = np.ones(rows, dtype=np.bool_)
    if groups is not None and cells:
        where = [column for pair in content[:cells] for column in pair]
        placed = _few_cells(units, where, names, key, groups)
    chosen = placed.copy()
    inside = np.flatnonzero(placed)
    flat = [column[inside] for pair in content for column in pair]
    chosen[inside] = few_rows(units[inside], flat, names, key + _ROWS, limit)
    return pyarrow.array(placed), pyarrow.array(chosen)


def few_rows(
    units: npt.NDArray[np.int64],
    content: list[npt.NDArray[Any]],
    names: Any,
    key: bytes,
    limit: int,
) -> npt.NDArray[np.bool_]:
    """Which rows are kept: `limit` of each unit, or all if it has fewer.

    A unit's rows are put in the order of their content, in which equal rows may change places, and
    the words of the unit's own stream are given to them in that order. The least words are kept.
    """
    kept = np.ones(len(units), dtype=np.bool_)
    many = np.bincount(units, minlength=1)
    over = np.flatnonzero(many[units] > limit) if len(units) else np.zeros(0, np.int64)
    if not len(over):
        return kept
    order = over[sorted_by([*(column[over] for column in content), units[over]])]
    whose = units[order]
    firsts = np.flatnonzero(np.r_[True, whose[1:] != whose[:-1]])
    sizes = np.diff(np.r_[firsts, len(whose)])
    listed = names.take(whose[firsts]).to_pylist()
    numbers = np.repeat(np.arange(len(firsts)), sizes)
    rank = _ranked(key, [str(name).encode("utf-8", "surrogatepass") for name in listed], numbers)
    place = np.empty(len(order), dtype=np.int64)
    place[rank] = np.arange(len(order)) - np.repeat(firsts, sizes)
    kept[order] = place < limit
    return kept


def _ranked(
    key: bytes, names: list[bytes], numbers: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """The order of rows by the number of their unit, and then by the words of its stream.

    Where two words of a unit are equal, all of its words are drawn anew.
    """
    counts = np.bincount(numbers, minlength=len(names))
    # the last bits of a word leave room for the number of its unit, so that one key has both
    spare = len(names).bit_length()
    words = keyed_words(key, names, counts.tolist()) >> spare
    ahead = numbers.astype(np.uint64) << (64 - spare)
    attempt = 0
    while True:
        order = np.argsort(ahead | words)
        drawn, whose = words[order], numbers[order]
        tied = np.unique(whose[1:][(drawn[1:] == drawn[:-1]) & (whose[1:] == whose[:-1])])
        if not len(tied):
            return order
        attempt += 1
        again = key + attempt.to_bytes(8, "big")
        new = keyed_words(again, [names[i] for i in tied], counts[tied].tolist())
        words[np.isin(numbers, tied)] = new >> spare


def sorted_by(keys: list[npt.NDArray[Any]]) -> npt.NDArray[np.int64]:
    """The order of rows by whole numbers, the last key first; equal rows are in any order.

    Keys that fit into 64 bits together are sorted as one, which is several times as fast.
    """
    packed, room = list[npt.NDArray[np.uint64]](), 0
    for key in keys:
        least, most = (int(key.min()), int(key.max())) if len(key) else (0, 0)
        bits = (most - least).bit_length()
        above = key.astype(np.int64).view(np.uint64) - np.uint64(least % 2**64)
        if not packed or room + bits > _WORD:
            packed.append(above)
            room = bits
        elif bits:
            packed[-1] = packed[-1] | (above << np.uint64(room))
            room += bits
    return np.argsort(packed[0]) if len(packed) == 1 else np.lexsort(packed)


def _few_cells(
    units: npt.NDArray[np.int64],
    cells: list[npt.NDArray[Any]],
    names: Any,
    key: bytes,
    groups: int,
) -> npt.NDArray[np.bool_]:
    order = sorted_by([*cells, units])
    fresh = np.zeros(len(order), dtype=np.bool_)
    fresh[:1] = True
    for column in (units, *cells):
        ordered = column[order]
        fresh[1:] |= ordered[1:] != ordered[:-1]
    heads = order[fresh]
    kept = few_rows(units[heads], [column[heads] for column in cells], names, key + _CELLS, groups)
    placed = np.empty(len(order), dtype=np.bool_)
    placed[order] = kept[np.cumsum(fresh) - 1]
    return placed


def _sortable(column: Any) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """What sorts a column of whole numbers or booleans, in which values may be missing."""
    import pyarrow.compute

    missing = column.is_null().to_numpy().astype(np.bool_)
    filled = pyarrow.compute.fill_null(column.cast("int64"), 0)
    return filled.to_numpy(), missing
