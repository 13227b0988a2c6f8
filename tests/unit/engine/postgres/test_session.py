from __future__ import annotations

import psycopg
import pytest

from postgres_server import Server
from tenue.engine.postgres.session import Session
from tenue.errors import InvalidTable

pytestmark = pytest.mark.needs("postgres")


def test_a_server_that_is_not_there_is_refused_without_its_address() -> None:
    with pytest.raises(InvalidTable) as refusal:
        Session("postgresql://canary@127.0.0.1:1/canary", 5)
    assert refusal.value.code == "server-away"
    assert "canary" not in str(refusal.value)
    assert refusal.value.__context__ is None


def test_all_statements_of_a_question_see_one_state(postgres_server: Server) -> None:
    session = Session(postgres_server.address(), 5)
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
    session = Session(postgres_server.address(), 1)
    with session.snapshot() as state, pytest.raises(psycopg.Error):
        state.run(statement)
    with session.snapshot() as state:
        assert state.run("SELECT COUNT(*) FROM public.kept") == [(0,)]
    session.close()


def test_a_session_that_was_cut_is_opened_anew(postgres_server: Server) -> None:
    session = Session(postgres_server.address(), 5)
    session._connection.close()
    with session.snapshot() as state:
        assert state.run("SELECT 1") == [(1,)]
    session.close()
