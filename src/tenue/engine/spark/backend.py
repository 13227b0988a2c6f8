"""Spark reads its own tables, Parquet files and its data frames; it needs the package pyspark."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING

from ...errors import refuse
from ...schema import Table
from ..contract import Engine, Tallied
from ..finding import Finding
from ..registry import Backend, Load
from ..source.location import Cluster, Distributed, InSpark

if TYPE_CHECKING:
    from ..duckdb.profile import Described


class _Spark(Backend):
    claims = (Cluster, Distributed)

    def open_engine(self, source: InSpark, schema: Table, memory: int | None) -> Engine:
        _refuse_without_driver()
        from .engine import Spark

        return Spark(source, schema)

    def open_table(self, source: InSpark) -> tuple[tuple[str, ...], Load]:
        _refuse_without_driver()
        from .engine import open_table

        return open_table(source)

    def open_tally(self, source: InSpark, memory: int) -> AbstractContextManager[Tallied]:
        _refuse_without_driver()
        from .engine import open_tally

        return open_tally(source)

    def describe(self, source: InSpark, *, values: bool) -> list[Described]:
        _refuse_without_driver()
        from .engine import describe

        return describe(source, values=values)

    def examine(self, source: InSpark) -> Iterator[Finding]:
        if not isinstance(source, Cluster):
            return
        what = f"The table {'.'.join(source.table)}" if source.table else "Parquet files"
        yield Finding("source", "fine", f"{what} in Spark")
        try:
            from .engine import examine
        except ImportError:
            install = "pip install 'tenue[spark]'"
            yield Finding("driver", "missing", "The package pyspark is not installed", install)
            return
        yield Finding("driver", "fine", f"pyspark {version('pyspark')}")
        yield from examine(source)


def _refuse_without_driver() -> None:
    try:
        import_module(f"{__package__}.session")
    except ImportError:
        raise refuse("engine.table-needs-pyspark") from None


BACKEND = _Spark()
