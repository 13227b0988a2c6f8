"""A session that only reads, and what the server says of a table."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pyarrow as pa
import pytest

from postgres_server import Server
from tenue.engine.postgres.catalogue import Excess, examine, excess_of, find_readable, find_table
from tenue.engine.postgres.session import ServerSession, Snapshot
from tenue.engine.source.location import Server as Place
from tenue.engine.storage import Day, Fixed, Floating, Integer, Moment, Opaque, Text, Truth
from tenue.errors import InvalidTable

pytestmark = pytest.mark.needs("postgres")
SQL = (
    "SELECT CAST(i AS smallint) AS a, CAST(i AS integer) AS b, CAST(i AS bigint) AS c, "
    "i > 2 AS d, CAST(i AS text) AS e, NULLIF(i, 3) AS f FROM pg_catalog.generate_series(1, 4) i"
)


def test_both_ways_give_the_same_columns(
    postgres_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = postgres_server.address()
    found = []
    for driver in (True, False):
        if not driver:
            monkeypatch.setitem(sys.modules, "adbc_driver_postgresql", None)
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            with closing(Snapshot(connection, address)) as rows:
                found.append(rows.arrow(SQL))
            connection.execute("ROLLBACK")
    assert found[0].to_pydict() == found[1].to_pydict()
    assert [str(field.type) for field in found[1].schema][:4] == ["int16", "int32", "int64", "bool"]
    assert [field.type for field in found[0].schema][:4] == [
        field.type for field in found[1].schema
    ][:4]
    empty = SQL + " WHERE i > 9"
    for driver in (True, False):
        if driver:
            monkeypatch.undo()
        else:
            monkeypatch.setitem(sys.modules, "adbc_driver_postgresql", None)
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            with closing(Snapshot(connection, address)) as rows:
                assert rows.arrow(empty).schema.field("c").type == pa.int64()
                parts = list(rows.batches(SQL, 3))
            assert max(part.num_rows for part in parts) == 3
            assert [i for part in parts for i in part.column("b").to_pylist()] == [1, 2, 3, 4]
            connection.execute("ROLLBACK")


def test_rows_are_those_of_the_transaction_that_asks(postgres_server: Server) -> None:
    """The mutant would open another state: rows written meanwhile would be in one of two scans."""
    address = postgres_server.address()
    with (
        psycopg.connect(address, autocommit=True) as writer,
        psycopg.connect(address, autocommit=True) as reader,
    ):
        writer.execute("CREATE TABLE moving AS SELECT 1 AS x")
        reader.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        reader.execute("SELECT 1 FROM moving")
        writer.execute("INSERT INTO moving VALUES (2)")
        with closing(Snapshot(reader, address)) as rows:
            for _ in range(2):  # by a connection that is made, and by the same
                assert rows.arrow("SELECT x FROM public.moving").num_rows == 1
        reader.execute("ROLLBACK")


@pytest.mark.parametrize("driver", [True, False], ids=["adbc", "row by row"])
def test_whoever_has_seen_enough_may_ask_for_other_rows(
    driver: bool, postgres_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant leaves its cursor open, and the next one of that name cannot be made."""
    if not driver:
        monkeypatch.setitem(sys.modules, "adbc_driver_postgresql", None)
    address = postgres_server.address()
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        with closing(Snapshot(connection, address)) as rows:
            for _ in range(3):
                parts = rows.batches("SELECT pg_catalog.generate_series(1, 9) AS i", 2)
                assert next(parts).column("i").to_pylist() == [1, 2]
                parts.close()
        connection.execute("ROLLBACK")


def test_a_batch_of_blanks_has_the_type_of_the_others(
    postgres_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    kinds = ("smallint", "real", "text", "date", "timestamp", "timestamptz", "boolean")
    blanks = ", ".join(f"CAST(NULL AS {kind}) AS c{i}" for i, kind in enumerate(kinds))
    found = []
    for driver in (True, False):
        if not driver:
            monkeypatch.setitem(sys.modules, "adbc_driver_postgresql", None)
        with psycopg.connect(postgres_server.address(), autocommit=True) as connection:
            connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            with closing(Snapshot(connection, postgres_server.address())) as rows:
                found.append([str(kind) for kind in rows.arrow(f"SELECT {blanks}").schema.types])
            connection.execute("ROLLBACK")
    assert found[0] == found[1]


# -- session ---------------------------------------------------------------------------------------


def test_a_server_that_is_not_there_is_refused_without_its_address() -> None:
    with pytest.raises(InvalidTable) as refusal:
        ServerSession("postgresql://canary@127.0.0.1:1/canary", 5)
    assert refusal.value.code == "server-away"
    assert "canary" not in str(refusal.value)
    assert refusal.value.__context__ is None


def test_all_statements_of_a_question_see_one_state(postgres_server: Server) -> None:
    session = ServerSession(postgres_server.address(), 5)
    with psycopg.connect(postgres_server.address(), autocommit=True) as writer:
        writer.execute("CREATE TABLE one_state AS SELECT 1 AS x")
        count = "SELECT COUNT(*) FROM public.one_state"
        with session.snapshot() as state:
            assert state.run(count) == [(1,)]
            writer.execute("INSERT INTO public.one_state VALUES (2)")
            assert state.run(count) == [(1,)]
        with session.snapshot() as state:
            assert state.run(count) == [(2,)]
    session.close()


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE public.x (a integer)",
        "INSERT INTO public.kept VALUES (1)",
        "SELECT 1 FROM kept",  # names are found in no schema but the system's
        "SELECT pg_sleep(9)",
    ],
)
def test_nothing_is_written_and_nothing_takes_for_ever(
    postgres_server: Server, statement: str
) -> None:
    with psycopg.connect(postgres_server.address(), autocommit=True) as owner:
        owner.execute("CREATE TABLE IF NOT EXISTS public.kept (a integer)")
    session = ServerSession(postgres_server.address(), 1)
    with session.snapshot() as state, pytest.raises(psycopg.Error):
        state.run(statement)
    with session.snapshot() as state:
        assert state.run("SELECT COUNT(*) FROM public.kept") == [(0,)]
    session.close()


