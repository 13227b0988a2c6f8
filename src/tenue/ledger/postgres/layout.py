"""The tables of a ledger in a PostgreSQL schema: how they are made, and known again."""

from __future__ import annotations

import hashlib

from ...errors import LedgerFault
from ..sql.tables import Connected

APPLICATION = "tenue ledger"
VERSION = 4
"""How the tables are laid out; the layouts of SQLite files and of schemas are counted alike."""

_TEXT, _BYTES, _LONG = "text", "bytea", "bigint"
_BYTEWISE = 'COLLATE "C"'
_COLUMNS: dict[str, tuple[tuple[str, str, bool], ...]] = {
    "about": (("application", _TEXT, True), ("layout", _LONG, True)),
    "turn": (("place", _LONG, True),),
    "entry": (("sequence", _LONG, True), ("text", _TEXT, True), ("link", _BYTES, True)),
    "ticket": (
        ("sequence", _LONG, True),
        ("name", _BYTES, False),
        ("cache", _BYTES, False),
        ("owner", _TEXT, True),
        ("outcome", _LONG, True),
        ("settled", _LONG, False),
    ),
    "answer": (("sequence", _LONG, True), ("content", _BYTES, True)),
    "dataset": (
        ("name", _TEXT, True),
        ("neighbours", _TEXT, True),
        ("total", _LONG, True),
        ("total_delta", _LONG, True),
        ("per_analyst", _LONG, False),
        ("schema_digest", _TEXT, True),
        ("data_version", _TEXT, True),
        ("repriced", _LONG, True),
        ("widest", _LONG, True),
        ("individual", _LONG, False),
        ("unit", _TEXT, True),
    ),
    "account": (
        ("dataset", _TEXT, True),
        ("analyst", _TEXT, True),
        ("statistical", _LONG, True),
        ("most", _LONG, True),
        ("delta", _LONG, True),
        ("most_delta", _LONG, True),
        ("individual", _LONG, True),
    ),
    "person": (
        ("dataset", _TEXT, True),
        ("analyst", _TEXT, True),
        ("person", _TEXT, True),
        ("nano", _LONG, True),
        ("atto", _LONG, True),
    ),
    "question": (("dataset", _TEXT, True), ("name", _TEXT, True), ("times", _LONG, True)),
    "release": (("dataset", _TEXT, True), ("digest", _TEXT, True), ("sequence", _LONG, True)),
    "protocol": (("dataset", _TEXT, True), ("protocol", _TEXT, True)),
    "source": (
        ("dataset", _TEXT, True),
        ("mark", _TEXT, True),
        ("reading", _TEXT, True),
        ("digest", _TEXT, True),
    ),
    "seal": (("name", _TEXT, True), ("content", _BYTES, True), ("digest", _BYTES, True)),
}
"""Of each table its columns: name, type, and whether a value must be there."""

_KEYS = {
    "turn": "place",
    "entry": "sequence",
    "ticket": "sequence",
    "answer": "sequence",
    "dataset": "name",
    "account": "dataset, analyst",
    "person": "dataset, analyst, person",
    "question": "dataset, name",
    "release": "dataset, digest",
    "protocol": "dataset",
    "source": "dataset",
    "seal": "name",
}
_INDEXES = (
    ("UNIQUE INDEX", "ticket_name", "ticket (name) WHERE outcome <> 2"),
    ("INDEX", "ticket_open", "ticket (sequence) WHERE outcome = 0"),
    ("INDEX", "ticket_cache", "ticket (cache, settled) WHERE outcome = 1"),
)

# a table that is not logged is emptied by a crash; a policy hides rows; a trigger changes them
_ODD = """
SELECT COUNT(*) FROM pg_class c WHERE c.relnamespace = ?::regnamespace AND (
    c.relkind NOT IN ('r', 'i') OR c.relpersistence <> 'p' OR c.relrowsecurity OR c.relhasrules
    OR EXISTS (SELECT 1 FROM pg_trigger t WHERE t.tgrelid = c.oid)
    OR EXISTS (SELECT 1 FROM pg_index i WHERE i.indexrelid = c.oid AND NOT i.indisvalid)
)
"""
_FOUND = """
SELECT c.relname::text, a.attname::text, format_type(a.atttypid, a.atttypmod), a.attnotnull,
    a.attcollation = 0 OR a.attcollation = '"C"'::regcollation
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
WHERE c.relnamespace = ?::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY c.relname, a.attnum
"""
_UNIQUE = """
SELECT c.relname::text FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid
WHERE c.relnamespace = ?::regnamespace AND i.indisunique ORDER BY 1
"""


def create(connection: Connected, schema: str, secret: bytes) -> None:
    """Makes an empty schema, which is in the search path, a ledger; inside a transaction.

    Texts are compared byte by byte, so that no server's idea of an alphabet makes two names one.
    """
    for table, columns in _COLUMNS.items():
        listed = [
            " ".join((name, kind, *[_BYTEWISE] * (kind == _TEXT), *["NOT NULL"] * needed))
            for name, kind, needed in columns
        ]
        if table in _KEYS:
            listed.append(f"PRIMARY KEY ({_KEYS[table]})")
        connection.execute(f"CREATE TABLE {schema}.{table} ({', '.join(listed)})")
    for kind, name, place in _INDEXES:
        connection.execute(f"CREATE {kind} {name} ON {schema}.{place}")
    connection.execute("INSERT INTO turn VALUES (0)")
    connection.execute("INSERT INTO about VALUES (?, ?)", (APPLICATION, VERSION))
    connection.execute(
        "INSERT INTO seal VALUES ('certificates', ?, ?)", (secret, hashlib.sha256(secret).digest())
    )


def tables_of(connection: Connected, schema: str) -> set[str]:
    """The tables that a schema has."""
    return {row[0] for row in connection.execute(_FOUND, (schema,))}


def check(connection: Connected, schema: str) -> None:
    """A fault unless the tables are those that this version makes, and nothing besides."""
    expected = [
        (table, name, kind, needed, True)
        for table in sorted(_COLUMNS)
        for name, kind, needed in _COLUMNS[table]
    ]
    unique = sorted([f"{table}_pkey" for table in _KEYS] + ["ticket_name"])
    odd = connection.execute(_ODD, (schema,)).fetchone()[0]
    found = [tuple(row) for row in connection.execute(_FOUND, (schema,))]
    keys = [row[0] for row in connection.execute(_UNIQUE, (schema,))]
    if odd or found != expected or keys != unique:
        raise LedgerFault("the tables are not those of a ledger")
    said = [tuple(row) for row in connection.execute("SELECT application, layout FROM about")]
    if said != [(APPLICATION, VERSION)]:
        raise LedgerFault("the tables are not those of a ledger")
    if len(connection.execute("SELECT place FROM turn").fetchall()) != 1:
        raise LedgerFault("the row that writers wait for is missing")
