"""PostgreSQL reads its own tables and views; it needs the driver psycopg."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from ...errors import refuse
from ...schema import Table
from ..contract import Engine, Tallied
from ..finding import Finding
from ..registry import Backend, Load
from ..source.location import Server

if TYPE_CHECKING:
    from ..duckdb.profile import Described


class _Postgres(Backend):
    claims = (Server,)

    def open_engine(self, source: Server, schema: Table, memory: int | None) -> Engine:
        _refuse_without_driver()
        from .engine import Postgres

        return Postgres(source, schema)

    def open_table(self, source: Server) -> tuple[tuple[str, ...], Load]:
        _refuse_without_driver()
        from .engine import open_table

        return open_table(source)

    def open_tally(self, source: Server, memory: int) -> AbstractContextManager[Tallied]:
        _refuse_without_driver()
        from .engine import open_tally

        return open_tally(source)

    def describe(self, source: Server, *, values: bool) -> list[Described]:
        _refuse_without_driver()
        from .engine import describe

        return describe(source, values=values)

    def examine(self, source: Server) -> Iterator[Finding]:
        yield Finding("source", "fine", f"The table {'.'.join(source.table)} in PostgreSQL")
        yield from _drivers()
        from .catalogue import examine

        yield from examine(source)


def _refuse_without_driver() -> None:
    try:
        import_module(f"{__package__}.session")
    except ImportError:
        raise refuse("engine.table-needs-psycopg") from None


def _drivers() -> Iterator[Finding]:
    install = "pip install 'tenue[postgres]'"
    try:
        driver = f"psycopg {version('psycopg')}"
    except PackageNotFoundError:
        yield Finding("driver", "missing", "The package psycopg is not installed", install)
        return
    try:
        faster = f"rows are handed over by ADBC {version('adbc-driver-postgresql')}"
    except PackageNotFoundError:
        faster = f"rows are handed over one by one; faster with ADBC ({install})"
    yield Finding("driver", "fine", f"{driver}; {faster}")


BACKEND = _Postgres()
