from __future__ import annotations

import sys

import psycopg
import pyarrow as pa
import pytest

from postgres_server import Server
from tenue.engine.postgres.arrow import to_arrow, to_batches

pytestmark = pytest.mark.needs("postgres")
SQL = (
    "SELECT CAST(i AS smallint) AS a, CAST(i AS integer) AS b, CAST(i AS bigint) AS c, "
    "i > 2 AS d, CAST(i AS text) AS e, NULLIF(i, 3) AS f FROM pg_catalog.generate_series(1, 4) i"
)


def test_both_ways_give_the_same_columns(
    postgres_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = postgres_server.address()
    found = []
    for driver in (True, False):
        if not driver:
            monkeypatch.setitem(sys.modules, "adbc_driver_postgresql", None)
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            found.append(to_arrow(connection, address, SQL))
            connection.execute("ROLLBACK")
    assert found[0].to_pydict() == found[1].to_pydict()
    assert [str(field.type) for field in found[1].schema][:4] == ["int16", "int32", "int64", "bool"]
    assert [field.type for field in found[0].schema][:4] == [
        field.type for field in found[1].schema
    ][:4]
    empty = SQL + " WHERE i > 9"
    for driver in (True, False):
        if driver:
            monkeypatch.undo()
        else:
            monkeypatch.setitem(sys.modules, "adbc_driver_postgresql", None)
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            assert to_arrow(connection, address, empty).schema.field("c").type == pa.int64()
            parts = list(to_batches(connection, address, SQL, (), 3))
            assert max(part.num_rows for part in parts) == 3
            assert [i for part in parts for i in part.column("b").to_pylist()] == [1, 2, 3, 4]
            connection.execute("ROLLBACK")


def test_rows_are_those_of_the_transaction_that_asks(postgres_server: Server) -> None:
    """The mutant would open another state: rows written meanwhile would be in one of two scans."""
    address = postgres_server.address()
    with (
        psycopg.connect(address, autocommit=True) as writer,
        psycopg.connect(address, autocommit=True) as reader,
    ):
        writer.execute("CREATE TABLE moving AS SELECT 1 AS x")
        reader.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        reader.execute("SELECT 1 FROM moving")
        writer.execute("INSERT INTO moving VALUES (2)")
        assert to_arrow(reader, address, "SELECT x FROM public.moving").num_rows == 1
        reader.execute("ROLLBACK")
