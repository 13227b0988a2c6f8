"""A table in a PostgreSQL server and the same rows in a Parquet file answer alike, end to end.

At an epsilon so large that noise rounds to nothing, answers must be the same to the last digit.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tenue as tn
from command_line import invoke
from postgres_server import Server
from tenue.cli.main import app

pytestmark = pytest.mark.needs("postgres")
HUGE = 10_000
TOWNS = [f"town {i:02d}" for i in range(40)]


def rows() -> list[tuple[Any, ...]]:
    return [
        (
            f"p{i // 3}",
            None if i % 17 == 0 else (i * 37) % 95,
            float("nan") if i % 23 == 0 else (i * 7919 % 10_007) / 10.0,
            TOWNS[i * i % 41 % 40] if i % 19 else None,
            i % 2 == 0,
            date(2020, 1, 1) + timedelta(days=i * 5 % 700),
        )
        for i in range(600)
    ]


def stated(**table: Any) -> dict[str, Any]:
    plain = {"name": "people", "unit": "record", "neighbours": "add-or-remove"}
    return {
        "table": plain | table,
        "columns": {
            "who": {"type": "identifier"},
            "age": {"type": "number", "bounds": [0, 100], "role": "quasi-identifier"},
            "pay": {"type": "number", "bounds": [0, 900], "grid": 0.5, "role": "confidential"},
            "town": {"type": "category", "categories": TOWNS, "role": "other"},
            "member": {"type": "boolean", "role": "other"},
            "day": {"type": "date", "bounds": ["2020-01-01", "2021-12-31"], "role": "other"},
        },
        "budget": {"total": 1_000_000, "individual": 1_000_000},
    }


@pytest.fixture(scope="module")
def sources(
    postgres_server: Server, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[list[str]]:
    file = tmp_path_factory.mktemp("tables") / "people.parquet"
    names = ["who", "age", "pay", "town", "member", "day"]
    columns = dict(zip(names, map(list, zip(*rows(), strict=True)), strict=True))
    pq.write_table(pa.table(columns), file)
    with psycopg.connect(postgres_server.address(), autocommit=True) as owner:
        owner.execute("CREATE SCHEMA journey")
        owner.execute(
            "CREATE TABLE journey.people (who text, age integer, pay double precision, town text,"
            " member boolean, day date)"
        )
        with owner.cursor() as cursor:
            marks = "%s, %s, %s, %s, %s, %s"
            cursor.executemany(f"INSERT INTO journey.people VALUES ({marks})".encode(), rows())  # noqa: S608
    yield [str(file), f"{postgres_server.address()}#journey.people"]
    with psycopg.connect(postgres_server.address(), autocommit=True) as owner:
        owner.execute("DROP SCHEMA journey CASCADE")


def both(sources: list[str], ask: Any, **table: Any) -> list[Any]:
    found = []
    for source in sources:
        with tn.protect(source, schema=stated(**table), ledger=tn.ledger.Memory()) as data:
            found.append(ask(data))
    return found


QUESTIONS = [
    "SELECT COUNT(*), SUM(pay), AVG(age) FROM people",
    "SELECT town, COUNT(*), SUM(age) FROM people WHERE member GROUP BY town",
    "SELECT BIN(age, 20), AVG(pay) FROM people WHERE age >= 10 GROUP BY BIN(age, 20)",
    "SELECT DATE_TRUNC('quarter', day), COUNT(*) FROM people GROUP BY 1",
    "SELECT AVG(age) FROM people WHERE town IN ('town 01', 'town 09') AND NOT member",
    "SELECT MEDIAN(pay), MIN(age), MAX(day) FROM people",
    "SELECT member, QUANTILE(age, 0.9) FROM people GROUP BY member",
    "SELECT MODE(town) FROM people WHERE day < '2021-01-01'",
    "SELECT COUNT(*) FROM people WHERE age IS NULL OR pay > 400.5",
]


@pytest.mark.parametrize("sql", QUESTIONS)
def test_questions(sources: list[str], sql: str) -> None:
    one, other = both(sources, lambda data: data.ask(sql, epsilon=HUGE))
    assert other.value == one.value
    assert other.certificate.promise == one.certificate.promise


def test_moments(sources: list[str]) -> None:
    """Squares have so wide a range that some noise is left."""
    sql = "SELECT VARIANCE(pay) AS v, CORR(age, pay) AS c FROM people"
    one, other = both(sources, lambda data: data.ask(sql, epsilon=HUGE).value)
    assert other["v"] == pytest.approx(one["v"], rel=1e-3)
    assert other["c"] == pytest.approx(one["c"], abs=1e-2)


def test_questions_about_persons(sources: list[str]) -> None:
    persons = {"unit": "who", "rows_per_unit": 3}
    sql = "SELECT COUNT(*), COUNT(DISTINCT who) FROM people"
    one, other = both(sources, lambda data: data.ask(sql, epsilon=1000).value, **persons)
    assert sorted(one.values()) == sorted(other.values()) == [200, 600]
    limits = both(
        sources,
        lambda data: data.suggest_limits(epsilon=1000, by=["town"], column="pay"),
        **persons,
    )
    found = [json.loads(limit.to_json()) for limit in limits]
    assert found[1]["recommended"] == found[0]["recommended"]
    assert found[1]["rows"] == found[0]["rows"] == [3, 3, 3]


def test_many_questions_a_belief_and_individual_privacy(sources: list[str]) -> None:
    asked = ["SELECT COUNT(*) FROM people WHERE member", "SELECT SUM(age) FROM people"]
    many = both(sources, lambda data: [a.value for a in data.ask_many(asked, epsilon=HUGE)])
    assert many[0] == many[1]
    belief = tn.prior.Binomial(600, 0.5)
    sure = both(
        sources,
        lambda data: data.ask(asked[0], epsilon=100, prior=belief).value,
    )
    assert sure == [300, 300]
    own = []
    for source in sources:
        declared = stated(neighbours="replace")
        declared["columns"]["age"]["missing"] = 0
        with tn.protect(source, schema=declared, ledger=tn.ledger.Memory()) as data:
            sql = "SELECT MEDIAN(age) FROM people"
            own.append(data.ask(sql, epsilon=HUGE, individual=True).value)
    assert own[0] == own[1]


def test_releases_and_what_is_measured_of_them(sources: list[str]) -> None:
    """A release takes rows that are whole; values that stay where they are show that all came."""
    declared = stated(neighbours="replace")
    del declared["columns"]["who"], declared["columns"]["town"]
    for column in declared["columns"].values():
        column["missing"] = {"number": 0, "boolean": False, "date": "2020-01-01"}[column["type"]]
    tables, checked = [], []
    for source in sources:
        release = tn.publish(source, schema=declared, method="microaggregate", k=5, ledger=False)
        table = pa.table(release.table)
        left = table.select(["pay", "member", "day"])
        tables.append(sorted(map(repr, left.to_pylist())))
        assert tn.evaluate.check(table, quasi_identifiers=["age"]).k >= 5
        ledger = tn.ledger.Memory()
        drawn = tn.publish(source, schema=declared, method="private", epsilon=1, ledger=ledger)
        assert len(drawn.table) == 600
        assert ledger.balance("people").spent == 1
        checked.append(tn.evaluate.check(source, quasi_identifiers=["age"], confidential=["town"]))
    assert tables[0] == tables[1]
    assert [(c.k, c.l, c.t) for c in checked[:1]] == [(c.k, c.l, c.t) for c in checked[1:]]


def test_the_command_line(sources: list[str], tmp_path: Path) -> None:
    told = []
    for source, name in zip(sources, ("file", "server"), strict=True):
        schema = tmp_path / f"{name}.toml"
        done = invoke(app, ["init", source, "--out", str(schema), "--for", "ask"])
        assert done.exit_code == 0
        drafted = schema.read_text()
        told.append(drafted.partition("[columns")[2])
        schema.write_text(_filled(source))
        words = ["--schema", str(schema), "--ledger", str(tmp_path / f"{name}.ledger")]
        sql = "SELECT COUNT(*) FROM people WHERE age > 50"
        done = invoke(app, ["ask", sql, *words, "--epsilon", str(HUGE), "--json"])
        assert done.exit_code == 0
        told.append(json.loads(done.stdout)["value"])
    assert told[0] == told[2]
    assert told[1] == told[3]


def _filled(source: str) -> str:
    return f"""
[table]
name = "people"
source = "{source}"
unit = "record"
neighbours = "add-or-remove"
[columns.age]
type = "number"
bounds = [0, 100]
[budget]
total = 100000
"""
