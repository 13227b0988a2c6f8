"""A file that was copied without its log is refused; no death makes a good ledger refuse itself."""

from __future__ import annotations

import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path

import pytest

from tenue.errors import InvalidArgument
from tenue.ledger import Charge, SQLite
from tenue.ledger.sqlite import log
from tenue.ledger.sqlite.connection import checkpoint, transaction
from tenue.ledger.sqlite.log import IN_USE, SAID, WHOLE, announce, finish, has_log, state_of

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
    monkeypatch.setattr("tenue.ledger.sqlite.file.announce", lambda connection: None)
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
    assert said(path) == SAID  # the second step may be in the log alone
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
from tenue.ledger.sqlite import log
path, step, place, last = sys.argv[1:]
count, real = 0, getattr(log, step)
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
setattr(log, step, dying)
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
        for module in ("file", "connection"):
            patch.setattr(f"tenue.ledger.sqlite.{module}.keeper", lambda path: None)
        patch.setattr("tenue.ledger.sqlite.file.finish", lambda path: None)
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
    assert (log.checkpoint, log.transaction) == (checkpoint, transaction)
