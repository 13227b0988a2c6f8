"""Drawing a private table: what all methods of doing so have in common.

A method is planned from public facts alone: the domain, the number of rows, epsilon and its
options. Then it is paid for. Then it reads the rows, in passes, and what it releases is noisy. Rows
are drawn from that release alone, block after block, so that neither the table that is read nor the
one that is drawn need fit into memory.

The rows that are read are kept on disk as places. The rows that are drawn are written block by
block. Each block is shuffled, and is a small copy of the whole: the order of rows follows from the
release and from fresh bits, never from the order of the source.
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
from ...errors import refuse
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
    """A noisy release, from which rows follow by post-processing."""

    def block(self, rows: range, source: Source) -> Places:
        """These rows of the table, in any order."""
        ...


@dataclass(frozen=True, kw_only=True)
class Synthesis(abc.ABC):
    """A method of drawing a table, for a domain, a public number of rows and a price.

    Guarantee
        `release` is `epsilon`-differentially private: one record may take any other value of the
        domain, and the number of rows is public. Everything else here reads no row.
    """

    name: ClassVar[str]
    """Its name in the option `by`."""
    mechanism: ClassVar[str]
    """The mechanism in a few words, for the certificate."""
    source: ClassVar[str]
    """Where it is proved."""
    fewest: ClassVar[int] = 1
    """How many columns it needs."""

    domain: Domain
    rows: int
    epsilon: Fraction
    more: int = 0
    """How many rows more than it reads are drawn."""

    @classmethod
    def planned(cls, domain: Domain, rows: int, epsilon: Fraction, **options: Any) -> Self:
        """The method with its parameters, chosen from these public facts alone; refused if it does
        not suit them."""
        if len(domain.axes) < cls.fewest:
            raise refuse("publish.too-few-columns", by=cls.name, least=cls.fewest)
        return cls(domain=domain, rows=rows, epsilon=epsilon, **options)

    @abc.abstractmethod
    def release(self, records: Passes, source: Source) -> Drawing:
        """The noisy release: the only step that reads the places of the records."""

    def blocks(self, drawing: Drawing, source: Source) -> Iterator[Places]:
        """The private table: as many rows, in blocks that are small copies of the whole.

        With b blocks, each has every b-th row of one block of all rows, or is drawn like one:
        shares are kept to a row in each block. The number of blocks follows from the number of rows
        and columns alone, never from memory.
        """
        for number in range(self._blocks):
            yield drawing.block(range(number, self.drawn, self._blocks), source)

    @property
    def drawn(self) -> int:
        """How many rows are drawn."""
        return self.rows + self.more

    @property
    def first_block(self) -> int:
        """The size of the first block; no other is larger."""
        return len(range(0, self.drawn, self._blocks))

    @property
    def _blocks(self) -> int:
        return max(1, -(-self.drawn * len(self.domain.axes) // CELLS))

    def draw(self, places: Places, source: Source) -> Places:
        """The private table of records in memory."""
        drawing = self.release(InMemory(places), source)
        return np.concatenate(list(self.blocks(drawing, source)))

    @property
    @abc.abstractmethod
    def expected_error(self) -> float:
        """Roughly the expected absolute error of the share of rows in a random interval of a random
        column, from noise and resolution alone, for values spread evenly over their places; the
        error from the true shape of the values is unknown."""

    @property
    def least_epsilon(self) -> Fraction:
        """A lower bound on the smallest part of epsilon for which noise is drawn."""
        return self.epsilon

    @property
    def parameters(self) -> Mapping[str, str]:
        """Sentences of the certificate: budgets, scales, numbers of cells; nothing of the rows."""
        return {}

    @property
    def limits(self) -> Sequence[str]:
        """Sentences on what is not promised, besides what no private table promises."""
        return ()


COMPARED = 100_000
"""How many rows of each table are compared, drawn at random."""
VALUE = 160
"""Bytes that a value takes where the whole table is in memory, with all intermediate results."""


@dataclass(frozen=True, eq=False)
class Streamed:
    """The private table on disk, and what its holder learns.

    columns, missing, beyond: of the table that was read: how many columns it has, how many values
        of each are missing, and how many were outside its bounds.
    sample: some rows of the private table, as good as a random sample.
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
        memory: how many bytes of the table that is read may be in memory.
        tell: called with each step and its progress.
        check: refuses a piece of the table that is not as promised.
    """
    domain, rows = way.domain, way.rows
    with original.keep(
        domain.places,
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
    return Streamed(table, first[0], alike, len(kept.missing), kept.missing, kept.told.beyond)
