"""What people write in SQL is answered right: against DuckDB itself, on 300 generated questions.

The oracle is the raw text, asked of the table as the schema sees it: clamped, rounded, and missing
where it is missing. At a large epsilon hardly any noise is left, so answers must agree. A median of
an even number of values may be anything between the two in the middle. Where a cut was chosen in
private, the oracle cuts there too.
"""

# ruff: noqa: S608 - these texts are what is tested

from __future__ import annotations

import io
import random
import tempfile
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

import tenue as tn
from tenue.query.read.parse import parse
from tenue.query.write.question import render
from tenue.schema import Schema

EPSILON = 10_000
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
            return f"SELECT {what} AS v0 FROM {source}" + self.pick("", " WHERE v > 3")
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


def agree(
    ours: dict[Any, list[float]], theirs: dict[Any, list[float]], tolerance: float = 1e-6
) -> bool:
    """Whether all cells that have rows are the same; rows without a key are in no cell of ours."""
    if not set(theirs) - {None} <= set(ours):
        return False
    return all(
        # of no rows a mean has no value, and ours is the middle of the range
        two is None or abs(float(one or 0) - float(two)) <= tolerance * (1 + abs(float(two)))
        for key in theirs
        if key in ours
        for one, two in zip(ours[key], theirs[key], strict=True)
    )


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
        close = 1e-4 if "AVG" in sql else 1e-6  # few rows in a wide range leave some noise
        assert agree(rows_of(found.value), theirs, close), (sql, found.value, theirs)


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
        cut = float(reading.cut(found.released.cells[0]))
        theirs = raw(connection, sql.replace("(x)", f"(CASE WHEN x > {cut} THEN {cut} ELSE x END)"))
        assert agree(rows_of(found.value), theirs), (sql, cut, found.value, theirs)


def test_a_wrong_meaning_is_seen(table: Any) -> None:
    """The same comparison tells a condition that is unknown from one that is false."""
    stored, connection = table
    with tn.protect(stored, schema=RECORDS, ledger=tn.ledger.Memory()) as data:
        answer = data.ask("SELECT COUNT(*) FILTER (WHERE NOT b) AS v0 FROM t", epsilon=EPSILON)
    wrong = "SELECT COUNT(*) FILTER (WHERE NOT COALESCE(b, FALSE)) AS v0 FROM t"
    theirs = {"v0": connection.execute(wrong).fetchone()[0]}
    assert not agree(rows_of(answer.value), rows_of(theirs))
