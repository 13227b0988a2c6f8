"""A ledger in one SQLite file."""

from __future__ import annotations

import io
import os
import random
import resource
import shutil
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import pytest

import tenue
from tenue.engine.fingerprint import Stamp
from tenue.errors import Conflict, Fault, InvalidArgument, LedgerFault, OverBudget, Refused
from tenue.ledger import Charge, SQLite
from tenue.ledger.facts import DataChanged, DatasetOpened
from tenue.ledger.memory_store import Dictionaries
from tenue.ledger.store.sqlite.ledger import APPLICATION, VERSION, File, create, schema_of
from tenue.ledger.totals import scoped
from tenue.ledger.transactions.journal import Journal
from tenue.ledger.transactions.writer import Request


def test_a_file_says_what_it_is() -> None:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    create(connection)
    assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION,)
    assert connection.execute("PRAGMA user_version").fetchone() == (VERSION,)
    assert len(schema_of(connection)) == 12 + 3
    connection.close()


# One ledger file: recognised, read in one state, written whole, poisoned by what goes wrong.

OPENED = DatasetOpened(
    dataset="d",
    neighbours="replace",
    total_nano=10,
    total_atto=0,
    per_analyst_nano=None,
    schema_digest="",
    data_version="",
)


@pytest.fixture
def file(tmp_path: Path) -> Iterator[File]:
    made = File(tmp_path / "a.ledger")
    made.prepare()
    yield made
    made.close()


def test_a_new_file_is_its_owners_alone_and_becomes_a_ledger(file: File) -> None:
    assert stat.S_IMODE(Path(file.path).stat().st_mode) == 0o600
    connection = sqlite3.connect(file.path)
    assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION,)
    assert connection.execute("PRAGMA user_version").fetchone() == (VERSION,)
    connection.close()
    assert file.inspect(None)


def test_to_prepare_a_ledger_again_changes_nothing(file: File) -> None:
    file.write(lambda journal: journal.write(OPENED))
    before = file.read(lambda tables: tables.head())
    file.prepare()
    assert file.read(lambda tables: tables.head()) == before


def test_what_was_written_is_read_by_whoever_opens_the_file_next(file: File) -> None:
    assert file.write(lambda journal: journal.write(OPENED)) == 1
    other = File(file.path)
    other.prepare()
    assert other.read(lambda tables: tables.datasets()) == ["d"]
    assert file.read(lambda tables: tables.head()) == other.read(lambda tables: tables.head())
    other.close()


def test_a_refusal_is_the_callers_and_does_not_poison(file: File) -> None:
    def refused(journal: Journal) -> None:
        raise Refused("no", "no", "no")

    with pytest.raises(Refused):
        file.write(refused)
    assert file.write(lambda journal: journal.write(OPENED)) == 1


def test_anything_else_poisons_and_leaves_nothing_behind(file: File) -> None:
    def broken(journal: Journal) -> None:
        journal.write(OPENED)
        journal.write(DataChanged(dataset="never opened", data_version=""))

    with pytest.raises(LedgerFault):
        file.write(broken)
    with pytest.raises(LedgerFault):
        file.write(lambda journal: journal.write(OPENED))
    with pytest.raises(LedgerFault):
        file.read(lambda tables: tables.datasets())
    fresh = File(file.path)
    fresh.prepare()
    assert fresh.read(lambda tables: tables.head())[0] == 0
    fresh.close()


def test_a_reader_cannot_write(file: File) -> None:
    journal = file.read(lambda rows: Journal(rows, rows.head(), lambda: "me", "me".__eq__))
    journal.totals.shelf = Dictionaries()
    journal.write(OPENED)
    with pytest.raises(LedgerFault):
        file.read(lambda tables: tables.take(journal))


def test_tables_that_are_not_ours_are_a_fault(file: File) -> None:
    connection = sqlite3.connect(file.path)
    connection.execute("CREATE TABLE extra (x)")
    connection.commit()
    connection.close()
    found = file.inspect(None)
    assert not found
    assert "damaged" in found.reason
    other = File(file.path)
    with pytest.raises(LedgerFault):
        other.prepare()
    other.close()


