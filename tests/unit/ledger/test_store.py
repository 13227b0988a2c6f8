"""Ledgers in memory and in SQL tables; their addresses."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

import tenue
from postgres_server import Server
from tenue.errors import InvalidArgument, LedgerFault, Refused, refuse
from tenue.ledger import Charge, Memory, Postgres, SQLite
from tenue.ledger.locate import NOWHERE, Place, given_ledger, open_ledger
from tenue.ledger.results import Verification
from tenue.ledger.store.postgres.address import USUAL, given_address
from tenue.ledger.store.sql_database import Database, Tabled, carry_out, check_head
from tenue.ledger.store.sql_tables import Tables
from tenue.ledger.store.sqlite.ledger import create
from tenue.ledger.totals import scoped
from tenue.ledger.transactions.journal import Journal
from tenue.ledger.transactions.writer import Request
from tenue.ledger.verify import Anchor, new_secret

# in a process of its own: a fork of the one that runs the tests would copy its threads' locks
FORK = """
import os
from tenue.errors import LedgerFault
from tenue.ledger import Charge, Memory
ledger = Memory()
ledger.open_dataset("census", 1, neighbours="replace")
child = os.fork()
if child == 0:
    try:
        ledger.reserve("census", "ann", Charge(1, 0, "replace"), None, "q")
    except LedgerFault:
        os._exit(0)
    os._exit(1)
assert os.waitpid(child, 0)[1] == 0
"""


@pytest.mark.any_draw("draws nothing")
def test_a_child_process_cannot_spend_its_copy_of_the_budget() -> None:
    subprocess.run(
        [sys.executable, "-c", FORK],
        env={**os.environ, "PYTHONPATH": str(Path(tenue.__file__).parents[1])},
        check=True,
        timeout=60,
    )


def test_work_that_breaks_leaves_no_trace() -> None:
    ledger = Memory()
    ledger.open_dataset("census", 1, neighbours="replace")

    def break_down(journal: Journal) -> None:
        journal.owner()
        journal.write(next(iter(ledger.entries())).fact)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        ledger._write(break_down)
    assert ledger.verify().entries == 1


# -- tables ----------------------------------------------------------------------------------------


@pytest.fixture
def connection() -> sqlite3.Connection:
    made = sqlite3.connect(":memory:", isolation_level=None)
    create(made)
    return made


class Watched:
    """A connection that notes how each lookup is planned."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self.plans: dict[str, list[str]] = {}
        self.executemany = connection.executemany

    def execute(self, sql: str, values: tuple[object, ...] = ()) -> sqlite3.Cursor:
        plan = self.connection.execute("EXPLAIN QUERY PLAN " + sql, values)
        self.plans[sql] = [row[3] for row in plan]
        return self.connection.execute(sql, values)


def test_no_lookup_of_a_question_scans_a_table(connection: sqlite3.Connection) -> None:
    watched = Watched(connection)
    tables = Tables(watched)  # type: ignore[arg-type]
    tables.head()
    tables.link(3)
    tables.texts(5, 10)
    tables.dataset("d")
    tables.account("d", "a")
    tables.accounts("d")
    tables.person("d", "a", "p")
    tables.times("d", "q")
    tables.releases("d")
    tables.protocol("d")
    tables.ticket(3)
    tables.ticket_named(b"n")
    assert len(watched.plans) == 12
    for sql, plan in watched.plans.items():
        for step in plan:
            assert step.startswith("SEARCH") or "ORDER BY sequence DESC LIMIT 1" in sql, (sql, plan)
    tables.open_tickets()
    tables.tickets_cached(b"c")
    plans = [plan for sql, plan in watched.plans.items() if "outcome = 0" in sql]
    assert plans[0] == ["SCAN ticket USING INDEX ticket_open"]
    scans = [step for step in plans[1] if step.startswith("SCAN ticket")]
    assert scans == ["SCAN ticket USING INDEX ticket_open"]  # open ones are few
    assert any("USING INDEX ticket_cache" in step for step in plans[1])


