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
from tenue.engine.contract import Engine, Profile
from tenue.engine.open import open_engine
from tenue.engine.request import (
    All,
    Among,
    Any_,
    Bin,
    Calendar,
    Factor,
    Group,
    Measure,
    Missing,
    Not,
    People,
    RankRequest,
    Request,
    Window,
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
            "who": {"type": "identifier"},
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
NAMES = ("AGE", "pay", "bonus", "sex", "town", "member", "born", "seen", "secret", "Who")
VALUES: list[tuple[Any, ...]] = [
    # clamped below, rounded up at the half, undeclared sex, bounds reached exactly
    (-3, 0.25, 1.0, "F", "7", True, date(1999, 5, 5), datetime(2020, 1, 1, 0, 0, 29), "s", "p"),
    (20, 1e308, 3.0, "M", "8", False, date(2000, 1, 1), datetime(2020, 1, 1, 0, 0, 30), "e", "P"),
    (30, -0.25, None, "x", "08", None, date(2000, 2, 29), datetime(2031, 1, 1), "c", "p"),
    (None, float("nan"), 0.0, "o'x", None, True, None, None, "r", None),
    (
        500,
        float("-inf"),
        9.0,
        None,
        "7",
        True,
        date(2000, 12, 31),
        datetime(2020, 1, 1, 5),
        "e",
        "P",
    ),
    (41, 2.75, 2.9, "F", "07", False, date(2050, 1, 1), datetime(1970, 1, 1), "t", "p"),
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
        ("Who", pa.string()),
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
    spelled = {"AGE": "age", "pay": "Pay", "Who": "who"}
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


def moment(*factors: tuple[str, int, int]) -> Measure:
    return Measure("moment", factors=tuple(Factor(*factor) for factor in factors))


def test_moments_are_sums_of_products_over_rows_that_have_all_columns(
    opened: Callable[[Rows], Engine],
) -> None:
    asked = Request(
        (
            moment(("age", 0, 1)),
            moment(("age", 30, 2)),
            moment(("AGE", 20, 1), ("pay", -1, 1)),
            moment(("born", 0, 0), ("age", 0, 0)),
            moment(("age", 0, 1), ("rate", 0, 0)),
            moment(("pay", 0, 3)),
            moment(("bonus", 0, 2)),
            moment(),
        )
    )
    ages, pays = [10, 20, 30, None, 100, 41], [1, 10, 0, None, -10, 6]
    squares = sum((age - 30) ** 2 for age in ages if age is not None)
    mixed = sum((x - 20) * (y + 1) for x, y in zip(ages, pays, strict=True) if x and y is not None)
    cubes = sum(pay**3 for pay in pays if pay is not None)
    expected = (201, squares, mixed, 5, 10 + 30 + 100 + 41, cubes, 1 + 4 + 4 + 0 + 4 + 1, 6)
    assert opened(ROWS).measure(asked) == {(): expected}
    by_sex = opened(ROWS).measure(Request((moment(("age", 30, 2)),), keys=(Group("sex", 3),)))
    assert by_sex == {(0,): (400 + 121,), (1,): (100,), (2,): (0,)}


def test_people_below_their_limits_are_measured_whole(opened: Callable[[Rows], Engine]) -> None:
    # "p" has the rows 0, 2, 5 and "P" the rows 1 and 4; row 3 is nobody's
    engine, people = opened(ROWS), People("who", 3, 2)
    asked = (ROWS_OF, Measure("units"), Measure("total", "age"), Measure("present", "sex"))
    assert engine.measure(Request(asked, people=people)) == {(): (5, 2, 201, 3)}
    assert engine.measure(Request(asked, Within("age", 20, 41), people=people)) == {
        (): (3, 2, 91, 2)
    }
    by_town = engine.measure(Request(asked, keys=(Group("town", 2),), people=people))
    assert by_town == {(0,): (2, 2, 110, 1), (1,): (3, 2, 91, 2)}
    by_sex = engine.measure(Request((Measure("units"),), keys=(Group("sex", 3),), people=people))
    assert by_sex == {(0,): (1,), (1,): (1,)}


def test_a_category_may_name_the_unit(opened: Callable[[Rows], Engine]) -> None:
    engine = opened(ROWS)
    asked = (ROWS_OF, Measure("units"))
    assert engine.measure(Request(asked, people=People("sex", 2, None))) == {(): (4, 3)}
    assert engine.measure(Request(asked, people=People("sex", 1, None))) == {(): (3, 3)}
    assert engine.measure(Request(asked, people=People("town", 9, None))) == {(): (6, 2)}


def test_people_above_their_limits_are_cut_to_them(opened: Callable[[Rows], Engine]) -> None:
    engine = opened(ROWS)
    asked = (ROWS_OF, Measure("units"), Measure("total", "age"))
    for _ in range(8):
        one = engine.measure(Request(asked, people=People("who", 1, None)))[()]
        assert one[:2] == (2, 2)
        assert one[2] in {p + q for p in (10, 30, 41) for q in (20, 100)}
    two = engine.measure(Request(asked, people=People("who", 2, None)))[()]
    assert two[:2] == (4, 2)
    assert two[2] - 120 in {40, 51, 71}


def test_sums_of_each_person_are_cut_and_added(opened: Callable[[Rows], Engine]) -> None:
    """ "p" has the ages 10, 30, 41 and "P" 20, 100; row 3 is nobody's."""
    engine = opened(ROWS)

    def total(low: int, high: int) -> Measure:
        return Measure("unit-total", "age", low=low, high=high)

    people = People("who", 1, None)  # no limit of rows for such sums
    asked = (ROWS_OF, total(0, 1000), total(0, 100), total(90, 95), Measure("units"), total(-5, 3))
    found = engine.measure(Request(asked, people=people))
    assert found == {(): (2, 81 + 120, 81 + 100, 90 + 95, 2, 6)}
    by_town = Request((total(0, 50),), keys=(Group("town", 2),), people=people)
    # town 0: 10 and 100; town 1: 30 + 41 and 20
    assert engine.measure(by_town) == {(0,): (10 + 50,), (1,): (50 + 20,)}
    none = Request((total(7, 50),), Within("age", 99, 10), people=people)
    assert engine.measure(none) == {}


def test_people_are_cut_to_few_cells_before_few_rows(opened: Callable[[Rows], Engine]) -> None:
    engine = opened(ROWS)
    request = Request((ROWS_OF,), keys=(Group("town", 2),), people=People("who", 3, 1))
    for _ in range(8):
        # "p" has a row in town 0 and two in town 1, "P" one in each
        assert engine.measure(request) in (
            {(0,): (2,)},
            {(0,): (1,), (1,): (1,)},
            {(0,): (1,), (1,): (2,)},
            {(1,): (3,)},
        )


MIDDLE = Window(b=2, a=1, c1=0, c2=0, reach=2)


def test_ranks_tell_the_values_near_a_rank(opened: Callable[[Rows], Engine]) -> None:
    engine = opened(ROWS)
    # the ages are 10, 20, 30, 41, 100: scores of the median, in half rows, are 3, 1, 0, 1, 3
    assert engine.ranks(RankRequest("age", (MIDDLE,))) == {
        (): Profile(5, ((20, 1, 1), (30, 2, 1), (41, 3, 1)))
    }
    nearest = Window(2, 1, 0, 0, 1)
    assert engine.ranks(RankRequest("age", (nearest,))) == {(): Profile(5, ((30, 2, 1),))}
    assert engine.ranks(RankRequest("age", (Window(2, 1, 0, 0, 0),))) == {(): Profile(5, ())}
    assert engine.ranks(RankRequest("age", ())) == {(): Profile(5, ())}
    least, most = Window(1, 0, 0, 1, 1), Window(1, 1, -1, 0, 1)
    assert engine.ranks(RankRequest("age", (least, most))) == {
        (): Profile(5, ((10, 0, 1), (100, 4, 1)))
    }
    huge = Window(10**30, 10**30 // 2, 0, 0, 10**40)
    assert engine.ranks(RankRequest("bonus", (huge,))) == {
        (): Profile(6, ((0, 0, 1), (1, 1, 2), (2, 3, 3)))
    }
    assert engine.ranks(RankRequest("age", (MIDDLE,), Within("age", 99, 10))) == {}


def test_ranks_of_cells_and_of_people(opened: Callable[[Rows], Engine]) -> None:
    engine, all_of_it = opened(ROWS), Window(1, 0, 99, -99, 99)
    by_town = engine.ranks(RankRequest("age", (all_of_it,), keys=(Group("town", 2),)))
    assert by_town == {
        (0,): Profile(2, ((10, 0, 1), (100, 1, 1))),
        (1,): Profile(3, ((20, 0, 1), (30, 1, 1), (41, 2, 1))),
    }
    people = People("who", 1, None)
    (found,) = engine.ranks(RankRequest("age", (all_of_it,), people=people)).values()
    assert found.rows == 2
    assert len([value for value, _, _ in found.values if value in (20, 100)]) == 1
    # row 4 has no sex: it is in no cell, and takes the place of no other
    kept = engine.ranks(RankRequest("age", (all_of_it,), keys=(Group("sex", 3),), people=people))
    assert kept[(1,)] == Profile(1, ((20, 0, 1),))


def test_ranks_of_a_table_without_rows(opened: Callable[[Rows], Engine]) -> None:
    engine = opened([])
    assert engine.ranks(RankRequest("age", (MIDDLE,))) == {}
    assert engine.ranks(RankRequest("age", (MIDDLE,), people=People("who", 1, 1))) == {}
    assert engine.measure(Request((ROWS_OF,), people=People("who", 1, 1))) == {}
