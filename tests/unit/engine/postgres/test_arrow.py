from __future__ import annotations

import sys
from contextlib import closing

import psycopg
import pyarrow as pa
import pytest

from postgres_server import Server
from tenue.engine.postgres.arrow import HandOver

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
            with closing(HandOver(connection, address)) as rows:
                found.append(rows.arrow(SQL))
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
            with closing(HandOver(connection, address)) as rows:
                assert rows.arrow(empty).schema.field("c").type == pa.int64()
                parts = list(rows.batches(SQL, 3))
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
        with closing(HandOver(reader, address)) as rows:
            for _ in range(2):  # by a connection that is made, and by the same
                assert rows.arrow("SELECT x FROM public.moving").num_rows == 1
        reader.execute("ROLLBACK")


@pytest.mark.parametrize("driver", [True, False], ids=["adbc", "row by row"])
def test_whoever_has_seen_enough_may_ask_for_other_rows(
    driver: bool, postgres_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant leaves its cursor open, and the next one of that name cannot be made."""
    if not driver:
        monkeypatch.setitem(sys.modules, "adbc_driver_postgresql", None)
    address = postgres_server.address()
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        with closing(HandOver(connection, address)) as rows:
            for _ in range(3):
                parts = rows.batches("SELECT pg_catalog.generate_series(1, 9) AS i", 2)
                assert next(parts).column("i").to_pylist() == [1, 2]
                parts.close()
        connection.execute("ROLLBACK")


def test_a_batch_of_blanks_has_the_type_of_the_others(
    postgres_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    kinds = ("smallint", "real", "text", "date", "timestamp", "timestamptz", "boolean")
    blanks = ", ".join(f"CAST(NULL AS {kind}) AS c{i}" for i, kind in enumerate(kinds))
    found = []
    for driver in (True, False):
        if not driver:
            monkeypatch.setitem(sys.modules, "adbc_driver_postgresql", None)
        with psycopg.connect(postgres_server.address(), autocommit=True) as connection:
            connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            with closing(HandOver(connection, postgres_server.address())) as rows:
                found.append([str(kind) for kind in rows.arrow(f"SELECT {blanks}").schema.types])
            connection.execute("ROLLBACK")
    assert found[0] == found[1]
