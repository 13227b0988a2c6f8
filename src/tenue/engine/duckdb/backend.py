"""DuckDB reads files, its own databases, data frames and relations."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from ...schema import Table
from ..contract import Engine
from ..registry import Backend, Finding, Load
from ..source.location import Database, Files, Frame, Local, Relation, names_of, paths_of

if TYPE_CHECKING:
    from ..source.count_queries import Tally
    from .profile import Described


class _DuckDB(Backend):
    claims = (Files, Database, Frame, Relation)

    def open_engine(self, source: Local, schema: Table, memory: int | None) -> Engine:
        from .engine import DuckDB

        return DuckDB(source, schema, memory)

    def open_table(self, source: Files | Database | Relation) -> tuple[tuple[str, ...], Load]:
        from .engine import open_whole

        return open_whole(source)

    def open_tally(
        self, source: Files | Database | Relation, memory: int
    ) -> AbstractContextManager[Tally]:
        from .engine import open_tally

        return open_tally(source, memory)

    def describe(self, source: Local, *, values: bool) -> list[Described]:
        from .profile import describe

        return describe(source, values=values)

    def examine(self, source: Local) -> Iterator[Finding]:
        if isinstance(source, Files | Database):
            yield Finding("source", "fine", f"{names_of(paths_of(source)[:1])} is there")


BACKEND = _DuckDB()
