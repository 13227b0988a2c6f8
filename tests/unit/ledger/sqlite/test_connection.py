from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

import pytest

from tenue.errors import LedgerFault
from tenue.ledger.sqlite.connection import Connections, begin, is_busy


@pytest.fixture
def connections(tmp_path: Path) -> Connections:
    return Connections(str(tmp_path / "a.db"))


def test_what_is_written_is_durable(connections: Connections) -> None:
    with connections.take("write") as connection:
        settings = {
            name: connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in (
                "journal_mode",
                "synchronous",
                "fullfsync",
                "foreign_keys",
                "trusted_schema",
            )
        }
    assert settings == {
        "journal_mode": "wal",
        "synchronous": 2,
        "fullfsync": 1,
        "foreign_keys": 0,
        "trusted_schema": 0,
    }
    connections.close()


def test_readers_cannot_write(connections: Connections) -> None:
    for role in ("read", "inspect"):
        with connections.take(role) as connection, pytest.raises(sqlite3.OperationalError):  # type: ignore[arg-type]
            connection.execute("CREATE TABLE t (a)")
    connections.close()


def test_one_connection_for_each_role_and_a_fresh_one_to_inspect(connections: Connections) -> None:
    with connections.take("read") as first:
        pass
    with connections.take("read") as second:
        assert second is first
    with connections.take_fresh("inspect") as third:
        pass
    with pytest.raises(sqlite3.ProgrammingError):
        third.execute("SELECT 1")
    connections.close()


def test_beginning_waits_for_the_other_process(connections: Connections) -> None:
    blocker = sqlite3.connect(connections.path, isolation_level=None, check_same_thread=False)
    blocker.execute("PRAGMA journal_mode = WAL")
    blocker.execute("BEGIN IMMEDIATE")
    with connections.take("write") as connection:
        with pytest.raises(sqlite3.OperationalError) as error:
            connection.execute("BEGIN IMMEDIATE")
        assert is_busy(error.value)
        threading.Timer(0.02, blocker.execute, ["ROLLBACK"]).start()
        begin(connection)
        connection.execute("ROLLBACK")
    blocker.close()
    connections.close()


def test_a_fork_behind_pythons_back_is_a_fault(
    connections: Connections, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tenue.ledger.sqlite.connection.os.getpid", lambda: -1)
    with pytest.raises(LedgerFault, match="forked"), connections.take("read"):
        pass


def test_nothing_is_open_while_forking(connections: Connections) -> None:
    with connections.take("read") as connection:
        connection.execute("SELECT 1")
    connections.before_fork()
    with pytest.raises(sqlite3.ProgrammingError):
        connection.execute("SELECT 1")
    taken = threading.Event()

    def take() -> None:
        with connections.take("read"):
            taken.set()

    thread = threading.Thread(target=take)
    thread.start()
    assert not taken.is_set()
    connections.after_fork_in_parent()
    thread.join()
    assert taken.is_set()
    connections.close()