def test_a_last_entry_that_does_not_follow_is_a_fault(file: File) -> None:
    file.write(lambda journal: journal.write(OPENED))
    file.close()
    connection = sqlite3.connect(file.path)
    connection.execute("UPDATE entry SET text = replace(text, '10', '99')")
    connection.commit()
    connection.close()
    other = File(file.path)
    with pytest.raises(LedgerFault):
        other.prepare()
    other.close()


def test_a_foreign_file_is_refused_and_left_as_it_was(tmp_path: Path) -> None:
    foreign = tmp_path / "notes.txt"
    foreign.write_text("not a ledger " * 100)
    before = foreign.read_bytes()
    with pytest.raises(Refused):
        File(foreign)
    assert foreign.read_bytes() == before


def test_a_closed_file_is_refused_and_may_be_closed_again(file: File) -> None:
    file.close()
    file.close()
    with pytest.raises(Refused):
        file.read(lambda tables: tables.datasets())
    with pytest.raises(Refused):
        file.write(lambda journal: journal.write(OPENED))


# -- What only a file can get wrong: crashes, forks, full disks, flipped bytes ---------------------

CHARGE = Charge.of(epsilon="0.5", neighbours="replace")


def test_a_ledger_knows_its_file_and_whether_it_made_it(tmp_path: Path) -> None:
    with SQLite(tmp_path / "x.ledger") as ledger:
        assert (ledger.path, ledger.is_new) == (tmp_path / "x.ledger", True)
    with SQLite(tmp_path / "x.ledger") as ledger:
        assert not ledger.is_new  # though nothing was written into it yet
    assert (tenue.ledger.Memory().path, tenue.ledger.Memory().is_new) == (None, False)


def python(script: str, *arguments: object, **options: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(Path(tenue.__file__).parents[1])},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        **options,  # type: ignore[call-overload]
    )


def finished(child: subprocess.Popen[str]) -> str:
    out, _ = child.communicate(timeout=60)
    assert child.returncode == 0
    return out


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "a.ledger"
    with SQLite(made) as ledger:
        ledger.open_dataset("census", 50, neighbours="replace")
    return made


# --- who is alive

RESERVE = """
import sys
from tenue.ledger import Charge, SQLite
ledger = SQLite(sys.argv[1])
ledger.reserve("census", "ann", Charge.of(epsilon="0.5", neighbours="replace"), "key", "q")
print("reserved", flush=True)
sys.stdin.read()
"""


@pytest.mark.any_draw("draws nothing")
def test_a_live_process_keeps_its_question_and_a_dead_one_has_spent_it(path: Path) -> None:
    child = python(RESERVE, path)
    assert child.stdout is not None
    child.stdout.readline()
    with SQLite(path) as ledger:
        with pytest.raises(Conflict) as refusal:
            ledger.reserve("census", "ann", CHARGE, "key", "q")
        assert refusal.value.code == "in-flight"
        child.kill()
        child.communicate()
        # met while the ledger stays open
        with pytest.raises(Conflict) as refusal:
            ledger.reserve("census", "ann", CHARGE, "key", "q")
        assert refusal.value.code == "spent-unanswered"
        assert ledger.balance().spent == Fraction(1, 2)
        assert [entry.kind for entry in ledger.entries()][-1] == "unanswered"
        assert ledger.verify()


@pytest.mark.any_draw("draws nothing")
def test_opening_settles_what_the_dead_left(path: Path) -> None:
    child = python(RESERVE, path)
    assert child.stdout is not None
    child.stdout.readline()
    child.kill()
    child.communicate()
    with SQLite(path) as ledger:
        assert [entry.kind for entry in ledger.entries()][-1] == "unanswered"
        with pytest.raises(Conflict) as refusal:
            ledger.reserve("census", "ann", CHARGE, "key", "q")
        assert refusal.value.code == "spent-unanswered"
        assert ledger.balance().spent == Fraction(1, 2)
    assert not Path(f"{path}-owners").exists()


