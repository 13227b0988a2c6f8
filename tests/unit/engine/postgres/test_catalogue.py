from __future__ import annotations

import psycopg
import pytest

from postgres_server import Server
from tenue.engine.postgres.catalogue import find_table
from tenue.engine.postgres.session import Session
from tenue.engine.storage import Day, Fixed, Floating, Integer, Moment, Opaque, Text, Truth, Written
from tenue.errors import InvalidTable

pytestmark = pytest.mark.needs("postgres")


def test_columns_and_how_they_are_stored(postgres_server: Server) -> None:
    with psycopg.connect(postgres_server.address(), autocommit=True) as connection:
        connection.execute('CREATE SCHEMA "My schema"')
        connection.execute("CREATE DOMAIN public.money_of AS numeric(9,2)")
        connection.execute(
            'CREATE TABLE "My schema"."T.x" (a smallint, b numeric(5,1), c numeric, d text,'
            " e character(3), f uuid, g boolean, h date, i timestamp, j timestamptz, k real,"
            " l public.money_of, m json, gone integer)"
        )
        connection.execute('ALTER TABLE "My schema"."T.x" DROP COLUMN gone')
    session = Session(postgres_server.address(), 5)
    with session.snapshot() as state:
        found = find_table(state, ("My schema", "T.x"))
    session.close()
    assert found.sql == '"My schema"."T.x"'
    assert [name for name, _ in found.columns] == list("abcdefghijklm")
    kinds = [type(stored) for _, stored in found.columns]
    assert kinds == [
        *(Integer, Fixed, Written, Text, Text, Text, Truth, Day, Moment, Moment, Floating),
        *(Fixed, Opaque),
    ]


def test_what_is_not_there_or_not_granted_is_refused(postgres_server: Server) -> None:
    with psycopg.connect(postgres_server.address(), autocommit=True) as connection:
        connection.execute("CREATE ROLE stranger LOGIN")
        connection.execute("CREATE TABLE public.secrets (a integer, b integer)")
    own, strange = (
        Session(postgres_server.address(role=role), 5) for role in ("tenue", "stranger")
    )
    with own.snapshot() as state:
        with pytest.raises(InvalidTable, match=r"no table or view `public.nothing`"):
            find_table(state, ("nothing",))
        assert len(find_table(state, ("secrets",)).columns) == 2
    with strange.snapshot() as state, pytest.raises(InvalidTable, match="may not read"):
        find_table(state, ("secrets",))
    with psycopg.connect(postgres_server.address(), autocommit=True) as connection:
        connection.execute("GRANT SELECT (b) ON public.secrets TO stranger")
    with strange.snapshot() as state:
        assert [name for name, _ in find_table(state, ("secrets",)).columns] == ["b"]
    own.close()
    strange.close()
