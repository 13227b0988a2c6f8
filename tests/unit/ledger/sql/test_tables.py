from __future__ import annotations

import sqlite3

import pytest

from tenue.errors import LedgerFault
from tenue.ledger import Charge, Memory
from tenue.ledger.row import cache_name
from tenue.ledger.sql.tables import Tables
from tenue.ledger.sqlite.layout import create
from tenue.ledger.transaction.journal import Journal


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
    tables.cached(b"c")
    assert len(watched.plans) == 13
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
        name = cache_name("d", key)
        assert name is not None
        assert tables.tickets_cached(name) == memory._rows.tickets_cached(name)
        assert len(tables.tickets_cached(name)) == (key != "i")
    assert tables.head() == memory._rows.head()


def test_what_is_not_there_is_a_fault(connection: sqlite3.Connection) -> None:
    tables = Tables(connection)
    for look in (tables.answer, tables.reserved):
        with pytest.raises(LedgerFault):
            look(5)
