"""PostgreSQL reads its own tables and views; it needs the driver psycopg."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

from ..registry import Driven, Finding
from ..source.location import Server


class _Postgres(Driven):
    claims = (Server,)
    title = "PostgreSQL"
    room = __package__
    engine = "Postgres"
    driver = "psycopg"

    def examine(self, source: Server) -> Iterator[Finding]:
        yield Finding("source", "fine", f"The table {'.'.join(source.table)} in PostgreSQL")
        yield from _drivers()
        from .catalogue import examine

        yield from examine(source)


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
