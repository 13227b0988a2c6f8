"""The rows of a ledger in SQLite tables: how they are created, read and written."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from ...errors import LedgerFault
from .. import chain
from ..fact import Reserved
from ..row import Account, Books, Dataset, Line, Person, Source, Stored, Ticket
from ..transaction.journal import Journal

T = TypeVar("T")

APPLICATION = 0x54656E75
"""What the file's header says it is: "Tenu"."""

VERSION = 4
"""How the tables are laid out."""

BEFORE = (1, 2, 3)
"""The layouts that `upgrade` makes the present one of."""
_PROTOCOL = """
CREATE TABLE protocol (dataset TEXT PRIMARY KEY, protocol TEXT NOT NULL) WITHOUT ROWID
"""
_SOURCE = """
CREATE TABLE source (
    dataset TEXT PRIMARY KEY, mark TEXT NOT NULL, reading TEXT NOT NULL, digest TEXT NOT NULL
) WITHOUT ROWID
"""
_SEAL = """
CREATE TABLE seal (name TEXT PRIMARY KEY, content BLOB NOT NULL, digest BLOB NOT NULL)
WITHOUT ROWID
"""
_LOG = """
CREATE TABLE log (place INTEGER PRIMARY KEY CHECK (place = 0), state INTEGER NOT NULL)
"""

_SCHEMA = """
CREATE TABLE entry (sequence INTEGER PRIMARY KEY, text TEXT NOT NULL, link BLOB NOT NULL);
CREATE TABLE ticket (
    sequence INTEGER PRIMARY KEY, name BLOB, cache BLOB, owner TEXT NOT NULL,
    outcome INTEGER NOT NULL, settled INTEGER
);
CREATE UNIQUE INDEX ticket_name ON ticket (name) WHERE outcome <> 2;
CREATE INDEX ticket_open ON ticket (sequence) WHERE outcome = 0;
CREATE INDEX ticket_cache ON ticket (cache, settled) WHERE outcome = 1;
CREATE TABLE answer (sequence INTEGER PRIMARY KEY, content BLOB NOT NULL);
CREATE TABLE dataset (
    name TEXT PRIMARY KEY, neighbours TEXT NOT NULL, total INTEGER NOT NULL,
    total_delta INTEGER NOT NULL, per_analyst INTEGER, schema_digest TEXT NOT NULL,
    data_version TEXT NOT NULL, repriced INTEGER NOT NULL, widest INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE account (
    dataset TEXT NOT NULL, analyst TEXT NOT NULL, statistical INTEGER NOT NULL,
    most INTEGER NOT NULL, delta INTEGER NOT NULL, most_delta INTEGER NOT NULL,
    individual INTEGER NOT NULL, PRIMARY KEY (dataset, analyst)
) WITHOUT ROWID;
CREATE TABLE person (
    dataset TEXT NOT NULL, analyst TEXT NOT NULL, person TEXT NOT NULL, nano INTEGER NOT NULL,
    atto INTEGER NOT NULL, PRIMARY KEY (dataset, analyst, person)
) WITHOUT ROWID;
CREATE TABLE question (
    dataset TEXT NOT NULL, name TEXT NOT NULL, times INTEGER NOT NULL, PRIMARY KEY (dataset, name)
) WITHOUT ROWID;
CREATE TABLE release (
    dataset TEXT NOT NULL, digest TEXT NOT NULL, sequence INTEGER NOT NULL,
    PRIMARY KEY (dataset, digest)
) WITHOUT ROWID
"""


def create(connection: sqlite3.Connection) -> None:
    """Makes an empty database a ledger; inside a transaction of the caller's."""
    for statement in _SCHEMA.split(";"):
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    upgrade(connection, 1)


def upgrade(connection: sqlite3.Connection, version: int) -> None:
    """Adds what a layout lacked, so that old and new ledgers are the same; what was spent stays.

    Layout 1 knew no protocols, no units and no cap of individual DP, layout 2 no validated files,
    layout 3 neither a key nor whether the file is whole. Inside a transaction.
    """
    if version == 1:
        connection.execute("ALTER TABLE dataset ADD COLUMN individual INTEGER")
        connection.execute("ALTER TABLE dataset ADD COLUMN unit TEXT NOT NULL DEFAULT ''")
        connection.execute(_PROTOCOL)
    if version <= 2:
        connection.execute(_SOURCE)
    connection.execute(_SEAL)
    connection.execute(_LOG)
    connection.execute("INSERT INTO log VALUES (0, 0)")
    connection.execute(f"PRAGMA user_version = {VERSION}")