def test_closing_ends_what_was_open(path: Path) -> None:
    with SQLite(path) as ledger, SQLite(path) as other:
        paid = ledger.reserve("census", "ann", CHARGE, "key", "q")
        ledger.close()
        with pytest.raises(Conflict) as refusal:
            other.reserve("census", "ann", CHARGE, "key", "q")
        assert refusal.value.code == "spent-unanswered"
        with pytest.raises(InvalidArgument):
            ledger.commit(paid, b"late")


def test_a_ledger_that_is_forgotten_is_closed(path: Path) -> None:
    ledger = SQLite(path)
    ledger.reserve("census", "ann", CHARGE, "key", "q")
    threads = threading.active_count()
    del ledger
    assert threading.active_count() == threads - 1
    with SQLite(path) as other, pytest.raises(Conflict, match="never answered"):
        other.reserve("census", "ann", CHARGE, "key", "q")


FORK = """
import os, sys, threading
from tenue.errors import Conflict
from tenue.ledger import Charge, SQLite
CHARGE = Charge.of(epsilon="0.5", neighbours="replace")
ledger = SQLite(sys.argv[1])
paid = ledger.reserve("census", "ann", CHARGE, "parent", "q")
stop = threading.Event()
def busy():
    while not stop.is_set():
        ledger.reserve("census", "ann", Charge(1, 0, "replace"), None, "q")
        ledger.balance()
        ledger.verify()
noise = [threading.Thread(target=busy) for _ in range(3)]
for thread in noise: thread.start()
children = []
for number in range(8):
    child = os.fork()
    if child == 0:
        code = 1
        try:
            own = ledger.reserve("census", "ann", CHARGE, f"child-{number}", "q")
            ledger.commit(own, b"x")
            assert ledger.verify()
            try:
                ledger.commit(paid, b"the parent's")
            except Conflict as refusal:
                assert refusal.code == "not-yours", refusal.code
                code = 0
        finally:
            os._exit(code)
    children.append(child)
assert [os.waitpid(child, 0)[1] for child in children] == [0] * 8
stop.set()
for thread in noise: thread.join()
ledger.commit(paid, b"mine")
print("done")
"""


@pytest.mark.any_draw("draws nothing")
def test_a_fork_shares_the_file_and_not_the_connection(path: Path) -> None:
    assert finished(python(FORK, path)) == "done\n"
    with SQLite(path) as ledger:
        assert ledger.verify()
        keys = [e.fact.key for e in ledger.entries() if e.kind == "reserved" and e.fact.key]  # type: ignore[union-attr]
        assert sorted(keys) == sorted(["parent", *(f"child-{n}" for n in range(8))])
        assert [e.kind for e in ledger.entries()].count("answered") == 9


# --- group commit


def test_a_refusal_does_not_spoil_its_batch(path: Path) -> None:
    with SQLite(path) as ledger:
        from tenue.ledger.transactions.reserve import Purchase, reserve

        def request(epsilon: int, key: str) -> Request[object]:
            charge = Charge.of(epsilon=epsilon, neighbours="replace")
            wanted = Purchase("census", "ann", charge, key, "q", None, "dp", None, None)
            return Request(lambda journal: reserve(journal, wanted))

        batch = [
            request(20, "a"),
            request(40, "b"),
            request(20, "c"),
            request(20, "a"),
            request(11, "d"),
        ]
        ledger._database._carry_out(batch)
        assert [type(each.error) for each in batch] == [
            type(None),
            OverBudget,
            type(None),
            Conflict,
            OverBudget,
        ]
        assert ledger.balance().spent == 40
        assert ledger.verify()


