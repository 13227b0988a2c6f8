"""What the doctor finds in a server; `tests/unit/command/source/test_doctor.py` mends it."""

from __future__ import annotations

import psycopg
import pytest

from postgres_server import Server
from tenue.engine.postgres.doctor import examine
from tenue.engine.source.location import Server as Place

pytestmark = pytest.mark.needs("postgres")


def test_the_first_thing_that_is_missing_is_the_last_that_is_told(postgres_server: Server) -> None:
    found = list(examine(Place(postgres_server.address(), ("public", "no_such_table"))))
    assert [(one.subject, one.verdict) for one in found] == [
        ("server", "fine"),
        ("table", "missing"),
    ]
    (away,) = examine(Place("postgresql://127.0.0.1:1/x", ("t",)))
    assert (away.subject, away.verdict) == ("server", "missing")


def test_an_owner_is_told_to_use_another_role(postgres_server: Server) -> None:
    with psycopg.connect(postgres_server.address(), autocommit=True) as connection:
        connection.execute("CREATE ROLE keeper LOGIN")
        connection.execute("CREATE TABLE held (a integer)")
        connection.execute("ALTER TABLE held OWNER TO keeper")
    place = Place(postgres_server.address(role="keeper"), ("held",))
    rights = [one for one in examine(place) if one.subject == "rights"]
    assert "owns the table" in rights[0].what
    assert "another role" in rights[0].fix
