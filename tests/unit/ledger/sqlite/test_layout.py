from __future__ import annotations

import sqlite3

from tenue.ledger.sqlite.layout import APPLICATION, VERSION, create, schema_of


def test_a_file_says_what_it_is() -> None:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    create(connection)
    assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION,)
    assert connection.execute("PRAGMA user_version").fetchone() == (VERSION,)
    assert len(schema_of(connection)) == 12 + 3
    connection.close()
