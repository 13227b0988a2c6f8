"""What every engine promises."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ..noise.source import Source
from .fingerprint import Known
from .request import ContributionRequest, RankRequest, Request

if TYPE_CHECKING:
    import pyarrow


Numbers = NDArray[np.int64]

Key = Callable[[Numbers], Sequence[Numbers]]
"""Columns by which rows are sorted or counted, made of a batch of rows."""

Cells = Mapping[tuple[int, ...], tuple[int, ...]]
"""For each cell that has rows, by the numbers of its keys: the measures in the order asked."""


@dataclass(frozen=True)
class Profile:
    """The values of one cell in order.

    rows: how many rows of the cell have the column.
    values: (steps, how many rows have a smaller value, how many rows have this value), in
        increasing order: every stored value that is in one of the windows, maybe others too.
    """

    rows: int
    values: tuple[tuple[int, int, int], ...]


Profiles = Mapping[tuple[int, ...], Profile]
"""For each cell with rows that have the column, by the numbers of its keys: its profile."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ReadFacts:
    """Facts about rows that were read.

    types: how the source stores each column; None where it is text without a type (CSV, JSON).
    unreadable: for each column, how many values are present and not what the schema declares.
    infinite: for each column, how many values are infinite.
    beyond: for each column, how many values lie beyond its bounds, and count as the bound.
    first: the number of the first row, from 1, in which a column is unreadable or infinite.
    """

    types: Mapping[str, Any]
    unreadable: Mapping[str, int]
    infinite: Mapping[str, int]
    beyond: Mapping[str, int]
    first: Mapping[str, int]


@dataclass(frozen=True, eq=False)
class Rows(ReadFacts):
    """All rows of a table.

    logical: for each declared column that is stored and is no identifier, its grid steps (as
        `engine/sql/grid_values.py` counts them), category number or boolean; null where the value
        is missing. The value that the schema declares for missing ones is not filled in.
    identifiers: the stored values of columns of type identifier.
    """

    logical: pyarrow.Table
    identifiers: pyarrow.Table


@dataclass(frozen=True)
class HandedOver(ReadFacts):
    """Facts about rows that were handed over in batches.

    rows: how many there were.
    repeated: the identifiers of which two rows share a value.
    """

    rows: int
    repeated: tuple[str, ...]


@dataclass(frozen=True)
class Validated:
    """Facts about a table that was read from end to end; for its holder, never for an analyst.

    rows: how many there are.
    unreadable: for each declared column with such values, how many are present and cannot be read
        as the declared type; questions treat them as missing.
    rounded: for each column without a declared grid, how many values have a fraction; questions
        see whole numbers.
    nobodys: how many rows have no unit; they count in no question.
    digest: the SHA-256 of its files; empty if there are none.
    """

    rows: int
    unreadable: Mapping[str, int]
    rounded: Mapping[str, int] = field(default_factory=dict)
    digest: str = ""
    nobodys: int = 0


FAULT = "the engine did not answer"
"""The text about a failure: an engine's own words may quote a row."""
CHANGED = "the files of the table changed while they were read"
"""The text about files that were written meanwhile, which says nothing about their rows."""


class Engine(Protocol):
    """Reads rows and gives whole numbers.

    The number of rows, where it is public, and the votes of each category are measures;
    contribution limits are part of a request.

    Guarantee
        `measure`, `ranks` and `contributions` return exact integers that depend on the multiset of
        rows only: not on their order. Without `people`, or where no unit exceeds its limits, every
        engine returns the same; which rows of a unit above its limits are kept is drawn as `People`
        says, so that the law of the result depends on the multiset of rows only. Every failure is
        one `EngineFault` of one text: `FAULT`, or `CHANGED` where files were written meanwhile.

    files: the fingerprint of the table's files, or of its place in a server, taken when it was
        opened; None if it lives in the process that opens it.
    excess: privileges of the server's role besides reading, each worded to follow "the role"; empty
        for tables that no role reads.
    reopens: whether a forked child may open the same source for itself.

    Any number of threads may call it at once; one question is measured at a time.
    """

    files: Known | None
    excess: tuple[str, ...]
    reopens: bool

    def validate(self) -> Validated:
        """Reads every row once, so that no question fails later because of one.

        For the holder alone: a refusal names the file and the line, or the column, that cannot be
        read.
        """

    def measure(self, request: Request) -> Cells:
        """The measures of every cell that has rows."""

    def ranks(self, request: RankRequest) -> Profiles:
        """The profile of every cell with rows that have the column."""

    def contributions(self, request: ContributionRequest) -> Profile:
        """The profile of one number for each unit; the rows of all units count in full."""

    def look_up(self, unit: str, name: str, column: str) -> list[int | None]:
        """The values of a column in the rows of one unit: steps, category number or 0 and 1.

        At most two, for two are as good as many; None where a value is missing. `name` equals a
        stored identifier exactly: a text byte by byte, a number by its shortest decimal.
        """

    def column_steps(self, *columns: str) -> NDArray[np.int64]:
        """The logical values of the rows that have all these columns, sorted by the first, then by
        the second: a row for each, a column for each column. For mechanisms scaled to the table."""

    def read_all(self) -> Rows:
        """Every row, for publishing the table; no question calls this.

        Numbers are rounded to the grid and clamped to the bounds exactly as they are for questions.
        `validate` first: a refusal from here does not know the line.
        """

    def hand_over(
        self, take: Callable[[pyarrow.RecordBatch], None], batch: int, *, names: bool = False
    ) -> HandedOver:
        """The same rows, as in `Rows.logical`, for tables that do not fit into memory.

        Each row is given to `take` once, in batches of at most `batch` rows.

        Parameters
            names: whether batches also have the columns of `Rows.identifiers`.
        """

    def close(self) -> None:
        """Closes files and connections."""


