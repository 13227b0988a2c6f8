"""What people write in SQL is answered right: against DuckDB itself, on 300 generated questions.

The oracle is the raw text, asked of the table as the schema sees it: clamped, rounded, and missing
where it is missing. At a large epsilon hardly any noise is left: its value must lie in our interval
at 1 − 10⁻¹², which follows from the noise, and that must be narrow. Of no rows a sum is 0, and a
mean is not known: its interval is the whole range. A median of an even number of values may be
anything between the two in the middle. Where a cut was chosen in private, the oracle cuts there.
"""

# ruff: noqa: S608 - these texts are what is tested

from __future__ import annotations

import io
import random
import tempfile
from datetime import date, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

import tenue as tn
from tenue.ask.sql.parse import parse
from tenue.ask.sql.write import render
from tenue.schema import Schema

EPSILON = 10_000
LEVEL = 1 - Fraction(1, 10**12)
WIDEST = 0.25
"""An interval is at most so wide, in parts of the value and one: few rows in a wide range."""
COLUMNS = {
    "who": {"type": "identifier"},
    "x": {"type": "number", "bounds": [0, 12]},
    "y": {"type": "number", "bounds": [-2, 3], "grid": 0.5},
    "c": {"type": "category", "categories": ["a", "b", "z"]},
    "b": {"type": "boolean"},
    "d": {"type": "date", "bounds": ["2019-11-20", "2021-03-10"]},
}


REGION = "c,part,beds\na,north,10\nb,north,25\nq,south,3\nz,south,\n"
"""A lookup with a key that no row has, and a number that is missing."""
BUCKET = """CREATE MACRO width_bucket(v, low, high, n) AS CASE WHEN v < low THEN 0
WHEN v >= high THEN n + 1 WHEN v >= low THEN CAST(FLOOR((v - low) * n / (high - low)) AS INT) + 1
END"""
"""DuckDB has none."""


def schema(**table: object) -> Schema:
    given = {"name": "t", "unit": "record", "neighbours": "add-or-remove", **table}
    region = {"source": "region.csv", "key": "c", "columns": ["part", "beds"], "numbers": ["beds"]}
    stated = {"table": given, "columns": COLUMNS, "budget": {"total": 10**6}}
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "region.csv").write_text(REGION)
        return Schema.from_dict(stated | {"lookups": {"region": region}}, folder=Path(folder))


RECORDS, PERSONS = schema(), schema(unit="who", rows_per_unit=40)
N = 400


