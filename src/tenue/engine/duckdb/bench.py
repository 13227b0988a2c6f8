"""A database of our own, in memory, where chosen rows are measured.

It can reach no file, no network and no extension. What does not fit in memory goes, encrypted, to a
private folder that is removed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .sandbox import Tuples, settings
from .scratch import Scratch

if TYPE_CHECKING:
    import pyarrow


_HANDED = "handed"
_GATHERED = "gathered"


class Bench:
    """Selects from one Arrow table at a time, and gathers what was selected.

    In the SQL, `handed` is the table given, and `gathered` all that was gathered.
    """

    def __init__(self) -> None:
        import duckdb

        self._scratch = Scratch()
        self._connection = duckdb.connect(":memory:", config=settings(self._scratch))
        self._connection.execute("SET enable_external_access = false")
        self._connection.execute("SET lock_configuration = true")
        self._begun = False

    def select(self, table: pyarrow.Table, sql: str) -> Tuples:
        """The rows of a SELECT from the table."""
        self._connection.register(_HANDED, table)
        try:
            return self._connection.execute(sql).fetchall()
        finally:
            self._connection.unregister(_HANDED)

    def gather(self, table: pyarrow.Table, sql: str) -> None:
        """Adds the rows of a SELECT from the table to what was gathered."""
        begin = f"INSERT INTO {_GATHERED}" if self._begun else f"CREATE TABLE {_GATHERED} AS"
        self.select(table, f"{begin} {sql}")
        self._begun = True

    def gathered(self, sql: str) -> Tuples:
        """The rows of a SELECT from what was gathered; none if nothing was."""
        return self._connection.execute(sql).fetchall() if self._begun else []

    def clear(self) -> None:
        """Forgets what was gathered."""
        if self._begun:
            self._connection.execute(f"DROP TABLE {_GATHERED}")
        self._begun = False

    def close(self) -> None:
        """Forgets everything."""
        self._connection.close()
        self._scratch.close()
