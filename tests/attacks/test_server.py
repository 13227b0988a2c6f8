"""A server that holds the table runs nothing that an analyst wrote, and its log has no value.

The server of these tests writes down every statement that it is sent.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pyarrow as pa
import pytest
from psycopg import sql as compose

import tenue as tn
from postgres_server import Server
from tenue.engine.postgres.dialect import POSTGRES
from tenue.engine.source.count_queries import Tally
from tenue.errors import Refused
from tenue.schema import Schema
from unit.ask.hostile import statements

pytestmark = pytest.mark.needs("postgres")
CANARIES = ("canary", "73573", "73572", "73574", "987654321")
"""What rows hold, and what is next to it: a text, a number, the least person."""
STATED: dict[str, Any] = {
    "table": {
        "name": "people",
        "unit": "who",
        "neighbours": "add-or-remove",
        "rows_per_unit": 2,
    },
    "columns": {
        "who": {"type": "identifier"},
        "pay": {"type": "number", "bounds": [0, 100_000], "role": "confidential"},
        "age": {"type": "number", "bounds": [0, 120], "role": "quasi-identifier"},
        "region": {"type": "category", "categories": ["N", "S"], "role": "other"},
    },
    "budget": {"total": 10_000},
}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    made = Server()
    with psycopg.connect(made.address(), autocommit=True) as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT 987654321 + i / 4 AS who, i % 90 AS age,"
            " 73573 + i % 10 / 9 * 20000 AS pay,"
            " CASE i % 3 WHEN 0 THEN 'N' WHEN 1 THEN 'S' ELSE 'canary' END AS region,"
            " 'canary' || i / 4 AS name FROM generate_series(1, 400) i"
        )
    made.restart(signal.SIGINT, "log_statement=all", "log_min_duration_statement=0")
    yield made
    made.remove()


def protected(server: Server, stated: dict[str, Any] = STATED, table: str = "people") -> Any:
    source = f"{server.address()}#{table}"
    return tn.protect(source, schema=stated, ledger=tn.ledger.Memory())


def test_hostile_statements_reach_no_server(server: Server) -> None:
    corpus = statements("people", "pay")
    assert len(corpus) >= 300
    data = protected(server)
    before = len(server.log())
    for sql in corpus:
        with pytest.raises(Refused):
            data.ask(sql, epsilon=0.001)
    assert server.log()[before:] == ""
    assert data.budget.spent == 0
    data.close()


def test_the_corpus_is_hostile_to_a_server_that_is_sent_it(server: Server) -> None:
    """The naive build, which forwards what is asked to a session that only reads."""
    ran = 0
    with psycopg.connect(server.address(), autocommit=True) as connection:
        connection.execute("SET statement_timeout = '50ms'")
        for sql in statements("people", "pay"):
            if "PROGRAM" in sql or "TO '/tmp" in sql or "lo_export" in sql:
                continue
            if sql.count("SELECT") > 10:  # its planner takes all memory, and the server with it
                continue
            connection.execute("BEGIN READ ONLY")
            try:
                connection.execute(sql.encode())
                ran += 1
            except (psycopg.Error, ValueError):
                pass
            connection.execute("ROLLBACK")
    assert ran >= 40


MANY = [f"o'{i}" for i in range(40)]
"""So many that they are looked up in a JSON text."""


@pytest.mark.parametrize("many", [[], MANY], ids=["few", "many"])
def test_names_and_categories_are_never_statements(server: Server, many: list[str]) -> None:
    """Columns have tame names, or no schema loads; tables and categories need not."""
    evil, worse = 'x"; DROP TABLE people; --', "'); DROP TABLE people; --"
    with psycopg.connect(server.address(), autocommit=True) as connection:
        for statement in (
            "CREATE TABLE IF NOT EXISTS public.{0} (word text, n integer)",
            "TRUNCATE public.{0}",
            "INSERT INTO public.{0} VALUES ({1}, 7)",
        ):
            connection.execute(
                compose.SQL(statement).format(compose.Identifier(evil), compose.Literal(worse))
            )
    stated = {
        "table": {"name": "odd", "unit": "record", "neighbours": "add-or-remove"},
        "columns": {
            "word": {"type": "category", "categories": [worse, evil, "\\'", "%s", "$1", *many]},
            "n": {"type": "number", "bounds": [0, 9]},
        },
        "budget": {"total": 10**6},
    }
    quoted = worse.replace("'", "''")
    with protected(server, stated, "public." + evil.replace(" ", "%20")) as data:
        asked = f"SELECT COUNT(*) FROM odd WHERE word = '{quoted}'"  # noqa: S608
        assert data.ask(asked, epsilon=10**4).value == 1
        found = data.ask("SELECT word, SUM(n) AS s FROM odd GROUP BY word", epsilon=10**4).value
        assert [row for row in found if row["s"]] == [{"word": worse, "s": 7}]
    with psycopg.connect(server.address()) as connection:
        assert connection.execute("SELECT COUNT(*) FROM people").fetchall() == [(400,)]


QUESTIONS = (
    "SELECT COUNT(*), SUM(pay), AVG(pay) FROM people",
    "SELECT region, COUNT(*) FROM people GROUP BY region",
    "SELECT COUNT(DISTINCT who) FROM people",
    "SELECT MEDIAN(pay) FROM people",
    "SELECT MIN(pay), MAX(pay) FROM people",
    "SELECT region, MEDIAN(pay) FROM people GROUP BY region",
    "SELECT MODE(region) FROM people",
    "SELECT VARIANCE(pay) FROM people WHERE age > 40",
)


@pytest.mark.parametrize("unit", ["who", "name", "record"])
def test_the_log_of_the_server_has_no_value_of_a_row(server: Server, unit: str) -> None:
    limits = {} if unit == "record" else {"rows_per_unit": 2}
    table = {"name": "people", "unit": unit, "neighbours": "add-or-remove", **limits}
    columns = {**STATED["columns"], "name": {"type": "identifier"}}
    before = len(server.log())
    stated = {**STATED, "table": table, "columns": columns}
    with protected(server, stated) as data:
        for sql in QUESTIONS:
            if "DISTINCT" not in sql or unit == "who":
                data.ask(sql, epsilon=1)
        if unit != "record":
            data.suggest_limits(epsilon=1, column="pay")
    kept = {name: columns[name] for name in ("pay", "age")}
    records = {"name": "people", "unit": "record", "neighbours": "replace"}
    private = {**stated, "columns": kept, "table": records}
    tn.publish(f"{server.address()}#people", schema=private, method="swap", k=5, ledger=False)
    log = server.log()[before:]
    assert log.count("SELECT") > 20
    assert [canary for canary in CANARIES if canary in log] == []


def test_the_log_would_tell_if_statements_had_values(server: Server) -> None:
    """The mutant spells a median, and persons, as an engine whose statements nobody writes down."""
    table = {"name": "people", "unit": "record", "neighbours": "add-or-remove"}
    for stated, sql, canary in (
        ({**STATED, "table": table}, "SELECT MEDIAN(pay) FROM people", "73574"),
        (STATED, "SELECT SUM(pay) FROM people", "987654321"),
    ):
        before = len(server.log())
        with protected(server, stated) as data:
            engine = data._dataset.engine
            engine._table = replace(engine._table, dialect=replace(POSTGRES, logged=False))
            data.ask(sql, epsilon=1)
        assert canary in server.log()[before:]


CHECKED: dict[str, Any] = {"quasi_identifiers": ["age", "region"], "confidential": ["pay"]}


@pytest.mark.parametrize("unit", ["record", "who", "name"])
def test_a_table_is_checked_without_a_value_in_the_log(server: Server, unit: str) -> None:
    before = len(server.log())
    found = tn.evaluate.check(f"{server.address()}#people", **CHECKED, unit=unit)
    assert found.rows == 400
    log = server.log()[before:]
    assert log.count("SELECT") > 5
    assert [canary for canary in CANARIES if canary in log + str(found)] == []


def test_the_log_would_tell_if_a_check_looked_values_up(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant counts the rows of each value by a statement of its own."""

    def one_by_one(self: Tally, name: str) -> int:
        values = pa.concat_tables(self.tally([name])).column(0).drop_null().to_pylist()
        for value in values:
            list(self._run(f"SELECT COUNT(*) FROM {self._table} WHERE {name} = '{value}'"))  # noqa: S608
        return len(values)

    monkeypatch.setattr(Tally, "different", one_by_one)
    before = len(server.log())
    tn.evaluate.check(f"{server.address()}#people", Schema.from_dict(STATED))
    assert "canary" in server.log()[before:]


def test_a_statement_that_fails_is_written_down_without_a_value(
    server: Server, tmp_path: Path
) -> None:
    """A server tells its log of every statement that it gives up."""
    before = len(server.log())
    with protected(server) as data, psycopg.connect(server.address()) as other:
        data._dataset.engine._session._connection.execute("SET lock_timeout = '100ms'")
        other.execute("LOCK TABLE people IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(tn.Fault) as fault:
            data.ask("SELECT MEDIAN(pay) FROM people", epsilon=1)
        other.rollback()
    log = server.log()[before:]
    assert "ERROR" in log
    assert [canary for canary in CANARIES if canary in log + str(fault.value)] == []
