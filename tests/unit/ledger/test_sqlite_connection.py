"""Connections to one SQLite file, its owners and its log."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from fractions import Fraction
from pathlib import Path

import pytest

import tenue
from tenue.errors import InvalidArgument, LedgerFault
from tenue.ledger import Charge, SQLite
from tenue.ledger.store.sqlite import wal
from tenue.ledger.store.sqlite.connection import (
    Connections,
    Owners,
    checkpoint,
    is_busy,
    transaction,
)
from tenue.ledger.store.sqlite.wal import (
    ANNOUNCED,
    IN_USE,
    WHOLE,
    announce,
    finish,
    has_log,
    state_of,
)

HOLD = """
import sys
from tenue.ledger.store.sqlite.connection import Owners
owners = Owners(sys.argv[1])
print(owners.me(), flush=True)
sys.stdin.read()
"""


def start(ledger: str) -> tuple[subprocess.Popen[str], str]:
    child = subprocess.Popen(
        [sys.executable, "-c", HOLD, ledger],
        env={**os.environ, "PYTHONPATH": str(Path(tenue.__file__).parents[1])},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    return child, child.stdout.readline().strip()


def end(child: subprocess.Popen[str]) -> None:
    child.kill()
    child.wait()
    for pipe in (child.stdin, child.stdout):
        assert pipe is not None
        pipe.close()


@pytest.mark.any_draw("draws nothing")
def test_a_killed_process_is_found_dead_and_no_other(tmp_path: Path) -> None:
    ledger = str(tmp_path / "l")
    child, name = start(ledger)
    owners, second = Owners(ledger), Owners(ledger)
    mine = owners.me()
    assert owners.me() == mine != second.me()
    assert owners.alive(name)
    assert owners.alive(mine)
    assert second.alive(mine)  # another ledger object of the same process
    end(child)
    assert not owners.alive(name)
    assert not owners.alive("nobody")


@pytest.mark.any_draw("draws nothing")
def test_sweeping_removes_the_dead_only(tmp_path: Path) -> None:
    ledger = str(tmp_path / "l")
    Owners(ledger).sweep()  # nothing there yet
    child, name = start(ledger)
    owners = Owners(ledger)
    mine = owners.me()
    folder = Path(ledger + "-owners")
    Owners(ledger).sweep()
    assert sorted(each.name for each in folder.iterdir()) == sorted([name, mine])
    end(child)
    Owners(ledger).sweep()
    assert [each.name for each in folder.iterdir()] == [mine]
    owners.leave()
    assert not folder.exists()
    assert not owners.alive(mine)
    assert owners.me() != mine
    owners.leave()


def test_a_file_swept_before_it_was_locked_is_not_taken(tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    ledger = str(tmp_path / "l")
    owners = Owners(ledger)
    opened, swept = os.open, []

    def open_and_be_swept(path, *rest):  # type: ignore[no-untyped-def]
        file = opened(path, *rest)
        if not swept:
            swept.append(Path(path).name)
            monkeypatch.setattr(os, "open", opened)
            Owners(ledger).sweep()
        return file

    monkeypatch.setattr(os, "open", open_and_be_swept)
    name = owners.me()
    assert name not in swept
    assert Owners(ledger).alive(name)
    owners.leave()


FORK = """
import os, sys
from tenue.ledger.store.sqlite.connection import Owners
owners = Owners(sys.argv[1])
parent = owners.me()
child = os.fork()
if child == 0:
    owners.forget()
    os._exit(0 if owners.me() != parent and owners.alive(parent) else 1)