def tables(chosen: random.Random) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A table as it is stored, and the same as the schema sees it."""
    start, stored, seen = date(2019, 11, 1), [], []
    for _ in range(N):
        x, y = chosen.choice([None, chosen.randint(-4, 16)]), chosen.uniform(-3, 4)
        c, b = chosen.choice(["a", "b", "z", "other", None]), chosen.choice([True, False, None])
        d = chosen.choice([None, start + timedelta(days=chosen.randrange(520))])
        who = str(chosen.randrange(60))
        stored.append({"who": who, "x": x, "y": y, "c": c, "b": b, "d": d})
        seen.append(
            {
                "who": who,
                "x": None if x is None else float(min(max(x, 0), 12)),
                "y": float(min(max((int((y + 100) * 2 + 0.5) - 200) / 2, -2), 3)),
                "c": c if c in ("a", "b", "z") else None,
                "b": b,
                "d": None if d is None else min(max(d, date(2019, 11, 20)), date(2021, 3, 10)),
            }
        )
    return pd.DataFrame(stored), pd.DataFrame(seen)


class Writer:
    """Random questions, each as Tenue and as DuckDB write it."""

    def __init__(self, chosen: random.Random) -> None:
        self.chosen = chosen

    def pick(self, *texts: str) -> str:
        return self.chosen.choice(texts)

    def number(self) -> str:
        return str(self.chosen.randint(-3, 9))

    def condition(self, depth: int = 2) -> str:
        if depth and self.chosen.random() < 0.4:
            parts = [self.condition(depth - 1) for _ in range(2)]
            return self.pick("({} AND {})", "({} OR {})", "NOT ({} AND {})").format(*parts)
        return self.pick(
            f"x > {self.number()}",
            f"y <= {self.chosen.randint(-4, 6) / 2}",
            "c = 'a'",
            "c IN ('b', 'z')",
            "b",
            "b IS TRUE",
            "b IS NOT FALSE",
            "x IS NULL",
            "d >= DATE '2020-06-01'",
            "EXTRACT(month FROM d) <= 6",
            f"x * 2 - y > {self.number()}",
            "COALESCE(x, 3) BETWEEN 2 AND 8",
            "FLOOR(x / 5) = 2",
            "DAYNAME(d) IN ('Monday', 'Sunday')",
            "ABS(y) <= 2",
        )

    def value(self, depth: int = 2) -> str:
        if depth == 0:
            return self.pick("x", "y", "x", "3", "YEAR(d)", "EXTRACT(quarter FROM d)")
        inner = [self.value(depth - 1) for _ in range(2)]
        return self.pick(
            f"({inner[0]} + {inner[1]})",
            f"({inner[0]} - {inner[1]} * 2)",
            f"({self.pick('x', 'y')} * {self.pick('x', 'y', '1.5')} / 4)",
            f"CASE WHEN {self.condition(1)} THEN {inner[0]} ELSE {self.number()} END",
            f"CASE WHEN {self.condition(1)} THEN {inner[0]} WHEN b THEN {inner[1]} END",
            "CASE c WHEN 'a' THEN x WHEN 'b' THEN -y ELSE 0 END",
            f"FLOOR(({inner[0]}) / 3)",
            f"WIDTH_BUCKET({self.pick('x', 'y')}, -1, {self.chosen.randint(2, 9)}, 4)",
            f"CEIL(({inner[0]}) / 2)",
            f"COALESCE({self.pick('x', 'y')}, {self.number()})",
            f"ABS({inner[0]})",
            f"ROUND({self.pick('x', 'y')} * 3, {self.pick('0', '-1')})",
            f"{self.pick('LEAST', 'GREATEST')}({self.pick('x', 'y')}, {inner[0]}, {self.number()})",
            f"NULLIF({self.pick('x', 'y')}, {self.number()})",
            "WEEK(d)",
            "EXTRACT(dow FROM d)",
            "DAYOFYEAR(d) / 50",
        )

    def aggregate(self) -> str:
        value = f"x + {self.value()}"  # never a constant
        only = f" FILTER (WHERE {self.condition()})" if self.chosen.random() < 0.4 else ""
        return self.pick(
            f"SUM({value}){only}",
            f"SUM({value}){only}",
            f"COUNT({value}){only}",
            f"COUNT(*) FILTER (WHERE {self.condition()})",
            f"COUNT(c){only}",
            f"SUM(CASE WHEN {self.condition()} THEN 1 ELSE 0 END)",
            f"COUNT(DISTINCT {self.pick('x', 'y', 'c', 'b', 'd', 'FLOOR(x / 4)')})",
            f"ROUND(SUM({value}) / NULLIF(COUNT(*), 0), 7)",
            f"COALESCE(SUM({value}){only}, 0) * 2 - 1",
            f"CAST(SUM(y * 2){only} AS INTEGER)",
            f"AVG({value}){only}",
            f"AVG({self.pick('x', 'y', 'b')}){only}",
            f"AVG(CASE WHEN {self.condition()} THEN 1 ELSE 0 END)",
        )

    def median(self) -> str:
        """A question with a median only: of a column, of what is computed, by groups."""
        value = self.pick("x", "y", "x - y", "x * 2 + 1", "CASE WHEN b THEN x ELSE y END")
        where = f" WHERE {self.condition()}" if self.chosen.random() < 0.4 else ""
        if self.chosen.random() < 0.3:
            return f"SELECT c AS k, MEDIAN({value}) AS v0 FROM t{where} GROUP BY c"
        if self.chosen.random() < 0.3:
            own = f"(SELECT who, {self.pick('SUM(x)', 'COUNT(*)')} AS v FROM t GROUP BY who)"
            return f"SELECT MEDIAN(v) AS v0 FROM {own}"
        return f"SELECT MEDIAN({value}) AS v0 FROM t{where}"

    def joined(self) -> str:
        """A question with a lookup."""
        join = self.pick("JOIN", "LEFT JOIN") + " region USING (c)"
        value = self.pick("beds", "beds * 2 - x", "CASE WHEN part = 'north' THEN x ELSE 1 END")
        what = self.pick("COUNT(*)", f"SUM({value})", f"AVG({value})", "COUNT(beds)")
        where = self.pick("", " WHERE beds > 5", " WHERE part = 'north' AND x > 2")
        if self.chosen.random() < 0.5:
            return f"SELECT part AS k, {what} AS v0 FROM t {join}{where} GROUP BY part"
        return f"SELECT {what} AS v0 FROM t {join}{where}"

    def clipped(self) -> str:
        """A sum or a mean of a column that can be cut."""
        where = f" WHERE {self.condition()}" if self.chosen.random() < 0.5 else ""
        if self.chosen.random() < 0.3:
            return f"SELECT c AS k, SUM(x) AS v0 FROM t{where} GROUP BY c"
        return f"SELECT {self.pick('SUM(x)', 'AVG(x)')} AS v0 FROM t{where}"

    def key(self) -> str:
        return self.pick(
            f"CASE WHEN x < {self.number()} THEN 'low' WHEN b THEN 'mid' ELSE 'top' END",
            "CASE WHEN y < 0 THEN -1 WHEN y > 1 THEN 1 END",
            "FLOOR(x / 5) * 5",
            "FLOOR(x / 4)",
            "YEAR(d)",
            "EXTRACT(month FROM d)",
            "EXTRACT(isodow FROM d)",
            "WIDTH_BUCKET(x, 2, 11, 3)",
            "c",
            "b",
        )

    def question(self) -> str:
        outputs = [f"{self.aggregate()} AS v{i}" for i in range(self.chosen.randint(1, 2))]
        source = "t"
        if self.chosen.random() < 0.2:
            own = self.pick(
                "SUM(x)", "COUNT(*)", "MAX(x - y)", "SUM(CASE WHEN b THEN y END)", "MIN(y)"
            )
            where = f" WHERE {self.condition()}" if self.chosen.random() < 0.5 else ""
            source = f"(SELECT who, {own} AS v FROM t{where} GROUP BY who)"
            what = self.pick("SUM(v)", "COUNT(*)", "COUNT(v)", "SUM(v * 2 + 1)", "AVG(v)")
            return f"SELECT {what} AS v0 FROM {source}" + self.pick("", " WHERE v > 2")
        where = f" WHERE {self.condition()}" if self.chosen.random() < 0.5 else ""
        if self.chosen.random() < 0.4:
            key = self.key()
            group = self.pick("k", "1", "ALL", key)
            return f"SELECT {key} AS k, {', '.join(outputs)} FROM {source}{where} GROUP BY {group}"
        return f"SELECT {', '.join(outputs)} FROM {source}{where}"


def rows_of(value: Any) -> dict[Any, list[float]]:
    """The values of each cell, by key; None for the one cell without keys."""
    rows = (
        value if isinstance(value, list) else [value if isinstance(value, dict) else {"v0": value}]
    )
    return {row.get("k"): [row[name] for name in sorted(row) if name != "k"] for row in rows}


def agree(found: Any, sql: str, theirs: dict[Any, list[Any]], empty: list[Any]) -> bool:
    """Whether all cells are right; rows without a key are in no cell of ours.

    empty: what DuckDB says of no rows, which are in cells that it does not list.
    """
    ours, ends = rows_of(found.value), rows_of(found.interval(LEVEL))
    means = [text.startswith("AVG(") for text in outputs(sql)[0]]
    if not set(theirs) - {None} <= set(ours):
        return False
    return all(
        fits(*given, readings=found.plan.readings[place])
        for key in ours
        for place, given in enumerate(
            zip(ours[key], ends[key], theirs.get(key, empty), means, strict=True)
        )
    )


def outputs(sql: str) -> tuple[list[str], str]:
    """The text of each output v0, v1, …, and what follows FROM, without GROUP BY."""
    rest = sql.removeprefix("SELECT ")
    rest = rest.partition(" AS k, ")[2] or rest
    found: list[str] = []
    while (name := f" AS v{len(found)}") in rest:
        text, _, rest = rest.partition(name)
        found.append(text.removeprefix(", "))
    grouped = rest.rpartition(" GROUP BY ")[0] if " AS k" in sql else rest
    return found, grouped.removeprefix(" FROM ")


def fits(ours: Any, ends: Any, true: Any, mean: bool, readings: Any) -> bool:
    """Whether one number is what we promise."""
    if true is None and mean:  # of no rows: nothing is known but its bounds
        return bool(
            ends == (float(readings.low), float(readings.high)) and ends[0] <= ours <= ends[1]
        )
    if ours is None:  # divided by a count of 0
        return true is None
    true = float(true or 0)  # a sum of no rows
    low, high = (float(end) for end in ends)
    near = 1e-7 * (1 + abs(true))  # seven decimals are asked for, and DuckDB's own floats
    narrow = high - low <= WIDEST * (1 + abs(true))
    # and hardly any noise is drawn: an interval at this level is wider than what is seen
    close = abs(float(ours) - true) <= (1e-4 if mean else 1e-6) * (1 + abs(true))
    return narrow and close and low <= ours <= high and low - near <= true <= high + near


@pytest.fixture(scope="module")
def table() -> Any:
    stored, seen = tables(random.Random(11))
    connection = duckdb.connect()
    connection.register("t", seen)
    connection.register("region", pd.read_csv(io.StringIO(REGION)))
    connection.execute(BUCKET)
    return stored, connection


@pytest.fixture
def opened(table: Any) -> Any:
    stored, _ = table
    return {
        given.unit: tn.protect(stored, schema=given, ledger=tn.ledger.Memory())
        for given in (RECORDS, PERSONS)
    }


def raw(connection: Any, sql: str) -> dict[Any, list[float]]:
    found = connection.execute(sql.replace("AVG(b)", "AVG(CAST(b AS INTEGER))"))
    names = [column[0] for column in found.description]
    return rows_of([dict(zip(names, row, strict=True)) for row in found.fetchall()])


def of_nothing(connection: Any, sql: str) -> list[Any]:
    """What the outputs are of no rows."""
    texts, source = outputs(sql)
    values = ", ".join(f"{text} AS v{place}" for place, text in enumerate(texts))
    (found,) = raw(
        connection, f"SELECT {values} FROM (SELECT * FROM {source}) WHERE FALSE"
    ).values()
    return found


def asked(opened: Any, sql: str, **given: Any) -> Any:
    """The answer, to what is written the same when it is written anew."""
    data = opened["who" if "GROUP BY who" in sql else "record"]
    question = parse(sql, data.schema)
    assert parse(render(question, data.schema), data.schema) == question, sql
    return data.ask(sql, epsilon=EPSILON, **given)


@pytest.mark.parametrize("part", range(10))
def test_generated_questions_are_answered_as_duckdb_does(
    table: Any, opened: Any, part: int
) -> None:
    """Thirty each: counts, sums, means, shares, conditions, keys, lookups, persons."""
    _, connection = table
    writer = Writer(random.Random(part))
    for number in range(30):
        sql = writer.joined() if number % 6 == 5 else writer.question()
        found, theirs = asked(opened, sql), raw(connection, sql)
        nothing = of_nothing(connection, sql)
        assert agree(found, sql, theirs, nothing), (sql, found.value, theirs)


@pytest.mark.parametrize("part", range(4))
def test_medians_are_between_the_two_in_the_middle(table: Any, opened: Any, part: int) -> None:
    _, connection = table
    writer = Writer(random.Random(100 + part))
    for _ in range(10):
        sql = writer.median()
        ours = rows_of(asked(opened, sql).value)
        low = raw(connection, _middle(sql, "QUANTILE_DISC({}, 0.5)"))
        high = raw(connection, _middle(sql, "-QUANTILE_DISC(-({}), 0.5)"))
        for key in set(low) - {None} if " AS k" in sql else set(low):
            if low[key][0] is not None:
                assert low[key][0] <= ours[key][0] <= high[key][0], sql


def _middle(sql: str, text: str) -> str:
    value = sql.partition("MEDIAN(")[2].partition(") AS v0")[0]
    return sql.replace(f"MEDIAN({value})", text.format(value))


@pytest.mark.parametrize("part", range(2))
def test_cut_sums_are_those_of_cut_values(table: Any, opened: Any, part: int) -> None:
    _, connection = table
    writer = Writer(random.Random(200 + part))
    for _ in range(10):
        sql = writer.clipped()
        found = asked(opened, sql, clip="auto")
        (reading,) = found.plan.readings
        cut = float(reading.bound(found.released.cells[0]))
        theirs = raw(connection, sql.replace("(x)", f"(CASE WHEN x > {cut} THEN {cut} ELSE x END)"))
        nothing = of_nothing(connection, sql)
        assert agree(found, sql, theirs, nothing), (sql, cut, found.value, theirs)


@pytest.mark.parametrize(
    ("sql", "wrong"),
    [
        (
            "SELECT COUNT(*) FILTER (WHERE NOT b) AS v0 FROM t",
            "SELECT COUNT(*) FILTER (WHERE NOT COALESCE(b, FALSE)) AS v0 FROM t",
        ),
        ("SELECT AVG(x) AS v0 FROM t", "SELECT AVG(COALESCE(x, 0)) AS v0 FROM t"),
        ("SELECT AVG(y) AS v0 FROM t", "SELECT AVG(y) + 0.001 AS v0 FROM t"),
        ("SELECT SUM(x) AS v0 FROM t WHERE x IS NULL", "SELECT 1 AS v0 FROM t"),
        ("SELECT AVG(x) AS v0 FROM t WHERE x IS NULL", "SELECT 6 AS v0 FROM t"),
    ],
)
def test_a_wrong_meaning_is_seen(table: Any, opened: Any, sql: str, wrong: str) -> None:
    """The same comparison tells what is unknown from what is false, 0, a little off, or made up."""
    _, connection = table
    found, nothing = asked(opened, sql), of_nothing(connection, sql)
    assert agree(found, sql, raw(connection, sql), nothing)
    assert not agree(found, sql, raw(connection, wrong), nothing)


GRADES = "mark,band,pay\n1,low,100\n2,low,\n3,high,400\n9,high,7\n"
"""Keys that are numbers, one that no row has, and a number that is missing."""


def test_two_lookups_are_joined_each_by_its_key() -> None:
    """By a text and by a whole number; with keys that are missing, unknown, or no key at all.

    A LEFT JOIN keeps every row, whichever of its keys is missing: a row that matches one lookup
    only has the columns of that one.
    """
    chosen = random.Random(5)
    keys = [("a", "b", "z", "other", None), (1, 2, 3, 4, None)]
    stored = pd.DataFrame(
        [
            {"x": n % 13, "c": chosen.choice(keys[0]), "mark": chosen.choice(keys[1])}
            for n in range(N)
        ]
    )
    stored["mark"] = stored["mark"].astype("Int64")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "region.csv").write_text(REGION)
        Path(folder, "grades.csv").write_text(GRADES)
        described = Schema.from_dict(
            {
                "table": {"name": "t", "unit": "record", "neighbours": "add-or-remove"},
                "columns": {
                    "x": COLUMNS["x"],
                    "c": COLUMNS["c"],
                    "mark": {"type": "category", "categories": ["1", "2", "3"]},
                },
                "budget": {"total": 10**6},
                "lookups": {
                    "region": {
                        "source": "region.csv",
                        "key": "c",
                        "columns": ["part", "beds"],
                        "numbers": ["beds"],
                    },
                    "grades": {
                        "source": "grades.csv",
                        "key": "mark",
                        "columns": ["band", "pay"],
                        "numbers": ["pay"],
                    },
                },
            },
            folder=Path(folder),
        )
    with duckdb.connect() as connection:
        connection.register("stored", stored)
        # as the schema sees it: what is no category is missing
        connection.execute(
            "CREATE TABLE t AS SELECT x, CASE WHEN c IN ('a', 'b', 'z') THEN c END AS c, "
            "CASE WHEN mark IN (1, 2, 3) THEN mark END AS mark FROM stored"
        )
        connection.register("region", pd.read_csv(io.StringIO(REGION)))
        connection.register("grades", pd.read_csv(io.StringIO(GRADES)))
        data = tn.protect(stored, schema=described, ledger=tn.ledger.Memory())
        seen = 0
        for first in ("JOIN", "LEFT JOIN"):
            for second in ("JOIN", "LEFT JOIN"):
                source = f"FROM t {first} region USING (c) {second} grades ON t.mark = grades.mark"
                for sql in (
                    f"SELECT COUNT(*) AS v0 {source}",
                    f"SELECT part AS k, COUNT(*) AS v0 {source} GROUP BY part",
                    f"SELECT band AS k, SUM(beds + pay) AS v0, COUNT(*) AS v1 {source} GROUP BY k",
                    f"SELECT COUNT(*) AS v0 {source} WHERE part IS NULL",
                    f"SELECT COUNT(*) AS v0 {source} WHERE band = 'low' AND beds > 5",
                    f"SELECT AVG(pay - x) AS v0 {source} WHERE beds IS NULL",
                ):
                    found, theirs = data.ask(sql, epsilon=EPSILON), raw(connection, sql)
                    nothing = of_nothing(connection, sql)
                    assert agree(found, sql, theirs, nothing), (sql, found.value, theirs)
                    seen += any(value not in (None, 0) for row in theirs.values() for value in row)
    assert seen > 18, "most of these have rows"