def test_a_session_that_was_cut_is_opened_anew(postgres_server: Server) -> None:
    session = ServerSession(postgres_server.address(), 5)
    session._connection.close()
    with session.snapshot() as state:
        assert state.run("SELECT 1") == [(1,)]
    session.close()


# -- catalogue -------------------------------------------------------------------------------------


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
    session = ServerSession(postgres_server.address(), 5)
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
        ServerSession(postgres_server.address(role=role), 5) for role in ("tenue", "stranger")
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
    session = ServerSession(server.address(role=role), 5)
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
    session = ServerSession(postgres_server.address(role="Odd%20role"), 5)
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
    session = ServerSession(postgres_server.address(role="half_blind"), 5)
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


# What a role may do besides reading is found, right by right, and undone by what is said of it.

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "sources.md"


@pytest.fixture(scope="module")
def database(postgres_server: Server) -> Iterator[str]:
    """A database with a table, and a role that the page's statements made."""
    with psycopg.connect(postgres_server.address(), autocommit=True) as owner:
        owner.execute("CREATE DATABASE clinic")
    with psycopg.connect(postgres_server.address("clinic"), autocommit=True) as owner:
        owner.execute("CREATE TABLE visits (who text, cost integer)")
        for statement in set_up():
            owner.execute(statement.encode())
    yield "clinic"
    with psycopg.connect(postgres_server.address(), autocommit=True) as owner:
        owner.execute("DROP DATABASE clinic")
        owner.execute("DROP ROLE tenue_reader")


def set_up() -> list[str]:
    """The statements of docs/reference/sources.md."""
    block = PAGE.read_text().split("```sql\n")[1].split("```")[0]
    return [statement for statement in block.split(";") if statement.strip()]


def excess(server: Server, database: str, role: str = "tenue_reader") -> tuple[Excess, ...]:
    session = ServerSession(server.address(database, role=role), 5)
    try:
        return session.look(lambda state: excess_of(state, find_table(state, ("visits",))))
    finally:
        session.close()


def test_the_statements_of_the_page_make_a_role_that_may_only_read(
    postgres_server: Server, database: str
) -> None:
    assert excess(postgres_server, database) == ()
    with psycopg.connect(
        postgres_server.address(database, role="tenue_reader"), autocommit=True
    ) as reader:
        assert reader.execute("SELECT COUNT(*) FROM visits").fetchall() == [(0,)]
        for statement in (
            "INSERT INTO visits VALUES ('x', 1)",
            "CREATE TABLE other (a integer)",
            "CREATE TEMPORARY TABLE other (a integer)",
            "CREATE SCHEMA other",
            "COPY visits TO '/tmp/visits'",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                reader.execute(statement.encode())


@pytest.mark.parametrize(
    ("grant", "words"),
    [
        ("GRANT UPDATE (cost) ON visits TO tenue_reader", "may write to the table"),
        ("GRANT TRUNCATE ON visits TO PUBLIC", "may write to the table"),
        ("GRANT CREATE ON SCHEMA public TO tenue_reader", "may make objects in the table's schema"),
        ("GRANT CREATE ON DATABASE clinic TO PUBLIC", "may make schemas"),
        ("GRANT TEMPORARY ON DATABASE clinic TO PUBLIC", "may make temporary tables"),
        ("ALTER ROLE tenue_reader BYPASSRLS", "sees rows that row-level security hides"),
        ("ALTER ROLE tenue_reader CREATEROLE", "may make roles"),
        ("ALTER ROLE tenue_reader CREATEDB", "may make databases"),
        ("ALTER ROLE tenue_reader REPLICATION", "may copy the whole server"),
        ("ALTER ROLE tenue_reader SUPERUSER", "is a superuser"),
        (
            "GRANT pg_execute_server_program TO tenue_reader",
            "is a member of pg_execute_server_program",
        ),
    ],
)
def test_every_right_is_found_and_its_statement_takes_it_away(
    postgres_server: Server, database: str, grant: str, words: str
) -> None:
    with psycopg.connect(postgres_server.address(database), autocommit=True) as owner:
        owner.execute(grant.encode())
        (found,) = excess(postgres_server, database)
        assert found.what == words
        owner.execute(found.undo.encode())
    assert excess(postgres_server, database) == ()


def test_an_owner_has_too_many_rights_and_no_statement_helps(
    postgres_server: Server, database: str
) -> None:
    with psycopg.connect(postgres_server.address(database), autocommit=True) as owner:
        owner.execute("ALTER TABLE visits OWNER TO tenue_reader")
        assert excess(postgres_server, database) == (Excess("owns the table"),)
        owner.execute("ALTER TABLE visits OWNER TO tenue")
        owner.execute("GRANT SELECT ON visits TO tenue_reader")


# -- What the doctor finds in a server; `tests/unit/cli/test_check.py` mends it --------------------


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