def test_what_a_transaction_wrote_is_read_back(connection: sqlite3.Connection) -> None:
    """The same facts, posted to tables and to dictionaries, leave the same rows."""
    memory = Memory()
    memory.open_dataset("d", 10, 5, neighbours="add-or-remove", total_delta="1e-6")
    for person in ("p", "q"):
        charge = Charge.of(epsilon=1, delta="1e-7", neighbours="add-or-remove", person=person)
        paid = memory.reserve("d", "ann", charge, person, "q", cache_key=person)
        memory.commit(paid, b"x")
    plain = Charge.of(epsilon=1, neighbours="replace")
    memory.reserve("d", "ann", plain, "i", "q", column="individual", question_name="m")
    memory.register_release("d", "r", method="swap")
    tables = Tables(connection)
    for entry in memory.entries():  # one transaction each
        journal = Journal(tables, tables.head(), lambda: "me", lambda name: True)
        journal._time = entry.time
        journal.write(entry.fact)
        if entry.kind == "answered":
            journal.totals.answers[entry.sequence] = b"x"
        tables.take(journal)
    assert tables.totals() == memory._rows.totals()
    assert list(tables.lines()) == list(memory._rows.lines())
    assert tables.persons("d", "ann") == memory._rows.persons("d", "ann")
    for besides in ((), ("p",), ("p", "q")):
        assert tables.most("d", "ann", besides) == memory._rows.most("d", "ann", besides)
    assert tables.open_tickets() == memory._rows.open_tickets()
    for key in ("p", "q", "i"):
        name = scoped(key, "d")
        assert name is not None
        assert tables.tickets_cached(name) == memory._rows.tickets_cached(name)
        assert len(tables.tickets_cached(name)) == (key != "i")
    assert tables.head() == memory._rows.head()


def test_what_is_not_there_is_a_fault(connection: sqlite3.Connection) -> None:
    tables = Tables(connection)
    for look in (tables.answer, tables.reserved):
        with pytest.raises(LedgerFault):
            look(5)


# -- What files and servers share, on tables that lie nowhere --------------------------------------


class Written:
    head = (3, b"link")
    written = 2


class Nowhere(Database):
    """Counts what it is told to take and how often it lets go."""

    def __init__(self) -> None:
        super().__init__()
        self.taken: list[Any] = []
        self.let_go = 0

    def read(self, look: Callable[[Tables], Any]) -> Any:
        self._usable()
        return look(cast(Tables, self))

    def inspect(self, anchor: Anchor | None) -> Verification:
        raise LedgerFault("nothing to inspect")

    def take(self, journal: Any) -> None:
        self.taken.append(journal)

    def _carry_out(self, batch: list[Request[Any]]) -> None:
        assert carry_out(batch, cast(Journal, Written()), cast(Tables, self)) == (3, b"link")

    def _let_go(self) -> None:
        self.let_go += 1


def refuses(_: Journal) -> None:
    raise refuse("ledger.ledger-closed")


def test_a_refusal_is_its_requests_own_and_the_batch_is_written() -> None:
    database = Nowhere()
    with pytest.raises(Refused):
        database.write(refuses)
    assert database.write(lambda journal: 7) == 7
    assert len(database.taken) == 2
    database.close()


def test_closed_once_and_of_no_use_afterwards() -> None:
    database = Nowhere()
    database.close()
    database.close()
    assert database.let_go == 1
    with pytest.raises(Refused, match="closed"):
        database.write(lambda journal: 7)
    faulty = Nowhere()
    faulty._fault = "the disk is gone"
    with pytest.raises(LedgerFault, match="the disk is gone"):
        faulty.write(lambda journal: 7)
    faulty.close()


def test_a_last_entry_that_does_not_follow_is_a_fault(tmp_path: Path) -> None:
    with SQLite(tmp_path / "a.ledger") as ledger:
        for total in (1, 2):
            ledger.open_dataset("census", total=total, neighbours="replace")
        ledger._database.read(check_head)
        with ledger._database._connections.take("write") as connection:
            connection.execute("UPDATE entry SET text = text || ' ' WHERE sequence = 2")
        with pytest.raises(LedgerFault, match="does not follow"):
            ledger._database.read(check_head)


@pytest.mark.any_draw("two secrets of 256 bits differ")
def test_secrets_differ() -> None:
    assert len(new_secret()) == 32
    assert new_secret() != new_secret()


# -- What ledgers in a database share, on the one database that needs no server --------------------


def test_entries_come_page_by_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tenue.ledger.store.sql_database._PAGE", 2)
    with SQLite(tmp_path / "a.ledger") as ledger:
        for total in range(1, 6):
            ledger.open_dataset("census", total=total, neighbours="replace")
        assert [entry.sequence for entry in ledger.entries()] == [1, 2, 3, 4, 5]


