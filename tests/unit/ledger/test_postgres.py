"""A ledger in a PostgreSQL schema."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest

import tenue
from postgres_server import Server
from tenue.errors import Conflict, InvalidArgument, LedgerFault, NotPromised
from tenue.ledger import Charge, Ledger, Postgres, Reservation
from tenue.ledger.store.postgres.address import given_address
from tenue.ledger.store.postgres.ledger import _COLUMNS
from tenue.ledger.store.postgres.session import Session
from tenue.ledger.store.sql_tables import KEPT

pytestmark = pytest.mark.needs("postgres")


def test_a_server_that_is_not_there_is_a_fault_that_quotes_nothing() -> None:
    with pytest.raises(LedgerFault, match="cannot be reached") as fault:
        Session(given_address("postgresql://canary@127.0.0.1:1/canary"))
    assert "canary" not in str(fault.value)


def test_a_session_waits_for_the_disk_whatever_its_role_was_told(postgres_server: Server) -> None:
    with psycopg.connect(postgres_server.address(), autocommit=True) as connection:
        connection.execute("CREATE ROLE hasty LOGIN")
        connection.execute("ALTER ROLE hasty SET synchronous_commit = off")
    session = Session(given_address(postgres_server.address(role="hasty")))
    assert session.execute("SHOW synchronous_commit").fetchone() == ("on",)
    session.close()


@pytest.mark.parametrize("setting", ["fsync", "full_page_writes"])
def test_a_server_that_does_not_wait_for_its_disk_is_refused(setting: str) -> None:
    server = Server()
    try:
        server.stop()
        server.start(f"{setting}=off")
        with pytest.raises(NotPromised) as refusal:
            Session(given_address(server.address()))
        assert refusal.value.code == "not-durable"
        assert setting in refusal.value.what
    finally:
        server.remove()


def test_a_transaction_that_the_server_gave_up_is_not_taken_for_done(
    postgres_server: Server,
) -> None:
    session = Session(given_address(postgres_server.address(schema="given_up")))
    session.execute("BEGIN")
    with pytest.raises(psycopg.Error):
        session.execute("SELECT 1/0")
    # the server answers COMMIT without an error here, and keeps nothing
    with pytest.raises(LedgerFault, match="did not keep"):
        session.commit()
    session.close()


def test_an_owner_is_alive_as_long_as_its_session(postgres_server: Server) -> None:
    address = given_address(postgres_server.address(schema="owners"))
    one, other = Session(address), Session(address)
    owner = one.new_owner()
    assert one.be(owner)
    assert not other.be(owner)
    other.execute("BEGIN")
    assert other.alive(owner)
    assert not other.alive(one.new_owner())
    other.roll_back()
    one.close()
    while not other.be(owner):  # as soon as the server has let go of the session
        time.sleep(0.01)
    another = Session(address)
    another.execute("BEGIN")
    assert another.alive(owner)
    other.close()
    while another.alive(owner):
        time.sleep(0.01)
    another.roll_back()
    another.close()


def test_an_owner_of_another_ledger_is_somebody_else(postgres_server: Server) -> None:
    here, there = (Session(given_address(postgres_server.address(schema=s))) for s in ("a", "b"))
    assert here.be("same")
    assert there.be("same")
    here.close()
    there.close()


# -- Tables that are not a ledger's own are never trusted with a budget ----------------------------

_numbers = count(1)


@pytest.fixture
def address(postgres_server: Server) -> str:
    address = postgres_server.address(schema=f"layout_{next(_numbers)}")
    with Postgres(address) as ledger:
        ledger.open_dataset("census", total=1, neighbours="replace")
        assert ledger.is_new
        ledger.reserve("census", "ann", Charge.of(epsilon=1, neighbours="replace"), "k", "q")
    return address


def change(address: str, statement: str) -> None:
    server, schema = address.split("#")
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"SET search_path = {schema}".encode())
        connection.execute(statement.encode())


def test_rows_have_the_columns_in_the_order_that_they_are_read_in() -> None:
    for table, (_, columns) in KEPT.items():
        assert tuple(name for name, _, _ in _COLUMNS[table]) == columns


def test_an_opened_ledger_is_known_again(address: str) -> None:
    with Postgres(address) as ledger:
        assert not ledger.is_new
        assert ledger.verify().entries == 3  # opening settled what nobody answered
        assert ledger.balance().remaining == 0


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE account SET UNLOGGED",  # a crash would empty it
        "ALTER TABLE ticket ENABLE ROW LEVEL SECURITY",  # a hidden row is a free key
        "ALTER TABLE account ADD COLUMN more bigint",
        "ALTER TABLE account ALTER COLUMN most TYPE integer",
        'ALTER TABLE account ALTER COLUMN analyst TYPE text COLLATE "en_US"',
        "ALTER TABLE account DROP CONSTRAINT account_pkey",
        "DROP INDEX ticket_name",
        "CREATE TABLE another (x bigint)",
        "CREATE VIEW another AS SELECT 1",
        "UPDATE about SET layout = 99",
        "DELETE FROM turn",
        "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';"
        " CREATE TRIGGER t BEFORE INSERT ON entry FOR EACH ROW EXECUTE FUNCTION f()",
        "CREATE RULE r AS ON INSERT TO entry DO INSTEAD NOTHING",
    ],
)
def test_tables_that_are_otherwise_are_a_fault(address: str, statement: str) -> None:
    if "en_US" in statement:
        change(address, "CREATE COLLATION \"en_US\" (provider = icu, locale = 'en-US')")
    with Postgres(address) as ledger:
        change(address, statement)
        found = ledger.verify()
        assert not found
        assert "tables are not" in found.reason or "wait for" in found.reason
    with pytest.raises(LedgerFault, match=r"tables are not|wait for"):
        Postgres(address)


# The server goes away at any moment: nothing acknowledged is lost, nothing unknown is drawn.

PRICE = Charge.of(epsilon="0.1", neighbours="replace")


@pytest.fixture(scope="module")
def restarted() -> Iterator[Server]:
    """A server that may be stopped, unlike the one that all tests share."""
    made = Server()
    yield made
    made.remove()


@pytest.fixture
def server(restarted: Server) -> Server:
    with psycopg.connect(restarted.address(), autocommit=True) as outside:
        outside.execute("DROP SCHEMA IF EXISTS books CASCADE; DROP TABLE IF EXISTS kept")
    return restarted


def opened(server: Server) -> Postgres:
    ledger = Postgres(server.address(schema="books"))
    ledger.open_dataset("census", total=5, neighbours="replace")
    return ledger


def reserve(ledger: Ledger, key: str | None = None) -> Reservation:
    return ledger.reserve("census", "ann", PRICE, key, "q")


def ended(server: Server, backend: int) -> None:
    """Waits until the server has let go of a session that was closed."""
    sql = "SELECT COUNT(*) FROM pg_stat_activity WHERE pid = %s"
    with psycopg.connect(server.address(), autocommit=True) as outside:
        while outside.execute(sql, (backend,)).fetchone() != (0,):
            time.sleep(0.01)


def kinds(ledger: Ledger) -> list[str]:
    return [entry.kind for entry in ledger.entries()]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT])
def test_a_server_that_comes_back_is_used_again(server: Server, how: signal.Signals) -> None:
    with opened(server) as ledger:
        ledger.commit(reserve(ledger, "one"), b"1")
        pending = reserve(ledger, "two")
        server.restart(how)
        assert ledger.balance().spent == Fraction(2, 10)
        assert reserve(ledger, "one").answer == b"1"
        ledger.commit(pending, b"2")  # nobody took its owner for dead
        assert reserve(ledger, "two").answer == b"2"
        assert ledger.verify()


def test_a_call_while_the_server_is_away_is_a_fault_and_the_next_one_is_not(
    server: Server,
) -> None:
    with opened(server) as ledger:
        server.stop()
        for use in (lambda: reserve(ledger), ledger.balance, ledger.datasets):
            with pytest.raises(LedgerFault) as fault:
                use()
            assert str(server.folder) not in str(fault.value)
        server.start()
        assert reserve(ledger).answer is None
        assert ledger.balance().spent == Fraction(1, 10)


def test_a_reservation_whose_fate_was_unknown_is_spent_and_never_drawn(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server commits, and goes away before it says so."""
    commit = Session.commit

    def unheard(self: Session) -> None:
        commit(self)
        backend = self._connection.info.backend_pid
        self.close()
        ended(server, backend)  # else the next session may come too early, which is a fault
        raise psycopg.OperationalError("the connection was lost")

    with opened(server) as ledger:
        before = reserve(ledger, "before")
        monkeypatch.setattr(Session, "commit", unheard)
        with pytest.raises(LedgerFault):
            reserve(ledger, "key")
        monkeypatch.undo()
        with pytest.raises(Conflict) as refusal:
            reserve(ledger, "key")
        assert refusal.value.code == "spent-unanswered"  # and not in flight for ever
        assert ledger.balance().spent == Fraction(2, 10)
        ledger.commit(before, b"x")
        assert kinds(ledger).count("unanswered") == 1
        assert ledger.verify()


