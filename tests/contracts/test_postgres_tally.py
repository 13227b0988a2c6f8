"""PostgreSQL counts a table, in one state, whichever driver hands its counts over."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import psycopg
import pyarrow as pa
import pytest
from psycopg import sql as compose

from contracts.tally_suite import TallySuite
from postgres_server import Server

pytestmark = pytest.mark.needs("postgres")
KINDS = {
    pa.int64(): "bigint",
    pa.float64(): "double precision",
    pa.string(): "text",
    pa.bool_(): "boolean",
    pa.date32(): "date",
    pa.timestamp("us", "UTC"): "timestamp with time zone",
}
_numbers = count(1)


@contextmanager
def owner(server: Server) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(server.address(), autocommit=True) as connection:
        yield connection


def store(server: Server, table: pa.Table) -> str:
    """A table of these rows; its address."""
    name = f"tally_{next(_numbers)}"
    columns = compose.SQL(", ").join(
        compose.SQL("{} {}").format(compose.Identifier(field.name), compose.SQL(KINDS[field.type]))
        for field in table.schema
    )
    own = compose.Identifier(name)
    with owner(server) as connection, connection.cursor() as cursor:
        cursor.execute(compose.SQL("CREATE TABLE {} ({})").format(own, columns))
        with cursor.copy(compose.SQL("COPY {} FROM STDIN").format(own)) as copy:
            for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
                copy.write_row(row)
    return f"{server.address()}#{name}"


class TestPostgres(TallySuite):
    engine = "PostgreSQL"
    tables = 8

    @pytest.fixture(autouse=True)
    def here(self, postgres_server: Server) -> None:
        self.server = postgres_server

    def stored(self, table: pa.Table) -> object:
        return store(self.server, table)

    def failing(self) -> object:
        view = f"failing_{next(_numbers)}"
        with owner(self.server) as connection:
            connection.execute(f"CREATE TABLE {view}_t AS SELECT 'canary'::text AS w".encode())
            sql = f"CREATE VIEW {view} AS SELECT CAST(w AS integer) AS a FROM {view}_t"  # noqa: S608
            connection.execute(sql.encode())
        return f"{self.server.address()}#{view}"


class TestRowByRow(TestPostgres):
    """The same without ADBC."""

    tables = 6

    @pytest.fixture(autouse=True)
    def without_adbc(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "adbc_driver_postgresql", None)
