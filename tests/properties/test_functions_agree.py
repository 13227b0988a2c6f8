"""Functions of a row have the same value on every engine, to the last digit."""

from __future__ import annotations

from typing import Any

import pandas as pd
import psycopg
import pytest

import tenue as tn
from postgres_server import Server

DAYS = ["2019-12-20", "2021-02-01"]
SCHEMA: dict[str, Any] = {
    "table": {"name": "functions", "unit": "record", "neighbours": "add-or-remove"},
    "columns": {
        "a": {"type": "number", "bounds": [0, 999]},
        "b": {"type": "number", "bounds": [-500, 500]},
        "d": {"type": "date", "bounds": DAYS},
        "s": {"type": "datetime", "bounds": [f"{day}T00:00:00" for day in DAYS]},
    },
    "budget": {"total": 10**6},
}
VALUES = (
    "SUM(ABS(b)) AS x, SUM(ROUND(b, -1)) AS y, SUM(LEAST(a, b, 30) - GREATEST(a, b)) AS z",
    "SUM(b / (a + 1)) AS x, SUM(a / LEAST(b, -1)) AS y, SUM(b / NULLIF(a, 0)) AS z",
    "SUM(LN(a + 1)) AS x, SUM(EXP(b / 100)) AS y, SUM(POWER(a, 1.5)) AS z",
    "SUM(LOG10(1 + ABS(b))) AS x, SUM(LOG2(a + 3)) AS y, SUM(SQRT(a)) AS z",
    "SUM(WEEK(d)) AS x, SUM(DAYOFWEEK(d)) AS y, SUM(DAYOFYEAR(s)) AS z, SUM(DAY(d)) AS u",
    "SUM(MINUTE(s)) AS x, SUM(HOUR(s)) AS y, SUM(ISODOW(s)) AS z, SUM(QUARTER(d)) AS u",
    "COUNT(*) FILTER (WHERE DAYNAME(d) = 'Monday') AS x, "
    "COUNT(*) FILTER (WHERE MONTHNAME(s) = 'January') AS y",
)
ROWS = """SELECT i AS a, (i * 7919) % 1000 - 500 AS b, DATE '2019-12-20' + i % 400 AS d,
TIMESTAMP '2019-12-20' + i * INTERVAL '97 minutes' AS s FROM generate_series(0, 999) AS g(i)"""


@pytest.fixture(scope="module")
def sources(postgres_server: Server) -> tuple[pd.DataFrame, str]:
    with psycopg.connect(postgres_server.address(), autocommit=True) as connection:
        connection.execute(f"CREATE TABLE public.functions AS {ROWS}".encode())
        rows = connection.execute("SELECT a, b, d, s FROM public.functions").fetchall()
    table = pd.DataFrame(rows, columns=["a", "b", "d", "s"])
    return table, f"{postgres_server.address()}#public.functions"


@pytest.mark.needs("postgres")
@pytest.mark.parametrize("values", VALUES)
def test_duckdb_and_postgres_compute_the_same(
    sources: tuple[pd.DataFrame, str], values: str
) -> None:
    found = []
    for source in sources:
        with tn.protect(source, schema=SCHEMA, ledger=tn.ledger.Memory()) as data:
            answer: Any = data.ask(f"SELECT {values} FROM functions", epsilon=10_000)  # noqa: S608
            found.append(answer.exact)
    assert found[0] == found[1]
