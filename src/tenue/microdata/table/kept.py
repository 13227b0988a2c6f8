"""A stored table that need not fit into memory, as whole numbers that are read in passes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...engine.contract import Engine, HandedOver, Passes, Spread
from ...engine.open import keep_rows
from ...errors import Fault
from ...schema import Identifier, Schema
from .cells import Cells, Numbers

if TYPE_CHECKING:
    import pyarrow

MEMORY = 1 << 30
"""How many bytes of a table may be held, if nothing else is said."""
LEAST_MEMORY = 128 << 20

_FEWEST, _MOST = 1 << 10, 1 << 18
"""Rows of a batch."""
_COPIES = 64
"""How many times as much as a batch may be held while it is looked at."""


@dataclass(frozen=True, eq=False)
class KeptRows:
    """All rows as whole numbers, and what the holder is told of the table.

    columns: how many declared columns are no identifiers.
    missing: how many values of a column were missing.
    told: what the engine knows of the rows.
    """

    passes: Passes
    columns: int
    missing: Mapping[str, int]
    told: HandedOver


@contextmanager
def keep_table(
    engine: Engine,
    schema: Schema,
    numbers: Callable[[Mapping[str, Cells]], Numbers],
    sizes: Sequence[int],
    memory: int,
    progress: Callable[[int], None],
    named: Callable[[str, pyarrow.Array], None] | None = None,
) -> Iterator[KeptRows]:
    """The rows, kept on disk as long as the context lasts.

    Guarantee
        Whatever `numbers` draws for a row is drawn once, and is the same in every pass.

    Parameters
        numbers: a row of whole numbers for each row of some cells.
        sizes: number j is at least 0 and below `sizes[j]`.
        memory: how many bytes may be held of the table at a time.
        progress: is told how many rows were read so far.
        named: is shown some stored values of each identifier at a time, if anybody asks for them.
    """
    if isinstance(engine, Spread):
        with engine.keep(_numbers_of(schema, numbers), len(sizes), named) as there:
            progress(there.passes.rows)
            yield KeptRows(there.passes, len(there.missing), there.missing, there.told)
        return
    batch = max(_FEWEST, min(_MOST, memory // (_COPIES * 8 * len(sizes))))
    missing: Counter[str] = Counter()
    told: list[HandedOver] = []
    read = 0

    def fill(take: Callable[[Numbers], None]) -> None:
        def taken(part: pyarrow.RecordBatch) -> None:
            nonlocal read
            cells = _cells_of(schema, part)
            if named is not None:
                for name in (name for name in part.schema.names if name not in cells):
                    named(name, part.column(name))
            missing.update({name: int((~held.present).sum()) for name, held in cells.items()})
            take(numbers(cells))
            read += part.num_rows
            progress(read)

        told.append(engine.hand_over(taken, batch, names=named is not None))

    with keep_rows(fill, sizes, memory=memory, batch=batch) as passes:
        if passes.rows != told[0].rows:
            raise Fault("rows were lost on their way to disk")
        yield KeptRows(passes, len(missing), missing, told[0])


def _cells_of(schema: Schema, part: pyarrow.RecordBatch) -> dict[str, Cells]:
    return {
        name: Cells.of(schema.columns[name], part.column(name), None)
        for name in part.schema.names
        if not isinstance(schema.columns[name], Identifier)
    }


def _numbers_of(
    schema: Schema, numbers: Callable[[Mapping[str, Cells]], Numbers]
) -> Callable[[pyarrow.RecordBatch], Numbers]:
    """What is made of a batch, where it lies."""
    return lambda part: numbers(_cells_of(schema, part))