@dataclass(frozen=True)
class Part:
    """One of the files that make a table, how many rows it has, and the SHA-256 of its bytes."""

    name: str
    rows: int
    digest: str


class Passes(Protocol):
    """Rows of whole numbers that need not fit into memory, read as often as wanted.

    Guarantee
        A row is the same in every pass: whatever was drawn for it was drawn once. The results of
        `sum`, `sort` and `tally` are exact and depend on the multiset of rows only.

    rows: how many there are.

    An ordered release uses nothing else: `tally` a column or `number` the rows, form groups,
    `permute` values inside them or `map` rows to the values of their group, `shuffle`, write the
    `batches`. A method asks for these and does not know which engine sorts.
    """

    rows: int

    def only(self, *columns: int) -> Passes:
        """The same rows with these columns."""

    def sum(self, measure: Callable[[Numbers], Numbers]) -> Numbers:
        """The sum of `measure` over batches of all rows; one pass.

        `measure` of two batches together must be the sum of its values for each.
        """

    def map(
        self, make: Callable[[Numbers], Numbers], sizes: Sequence[int]
    ) -> AbstractContextManager[Passes]:
        """Other rows, made of these once, batch by batch, and kept as long as the context lasts.

        Guarantee
            They keep the order of the rows they were made of: where `make` gives a row for each,
            rows of one number belong together; where it leaves rows out, the others close up.

        make: gives at most as many rows as it is given.
        sizes: the numbers of column j are at least 0 and below `sizes[j]`.
        """

    def sort(self, key: Key) -> Iterator[Sequence[Numbers]]:
        """The keys of all rows in their order, by their first column, then by the next.

        In batches; a column for each of the key's.
        """

    def tally(self, key: Key) -> Iterator[Sequence[Numbers]]:
        """The different keys in their order and, as the last column, how many rows have each.

        In batches.
        """

    def number(self, key: Key, source: Source) -> AbstractContextManager[Passes]:
        """The same rows, each followed by its position, from 0 on, in the order of their keys.

        Guarantee
            Rows of one key have its positions in an order that is exactly equally likely any,
            independent of everything else.
        """

    def permute(
        self, columns: Sequence[int], label: Callable[[Numbers], Numbers], source: Source
    ) -> AbstractContextManager[Passes]:
        """The same rows with the values of these columns permuted inside groups.

        Guarantee
            Every permutation that keeps values in their group is exactly equally likely, including
            the identity, and independent of everything else. The values of several columns of a row
            move together. No group need fit into memory. The permutation is not kept.

        Parameters
            label: the group of each row.
        """

    def shuffle(self, source: Source) -> AbstractContextManager[Passes]:
        """The same rows in a uniformly random order."""

    def batches(self) -> Iterator[Numbers]:
        """All rows in their order, some at a time; at least one batch."""

    def write(self, table: Callable[[Numbers], pyarrow.Table], folder: Path) -> Sequence[Part]:
        """Writes a table made of all rows as Parquet files into an empty folder.

        Guarantee
            Every row is in one file, and nothing else is in the folder. Machines that hold the rows
            write the files themselves; the folder must be within their reach.

        Parameters
            table: a row for each row, of the same columns every time.
        """

    def take(self, numbers: Numbers) -> Numbers:
        """The rows of these numbers, from 0, in increasing order."""


@runtime_checkable
class Spread(Protocol):
    """An engine whose rows lie on many machines, which keep them in passes themselves."""

    def keep(
        self,
        numbers: Callable[[pyarrow.RecordBatch], Numbers],
        width: int,
        named: Callable[[str, pyarrow.Array], None] | None,
    ) -> AbstractContextManager[KeptThere]:
        """All rows in passes, as long as the context lasts.

        Parameters
            numbers: `width` whole numbers for each row of a batch, as `hand_over` gives it.
            named: receives stored values of each identifier, some at a time.
        """


@dataclass(frozen=True, eq=False)
class KeptThere:
    """Rows in passes, and facts about them.

    missing: how many values of each column are missing.
    """

    passes: Passes
    told: HandedOver
    missing: Mapping[str, int]
