"""What the server says of a table: its name in full, and how each column is stored."""

from __future__ import annotations

from ...errors import refuse
from ...frozen import dataclass
from ..storage import Storage
from .dialect import POSTGRES, storage
from .session import Snapshot

_TABLES = """
SELECT c.oid, (SELECT oid FROM pg_database WHERE datname = current_database()),
    has_table_privilege(c.oid, 'SELECT') OR has_any_column_privilege(c.oid, 'SELECT')
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND c.relname = %s AND n.nspname = ANY(%s)
"""
_COLUMNS = """
SELECT a.attname, format_type(COALESCE(NULLIF(t.typbasetype, 0), a.atttypid),
    CASE WHEN t.typbasetype <> 0 THEN t.typtypmod ELSE a.atttypmod END),
    COALESCE(b.typtype, t.typtype) = 'e', has_column_privilege(a.attrelid, a.attnum, 'SELECT')
FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
LEFT JOIN pg_type b ON b.oid = t.typbasetype
WHERE a.attrelid = %s AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
"""


@dataclass(frozen=True)
class Found:
    """A table or view.

    sql: its name in full, in quotes.
    columns: those that may be read, and how each is stored.
    types: how the server names each type.
    place: by what the catalogue knows it.
    """

    sql: str
    columns: tuple[tuple[str, Storage], ...]
    types: tuple[tuple[str, str], ...]
    place: str

    @property
    def words(self) -> str:
        """Place and columns, in words."""
        return "\n".join([self.place, *(f"{name} {kind}" for name, kind in self.types)])


def find_table(state: Snapshot, name: tuple[str, ...]) -> Found:
    """The table of this name; refused if there is none, or none that may be read.

    Without a schema's name it is looked for in `public`.
    """
    schema, table = name if len(name) == 2 else ("public", name[0])
    rows = state.find(_TABLES, (table, [schema]))
    if not rows:
        raise refuse("engine.server-has-no-table", schema=schema, table=table)
    ((oid, database, readable),) = rows
    if not readable:
        raise refuse("engine.grant-is-missing", schema=schema, table=table)
    columns = [row[:3] for row in state.find(_COLUMNS, (oid,)) if row[3]]
    return Found(
        f"{POSTGRES.quoted(schema)}.{POSTGRES.quoted(table)}",
        tuple((one, storage(kind, enumeration=enum)) for one, kind, enum in columns),
        tuple((one, kind) for one, kind, _ in columns),
        f"{database} {oid} {schema}.{table}",
    )
