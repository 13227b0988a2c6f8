"""One suite that every engine must pass, whatever holds its rows."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Callable, Iterator
from datetime import date, datetime
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from oracle_engine import OracleEngine
from tenue.engine.contract import Engine
from tenue.engine.open import open_engine
from tenue.engine.request import (
    All,
    Among,
    Any_,
    Bin,
    Calendar,
    Group,
    Measure,
    Missing,
    Not,
    Request,
    Within,
)
from tenue.schema import Schema

SCHEMA = Schema.from_dict(
    {
        "table": {"name": "people", "unit": "record", "neighbours": "add-or-remove"},
        "columns": {
            "age": {"type": "number", "bounds": [10, 100]},
            "Pay": {"type": "number", "bounds": [-5, 5], "grid": 0.5},
            "bonus": {"type": "number", "bounds": [0, 4], "grid": 2, "missing": 4},
            "sex": {"type": "category", "categories": ["F", "M", "o'x"]},
            "town": {"type": "category", "categories": ["7", "08"], "missing": "08"},
            "member": {"type": "boolean"},
            "born": {"type": "date", "bounds": ["2000-01-01", "2001-01-01"], "grid": 1},
            "seen": {
                "type": "datetime",
                "bounds": ["2020-01-01T00:00:00", "2020-01-02T00:00:00"],
                "grid": 60,
            },
            "rate": {
                "type": "number",
                "expression": "pay / (age - 20)",
                "bounds": [-1, 1],
                "grid": 0.25,
            },
        },
    }
)
NAMES = ("AGE", "pay", "bonus", "sex", "town", "member", "born", "seen", "secret")
VALUES: list[tuple[Any, ...]] = [
    # clamped below, rounded up at the half, undeclared sex, bounds reached exactly
    (-3, 0.25, 1.0, "F", "7", True, date(1999, 5, 5), datetime(2020, 1, 1, 0, 0, 29), "s"),
    (20, 1e308, 3.0, "M", "8", False, date(2000, 1, 1), datetime(2020, 1, 1, 0, 0, 30), "e"),
    (30, -0.25, None, "x", "08", None, date(2000, 2, 29), datetime(2031, 1, 1), "c"),
    (None, float("nan"), 0.0, "o'x", None, True, None, None, "r"),
    (500, float("-inf"), 9.0, None, "7", True, date(2000, 12, 31), datetime(2020, 1, 1, 5), "e"),
    (41, 2.75, 2.9, "F", "07", False, date(2050, 1, 1), datetime(1970, 1, 1), "t"),
]
ROWS = [dict(zip(NAMES, values, strict=True)) for values in VALUES]
ARROW = pa.schema(
    [
        ("AGE", pa.int64()),
        ("pay", pa.float64()),
        ("bonus", pa.float32()),
        ("sex", pa.string()),
        ("town", pa.string()),
        ("member", pa.bool_()),
        ("born", pa.date32()),
        ("seen", pa.timestamp("us")),
        ("secret", pa.string()),
    ]
)
Rows = list[dict[str, Any]]
Maker = Callable[[Rows, Path], object]


def arrow(rows: Rows, folder: Path | None = None) -> pa.Table:
    return pa.Table.from_pylist(rows, schema=ARROW)


class OnlyCapsule:
    """Something that no library knows and that hands out Arrow data."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


def parquet(rows: Rows, folder: Path) -> str:
    pq.write_table(arrow(rows), folder / "people.parquet")
    return str(folder / "people.parquet")


def parts(rows: Rows, folder: Path) -> str:
    for i in range(3):
        pq.write_table(arrow(rows[i::3]), folder / f"part-{i}.parquet")
    return str(folder / "part-*.parquet")


def written(value: Any) -> str:
    return "" if value is None else str(value)


def as_csv(rows: Rows, folder: Path, name: str = "people.csv", separator: str = ",") -> str:
    opened: Any = gzip.open if name.endswith(".gz") else open
    with opened(folder / name, "wt", newline="") as file:
        lines = csv.writer(file, delimiter=separator)
        lines.writerow(NAMES)
        lines.writerows([written(row[name]) for name in NAMES] for row in rows)
    return str(folder / name)