def test_a_key_given_back_is_free_within_the_same_batch(path: Path) -> None:
    from tenue.ledger.transactions.reserve import Purchase, commit, release_unread, reserve

    with SQLite(path) as ledger:
        wanted = Purchase("census", "ann", CHARGE, "key", "q", None, "dp", None, None)
        first: Request[object] = Request(lambda journal: reserve(journal, wanted))
        ledger._database._carry_out([first])
        batch: list[Request[object]] = [
            Request(lambda journal: release_unread(journal, first.result, "")),  # type: ignore[arg-type]
            Request(lambda journal: reserve(journal, wanted)),
            Request(lambda journal: commit(journal, batch[1].result, b"drawn")),  # type: ignore[arg-type]
            Request(lambda journal: reserve(journal, wanted)),
        ]
        ledger._database._carry_out(batch)
        assert [request.error for request in batch] == [None] * 4
        assert batch[3].result.answer == b"drawn"  # type: ignore[attr-defined]
        assert ledger.balance().spent == Fraction(1, 2)
        assert ledger.verify()


# --- the file


def test_a_new_file_belongs_to_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "new.ledger"
    umask = os.umask(0)
    try:
        with SQLite(path) as ledger:
            ledger.open_dataset("census", 1, neighbours="replace")
            ledger.reserve("census", "ann", CHARGE, None, "q")
            found = sorted(each.name for each in tmp_path.iterdir())
            assert found == ["new.ledger", "new.ledger-owners", "new.ledger-shm", "new.ledger-wal"]
            for each in tmp_path.iterdir():
                assert each.stat().st_mode & 0o077 == 0
    finally:
        os.umask(umask)
    assert [each.name for each in tmp_path.iterdir()] == ["new.ledger"]


def test_a_symbolic_link_is_the_same_ledger(path: Path) -> None:
    other = path.parent / "link.ledger"
    other.symlink_to(path)
    with SQLite(path) as one, SQLite(other) as two:
        one.reserve("census", "ann", CHARGE, "key", "q")
        assert two.balance().spent == Fraction(1, 2)
        with pytest.raises(Conflict) as refusal:
            two.reserve("census", "ann", CHARGE, "key", "q")
        assert refusal.value.code == "in-flight"


def test_a_hard_link_is_refused(path: Path) -> None:
    os.link(path, path.parent / "hard.ledger")
    with pytest.raises(LedgerFault, match="several names"):
        SQLite(path)


@pytest.mark.parametrize("name", ["", ":memory:", ".", "no/such/folder/a.ledger", "a\0b"])
def test_a_path_names_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidArgument):
        SQLite(name)
    with pytest.raises(InvalidArgument):
        SQLite(7)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_another_file_is_refused_and_left_alone(tmp_path: Path) -> None:
    import sqlite3

    text, database = tmp_path / "a.csv", tmp_path / "b.db"
    text.write_text("id,income\n1,2\n" * 100)
    connection = sqlite3.connect(database)
    connection.execute("CREATE TABLE t (a)")
    connection.commit()
    connection.close()
    for path in (text, database):
        before = path.read_bytes()
        with pytest.raises(InvalidArgument) as refusal:
            SQLite(path)
        assert refusal.value.code == "not-a-ledger"
        assert path.read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 2


def test_another_layout_is_refused(path: Path) -> None:
    import sqlite3

    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 9")
    connection.close()
    with pytest.raises(InvalidArgument) as refusal:
        SQLite(path)
    assert refusal.value.code == "ledger-version"


