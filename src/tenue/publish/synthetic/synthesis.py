"""What every way of drawing a private table says and does, in memory and in passes.

A way is planned from public facts alone: the domain, the number of rows, epsilon and its options.
Then it is paid for. Then it reads the rows, in passes, and what it releases is noisy. Rows are
drawn from that alone, block after block, so that neither the table that is read nor the one that
is drawn need fit into memory.

What is read is kept on disk as places, so that a value which is missing gets its random place once.
What is drawn is written block by block. Each block is shuffled, and is a small copy of the whole:
the order of rows follows from what was released and from fresh bits, never from the source's order.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

import numpy as np

from ...engine.contract import Passes
from ...engine.passes.in_memory import InMemory
from ...evaluate.two_tables.distribution_similarity import likeness
from ...noise.source import Source
from ...schema import Schema
from ...text import percent
from ..permute import shuffled, some_rows
from ..table.input_table import Validated
from ..table.parquet_output import WrittenTable, write_table
from .domain import Domain, Places

if TYPE_CHECKING:
    import pyarrow

    from ...evaluate import Likeness


CELLS = 1 << 21
"""Values of a block: so many are drawn together."""


class Drawing(Protocol):
    """What a way released, noise and all: rows follow from it for free."""

    def block(self, rows: range, source: Source) -> Places:
        """These of the rows of the table, in any order."""
        ...


@dataclass(frozen=True, kw_only=True)
class Synthesis(abc.ABC):
    """A way to draw a table, for a domain, a public number of rows and a price.

    Guarantee
        `release` is `epsilon`-differentially private: one record may take any other value of the
        domain, and the number of rows is public. Everything else here reads no row.
    """

    name: ClassVar[str]
    """What the option `by` calls it."""
    mechanism: ClassVar[str]
    """What is done, in a few words, as the certificate says it."""
    source: ClassVar[str]
    """Where it is proved."""

    domain: Domain
    rows: int
    epsilon: Fraction

    @classmethod
    @abc.abstractmethod
    def planned(cls, domain: Domain, rows: int, epsilon: Fraction, **options: Any) -> Self:
        """The way with its parameters, chosen from these public facts alone; refused if it does
        not suit them."""

    @abc.abstractmethod
    def release(self, records: Passes, source: Source) -> Drawing:
        """All that is learnt of the places of `rows` records: the only step that reads them."""

    def blocks(self, drawing: Drawing, source: Source) -> Iterator[Places]:
        """The private table: as many rows, in blocks that are small copies of the whole.

        A block has every so many-th row of what one block of all rows would be, or is drawn like
        one: shares are kept to a row in each block. How many there are follows from the number of
        rows and columns alone, never from memory.
        """
        for number in range(self._blocks):
            yield drawing.block(range(number, self.rows, self._blocks), source)

    @property
    def first_block(self) -> int:
        """How many rows the first block has; no other has more."""
        return len(range(0, self.rows, self._blocks))

    @property
    def _blocks(self) -> int:
        return max(1, -(-self.rows * len(self.domain.axes) // CELLS))

    def draw(self, places: Places, source: Source) -> Places:
        """The private table of records that are held in memory."""
        drawing = self.release(InMemory(places), source)
        return np.concatenate(list(self.blocks(drawing, source)))

    @property
    @abc.abstractmethod
    def expected_error(self) -> float:
        """By how much the share of rows in a random interval of a random column is expected to be
        off, absolutely, from noise and resolution alone; what the rows' own shape adds is unknown.

        For a table whose values are spread evenly over their places.
        """

    @property
    def least_epsilon(self) -> Fraction:
        """The smallest part of epsilon that any one noise is drawn for, or less."""
        return self.epsilon

    @property
    def parameters(self) -> Mapping[str, str]:
        """What the certificate states, each in a sentence: budgets, scales, numbers of
        cells; nothing of the rows."""
        return {}

    @property
    def limits(self) -> Sequence[str]:
        """What is not promised, in sentences, besides what no private table promises."""
        return ()


# A private table of a table that does not fit into memory: read in passes, drawn in blocks.

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