def test_an_entry_that_is_gone_is_a_fault_for_ever(server: Server) -> None:
    with opened(server) as ledger:
        reserve(ledger)
        with psycopg.connect(server.address(), autocommit=True) as outside:
            outside.execute("CREATE TABLE kept AS SELECT * FROM books.entry")
            outside.execute("DELETE FROM books.entry WHERE sequence = 2")
            with pytest.raises(LedgerFault, match="gone"):
                reserve(ledger)
            outside.execute("DELETE FROM books.entry")
            outside.execute("INSERT INTO books.entry SELECT * FROM kept")
        with pytest.raises(LedgerFault, match="gone"):
            ledger.balance()


def test_a_history_that_was_written_anew_is_seen_by_whoever_saw_the_old_one(
    server: Server,
) -> None:
    with opened(server) as ledger:
        with psycopg.connect(server.address(), autocommit=True) as outside:
            outside.execute("UPDATE books.entry SET link = sha256('other') WHERE sequence = 1")
        with pytest.raises(LedgerFault, match="gone"):
            reserve(ledger)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE books.account SET statistical = 0",
        "UPDATE books.entry SET text = replace(text, 'ann', 'bob')",
        "DELETE FROM books.ticket",
        "UPDATE books.answer SET content = 'other'",
        "UPDATE books.dataset SET total = total * 2",
    ],
)
def test_tampering_is_seen(server: Server, statement: str) -> None:
    with opened(server) as ledger:
        ledger.commit(reserve(ledger, "key"), b"answer")
        assert ledger.verify()
        with psycopg.connect(server.address(), autocommit=True) as outside:
            outside.execute(statement.encode())
        assert not ledger.verify()


