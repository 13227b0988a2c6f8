"""A private table of a table that does not fit into memory: read in passes, drawn in blocks.

What is read is kept on disk as places, so that a value which is missing gets its random place once.
What is drawn is written block by block. Each block is shuffled, and is a small copy of the whole:
the order of rows follows from what was released and from fresh bits, never from the source's order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...evaluate.pair.likeness import likeness
from ...noise.source import Source
from ...schema import Schema
from ...screen.number import percent
from ..permute import shuffled, some_rows
from ..table.original import Validated
from ..table.written import WrittenTable, write_table
from .synthesis import Synthesis

if TYPE_CHECKING:
    import pyarrow

    from ...evaluate import Likeness

COMPARED = 100_000
"""How many rows of each table are compared, drawn at random."""
VALUE = 160
"""Bytes that a value takes where the whole table is held at once, with all that is made of it."""


@dataclass(frozen=True, eq=False)
class Streamed:
    """The private table on disk, and what its holder is told.

    columns, missing, beyond: of the table that was read, as `KeptRows` has them.
    sample: some rows of the private table, as good as drawn at random.
    likeness: of the sample, and of as many rows of the original.
    """

    table: WrittenTable
    sample: pyarrow.Table
    likeness: Likeness
    columns: int
    missing: Mapping[str, int]
    beyond: Mapping[str, int]


def stream(
    way: Synthesis,
    original: Validated,
    schema: Schema,
    memory: int,
    source: Source,
    tell: Callable[[str], None],
    check: Callable[[pyarrow.Table], None],
) -> Streamed:
    """Reads the rows, which are paid for, and writes the private table.

    Parameters
        memory: how many bytes may be held of the table that is read.
        tell: is told each step when it begins, and how far it has come.
        check: refuses a piece of the table that is not as promised.
    """
    domain, rows = way.domain, way.rows
    with original.keep(
        lambda cells: domain.places(cells, source),
        domain.sizes,
        memory,
        lambda read: tell(f"read ({percent(read / rows)})"),
    ) as kept:
        tell("draw")
        drawing = way.release(kept.passes, source)
        some = kept.passes.take(some_rows(rows, min(COMPARED, way.first_block), source))
    first: list[pyarrow.Table] = []

    def pieces() -> Iterator[pyarrow.Table]:
        drawn = 0
        for block in way.blocks(drawing, source):
            piece = domain.table(block[shuffled(len(block), source)])
            check(piece)
            if not first:
                first.append(piece.slice(0, len(some)))
            drawn += len(block)
            tell(f"draw ({percent(drawn / rows)})")
            yield piece

    table = write_table(pieces())
    tell("evaluate")
    alike = likeness(domain.table(some), first[0], schema)
    return Streamed(table, first[0], alike, kept.columns, kept.missing, kept.told.beyond)
