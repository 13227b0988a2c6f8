"""PostgreSQL passes the suite of engines, whole, on a server that the tests start."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from itertools import count
from typing import Any

import psycopg
import pytest
from psycopg import sql as compose

from contracts.engine_suite import (
    SCHEMA,
    Computing,
    Contributions,
    Counts,
    Limits,
    LookUps,
    Opened,
    Products,
    Ranks,
    Reading,
    Rows,
    Steps,
    Texts,
)
from postgres_server import Server
from tenue.engine.contract import Engine
from tenue.engine.open import open_engine
from tenue.schema import Schema

pytestmark = pytest.mark.needs("postgres")
KINDS: dict[str, str] = {
    "AGE": "bigint",
    "pay": "double precision",
    "bonus": "double precision",
    "sex": "text",
    "town": "character varying(9)",
    "member": "boolean",
    "born": "date",
    "seen": "timestamp",
    "secret": "text",
    "Who": "text",
    "n": "bigint",
    "x": "integer",
    "y": "double precision",
    "c": "text",
}
_numbers = count(1)


def store(server: Server, rows: Rows, schema: Schema, kinds: dict[str, str]) -> str:
    """A table of these rows; its address."""
    names = list(rows[0]) if rows else [name for name in kinds if _declares(schema, name)]
    table = compose.Identifier(f"T {next(_numbers)}")
    listed = compose.SQL(", ").join(
        compose.SQL("{} {}").format(compose.Identifier(n), compose.SQL(kinds[n])) for n in names
    )
    with psycopg.connect(server.address(), autocommit=True) as connection:
        connection.execute(compose.SQL("CREATE TABLE public.{} ({})").format(table, listed))
        with connection.cursor() as cursor:
            marks = compose.SQL(", ").join([compose.SQL("%s")] * len(names))
            cursor.executemany(
                compose.SQL("INSERT INTO public.{} VALUES ({})").format(table, marks),
                [[row[name] for name in names] for row in rows],
            )
    return f"{server.address()}#public.{table.as_string()[1:-1].replace(' ', '%20')}"


def _declares(schema: Schema, name: str) -> bool:
    return name.lower() in {column.lower() for column in schema.columns}


class TestPostgres(
    Counts, Computing, Products, Limits, Ranks, Contributions, LookUps, Steps, Reading, Texts
):
    """Everything that an engine can do."""

    @pytest.fixture(
        params=[
            "typed",
            pytest.param("zoned", marks=pytest.mark.slow),
            pytest.param("written", marks=pytest.mark.slow),
        ]
    )
    def opened(self, request: pytest.FixtureRequest, postgres_server: Server) -> Iterator[Opened]:
        engines: list[Engine] = []

        def opener(rows: Rows, schema: Schema = SCHEMA) -> Engine:
            kinds, given = KINDS, rows
            if request.param == "zoned":
                kinds = KINDS | {"seen": "timestamp with time zone", "born": "timestamp"}
                given = [_in_utc(row) for row in rows]
            elif request.param == "written":
                # as a CSV file that was loaded without types
                kinds = dict.fromkeys(KINDS, "text")
                given = [{name: _written(value) for name, value in row.items()} for row in rows]
            engines.append(open_engine(store(postgres_server, given, schema, kinds), schema))
            return engines[-1]

        yield opener
        for engine in engines:
            engine.close()


def _in_utc(row: dict[str, Any]) -> dict[str, Any]:
    seen = row.get("seen")
    return row | {"seen": f"{seen}+00"} if isinstance(seen, datetime) else row


def _written(value: Any) -> str | None:
    if value is None or isinstance(value, date):
        return None if value is None else str(value)
    return str(value).lower() if isinstance(value, bool) else str(value)