def test_a_file_left_empty_by_a_crash_becomes_a_ledger(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    path.touch()
    with SQLite(path) as ledger:
        ledger.open_dataset("census", 1, neighbours="replace")
        assert ledger.verify()


OPENING = """
import os, sys
import tenue.noise.source  # draws keys; loaded once, not in each of the children
from tenue.ledger import SQLite
folder, rounds, processes = sys.argv[1], *map(int, sys.argv[2:4])
for round in range(rounds):
    start, go = os.pipe()
    children = []
    for _ in range(processes):
        child = os.fork()
        if child == 0:
            os.close(go)
            os.read(start, 1)
            SQLite(f"{folder}/{round}.ledger").close()
            os._exit(0)
        children.append(child)
    os.close(go)
    os.close(start)
    status = [os.waitpid(child, 0)[1] for child in children]
    assert not any(status), (round, status)
"""


@pytest.mark.any_draw("draws nothing")
def test_many_processes_may_make_the_file_at_once(tmp_path: Path) -> None:
    """One makes the tables, or turns the log on, while another looks whether it is a ledger."""
    done = subprocess.run(
        [sys.executable, "-c", OPENING, str(tmp_path), "40", "8"],
        env={**os.environ, "PYTHONPATH": str(Path(tenue.__file__).parents[1])},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_a_file_replaced_while_in_use_is_a_fault(path: Path) -> None:
    copy = path.parent / "copy"
    with SQLite(path) as ledger:
        ledger.reserve("census", "ann", CHARGE, None, "q")
        shutil.copy(path, copy)
        os.replace(copy, path)
        with pytest.raises(LedgerFault, match="replaced"):
            ledger.reserve("census", "ann", CHARGE, None, "q")
        with pytest.raises(LedgerFault, match="replaced"):
            ledger.balance()


def test_entries_that_vanish_while_in_use_are_a_fault(path: Path) -> None:
    import sqlite3

    with SQLite(path) as ledger:
        ledger.reserve("census", "ann", CHARGE, None, "q")
        connection = sqlite3.connect(path)
        connection.execute("DELETE FROM entry WHERE sequence = 2")
        connection.commit()
        connection.close()
        with pytest.raises(LedgerFault, match="gone"):
            ledger.reserve("census", "ann", CHARGE, None, "q")


def test_an_anchor_must_be_there_unless_the_ledger_is_new(tmp_path: Path) -> None:
    path, anchor = tmp_path / "a.ledger", tmp_path / "anchor"
    with SQLite(path, anchor=anchor) as ledger:
        ledger.open_dataset("census", 1, neighbours="replace")
    with pytest.raises(LedgerFault, match="missing"):
        SQLite(path, anchor=anchor)
    with SQLite(path) as ledger:
        ledger.anchor(anchor)
    with SQLite(path, anchor=anchor) as ledger:
        assert ledger.verify(anchor)


# --- failing closed


def poisoned(ledger: SQLite) -> None:
    uses: list[Callable[[], object]] = [
        ledger.balance,
        ledger.verify,
        lambda: ledger.cached("census", "c"),
        lambda: ledger.reserve("census", "ann", CHARGE, None, "q"),
    ]
    for use in uses:
        with pytest.raises(LedgerFault):
            use()


def test_a_read_only_file_fails_closed(path: Path) -> None:
    with SQLite(path) as ledger:
        with ledger._database._connections.take("write") as connection:
            connection.execute("PRAGMA query_only = ON")
        with pytest.raises(LedgerFault, match="readonly"):
            ledger.reserve("census", "ann", CHARGE, "key", "q")
        poisoned(ledger)
    with SQLite(path) as ledger:
        assert ledger.balance().spent == 0
        assert ledger.verify()


def test_a_failed_commit_is_not_tried_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sqlite3

    commits = []

    class Failing(sqlite3.Connection):
        def execute(self, sql: str, *rest: object) -> sqlite3.Cursor:  # type: ignore[override]
            if sql == "COMMIT" and armed:
                commits.append(sql)
                raise sqlite3.OperationalError("disk I/O error")
            return super().execute(sql, *rest)  # type: ignore[arg-type]

    armed: list[bool] = []
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *a, **k: connect(*a, factory=Failing, **k))
    with SQLite(path) as ledger:
        ledger.reserve("census", "ann", CHARGE, "first", "q")
        armed.append(True)
        with pytest.raises(LedgerFault, match="I/O"):
            ledger.reserve("census", "ann", CHARGE, "second", "q")
        poisoned(ledger)
    assert len(commits) == 1
    armed.clear()
    with SQLite(path) as ledger:
        assert ledger.balance().spent == Fraction(1, 2)
        assert ledger.verify()


FULL = """
import resource, sys
from tenue.errors import LedgerFault
from tenue.ledger import Charge, SQLite
ledger = SQLite(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, 2_000_000))
count = 0
try:
    while True:
        paid = ledger.reserve("census", "ann", Charge(1, 0, "replace"), f"key-{count}", "q")
        ledger.commit(paid, bytes(2000))
        count += 1
except LedgerFault:
    print(count)
try:
    ledger.balance()
except LedgerFault:
    print("poisoned")
"""


@pytest.mark.any_draw("draws nothing")
def test_a_full_disk_fails_closed_and_keeps_what_it_acknowledged(path: Path) -> None:
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[1] == resource.RLIM_INFINITY
    out = finished(python(FULL, path)).split()
    assert out[1] == "poisoned"
    acknowledged = int(out[0])
    assert acknowledged > 10
    with SQLite(path) as ledger:
        assert ledger.verify()
        kinds = [entry.kind for entry in ledger.entries()]
        assert acknowledged <= kinds.count("answered") <= acknowledged + 1
        for number in range(acknowledged):
            charge = Charge(1, 0, "replace")
            paid = ledger.reserve("census", "ann", charge, f"key-{number}", "q")
            assert paid.answer == bytes(2000)


def test_a_busy_file_is_waited_for_and_then_a_fault_without_poison(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sqlite3

    monkeypatch.setattr("tenue.ledger.store.sqlite.connection._PATIENCE", 0.05)
    with SQLite(path) as ledger:
        blocker = sqlite3.connect(path, isolation_level=None)
        blocker.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerFault, match="busy"):
            ledger.reserve("census", "ann", CHARGE, "key", "q")
        monkeypatch.setattr("tenue.ledger.store.sqlite.connection._PATIENCE", 30)
        done: list[object] = []
        waiting = threading.Thread(
            target=lambda: done.append(ledger.reserve("census", "ann", CHARGE, "key", "q"))
        )
        waiting.start()
        blocker.execute("ROLLBACK")
        waiting.join()
        blocker.close()
        assert len(done) == 1


# --- damage


def rich(path: Path) -> None:
    with SQLite(path) as ledger:
        ledger.open_dataset("census", 50, 30, neighbours="replace", total_delta="1e-6")
        ledger.open_dataset("patients", 5, neighbours="add-or-remove", data_version="7")
        for number in range(6):
            paid = ledger.reserve(
                "census", "ann", CHARGE, f"k{number}", "q", cache_key=f"c{number}"
            )
            [ledger.commit, ledger.release_unread, ledger.abandon][number % 3](  # type: ignore[operator]
                paid, *([b"answer"] if number % 3 == 0 else ["reason"])
            )
        about = Charge.of(epsilon=1, neighbours="add-or-remove", person="17")
        ledger.abandon(ledger.reserve("patients", "bob", about, "p", "q"))
        options = {"column": "individual", "question_name": "median"}
        ledger.commit(ledger.reserve("census", "bob", CHARGE, "i", "q", **options), b"2")  # type: ignore[arg-type]
        ledger.register_release("census", "r1", method="swap")


def meaning(ledger: SQLite) -> object:
    """Everything that a caller could ever learn from the file."""
    names = [scoped(f"k{number}", "census", "ann") for number in range(6)]
    return (
        [entry.to_json() for entry in ledger.entries()],
        [ledger.balance(name) for name in ledger.datasets()],
        [ledger.cached("census", f"c{number}") for number in range(6)],
        ledger._database.read(lambda rows: [rows.ticket_named(name) for name in names if name]),
        ledger._database.read(lambda rows: (rows.open_tickets(), rows.times("census", "median"))),
        ledger.seal("ab"),
    )


def flips(path: Path, count: int, seed: int) -> None:
    rich(path)
    whole = path.read_bytes()
    with SQLite(path) as ledger:
        truth = meaning(ledger)
    assert path.read_bytes() == whole
    dice, seen = random.Random(seed), 0
    for _ in range(count):
        at, mask = dice.randrange(len(whole)), dice.randrange(1, 256)
        path.write_bytes(whole[:at] + bytes([whole[at] ^ mask]) + whole[at + 1 :])
        try:
            with SQLite(path) as ledger:
                if ledger.verify() and ledger.seal("ab"):
                    assert meaning(ledger) == truth, (at, mask)
                else:
                    seen += 1
        except (Refused, Fault):
            seen += 1
    assert 0 < seen < count


def test_no_flipped_byte_passes_unseen(tmp_path: Path) -> None:
    flips(tmp_path / "a.ledger", 400, seed=7)


@pytest.mark.slow
def test_no_flipped_byte_of_many_passes_unseen(tmp_path: Path) -> None:
    flips(tmp_path / "a.ledger", 10_000, seed=11)


def test_a_key_hidden_by_a_damaged_index_is_seen(tmp_path: Path) -> None:
    """The table still has the key and the index lost it: the next retry would draw again."""
    path = tmp_path / "a.ledger"
    rich(path)
    whole, name = path.read_bytes(), scoped("k0", "census", "ann")
    assert name is not None
    places = [at for at in range(len(whole)) if whole.startswith(name, at)]
    assert len(places) == 2
    hidden = 0
    for at in places:
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with SQLite(path) as ledger:
            hidden += ledger._database.read(lambda rows: rows.ticket_named(name)) is None
            assert not ledger.verify()
    assert hidden >= 1


def test_a_torn_journal_opens_as_a_prefix_that_the_anchor_refuses(tmp_path: Path) -> None:
    path, copy, anchor = tmp_path / "a.ledger", tmp_path / "copy.ledger", tmp_path / "anchor"
    with SQLite(path) as ledger:
        ledger.open_dataset("census", 50, neighbours="replace")
        for number in range(12):
            ledger.commit(ledger.reserve("census", "ann", CHARGE, f"k{number}", "q"), b"answer")
        ledger.anchor(anchor)
        history = [entry.to_json() for entry in ledger.entries()]
        files = {suffix: Path(f"{path}{suffix}").read_bytes() for suffix in ("", "-wal")}
    dice, shorter = random.Random(3), 0
    for _ in range(40):
        cut = dice.randrange(len(files["-wal"]) + 1)
        copy.write_bytes(files[""])
        Path(f"{copy}-wal").write_bytes(files["-wal"][:cut])
        with SQLite(copy) as ledger:
            assert ledger.verify()
            # what the cut left unanswered is settled by opening
            found = [entry.to_json() for entry in ledger.entries() if entry.kind != "unanswered"]
        assert found == history[: len(found)]
        if len(found) < len(history):
            shorter += 1
            with pytest.raises(LedgerFault, match="anchor"):
                SQLite(copy, anchor=anchor)
        copy.unlink()
    assert shorter > 20


def test_a_ledger_of_the_first_layout_is_opened_and_keeps_what_was_spent(tmp_path: Path) -> None:
    path = tmp_path / "old.ledger"
    with SQLite(path) as ledger:
        ledger.open_dataset("census", total=5, neighbours="replace")
        ledger.commit(ledger.reserve("census", "ann", CHARGE, "k", "q"), b"answer")
    connection = sqlite3.connect(path)
    for name in ("seal", "log", "source", "protocol"):
        connection.execute(f"DROP TABLE {name}")
    connection.execute("ALTER TABLE dataset DROP COLUMN individual")
    connection.execute("ALTER TABLE dataset DROP COLUMN unit")
    connection.execute("PRAGMA user_version = 1")
    connection.commit()
    connection.close()
    with SQLite(path) as ledger:
        assert ledger.verify()
        assert ledger.balance().spent == Fraction(1, 2)
        assert ledger.balance().total_individual is None
        assert ledger.reserve("census", "ann", CHARGE, "k", "q").answer == b"answer"
        ledger.open_dataset(
            "census", total=5, neighbours="replace", protocol="refinement", individual=2
        )
    with SQLite(path) as ledger:
        assert ledger.balance().protocol == "refinement"
        assert ledger.balance().total_individual == 2
        assert ledger.verify()


def test_a_ledger_of_the_second_layout_is_opened_and_learns_of_files(tmp_path: Path) -> None:
    path = tmp_path / "old.ledger"
    with SQLite(path) as ledger:
        ledger.open_dataset("census", total=5, neighbours="replace", protocol="refinement")
        ledger.commit(ledger.reserve("census", "ann", CHARGE, "k", "q"), b"answer")
    connection = sqlite3.connect(path)
    for name in ("seal", "log", "source"):
        connection.execute(f"DROP TABLE {name}")
    connection.execute("PRAGMA user_version = 2")
    connection.commit()
    connection.close()
    with SQLite(path) as ledger:
        assert ledger.verify()
        assert (ledger.balance().spent, ledger.balance().protocol) == (Fraction(1, 2), "refinement")
        assert ledger.validated("census") is None
        ledger.record_validation("census", Stamp(("a.csv",), 4, 5, "mark", "how"), "ab")
    with SQLite(path) as ledger:
        assert ledger.validated("census") == ("mark", "how", "ab")
        assert ledger.verify()


def test_a_ledger_of_the_third_layout_is_opened_and_gets_a_key_that_stays(tmp_path: Path) -> None:
    path = tmp_path / "old.ledger"
    with SQLite(path) as ledger:
        ledger.open_dataset("census", total=5, neighbours="replace", schema_digest="ab")
        ledger.commit(ledger.reserve("census", "ann", CHARGE, "k", "q"), b"answer")
        first = ledger.seal("ab")
    connection = sqlite3.connect(path)
    for name in ("seal", "log"):
        connection.execute(f"DROP TABLE {name}")
    connection.execute("PRAGMA user_version = 3")
    connection.commit()
    connection.close()
    seals = set()
    for _ in range(2):
        with SQLite(path) as ledger:
            assert ledger.verify()
            assert ledger.balance().spent == Fraction(1, 2)
            assert ledger.reserve("census", "ann", CHARGE, "k", "q").answer == b"answer"
            seals.add(ledger.seal("ab"))
    assert len(seals) == 1
    assert first not in seals


def test_no_export_and_no_screen_has_the_key(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    with SQLite(path) as ledger:
        ledger.open_dataset("census", total=5, neighbours="replace", schema_digest="ab" * 32)
        secret = ledger._secret()
        text = io.StringIO()
        ledger.export(text)
        ledger.anchor(tmp_path / "anchor")
        told = text.getvalue() + repr(ledger) + str(ledger.balance())
        told += (tmp_path / "anchor").read_text()
    assert len(secret) == 32
    assert secret.hex() not in told
    assert secret in path.read_bytes()  # the test looks for the right thing


def test_an_older_copy_beside_a_newer_anchor_is_refused(tmp_path: Path) -> None:
    """The mutant looks at an anchor only if it is named: who restores a copy does not name it."""
    path, old = tmp_path / "a.ledger", tmp_path / "old"
    with SQLite(path) as ledger:
        ledger.open_dataset("census", total=5, neighbours="replace")
    old.write_bytes(path.read_bytes())
    with SQLite(path) as ledger:
        ledger.abandon(ledger.reserve("census", "ann", CHARGE, None, "q"))
        ledger.anchor(f"{path}.anchor")
    SQLite(path).close()
    path.write_bytes(old.read_bytes())
    with pytest.raises(LedgerFault, match="the ledger has 1 entries and the anchor 3"):
        SQLite(path)
    Path(f"{path}.anchor").unlink()
    SQLite(path).close()


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
def test_a_truncated_file_is_refused(tmp_path: Path, share: float) -> None:
    path = tmp_path / "a.ledger"
    rich(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises((LedgerFault, InvalidArgument)):
        SQLite(path)


def test_a_forged_validation_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "forged.ledger"
    with SQLite(path) as ledger:
        ledger.open_dataset("census", total=5, neighbours="replace")
        ledger.record_validation("census", Stamp(("a.csv",), 4, 5, "mark", "how"), "ab")
    connection = sqlite3.connect(path)
    connection.execute("UPDATE source SET mark = 'other'")
    connection.commit()
    connection.close()
    with SQLite(path) as ledger:
        assert "sources" in ledger.verify().reason


def test_a_forged_protocol_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "forged.ledger"
    with SQLite(path) as ledger:
        ledger.open_dataset("census", total=5, neighbours="replace", protocol="refinement")
    connection = sqlite3.connect(path)
    connection.execute("UPDATE protocol SET protocol = ''")
    connection.commit()
    connection.close()
    with SQLite(path) as ledger:
        assert "protocols" in ledger.verify().reason