def test_a_tail_that_vanishes_while_it_is_read_is_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tenue.ledger.store.sql_database._PAGE", 1)
    with SQLite(tmp_path / "a.ledger") as ledger:
        for total in (1, 2):
            ledger.open_dataset("census", total=total, neighbours="replace")
        entries = ledger.entries()
        next(entries)
        with ledger._database._connections.take("write") as connection:
            connection.execute("DELETE FROM entry WHERE sequence = 2")
        with pytest.raises(LedgerFault, match="gone"):
            list(entries)


def test_an_anchor_that_is_named_must_be_there(tmp_path: Path) -> None:
    path, anchor = tmp_path / "a.ledger", tmp_path / "elsewhere"
    SQLite(path, anchor=anchor).close()  # new: there is nothing that it could have lost
    with SQLite(path) as ledger:
        ledger.open_dataset("census", total=1, neighbours="replace")
        assert isinstance(ledger, Tabled)
    with pytest.raises(LedgerFault, match="is missing"):
        SQLite(path, anchor=anchor)


# -- address ---------------------------------------------------------------------------------------


def test_the_schema_stands_after_the_sign() -> None:
    found = given_address("postgresql://ann@db.example:5433/books?sslmode=require#Our%20books")
    assert found.server == "postgresql://ann@db.example:5433/books?sslmode=require"
    assert found.schema == "Our books"
    assert given_address("postgresql:///books?host=/run").schema == USUAL


@pytest.mark.parametrize(
    "given",
    [
        "postgresql://ann:s3cret@db/books",
        "postgresql://db/books?password=s3cret",
        "postgresql://db/books?passfile=s3cret",
    ],
)
def test_no_password_is_taken_or_repeated(given: str) -> None:
    with pytest.raises(InvalidArgument) as refusal:
        given_address(given)
    assert refusal.value.code == "password-in-address"
    assert "s3cret" not in str(refusal.value)


@pytest.mark.parametrize("given", ["books.ledger", "postgresql://[s3cret"])
def test_what_libpq_does_not_read_is_refused_without_being_repeated(given: str) -> None:
    with pytest.raises(InvalidArgument) as refusal:
        given_address(given)
    assert "s3cret" not in str(refusal.value)


@pytest.mark.parametrize("schema", ["pg_catalog", "x" * 64, "a%00b", "ä" * 32])
def test_a_name_that_the_server_would_change_is_refused(schema: str) -> None:
    with pytest.raises(InvalidArgument, match="after #"):
        given_address(f"postgresql://db/books#{schema}")


# -- ledger ----------------------------------------------------------------------------------------


def test_without_psycopg_the_refusal_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("tenue.ledger.store.postgres")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(InvalidArgument, match=r"tenue\[postgres\]"):
        open_ledger("postgresql://db/books")


@pytest.mark.needs("postgres")
def test_an_address_is_a_ledger_wherever_one_is_given(postgres_server: Server) -> None:
    address = postgres_server.address(schema="given")
    for given, place in ((address, NOWHERE), (None, Place(named=address))):
        with given_ledger(given, place) as ledger:
            assert isinstance(ledger, Postgres)
            assert ledger.address == address
            assert ledger.path is None


@pytest.mark.needs("postgres")
def test_an_old_copy_is_seen_with_an_anchor(postgres_server: Server, tmp_path: object) -> None:
    anchor = f"{tmp_path}/elsewhere.anchor"
    with Postgres(postgres_server.address(schema="anchored"), anchor=anchor) as ledger:
        ledger.open_dataset("census", total=1, neighbours="replace")
        ledger.anchor(anchor)
    Postgres(postgres_server.address(schema="anchored"), anchor=anchor).close()
    with pytest.raises(LedgerFault):
        Postgres(postgres_server.address(schema="emptied"), anchor=anchor)


def test_a_schema_names_an_address_as_it_names_a_file() -> None:
    import tenue as tn

    schema = tn.Schema.from_dict(
        {
            "table": {
                "name": "t",
                "unit": "record",
                "neighbours": "replace",
                "ledger": "postgresql://db/books#s",
            },
            "columns": {"x": {"type": "boolean"}},
        }
    )
    assert schema.ledger_location == "postgresql://db/books#s"
    assert isinstance(given_ledger(Memory(), Place(named="postgresql://db/books")), Memory)
