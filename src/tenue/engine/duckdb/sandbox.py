"""A DuckDB that can reach one table and nothing else; the holder's own DuckDB, as it is; and a
bench, where chosen rows are measured.

The sandbox and the bench are databases in memory. Once the table is open, no other file, no
network, no extension and no setting can be reached from them. What must be put on disk goes to a
folder that only its owner can enter, and that is removed (`engine/scratch.py`). It is not
encrypted: DuckDB cannot do that without an extension, and a question that spilled would fail once
it was paid.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Protocol

from ...errors import refuse
from ..scratch import Scratch
from ..source.file_check import MOST_SPILL
from ..source.location import Database, Files, Frame
from ..sql.row_checks import Statements
from .dialect import DUCKDB, VERSION, storage
from .sources import Readable, listed, prepare

if TYPE_CHECKING:
    import duckdb
    import pyarrow


Tuples = list[tuple[Any, ...]]

Settings = dict[str, str | bool | int | float | list[str]]
SETTINGS: Settings = {
    "allow_community_extensions": False,
    "allow_persistent_secrets": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    # least and greatest values would decide how a statement runs, and time would tell them
    "disabled_optimizers": "statistics_propagation",
    "max_temp_directory_size": MOST_SPILL,
    "python_enable_replacements": False,
}
"""The settings of every database of ours."""
if VERSION >= (1, 4):  # earlier versions encrypt nothing, and do not know the word
    SETTINGS["temp_file_encryption"] = False
_MEMORY_OF_A_THREAD = 1 << 28
_RELATION = "tenue_source"
_HANDED = "handed"
_GATHERED = "gathered"


def settings(scratch: Scratch, memory: int | None = None) -> Settings:
    """The settings of a database of ours that puts on disk what does not fit into `memory` bytes,
    or most of the machine's."""
    folder = str(scratch.path / "spill")
    own: Settings = {**SETTINGS, "temp_directory": folder, "secret_directory": folder}
    if memory is None:
        return own
    threads = min(os.cpu_count() or 1, max(1, memory // _MEMORY_OF_A_THREAD))
    return {**own, "memory_limit": f"{memory}B", "threads": threads}


def quiet(connection: duckdb.DuckDBPyConnection) -> None:
    """Keeps DuckDB from drawing a bar on standard output, where a program may read our answer."""
    connection.execute("SET enable_progress_bar = false")


def _lock(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


class Store(Statements, Protocol):
    """A database in which statements about one table run.

    readable: the table, as statements name it.
    """

    readable: Readable

    def run(self, sql: str) -> Tuples: ...

    def enumeration(self, words: Sequence[str]) -> str:
        """The SQL of a type whose values are these words, numbered from 0."""

    def close(self) -> None: ...


class Sandbox:
    """A database in memory that holds one table open."""

    def __init__(
        self,
        source: Files | Database | Frame,
        wanted: Mapping[str, str] | None,
        separator: str | None = None,
        memory: int | None = None,
    ) -> None:
        import duckdb

        self._types = 0
        self._opened = ExitStack()
        scratch = Scratch()
        self._opened.callback(scratch.close)
        try:
            config = settings(scratch, memory)
            self._connection = duckdb.connect(":memory:", config=config)
            self._opened.callback(self._connection.close)
            quiet(self._connection)
            readable = prepare(self._connection, source, wanted, separator)
            self._connection.execute(f"SET allowed_paths = [{listed(readable.paths)}]")
            _lock(self._connection)
        except (duckdb.Error, OSError):
            readable = None
        except BaseException:
            self.close()
            raise
        # refused out of reach of the error above, which may quote a value of the file
        if readable is None:
            self.close()
            raise refuse("engine.unopenable-source")
        self.readable = readable

    def enumeration(self, words: Sequence[str]) -> str:
        """The name of a new type; as a literal, many words would take long to parse."""
        name = f"memory.main.words_{self._types}"
        self._types += 1
        self._connection.execute(f"CREATE TYPE {name} AS ENUM (SELECT unnest(?))", [list(words)])
        return name

    def run(self, sql: str) -> Tuples:
        return self._connection.execute(sql).fetchall()

    def arrow(self, sql: str) -> pyarrow.Table:
        return self._connection.sql(sql).to_arrow_table()

    def batches(self, sql: str, size: int) -> pyarrow.RecordBatchReader:
        return self._connection.sql(sql).to_arrow_reader(size)

    def close(self) -> None:
        self._opened.close()


class Borrowed:
    """A relation of the holder's connection, with all that the connection may do."""

    def __init__(self, relation: duckdb.DuckDBPyRelation) -> None:
        self._relation = relation
        columns = tuple(
            (name, storage(str(kind)))
            for name, kind in zip(relation.columns, relation.types, strict=True)
        )
        self.readable = Readable(_RELATION, columns)

    def enumeration(self, words: Sequence[str]) -> str:
        """A literal: nothing is left behind in the holder's database."""
        return f"ENUM({', '.join(map(DUCKDB.literal, words))})"

    def run(self, sql: str) -> Tuples:
        return self._selected(sql).fetchall()

    def arrow(self, sql: str) -> pyarrow.Table:
        return self._selected(sql).to_arrow_table()

    def batches(self, sql: str, size: int) -> pyarrow.RecordBatchReader:
        return self._selected(sql).to_arrow_reader(size)

    def _selected(self, sql: str) -> duckdb.DuckDBPyRelation:
        selected = self._relation.query(_RELATION, sql)
        assert selected is not None  # noqa: S101 - every SELECT has a result
        return selected

    def close(self) -> None:
        """Leaves the connection to its holder."""


class ArrowBench:
    """A `Bench` of our own, which selects from one Arrow table at a time."""

    def __init__(self) -> None:
        import duckdb

        self._scratch = Scratch()
        self._connection = duckdb.connect(":memory:", config=settings(self._scratch))
        _lock(self._connection)
        self._begun = False

    def select(self, table: pyarrow.Table, sql: str) -> Tuples:
        self._connection.register(_HANDED, table)
        try:
            return self._connection.execute(sql).fetchall()
        finally:
            self._connection.unregister(_HANDED)

    def gather(self, table: pyarrow.Table, sql: str) -> None:
        begin = f"INSERT INTO {_GATHERED}" if self._begun else f"CREATE TABLE {_GATHERED} AS"
        self.select(table, f"{begin} {sql}")
        self._begun = True

    def gathered(self, sql: str) -> Tuples:
        return self._connection.execute(sql).fetchall() if self._begun else []

    def clear(self) -> None:
        if self._begun:
            self._connection.execute(f"DROP TABLE {_GATHERED}")
        self._begun = False

    def close(self) -> None:
        self._connection.close()
        self._scratch.close()
