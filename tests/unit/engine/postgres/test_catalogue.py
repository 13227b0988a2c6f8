from __future__ import annotations

import psycopg
import pytest

from postgres_server import Server
from tenue.engine.postgres.catalogue import find_readable, find_table
from tenue.engine.postgres.session import Session
from tenue.engine.storage import Day, Fixed, Floating, Integer, Moment, Opaque, Text, Truth
from tenue.errors import InvalidTable

pytestmark = pytest.mark.needs("postgres")


def test_columns_and_how_they_are_stored(postgres_server: Server) -> None:
    with psycopg.connect(postgres_server.address(), autocommit=True) as connection:
        connection.execute('CREATE SCHEMA "My schema"')
        connection.execute("CREATE DOMAIN public.money_of AS numeric(9,2)")
        connection.execute("CREATE DOMAIN public.price AS public.money_of CHECK (VALUE > 0)")
        connection.execute(
            'CREATE TABLE "My schema"."T.x" (a smallint, b numeric(5,1), c numeric, d text,'
            " e character(3), f uuid, g boolean, h date, i timestamp, j timestamptz, k real,"
            " l public.money_of, m json, n public.price, gone integer)"
        )
        connection.execute('ALTER TABLE "My schema"."T.x" DROP COLUMN gone')
    session = Session(postgres_server.address(), 5)
    with session.snapshot() as state:
        found = find_table(state, ("My schema", "T.x"))
    session.close()
    assert found.sql == '"My schema"."T.x"'
    assert [name for name, _ in found.columns] == list("abcdefghijklmn")
    kinds = [type(stored) for _, stored in found.columns]
    assert kinds == [
        *(Integer, Fixed, Text, Text, Text, Text, Truth, Day, Moment, Moment, Floating),
        *(Fixed, Opaque, Fixed),
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


def refused(server: Server, role: str, *name: str) -> InvalidTable:
    session = Session(server.address(role=role), 5)
    try:
        with pytest.raises(InvalidTable) as refusal:
            session.look(lambda state: find_readable(state, name))
    finally:
        session.close()
    return refusal.value


def test_the_grant_that_is_missing_is_in_the_refusal_and_mends_it(postgres_server: Server) -> None:
    with psycopg.connect(postgres_server.address(), autocommit=True) as owner:
        owner.execute('CREATE ROLE "Odd role" LOGIN')
        owner.execute('CREATE SCHEMA "Inner"')
        owner.execute('CREATE TABLE "Inner".kept (a integer)')
        for right in ("USAGE", "SELECT"):
            refusal = refused(postgres_server, "Odd%20role", "Inner", "kept")
            assert refusal.code == "missing-grant"
            statement = refusal.fix.partition(": ")[2].rstrip(".")
            assert statement.startswith(f"GRANT {right} ON")
            owner.execute(statement.encode())
    session = Session(postgres_server.address(role="Odd%20role"), 5)
    assert session.look(lambda state: find_readable(state, ("Inner", "kept"))).closed == ()
    session.close()


def test_hidden_rows_are_refused_in_a_table_and_behind_a_view(postgres_server: Server) -> None:
    """The mutant, a session without `row_security = off`, would answer about fewer rows."""
    with psycopg.connect(postgres_server.address(), autocommit=True) as owner:
        owner.execute("CREATE ROLE half_blind LOGIN")
        owner.execute("CREATE TABLE ruled AS SELECT i AS a FROM generate_series(1, 9) i")
        owner.execute("ALTER TABLE ruled ENABLE ROW LEVEL SECURITY")
        owner.execute("CREATE POLICY few ON ruled USING (a < 3)")
        owner.execute("CREATE VIEW through AS SELECT a FROM ruled")
        owner.execute("CREATE VIEW own AS SELECT a FROM ruled")
        owner.execute("GRANT SELECT ON ruled, through, own TO half_blind")
        owner.execute("ALTER VIEW through OWNER TO half_blind")
    assert refused(postgres_server, "half_blind", "ruled").code == "hidden-rows"
    assert refused(postgres_server, "half_blind", "through").code == "missing-grant"
    session = Session(postgres_server.address(role="half_blind"), 5)
    with session.snapshot() as state:
        found = find_readable(state, ("own",))  # what the refusals advise
        assert state.run(f"SELECT COUNT(*) FROM {found.sql}") == [(9,)]  # noqa: S608
    session.close()


def test_a_view_of_what_its_owner_may_not_read_is_refused(postgres_server: Server) -> None:
    with psycopg.connect(postgres_server.address(), autocommit=True) as owner:
        owner.execute("CREATE ROLE lost LOGIN")
        owner.execute("CREATE TABLE away (a integer)")
        owner.execute("CREATE VIEW of_away AS SELECT a FROM away")
        owner.execute("ALTER VIEW of_away OWNER TO lost")
    assert refused(postgres_server, "tenue", "of_away").code == "missing-grant"


def test_a_foreign_table_is_refused(postgres_server: Server) -> None:
    with psycopg.connect(postgres_server.address(), autocommit=True) as owner:
        owner.execute("CREATE FOREIGN DATA WRAPPER nothing")
        owner.execute("CREATE SERVER elsewhere FOREIGN DATA WRAPPER nothing")
        owner.execute("CREATE FOREIGN TABLE distant (a integer) SERVER elsewhere")
    assert "foreign" in refused(postgres_server, "tenue", "distant").what
