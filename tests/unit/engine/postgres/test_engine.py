"""A table in a server is asked and paid for as any other, whatever becomes of the server."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

import tenue as tn
from postgres_server import Server
from tenue.engine.contract import FAULT
from tenue.engine.postgres.session import Snapshot
from tenue.errors import EngineFault, InvalidTable, NotPromised, Refused

pytestmark = pytest.mark.needs("postgres")
STATED: dict[str, Any] = {
    "table": {"name": "people", "unit": "record", "neighbours": "add-or-remove"},
    "columns": {
        "age": {"type": "number", "bounds": [0, 100]},
        "region": {"type": "category", "categories": ["N", "S"]},
    },
    "budget": {"total": 10},
}
COUNT = "SELECT COUNT(*) FROM people"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    made = Server()
    with psycopg.connect(made.address(), autocommit=True) as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT i % 90 AS age,"
            " CASE WHEN i % 3 = 0 THEN 'N' ELSE 'S' END AS region, 'canary' AS secret"
            " FROM generate_series(1, 3000) i"
        )
        connection.execute("CREATE ROLE reader LOGIN")
        connection.execute("REVOKE TEMPORARY ON DATABASE postgres FROM PUBLIC")
        connection.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
        connection.execute("GRANT SELECT ON people TO reader")
    yield made
    made.remove()


def opened(
    server: Server, ledger: Path | tn.ledger.Memory, role: str = "reader", **more: Any
) -> Any:
    source = f"{server.address(role=role)}#people"
    return tn.protect(source, schema=STATED, ledger=ledger, **more)


def test_a_question_is_answered(server: Server) -> None:
    data = opened(server, tn.ledger.Memory())
    answer = data.ask("SELECT region, COUNT(*) AS n FROM people GROUP BY region", epsilon=5)
    assert [row["region"] for row in answer.value] == ["N", "S"]
    assert abs(answer.value[0]["n"] - 1000) < 50
    with pytest.raises(Refused):
        data.ask("SELECT COUNT(*) FROM people WHERE secret = 'canary'", epsilon=1)
    data.close()


def test_an_analyst_asks_what_the_holder_opened_and_no_other_table(
    server: Server, tmp_path: Path
) -> None:
    ledger = tmp_path / "people.ledger"
    with pytest.raises(Refused, match="holder"):
        opened(server, ledger, analyst="ann")
    opened(server, ledger).close()
    data = opened(server, ledger, analyst="ann")
    assert abs(data.ask(COUNT, epsilon=1).value - 3000) < 100
    with psycopg.connect(server.address(), autocommit=True) as connection:
        connection.execute("ALTER TABLE people RENAME TO moved")
        connection.execute("CREATE TABLE people AS SELECT * FROM moved LIMIT 1")
        connection.execute("GRANT SELECT ON people TO reader")
        spent = data.budget.spent
        with pytest.raises(Refused, match="holder"):
            data.ask("SELECT SUM(age) FROM people", epsilon=1)
        assert data.budget.spent == spent
        connection.execute("DROP TABLE people")
        connection.execute("ALTER TABLE moved RENAME TO people")
    data.close()


def test_a_server_that_dies_in_a_question_costs_its_price_and_tells_nothing(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = opened(server, tn.ledger.Memory())
    run = Snapshot.run

    def dies(self: Snapshot, sql: str) -> Any:
        if "COUNT" not in sql:
            return run(self, sql)
        monkeypatch.undo()
        server.restart(signal.SIGQUIT)
        return run(self, sql)

    monkeypatch.setattr(Snapshot, "run", dies)
    with pytest.raises(EngineFault) as fault:
        data.ask(COUNT, epsilon=1, key="k")
    assert str(fault.value) == FAULT
    assert fault.value.__context__ is None
    assert data.budget.spent == 1
    with pytest.raises(Refused):  # the key was paid for, and is never drawn again
        data.ask(COUNT, epsilon=1, key="k")
    assert abs(data.ask(COUNT, epsilon=2, fresh=True).value - 3000) < 100
    assert data.budget.spent == 3
    data.close()


def test_neither_we_nor_the_server_write_down_a_value(server: Server) -> None:
    """Statements are ours alone, and none fails because of a row: the log has no error of them."""
    with psycopg.connect(server.address(), autocommit=True) as connection:
        connection.execute("CREATE TABLE odd (age text, region text)")
        values = ["canary", "1e999", "9" * 400, "nan", "", "0x5", "-inf", "1e-999", "٣"]
        with connection.cursor() as cursor:
            cursor.executemany("INSERT INTO odd VALUES (%s, 'canary')", [(v,) for v in values])
    before = len(server.log())
    stated = {**STATED, "table": STATED["table"] | {"name": "odd"}}
    source = f"{server.address()}#odd"
    data = tn.protect(source, schema=stated, ledger=tn.ledger.Memory())
    for sql in (
        "SELECT COUNT(*) FROM odd WHERE age > 5",
        "SELECT AVG(age) FROM odd",
        "SELECT MEDIAN(age) FROM odd",
        "SELECT region, SUM(age) AS s FROM odd GROUP BY region",
    ):
        data.ask(sql, epsilon=0.5)
    data.close()
    assert server.log()[before:] == ""


def test_a_table_that_is_not_as_declared_is_refused_at_once(server: Server) -> None:
    for stated, word in (
        ({"height": {"type": "number", "bounds": [0, 9]}}, "height"),
        ({"region": {"type": "date", "bounds": ["2000-01-01", "2001-01-01"]}}, None),
    ):
        schema = {**STATED, "columns": stated}
        if word is None:
            tn.protect(
                f"{server.address()}#people", schema=schema, ledger=tn.ledger.Memory()
            ).close()  # texts that are no days are missing
            continue
        with pytest.raises(InvalidTable, match=word):
            tn.protect(f"{server.address()}#people", schema=schema, ledger=tn.ledger.Memory())


def test_a_role_that_may_write_is_named_to_the_holder_and_refused_to_analysts(
    server: Server, tmp_path: Path
) -> None:
    """The mutant that asks nobody's rights opens for the analyst too."""
    ledger = tmp_path / "people.ledger"
    quiet = opened(server, ledger)
    assert quiet.opening.remarks == ()
    quiet.close()
    with psycopg.connect(server.address(), autocommit=True) as connection:
        connection.execute("GRANT DELETE ON people TO reader")
        data = opened(server, ledger)
        assert data.opening.excess == ("may write to the table",)
        assert "it may write to the table." in data.opening.remarks[0]
        data.close()
        with pytest.raises(NotPromised, match="may write to the table") as refusal:
            opened(server, ledger, analyst="ann")
        assert refusal.value.code == "excessive-grant"
        connection.execute("REVOKE DELETE ON people FROM reader")
    opened(server, ledger, analyst="ann").close()