def test_a_schema_with_other_tables_is_refused_and_left_as_it_is(server: Server) -> None:
    with psycopg.connect(server.address(), autocommit=True) as outside:
        outside.execute("CREATE SCHEMA books; CREATE TABLE books.entry (x integer)")
        with pytest.raises(InvalidArgument) as refusal:
            Postgres(server.address(schema="books"))
        assert refusal.value.code == "not-a-ledger"
        found = outside.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'books'")
        assert found.fetchall() == [("entry",)]


def test_looking_makes_no_ledger(server: Server) -> None:
    with pytest.raises(InvalidArgument) as refusal:
        Postgres(server.address(schema="books"), make=False)
    assert refusal.value.code == "no-ledger"
    with psycopg.connect(server.address()) as outside:
        found = outside.execute("SELECT 1 FROM pg_namespace WHERE nspname = 'books'")
        assert found.fetchone() is None
    opened(server).close()
    assert Postgres(server.address(schema="books"), make=False).datasets() == ["census"]


def test_a_role_needs_no_more_than_the_guide_grants(server: Server) -> None:
    with opened(server) as ledger, psycopg.connect(server.address(), autocommit=True) as holder:
        reserve(ledger)
        for statement in granted("gateway", "books"):
            holder.execute(statement.encode())
    with Postgres(server.address(schema="books", role="gateway")) as ledger:
        ledger.commit(reserve(ledger, "key"), b"x")
        ledger.register_release("census", "digest", method="swap")
        assert ledger.verify()
    with psycopg.connect(server.address(role="gateway"), autocommit=True) as analyst:
        for statement in (
            "DELETE FROM books.entry",
            "UPDATE books.entry SET text = ''",
            "TRUNCATE books.account",
            "DROP TABLE books.entry",
            "UPDATE books.answer SET content = ''",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                analyst.execute(statement.encode())


def granted(role: str, schema: str) -> list[str]:
    """The statements of docs/reference/ledger.md, for this role and schema."""
    page = (Path(__file__).parents[3] / "docs" / "reference" / "ledger.md").read_text()
    block = page.split("```sql\n")[1].split("```")[0]
    text = block.replace("tenue_ledger", schema).replace("tenue_gateway", role)
    return [statement for statement in text.split(";") if statement.strip()]


FORK = """
import os, sys
from tenue.ledger import Charge, Postgres
price = Charge.of(epsilon="0.1", neighbours="replace")
ledger = Postgres(sys.argv[1])
ledger.open_dataset("census", total=5, neighbours="replace")
mine = ledger.reserve("census", "ann", price, "parent", "q")
child = os.fork()
if child == 0:
    theirs = ledger.reserve("census", "ann", price, "child", "q")
    ledger.commit(theirs, b"child")
    try:
        ledger.commit(mine, b"from the child")
    except Exception as refusal:
        os._exit(0 if type(refusal).__name__ == "Conflict" else 2)
    os._exit(3)
assert os.waitpid(child, 0)[1] == 0
ledger.commit(mine, b"parent")
assert ledger.reserve("census", "ann", price, "child", "q").answer == b"child"
assert ledger.verify()
os.kill(os.getpid(), 9) if sys.argv[2] == "die" else None
"""


def run(server: Server, script: str, *words: str) -> int:
    return subprocess.run(
        [sys.executable, "-c", script, server.address(schema="books"), *words],
        env={**os.environ, "PYTHONPATH": str(Path(tenue.__file__).parents[1])},
        timeout=120,
        check=False,
    ).returncode


@pytest.mark.any_draw("draws nothing")
def test_a_forked_child_is_somebody_else_and_leaves_the_parent_its_session(
    server: Server,
) -> None:
    assert run(server, FORK, "live") == 0


DIE = """
import os, sys
from tenue.ledger import Charge, Postgres
ledger = Postgres(sys.argv[1])
ledger.open_dataset("census", total=5, neighbours="replace")
ledger.reserve("census", "ann", Charge.of(epsilon="0.1", neighbours="replace"), "dead", "q")
os.kill(os.getpid(), 9)
"""


@pytest.mark.any_draw("draws nothing; a process is killed")
def test_what_a_dead_process_reserved_is_spent_and_its_key_used_up(server: Server) -> None:
    with opened(server) as ledger:
        mine: Any = reserve(ledger, "alive")
        assert run(server, DIE) == -9
        with pytest.raises(Conflict) as refusal:
            reserve(ledger, "dead")
        assert refusal.value.code == "spent-unanswered"
        with Postgres(server.address(schema="books")) as other, pytest.raises(Conflict) as refusal:
            reserve(other, "alive")
        assert refusal.value.code == "in-flight"
        ledger.commit(mine, b"1")
        assert ledger.balance().spent == Fraction(2, 10)