assert os.waitpid(child, 0)[1] == 0
assert Owners(sys.argv[1]).alive(parent)
"""


@pytest.mark.any_draw("draws nothing")
def test_forgetting_leaves_the_lock_to_the_parent(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-c", FORK, str(tmp_path / "l")],
        env={**os.environ, "PYTHONPATH": str(Path(tenue.__file__).parents[1])},
        check=True,
        timeout=60,
    )


# -- connection ------------------------------------------------------------------------------------


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
        with transaction(connection):
            pass
    blocker.close()
    connections.close()


def test_a_fork_behind_pythons_back_is_a_fault(
    connections: Connections, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tenue.ledger.store.sqlite.connection.os.getpid", lambda: -1)
    with pytest.raises(LedgerFault, match="forked"), connections.take("read"):
        pass


def test_nothing_is_open_while_forking(connections: Connections) -> None:
    with connections.take("read") as connection:
        connection.execute("SELECT 1")
    connections._before_fork()
    with pytest.raises(sqlite3.ProgrammingError):
        connection.execute("SELECT 1")
    taken = threading.Event()

    def take() -> None:
        with connections.take("read"):
            taken.set()

    thread = threading.Thread(target=take)
    thread.start()
    assert not taken.is_set()
    connections._after_fork_in_parent()
    thread.join()
    assert taken.is_set()
    connections.close()


# A file that was copied without its log is refused; no death makes a good ledger refuse itself.

CHARGE = Charge.of(epsilon=0.5, neighbours="replace")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "a.ledger"
    with SQLite(made) as ledger:
        ledger.open_dataset("census", total=1000, neighbours="replace")
    return made


def said(path: Path) -> int:
    """What the file itself says, whatever is in the log."""
    copy = path.with_name("alone")
    shutil.copy(path, copy)
    connection = sqlite3.connect(copy)
    try:
        return state_of(connection)
    finally:
        connection.close()
        copy.unlink()


def names(path: Path) -> list[str]:
    return sorted(each.name for each in path.parent.iterdir())


def pay(ledger: SQLite) -> None:
    ledger.abandon(ledger.reserve("census", "ann", CHARGE, None, "q"))


def test_a_closed_ledger_is_one_file_which_may_be_copied(path: Path) -> None:
    assert names(path) == ["a.ledger"]
    assert said(path) == WHOLE
    copy = path.with_name("copy")
    shutil.copy(path, copy)
    with SQLite(copy) as ledger:
        assert ledger.verify().entries == 1
    assert copy.read_bytes() == path.read_bytes()  # looking changes nothing


def test_a_copy_without_the_log_is_refused_and_with_it_it_is_not(path: Path) -> None:
    """The mutant that does not announce lets the copy forget what was spent."""
    copy = path.with_name("copy.ledger")
    with SQLite(path) as ledger:
        pay(ledger)
        assert said(path) != WHOLE
        shutil.copy(path, copy)
        for _ in range(2):  # what the first look leaves behind does not help
            with pytest.raises(InvalidArgument, match="its log is not beside it") as refused:
                SQLite(copy)
            assert refused.value.code == "ledger-without-log"
            assert [name for name in names(path) if name.startswith("copy")] == ["copy.ledger"]
        for size in (0, 31, 2000):  # nor does a log that holds nothing
            Path(f"{copy}-wal").write_bytes(Path(f"{path}-wal").read_bytes()[:size])
            with pytest.raises(InvalidArgument, match="its log is not beside it"):
                SQLite(copy)
        shutil.copy(f"{path}-wal", f"{copy}-wal")
        with SQLite(copy) as found:
            assert found.balance().spent == Fraction(1, 2)
            assert found.verify()
    with SQLite(path) as ledger:
        assert ledger.balance().spent == Fraction(1, 2)


def test_without_the_announcement_the_copy_would_be_taken(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant, so that the test above is known to test something."""
    monkeypatch.setattr("tenue.ledger.store.sqlite.ledger.announce", lambda connection: None)
    copy = path.with_name("copy.ledger")
    with SQLite(path) as ledger:
        pay(ledger)
        shutil.copy(path, copy)
    with SQLite(copy) as found:
        assert found.balance().spent == 0


def test_a_file_that_lost_everything_but_its_log_is_refused(path: Path) -> None:
    copy = path.with_name("copy.ledger")
    with SQLite(path) as ledger:
        pay(ledger)
        copy.touch()
        shutil.copy(f"{path}-wal", f"{copy}-wal")
        with pytest.raises(InvalidArgument) as refused:
            SQLite(copy)
        assert refused.value.code == "ledger-without-file"
        assert Path(f"{copy}-wal").stat().st_size  # SQLite itself would have removed it


def test_the_last_to_close_makes_the_file_whole(path: Path) -> None:
    one, two = SQLite(path), SQLite(path)
    pay(one)
    one.close()
    assert said(path) != WHOLE  # the other one may go on writing
    pay(two)
    two.close()
    assert said(path) == WHOLE
    assert names(path) == ["a.ledger"]
    with SQLite(path) as ledger:
        assert ledger.balance().spent == 1


def test_who_only_looks_writes_nothing(path: Path) -> None:
    before = path.read_bytes()
    with SQLite(path) as ledger:
        assert ledger.balance().remaining == 1000
        assert ledger.verify()
        assert said(path) == WHOLE
    assert path.read_bytes() == before