def test_a_server_that_was_away_between_questions_is_reached_anew(server: Server) -> None:
    data = opened(server, tn.ledger.Memory())
    server.restart(signal.SIGQUIT)
    assert abs(data.ask(COUNT, epsilon=1).value - 3000) < 100
    data.close()


def test_a_view_that_fails_on_a_row_is_refused_when_it_is_opened(server: Server) -> None:
    with psycopg.connect(server.address(), autocommit=True) as connection:
        connection.execute("CREATE VIEW failing AS SELECT 5 / (age - 17) AS age FROM people")
    stated = {**STATED, "columns": {"age": STATED["columns"]["age"]}}
    with pytest.raises(InvalidTable, match="could not be read to its end") as refusal:
        tn.protect(f"{server.address()}#failing", schema=stated, ledger=tn.ledger.Memory())
    assert refusal.value.__context__ is None


def test_another_stated_number_of_rows_is_compared_again(server: Server, tmp_path: Path) -> None:
    ledger = tmp_path / "people.ledger"
    table = {"name": "people", "unit": "record", "neighbours": "replace", "rows": 3000}
    source = f"{server.address(role='reader')}#people"
    tn.protect(source, schema=STATED | {"table": table}, ledger=ledger).close()
    with pytest.raises(Refused, match="another number"):
        tn.protect(source, schema=STATED | {"table": table | {"rows": 2999}}, ledger=ledger)