def as_json(rows: Rows, folder: Path, name: str = "people.jsonl") -> str:
    spelled = {"AGE": "age", "pay": "Pay"}
    texts = [
        json.dumps({spelled.get(key, key): value for key, value in row.items()}, default=str)
        for row in rows
    ]
    whole = "\n".join(texts) if name.endswith("l") else "[" + ",\n".join(texts) + "]"
    (folder / name).write_text(whole)
    return str(folder / name)


def database(rows: Rows, folder: Path, name: str = "#people") -> str:
    with duckdb.connect(folder / "held.duckdb") as connection:
        connection.register("given", arrow(rows))
        connection.execute("CREATE TABLE people AS SELECT * FROM given")
        connection.execute("CREATE SCHEMA s; CREATE VIEW s.seen_people AS SELECT * FROM people")
    return f"duckdb://{folder / 'held.duckdb'}{name}"


def connection_of(rows: Rows, folder: Path) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.register("given", arrow(rows))
    connection.execute("CREATE TABLE people AS SELECT * FROM given")
    return connection


MAKERS: dict[str, Maker] = {
    "arrow": arrow,
    "pandas": lambda rows, folder: arrow(rows).to_pandas(),
    "pandas of objects": lambda rows, folder: pd.DataFrame(rows, columns=list(NAMES), dtype=object),
    "polars": lambda rows, folder: pl.from_arrow(arrow(rows)),
    "capsule": lambda rows, folder: OnlyCapsule(arrow(rows)),
    "parquet": parquet,
    "pattern": parts,
    "csv": as_csv,
    "csv;": lambda rows, folder: as_csv(rows, folder, separator=";"),
    "csv.gz": lambda rows, folder: as_csv(rows, folder, "people.csv.gz"),
    "tsv": lambda rows, folder: as_csv(rows, folder, "people.tsv", "\t"),
    "json": lambda rows, folder: as_json(rows, folder, "people.json"),
    "jsonl": as_json,
    "database": database,
    "view": lambda rows, folder: database(rows, folder, "#s.seen_people"),
    "unnamed": lambda rows, folder: database(rows, folder, ""),
    "connection": connection_of,
    "relation": lambda rows, folder: connection_of(rows, folder).table("people"),
}


@pytest.fixture(params=["oracle", *MAKERS])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[Rows], Engine]]:
    engines: list[Engine] = []

    def opener(rows: Rows) -> Engine:
        folder = tmp_path / str(len(engines))
        folder.mkdir()
        if request.param == "oracle":
            engines.append(OracleEngine(SCHEMA, rows))
        else:
            engines.append(open_engine(MAKERS[request.param](rows, folder), SCHEMA))
        return engines[-1]

    yield opener
    for engine in engines:
        engine.close()


ROWS_OF = Measure("rows")


def each(kind: Any, *columns: str) -> tuple[Measure, ...]:
    return tuple(Measure(kind, column) for column in columns)


def test_totals_count_clamped_and_rounded_steps(opened: Callable[[Rows], Engine]) -> None:
    asked = Request((ROWS_OF, *each("total", "age", "pay", "bonus", "born", "seen", "rate")))
    ages = 10 + 20 + 30 + 100 + 41
    pays = 1 + 10 + 0 + -10 + 6  # half steps: 0.25, 5, −0.25, −5, 2.75
    bonuses = 1 + 2 + 2 + 0 + 2 + 1  # steps of 2, missing is 4
    days = 0 + 0 + 59 + 365 + 366
    minutes = 0 + 1 + 1440 + 300 + 0
    # 0.5/−10, 5/0, 0/10, −, −5/80, 3/21, in quarters
    rates = 0 + 0 + 0 + 1
    assert opened(ROWS).measure(asked) == {(): (6, ages, pays, bonuses, days, minutes, rates)}


def test_present_counts_what_is_not_missing(opened: Callable[[Rows], Engine]) -> None:
    columns = ("age", "PAY", "bonus", "sex", "town", "member", "born", "seen", "rate")
    found = opened(ROWS).measure(Request(each("present", *columns)))
    assert found == {(): (5, 5, 6, 4, 6, 5, 5, 5, 4)}


