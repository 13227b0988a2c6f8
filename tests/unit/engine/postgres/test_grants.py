"""What a role may do besides reading is found, right by right, and undone by what is said of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from postgres_server import Server
from tenue.engine.postgres.catalogue import find_table
from tenue.engine.postgres.grants import Excess, excess_of
from tenue.engine.postgres.session import Session

pytestmark = pytest.mark.needs("postgres")
PAGE = Path(__file__).parents[4] / "docs" / "reference" / "sources.md"


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
    session = Session(server.address(database, role=role), 5)
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