def raw(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    return connection


def test_the_file_says_so_before_anything_else_does(path: Path) -> None:
    connection = raw(path)
    announce(connection)
    assert state_of(connection) == IN_USE
    assert said(path) == ANNOUNCED  # the second step may be in the log alone
    assert has_log(connection, str(path))
    finish(str(path))  # somebody has it open
    assert state_of(connection) == IN_USE
    announce(connection)
    connection.close()


def test_to_finish_where_there_is_nothing_makes_nothing(tmp_path: Path) -> None:
    finish(str(tmp_path / "none"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("step", ["checkpoint", "transaction"])
@pytest.mark.parametrize("place", ["announce", "finish"])
@pytest.mark.any_draw("a process ends at a step, whatever is drawn")
def test_a_death_at_any_step_leaves_a_ledger_that_opens(path: Path, step: str, place: str) -> None:
    """Each call of each step is the last one, once."""
    for last in range(1, 4):
        copy = path.with_name(f"{last}.ledger")
        shutil.copy(path, copy)
        done = subprocess.run(
            [sys.executable, "-c", DYING, str(copy), step, place, str(last)], timeout=60
        )
        assert done.returncode in (0, -signal.SIGKILL)
        with SQLite(copy) as ledger:
            assert ledger.verify()
            early = place == "announce" and done.returncode
            assert ledger.verify().entries == (1 if early else 3)
        assert said(copy) == WHOLE
        if done.returncode == 0:
            return
    pytest.fail("it never came to an end by itself")


DYING = """
import os, signal, sys
from tenue.ledger import Charge, SQLite
from tenue.ledger.store.sqlite import wal
path, step, place, last = sys.argv[1:]
count, real = 0, getattr(wal, step)
def dying(connection):
    global count
    count += 1
    if count == int(last):
        os.kill(os.getpid(), signal.SIGKILL)
    return real(connection)
ledger = SQLite(path)
if place == "finish":
    paid = ledger.reserve("census", "ann", Charge.of(epsilon=0.5, neighbours="replace"), None, "q")
    ledger.abandon(paid)
setattr(wal, step, dying)
if place == "announce":
    ledger.reserve("census", "ann", Charge.of(epsilon=0.5, neighbours="replace"), None, "q")
    os._exit(0)
ledger.close()
"""

KILLED = """
import os, signal, sys
from tenue.ledger import Charge, SQLite
ledger = SQLite(sys.argv[1])
ledger.reserve("census", "ann", Charge.of(epsilon=1, neighbours="replace"), None, "q")
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.any_draw("a process is killed, whatever is drawn")
def test_a_log_that_sqlite_removes_would_make_a_good_ledger_refuse_itself(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant leaves closing to SQLite, which removes the log and does not tell the file."""
    copy = path.with_name("copy.ledger")
    subprocess.run([sys.executable, "-c", KILLED, str(path)], timeout=60)
    for ending in ("", "-wal"):
        shutil.copy(f"{path}{ending}", f"{copy}{ending}")
    with SQLite(path) as ledger:
        assert ledger.balance().spent == 1
    with monkeypatch.context() as patch:
        patch.setattr("tenue.ledger.store.sqlite.connection.keeper", lambda path: None)
        patch.setattr("tenue.ledger.store.sqlite.ledger.finish", lambda path: None)
        SQLite(copy).close()
    with pytest.raises(InvalidArgument, match="its log is not beside it"):
        SQLite(copy)


PAYING = """
import sys
from tenue.ledger import Charge, SQLite
charge = Charge.of(epsilon=0.5, neighbours="replace")
while True:
    with SQLite(sys.argv[1]) as ledger:
        for _ in range(3):
            paid = ledger.reserve("census", "ann", charge, None, "q")
            print("paid", flush=True)
            ledger.abandon(paid)
"""


@pytest.mark.any_draw("processes are killed at moments that nobody chooses")
def test_no_kill_loses_a_debit_or_makes_a_good_ledger_refuse_itself(path: Path) -> None:
    dice, paid = random.Random(5), 0
    for _ in range(5):
        workers = [
            subprocess.Popen([sys.executable, "-c", PAYING, str(path)], stdout=subprocess.PIPE)
            for _ in range(2)
        ]
        for worker in workers:
            assert worker.stdout is not None
            worker.stdout.readline()
            paid += 1
        time.sleep(dice.uniform(0, 0.1))
        for worker in workers:
            worker.kill()
        for worker in workers:
            assert worker.stdout is not None
            paid += worker.stdout.read().count(b"paid\n")
            worker.stdout.close()
            worker.wait()
        with SQLite(path) as ledger:
            assert ledger.verify()
            assert ledger.balance().spent >= Fraction(paid, 2)
    assert said(path) == WHOLE
    assert names(path) == ["a.ledger"]


def test_the_steps_are_those_of_this_file() -> None:
    """What the deaths above replace is what is called."""
    assert (wal.checkpoint, wal.transaction) == (checkpoint, transaction)
