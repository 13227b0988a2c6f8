"""Spark reads its own tables, Parquet files and its data frames; it needs the package pyspark."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import version

from ..registry import Driven, Finding
from ..source.location import Cluster, Distributed, InSpark
from ..waiting import waiting


class _Spark(Driven):
    claims = (Cluster, Distributed)
    title = "Spark"
    room = __package__
    engine = "Spark"
    driver = "pyspark"

    def examine(self, source: InSpark) -> Iterator[Finding]:
        if not isinstance(source, Cluster):
            return
        what = f"The table {'.'.join(source.table)}" if source.table else "Parquet files"
        yield Finding("source", "fine", f"{what} in Spark")
        try:
            import_module(self.driver)
            from .engine import examine
        except ImportError:
            install = "pip install 'tenue[spark]'"
            yield Finding("driver", "missing", "The package pyspark is not installed", install)
            return
        yield Finding("driver", "fine", f"pyspark {version('pyspark')}")
        with waiting(self.title):
            found = list(examine(source))
        yield from found


BACKEND = _Spark()
