"""The server's catalogue entry of a table, and the privileges of the role besides reading it.

SELECT is the only privilege needed. Our statements only read, but an attacker who took over this
process could send others: then the grants of the role are the last defence.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass

import psycopg

from ...errors import Refused, refuse
from ..registry import Finding
from ..source.location import Server
from ..storage import Storage
from .dialect import POSTGRES, storage
from .session import ServerSession, Snapshot

_TABLES = """
SELECT c.oid, c.relkind, (SELECT oid FROM pg_database WHERE datname = current_database()),
    has_schema_privilege(n.oid, 'USAGE'),
    has_table_privilege(c.oid, 'SELECT') OR has_any_column_privilege(c.oid, 'SELECT'),
    row_security_active(c.oid), current_user
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND c.relname = %s AND n.nspname = %s
"""
# by the type below all domains; a user-defined cast may change the text of an enumeration
_COLUMNS = """
SELECT a.attname, format_type(b.kind, b.digits), b.enumeration AND NOT EXISTS (
        SELECT FROM pg_cast WHERE castsource = b.kind AND casttarget = 'text'::regtype),
    has_column_privilege(a.attrelid, a.attnum, 'SELECT')
FROM pg_attribute a CROSS JOIN LATERAL (
    WITH RECURSIVE below(kind, digits) AS (
        SELECT a.atttypid, a.atttypmod UNION ALL SELECT t.typbasetype, t.typtypmod
        FROM below JOIN pg_type t ON t.oid = kind WHERE t.typtype = 'd'
    )
    SELECT kind, digits, t.typtype = 'e' AS enumeration
    FROM below JOIN pg_type t ON t.oid = kind WHERE t.typtype <> 'd'
) b
WHERE a.attrelid = %s AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
"""
# a view and all that it reads: their definitions, and whether rows may differ from scan to scan
_VIEWS = """
WITH RECURSIVE found(oid) AS (
    SELECT %s::oid UNION SELECT d.refobjid
    FROM found JOIN pg_rewrite r ON r.ev_class = found.oid
    JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
        AND d.refclassid = 'pg_class'::regclass
    JOIN pg_class c ON c.oid = found.oid AND c.relkind = 'v'
), made AS (
    SELECT r.oid, r.ev_action::text AS tree
    FROM found JOIN pg_class c USING (oid) JOIN pg_rewrite r ON r.ev_class = c.oid
    WHERE c.relkind = 'v'
)
SELECT COALESCE(string_agg(md5(tree), ' ' ORDER BY oid), ''),
    COALESCE(bool_or(tree LIKE '%%{TABLESAMPLECLAUSE %%' OR EXISTS (
        SELECT FROM regexp_matches(tree, ':(?:op)?funcid ([0-9]+)', 'g') AS called
        JOIN pg_proc p ON p.oid = called[1]::oid WHERE p.provolatile = 'v')), FALSE)
FROM made
"""
_FOREIGN = "f"


@dataclass(frozen=True)
class Found:
    """A table or view.

    sql: its full name, in quotes.
    columns: those that may be read, and how each is stored.
    types: the server's name of each type.
    closed: the names of columns that may not be read.
    place: its identity in the catalogue, with the definitions of the views that it reads; `number`
        is its own within the database.
    schema, role: its schema and the role that reads it, in quotes.
    """

    sql: str
    columns: tuple[tuple[str, Storage], ...]
    types: tuple[tuple[str, str], ...]
    closed: tuple[str, ...]
    place: str
    number: int
    schema: str
    role: str

    @property
    def words(self) -> str:
        """Place and columns, in words."""
        return "\n".join([self.place, *(f"{name} {kind}" for name, kind in self.types)])


def find_table(state: Snapshot, name: tuple[str, ...]) -> Found:
    """The table of this name; refused if there is none, or none that may be read as a whole.

    Without a schema's name it is looked for in `public`.
    """
    schema, table = name if len(name) == 2 else ("public", name[0])
    rows = state.find(_TABLES, (table, schema))
    if not rows:
        raise refuse("engine.server-lacks-table", schema=schema, table=table)
    ((oid, kind, database, enters, readable, hidden, role),) = rows
    within, to = POSTGRES.quoted(schema), POSTGRES.quoted(role)
    sql = f"{within}.{POSTGRES.quoted(table)}"
    if not enters:
        raise refuse("engine.missing-schema-grant", schema=within, role=to)
    if not readable:
        raise refuse("engine.missing-table-grant", table=sql, role=to)
    if hidden:
        raise refuse("engine.hidden-rows", table=sql)
    if kind == _FOREIGN:
        raise refuse("engine.foreign-table", table=sql)
    ((views, volatile),) = state.find(_VIEWS, (oid,))
    if volatile:
        raise refuse("engine.volatile-view", table=sql)
    columns = state.find(_COLUMNS, (oid,))
    opened = [row[:3] for row in columns if row[3]]
    return Found(
        sql,
        tuple((one, storage(kind, enumeration=enum)) for one, kind, enum in opened),
        tuple((one, kind) for one, kind, _ in opened),
        tuple(row[0] for row in columns if not row[3]),
        f"{database} {oid} {schema}.{table} {views}".strip(),
        oid,
        within,
        to,
    )


def find_readable(state: Snapshot, name: tuple[str, ...]) -> Found:
    """The same; refused too if it is a view whose owner may not read all of its tables. No row is
    read."""
    found = find_table(state, name)
    names = ", ".join(POSTGRES.quoted(one) for one, _ in found.columns)
    with suppress(psycopg.errors.InsufficientPrivilege):
        state.run(f"SELECT {names} FROM {found.sql} LIMIT 0")  # noqa: S608
        return found
    # raised out of reach of the error above, whose words are the server's
    raise refuse("engine.view-beyond-owner", table=found.sql)


# -- Privileges of the role besides reading the table ----------------------------------------------

_ROLE = """
SELECT current_database(), rolsuper, rolcreaterole, rolcreatedb, rolreplication,
    rolbypassrls, has_database_privilege(current_database(), 'CREATE'),
    has_database_privilege(current_database(), 'TEMP'),
    ARRAY(SELECT rolname FROM pg_roles WHERE rolname = ANY(%s) AND pg_has_role(oid, 'USAGE'))
