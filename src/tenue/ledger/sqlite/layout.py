"""The tables of a ledger in a SQLite file: how they are laid out, made and brought up to date."""

from __future__ import annotations

import hashlib
import sqlite3

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
