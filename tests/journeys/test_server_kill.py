"""The server that holds the table crashes in the middle: during a question, during one with limits
of persons, while a table is published.

Whatever happens, the answer is right or there is none, the ledger shows one price for one key,
nothing is drawn for it again, and no file is half written.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

import tenue as tn
from postgres_server import Server
from tenue.engine.contract import FAULT
from tenue.engine.postgres.session import Snapshot
from tenue.errors import EngineFault, Refused

pytestmark = pytest.mark.needs("postgres")
COUNT = "SELECT COUNT(*) FROM people"
ROWS = 600


def stated(unit: str = "record") -> dict[str, Any]:
    table = {"name": "people", "unit": unit, "neighbours": "add-or-remove"}
    if unit != "record":
        table["rows_per_unit"] = 3  # type: ignore[assignment]
    number = {"type": "number", "bounds": [0, 100], "role": "quasi-identifier"}
    return {
        "table": table,
        "columns": {
            "who": {"type": "identifier"},
            "age": number,
            "pay": number | {"role": "confidential"},
        },
        "budget": {"total": 10_000},
    }


@pytest.fixture
def server(postgres_server: Server) -> Iterator[Server]:
    with psycopg.connect(postgres_server.address(), autocommit=True) as owner:
        owner.execute(
            "CREATE TABLE people AS SELECT i / 3 AS who, i % 90 AS age, i % 70 AS pay"
            " FROM generate_series(0, 599) i"
        )
    yield postgres_server
    with psycopg.connect(postgres_server.address(), autocommit=True) as owner:
        owner.execute("DROP TABLE people")


def crash_while_it_waits(server: Server, work: Callable[[], object]) -> list[Exception]:
    """Runs `work`, whose statement waits for a lock, and crashes the server while it does."""
    raised: list[Exception] = []

    def run() -> None:
        try:
            work()
        except Exception as error:
            raised.append(error)

    waiting = (
        "SELECT COUNT(*) FROM pg_stat_activity"
        " WHERE application_name = 'tenue' AND wait_event_type = 'Lock'"
    )
    other = psycopg.connect(server.address())
    other.execute("LOCK TABLE people IN ACCESS EXCLUSIVE MODE")
    thread = threading.Thread(target=run)
    thread.start()
    deadline = time.monotonic() + 9  # a little less than we wait for a lock
    with psycopg.connect(server.address(), autocommit=True) as watcher:
        while time.monotonic() < deadline and watcher.execute(waiting).fetchone() == (0,):
            time.sleep(0.02)
        assert time.monotonic() < deadline
    server.restart(signal.SIGQUIT)
    other.close()
    thread.join(60)
    assert not thread.is_alive()
    return raised


def crash_in(monkeypatch: pytest.MonkeyPatch, server: Server, call: str) -> None:
    """The next statement that reads rows is preceded by a crash."""
    real = getattr(Snapshot, call)

    def dies(self: Snapshot, sql: str) -> Any:
        if "LIMIT 0" in sql:
            return real(self, sql)
        monkeypatch.undo()
        server.restart(signal.SIGQUIT)
        return real(self, sql)

    monkeypatch.setattr(Snapshot, call, dies)


def one_spend(data: Any, sql: str, raised: list[Exception]) -> None:
    (fault,) = raised
    assert isinstance(fault, EngineFault)
    assert str(fault) == FAULT
    assert fault.__context__ is None
    assert data.budget.spent == 1
    with pytest.raises(Refused) as refusal:  # the key was paid for, and is never drawn again
        data.ask(sql, epsilon=1, key="k")
    # a ledger that was away too could not be told that there is no answer
    assert refusal.value.code in ("spent-unanswered", "in-flight")
    assert data.budget.spent == 1
    assert data.ask(sql, epsilon=1000, key="other").value == ROWS
    assert data.budget.spent == 1001
    assert data.ledger.verify()


@pytest.mark.parametrize(
    ("unit", "books"),
    [
        ("record", "server"),
        ("who", "file"),
        pytest.param("record", "file", marks=pytest.mark.slow),
        pytest.param("who", "server", marks=pytest.mark.slow),
    ],
)
def test_a_crash_during_a_question(server: Server, tmp_path: Path, unit: str, books: str) -> None:
    ledger: Any = tmp_path / "people.ledger"
    if books == "server":
        ledger = tn.ledger.Postgres(server.address(schema=f"books_{unit}"))
    source = f"{server.address()}#people"
    with tn.protect(source, schema=stated(unit), ledger=ledger) as data:
        raised = crash_while_it_waits(server, lambda: data.ask(COUNT, epsilon=1, key="k"))
        one_spend(data, COUNT, raised)


def test_a_crash_while_rows_of_persons_are_handed_over(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = f"{server.address()}#people"
    with tn.protect(source, schema=stated("who"), ledger=tmp_path / "people.ledger") as data:
        crash_in(monkeypatch, server, "arrow")
        with pytest.raises(EngineFault) as fault:
            data.ask(COUNT, epsilon=1, key="k")
        one_spend(data, COUNT, [fault.value])


@pytest.mark.parametrize("call", ["arrow", pytest.param("run", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("how", "price"),
    [({"method": "swap", "k": 3}, 0), ({"method": "private", "epsilon": 5}, 5)],
    ids=["swap", "private"],
)
def test_a_crash_during_a_release(
    server: Server,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    how: dict[str, Any],
    price: int,
    call: str,
) -> None:
    """A price that was paid stays paid, for rows may have been read; nothing leaves. What is run
    first validates the table, for the holder, before anything is paid."""
    source, ledger, out = f"{server.address()}#people", tmp_path / "people.ledger", tmp_path / "out"
    declared = stated("record")
    declared["table"]["neighbours"] = "replace"
    del declared["columns"]["who"]

    def publish() -> None:
        tn.publish(source, schema=declared, ledger=ledger, **how).save(out)

    crash_in(monkeypatch, server, call)
    with pytest.raises(EngineFault) as raised:
        publish()
    assert str(raised.value) == FAULT
    assert not out.exists()
    paid = price if call == "arrow" else 0
    assert spent(ledger) == paid
    publish()
    assert {"certificate.json", "table.parquet"} <= {file.name for file in out.iterdir()}
    assert spent(ledger) == paid + price


def spent(ledger: Path) -> int:
    with tn.ledger.SQLite(ledger) as books:
        assert books.verify()
        return int(books.balance("people").spent) if list(books.entries()) else 0