FROM pg_roles WHERE rolname = current_user
"""
_TABLE = """
SELECT pg_has_role(c.relowner, 'USAGE'), has_schema_privilege(n.oid, 'CREATE'),
    has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, TRIGGER')
        OR has_any_column_privilege(c.oid, 'INSERT, UPDATE')
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = %s
"""
_POWERFUL = (
    "pg_execute_server_program",
    "pg_read_all_data",
    "pg_read_server_files",
    "pg_write_all_data",
    "pg_write_server_files",
)


@dataclass(frozen=True)
class Excess:
    """A privilege that is not needed.

    what: its description, worded to follow "the role".
    undo: the statement that revokes it; empty if there is none.
    """

    what: str
    undo: str = ""


def excess_of(state: Snapshot, table: Found) -> tuple[Excess, ...]:
    """The privileges of this role that nothing here needs, without those that others include."""
    ((database, superuser, roles, databases, replication, unhidden, create, temp, member),) = (
        state.find(_ROLE, (list(_POWERFUL),))
    )
    role, base = table.role, POSTGRES.quoted(database)
    if superuser:
        return (Excess("is a superuser", f"ALTER ROLE {role} NOSUPERUSER"),)
    ((owner, within, writes),) = state.find(_TABLE, (table.number,))
    writing = "INSERT, UPDATE, DELETE, TRUNCATE, TRIGGER"

    def revoked(right: str, place: str) -> str:
        return f"REVOKE {right} ON {place} FROM {role}, PUBLIC"

    attributes = (
        (roles, "may make roles", "NOCREATEROLE"),
        (databases, "may make databases", "NOCREATEDB"),
        (replication, "may copy the whole server", "NOREPLICATION"),
        (unhidden, "sees rows that row-level security hides", "NOBYPASSRLS"),
    )
    schema, server = f"SCHEMA {table.schema}", f"DATABASE {base}"
    excess = (
        *((held, what, f"ALTER ROLE {role} {undo}") for held, what, undo in attributes),
        *((True, f"is a member of {one}", f"REVOKE {one} FROM {role}") for one in sorted(member)),
        (owner, "owns the table", ""),
        (writes and not owner, "may write to the table", revoked(writing, table.sql)),
        (within, "may make objects in the table's schema", revoked("CREATE", schema)),
        (create, "may make schemas", revoked("CREATE", server)),
        (temp, "may make temporary tables", revoked("TEMPORARY", server)),
    )
    return tuple(Excess(what, undo) for held, what, undo in excess if held)


_TIMEOUT = 60


def examine(source: Server) -> Iterator[Finding]:
    """Server, table and privileges, as far as they are visible; no row is read."""
    subject = "server"
    try:
        with closing(ServerSession(source.address, _TIMEOUT)) as session:
            yield Finding("server", "fine", f"PostgreSQL {session.version}")
            subject = "table"
            found = session.look(lambda state: find_readable(state, source.table))
            what = f"{found.sql} has {len(found.columns)} columns that {found.role} may read"
            yield Finding("table", "fine", what)
            excess = session.look(lambda state: excess_of(state, found))
    except Refused as refusal:
        yield Finding.refused(subject, refusal)
        return
    for right in excess:
        undo = right.undo or "Use another role, that of `A role that may only read` in the docs"
        yield Finding("rights", "too much", f"The role {found.role} {right.what}", undo)
    if not excess:
        yield Finding("rights", "fine", f"The role {found.role} may only read")