def keep_secret(connection: sqlite3.Connection, secret: bytes) -> None:
    """Stores the key of a ledger that has none yet, beside a digest that shows a damaged one."""
    connection.execute(
        "INSERT INTO seal VALUES ('certificates', ?, ?)",
        (secret, hashlib.sha256(secret).digest()),
    )


def schema_of(connection: sqlite3.Connection) -> list[tuple[object, ...]]:
    """What the file says its tables are, to be held against what they should be."""
    return connection.execute(
        "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name"
    ).fetchall()


class Tables:
    """A shelf of rows in the tables of one connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._run = connection.execute
        self._run_many = connection.executemany

    def head(self) -> tuple[int, bytes]:
        row = self._run(
            "SELECT sequence, link FROM entry ORDER BY sequence DESC LIMIT 1"
        ).fetchone()
        return (0, chain.GENESIS) if row is None else (row[0], row[1])

    def link(self, sequence: int) -> bytes | None:
        if sequence == 0:
            return chain.GENESIS
        row = self._run("SELECT link FROM entry WHERE sequence = ?", (sequence,)).fetchone()
        return None if row is None else bytes(row[0])

    def texts(self, after: int, count: int) -> list[tuple[int, str, bytes]]:
        return self._run(
            "SELECT sequence, text, link FROM entry WHERE sequence > ? ORDER BY sequence LIMIT ?",
            (after, count),
        ).fetchall()

    def datasets(self) -> list[str]:
        return [row[0] for row in self._run("SELECT name FROM dataset ORDER BY name")]

    def dataset(self, name: str) -> Dataset | None:
        return _only(Dataset, 1, self._run("SELECT * FROM dataset WHERE name = ?", (name,)))

    def account(self, dataset: str, analyst: str) -> Account | None:
        rows = self._run(
            "SELECT * FROM account WHERE dataset = ? AND analyst = ?", (dataset, analyst)
        )
        return _only(Account, 2, rows)

    def accounts(self, dataset: str) -> dict[str, Account]:
        rows = self._run("SELECT * FROM account WHERE dataset = ?", (dataset,))
        return {row[1]: Account(*row[2:]) for row in rows}

    def person(self, dataset: str, analyst: str, person: str) -> Person | None:
        rows = self._run(
            "SELECT * FROM person WHERE dataset = ? AND analyst = ? AND person = ?",
            (dataset, analyst, person),
        )
        return _only(Person, 3, rows)

    def persons(self, dataset: str, analyst: str) -> dict[str, Person]:
        rows = self._run(
            "SELECT * FROM person WHERE dataset = ? AND analyst = ?", (dataset, analyst)
        )
        return {row[2]: Person(*row[3:]) for row in rows}

    def most(self, dataset: str, analyst: str, besides: Iterable[str]) -> Person:
        row = self._run(
            "SELECT COALESCE(MAX(nano), 0), COALESCE(MAX(atto), 0) FROM person"
            " WHERE dataset = ? AND analyst = ?"
            " AND person NOT IN (SELECT value FROM json_each(?))",
            (dataset, analyst, json.dumps(list(besides))),
        ).fetchone()
        return Person(*row)

    def times(self, dataset: str, question_name: str) -> int:
        row = self._run(
            "SELECT times FROM question WHERE dataset = ? AND name = ?", (dataset, question_name)
        ).fetchone()
        return 0 if row is None else int(row[0])

    def releases(self, dataset: str) -> dict[str, int]:
        rows = self._run("SELECT digest, sequence FROM release WHERE dataset = ?", (dataset,))
        return dict(rows.fetchall())

    def protocol(self, dataset: str) -> str:
        row = self._run("SELECT protocol FROM protocol WHERE dataset = ?", (dataset,)).fetchone()
        return "" if row is None else str(row[0])

    def source(self, dataset: str) -> Source | None:
        rows = self._run("SELECT * FROM source WHERE dataset = ?", (dataset,))
        return _only(Source, 1, rows)

    def secret(self) -> bytes:
        row = self._run("SELECT content, digest FROM seal").fetchone()
        if row is None or hashlib.sha256(row[0]).digest() != row[1]:
            raise LedgerFault("the key of its certificates is missing or damaged")
        return bytes(row[0])

    def ticket(self, sequence: int) -> Ticket | None:
        return _only(Ticket, 0, self._run("SELECT * FROM ticket WHERE sequence = ?", (sequence,)))

    def ticket_named(self, name: bytes) -> Ticket | None:
        rows = self._run("SELECT * FROM ticket WHERE name = ? AND outcome <> 2", (name,))
        return _only(Ticket, 0, rows)

    def open_tickets(self) -> list[Ticket]:
        rows = self._run("SELECT * FROM ticket WHERE outcome = 0 ORDER BY sequence")
        return [Ticket(*row) for row in rows]

    def cached(self, cache: bytes) -> int | None:
        row = self._run(
            "SELECT settled FROM ticket WHERE cache = ? AND outcome = 1"
            " ORDER BY settled DESC LIMIT 1",
            (cache,),
        ).fetchone()
        return None if row is None else int(row[0])

    def reserved(self, sequence: int) -> Reserved:
        row = self._run("SELECT text FROM entry WHERE sequence = ?", (sequence,)).fetchone()
        fact = None if row is None else chain.read(sequence, row[0])[1]
        if not isinstance(fact, Reserved):
            raise LedgerFault(f"there is no reservation {sequence}")
        return fact

    def answer(self, sequence: int) -> bytes:
        row = self._run("SELECT content FROM answer WHERE sequence = ?", (sequence,)).fetchone()
        if row is None:
            raise LedgerFault(f"the answer of entry {sequence} is missing")
        return bytes(row[0])

    def take(self, journal: Journal) -> None:
        """Writes everything a transaction changed."""
        totals = journal.totals
        self._run_many("INSERT INTO entry VALUES (?, ?, ?)", journal.written)
        self._run_many(
            "INSERT INTO ticket VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (sequence)"
            " DO UPDATE SET outcome = excluded.outcome, settled = excluded.settled",
            totals.tickets.values(),
        )
        self._run_many("INSERT INTO answer VALUES (?, ?)", totals.answers.items())
        self._run_many(
            "REPLACE INTO dataset VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [(name, *row) for name, row in totals.datasets.items()],
        )
        self._run_many(
            "REPLACE INTO account VALUES (?, ?, ?, ?, ?, ?, ?)",
            [(*key, *row) for key, row in totals.accounts.items()],
        )
        self._run_many(
            "REPLACE INTO person VALUES (?, ?, ?, ?, ?)",
            [(*key, *row) for key, row in totals.persons.items()],
        )
        self._run_many(
            "REPLACE INTO question VALUES (?, ?, ?)",
            [(*key, times) for key, times in totals.questions.items()],
        )
        self._run_many(
            "REPLACE INTO release VALUES (?, ?, ?)",
            [(*key, sequence) for key, sequence in totals.releases.items()],
        )
        self._run_many("REPLACE INTO protocol VALUES (?, ?)", totals.protocols.items())
        self._run_many(
            "REPLACE INTO source VALUES (?, ?, ?, ?)",
            [(name, *row) for name, row in totals.sources.items()],
        )

    def lines(self) -> Iterator[Line]:
        """Every entry beside the ticket it opened and the answer it stored."""
        return self._run(
            "SELECT e.sequence, e.text, e.link, t.sequence, t.name, t.cache, t.owner, t.outcome,"
            " t.settled, a.content FROM entry e LEFT JOIN ticket t ON t.sequence = e.sequence"
            " LEFT JOIN answer a ON a.sequence = e.sequence ORDER BY e.sequence"
        )

    def totals(self) -> Stored:
        run = self._run
        books = Books(
            {row[0]: Dataset(*row[1:]) for row in run("SELECT * FROM dataset")},
            {row[:2]: Account(*row[2:]) for row in run("SELECT * FROM account")},
            {row[:3]: Person(*row[3:]) for row in run("SELECT * FROM person")},
            {row[:2]: row[2] for row in run("SELECT * FROM question")},
            {row[:2]: row[2] for row in run("SELECT * FROM release")},
            dict(run("SELECT * FROM protocol").fetchall()),
            {row[0]: Source(*row[1:]) for row in run("SELECT * FROM source")},
        )
        tickets, answers = run(
            "SELECT (SELECT COUNT(*) FROM ticket), (SELECT COUNT(*) FROM answer)"
        ).fetchone()
        return Stored(books, tickets, answers)


def _only(kind: Callable[..., T], keys: int, rows: sqlite3.Cursor) -> T | None:
    """The one row, without the columns that are its key; None if there is none."""
    row = rows.fetchone()
    return None if row is None else kind(*row[keys:])