def test_cells_are_numbered_as_declared(opened: Callable[[Rows], Engine]) -> None:
    engine = opened(ROWS)
    by_sex = engine.measure(Request((ROWS_OF, Measure("total", "age")), keys=(Group("sex", 3),)))
    assert by_sex == {(0,): (2, 51), (1,): (1, 20), (2,): (1, 0)}
    by_town = engine.measure(Request((ROWS_OF,), keys=(Group("town", 2), Group("member", 2))))
    assert by_town == {(0, 1): (2,), (1, 0): (2,), (1, 1): (1,)}
    by_age = engine.measure(Request((ROWS_OF,), keys=(Bin("age", 25, 0, 5),)))
    assert by_age == {(0,): (2,), (1,): (2,), (4,): (1,)}
    by_pay = engine.measure(Request((ROWS_OF,), keys=(Bin("pay", 4, -3, 3),)))
    assert by_pay == {(0,): (1,)}, "cells outside those asked for hold no row"
    by_month = engine.measure(Request((ROWS_OF,), keys=(Calendar("born", "month", 12 * 2000, 13),)))
    assert by_month == {(0,): (2,), (1,): (1,), (11,): (1,), (12,): (1,)}
    for part, first, places in (
        ("day", 10957, [0, 0, 59, 365, 366]),
        ("week", 1565, [0, 0, 9, 52, 53]),  # weeks begin on Monday, and 2001 began on one
        ("quarter", 8000, [0, 0, 0, 3, 4]),
        ("year", 2000, [0, 0, 0, 0, 1]),
    ):
        by_part = engine.measure(Request((ROWS_OF,), keys=(Calendar("born", part, first, 400),)))
        assert by_part == {(place,): (places.count(place),) for place in places}
    by_hour = engine.measure(Request((ROWS_OF,), keys=(Calendar("seen", "hour", 438288, 25),)))
    assert by_hour == {(0,): (3,), (5,): (1,), (24,): (1,)}


def test_predicates_know_three_truths(opened: Callable[[Rows], Engine]) -> None:
    engine = opened(ROWS)

    def count(where: Any) -> int:
        found = engine.measure(Request((ROWS_OF,), where))
        return found.get((), (0,))[0]

    assert count(Within("age", 20, 41)) == 3
    assert count(Not(Within("age", 20, 41))) == 2, "a missing age is neither"
    assert count(Within("age", None, None)) == 5
    assert count(Within("age", 50, 40)) == 0
    assert count(Not(Within("age", 50, 40))) == 5
    assert count(Missing("age")) == 1
    assert count(Missing("bonus")) == 0
    assert count(Among("sex", ("F",))) == 2
    assert count(Not(Among("sex", ("F",)))) == 2, "an undeclared or missing sex is neither"
    assert count(Among("sex", ())) == 0
    assert count(Not(Among("sex", ()))) == 4
    assert count(Among("town", ("08",))) == 4
    assert count(Among("member", (True,))) == 3
    assert count(All((Among("member", (True,)), Within("age", None, 50)))) == 1
    assert count(Any_((Missing("age"), Within("born", 366, 366)))) == 2
    assert count(All(())) == 6
    assert count(Any_(())) == 0


def test_empty_cells_are_not_there(opened: Callable[[Rows], Engine]) -> None:
    engine = opened(ROWS)
    nobody = Within("age", 99, 10)
    assert engine.measure(Request((ROWS_OF, Measure("total", "age")), nobody)) == {}
    assert engine.measure(Request((ROWS_OF,), nobody, (Group("sex", 3),))) == {}


def test_a_table_without_rows_has_no_cells(opened: Callable[[Rows], Engine]) -> None:
    engine = opened([])
    assert engine.measure(Request((ROWS_OF, Measure("total", "rate")))) == {}
    assert engine.measure(Request((ROWS_OF,), keys=(Group("sex", 3),))) == {}


def test_the_order_of_rows_is_not_seen(opened: Callable[[Rows], Engine]) -> None:
    asked = Request((ROWS_OF, *each("total", "age", "pay", "seen")), keys=(Group("sex", 3),))
    assert opened(ROWS).measure(asked) == opened(ROWS[::-1]).measure(asked)
