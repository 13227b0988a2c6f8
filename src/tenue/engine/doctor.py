"""What is missing before a source can be asked or published; for its holder, who typed it."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

from ..errors import Refused
from ..schema import Schema
from .finding import Finding
from .open import describe_table, open_engine
from .source.location import Cluster, Database, Files, Server, locate, names_of, paths_of


def diagnose(source: object, schema: Schema | None = None) -> tuple[Finding, ...]:
    """Everything that is known before the rows are validated, up to the first thing missing.

    Parameters
        source: what would be given to `protect`.
        schema: compared with the columns of the source, if there is one.
    """
    found: list[Finding] = []
    for finding in _examined(source, schema):
        found.append(finding)
        if finding.verdict == "missing":
            break
    return tuple(found)


def _examined(source: object, schema: Schema | None) -> Iterator[Finding]:
    try:
        place = locate(source, "table" if schema is None else schema.name)
    except Refused as refusal:
        yield Finding.refused("source", refusal)
        return
    if isinstance(place, Server):
        yield Finding("source", "fine", f"The table {'.'.join(place.table)} in PostgreSQL")
        yield from _drivers()
        from .postgres.doctor import examine

        yield from examine(place)
    elif isinstance(place, Cluster):
        what = f"The table {'.'.join(place.table)}" if place.table else "Parquet files"
        yield Finding("source", "fine", f"{what} in Spark")
        yield from _spark(place)
    elif isinstance(place, Files | Database):
        yield Finding("source", "fine", f"{names_of(paths_of(place)[:1])} is there")
    if schema is None:
        yield from _columns(source)
    else:
        yield from _declared(source, schema)


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


def _spark(place: Cluster) -> Iterator[Finding]:
    try:
        from .spark.doctor import examine
    except ImportError:
        install = "pip install 'tenue[spark]'"
        yield Finding("driver", "missing", "The package pyspark is not installed", install)
        return
    yield Finding("driver", "fine", f"pyspark {version('pyspark')}")
    yield from examine(place)


def _columns(source: object) -> Iterator[Finding]:
    try:
        described = describe_table(source)
    except Refused as refusal:
        yield Finding.refused("columns", refusal)
        return
    told = ", ".join(f"{column.name} {column.type}" for column in described)
    yield Finding("columns", "fine", f"{len(described)}: {told}")


def _declared(source: object, schema: Schema) -> Iterator[Finding]:
    try:
        open_engine(source, schema).close()
    except Refused as refusal:
        yield Finding.refused("columns", refusal)
        return
    many = len(schema.columns)
    yield Finding("columns", "fine", f"All {many} declared columns can be read as declared")
