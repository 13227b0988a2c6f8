"""What the role of an address may do besides reading its table.

SELECT is all that is needed. What we send only reads, but whoever took over this process could send
anything: then the grants of the role are the wall.
"""

from __future__ import annotations

from ...frozen import dataclass
from .catalogue import Found
from .dialect import POSTGRES
from .session import Snapshot

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
    """A right that is not needed.

    what: which one, after "the role".
    undo: the statement that takes it away; empty if there is none.
    """

    what: str
    undo: str = ""


def excess_of(state: Snapshot, table: Found) -> tuple[Excess, ...]:
    """The rights of this role that nothing here needs; what a right includes is not said again."""
    ((database, superuser, roles, databases, replication, unhidden, create, temp, member),) = (
        state.find(_ROLE, (list(_POWERFUL),))
    )
    role, base = table.role, POSTGRES.quoted(database)
    if superuser:
        return (Excess("is a superuser", f"ALTER ROLE {role} NOSUPERUSER"),)
    ((owner, within, writes),) = state.find(_TABLE, (table.number,))
    found = [
        Excess(what, f"ALTER ROLE {role} {undo}")
        for there, what, undo in (
            (roles, "may make roles", "NOCREATEROLE"),
            (databases, "may make databases", "NOCREATEDB"),
            (replication, "may copy the whole server", "NOREPLICATION"),
            (unhidden, "sees rows that row-level security hides", "NOBYPASSRLS"),
        )
        if there
    ]
    found += [
        Excess(f"is a member of {group}", f"REVOKE {group} FROM {role}") for group in sorted(member)
    ]
    if owner:
        found.append(Excess("owns the table"))
    elif writes:
        rights = "INSERT, UPDATE, DELETE, TRUNCATE, TRIGGER"
        undo = f"REVOKE {rights} ON {table.sql} FROM {role}, PUBLIC"
        found.append(Excess("may write to the table", undo))
    found += [
        Excess(f"may make {what}", f"REVOKE {right} ON {place} FROM {role}, PUBLIC")
        for there, what, right, place in (
            (within, "objects in the table's schema", "CREATE", f"SCHEMA {table.schema}"),
            (create, "schemas", "CREATE", f"DATABASE {base}"),
            (temp, "temporary tables", "TEMPORARY", f"DATABASE {base}"),
        )
        if there
    ]
    return tuple(found)
