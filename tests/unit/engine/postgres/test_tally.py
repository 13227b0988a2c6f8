from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pyarrow as pa
import pytest

from postgres_server import Server
from tenue.engine.postgres import session as sessions
from tenue.engine.postgres import tally as tallies
from tenue.engine.postgres.tally import open_tally
from tenue.engine.source import location
from tenue.engine.source.location import locate
from tenue.engine.source.tally import Tally
from tenue.errors import InvalidTable, Refused
from tenue.evaluate import check

pytestmark = pytest.mark.needs("postgres")


@pytest.fixture
def run(postgres_server: Server) -> Iterator[Callable[[str], None]]:
    """Statements of the holder, in a schema of this test alone."""
    with psycopg.connect(postgres_server.address(), autocommit=True) as owner:
        owner.execute("CREATE SCHEMA tallied")
        owner.execute("SET search_path = tallied, public")
        yield lambda sql: owner.execute(sql.encode()) and None
        owner.execute("SET client_min_messages = 'error'")
        owner.execute("DROP SCHEMA tallied CASCADE")


def at(server: Server, role: str = "tenue") -> str:
    return f"{server.address(role=role)}#tallied.t"


def server_of(address: str) -> location.Server:
    found = locate(address, "t")
    assert isinstance(found, location.Server)
    return found


def test_all_statements_see_one_state(
    postgres_server: Server, run: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant begins anew for every statement."""
    run("CREATE TABLE t AS SELECT i % 5 AS age, i % 2 AS ill, ARRAY[i] AS l FROM"
        " generate_series(1, 100) i")  # fmt: skip
    how: dict[str, Any] = {"quasi_identifiers": ["age"], "confidential": ["ill"]}
    before, begun = check(at(postgres_server), **how), []
    statement = tallies._run

    def meanwhile(state: sessions.Snapshot, sql: str) -> Iterator[pa.RecordBatch]:
        begun.append(sql)
        if len(begun) == 3:
            run("UPDATE t SET age = 77, ill = 7 WHERE age = 1")
        yield from statement(state, sql)

    monkeypatch.setattr(tallies, "_run", meanwhile)
    assert check(at(postgres_server), **how) == before
    assert len(begun) > 3
    run("UPDATE t SET age = 1, ill = 1 WHERE age = 77")
    begun.clear()
    session = sessions.Session(postgres_server.address(), 60)

    def anew(_: sessions.Snapshot, sql: str) -> Iterator[pa.RecordBatch]:
        with session.snapshot() as state:
            yield from meanwhile(state, sql)

    monkeypatch.setattr(tallies, "_run", anew)
    try:
        mixed = check(at(postgres_server), **how)
    except Refused:  # a value was not there before
        mixed = None
    session.close()
    assert mixed != before


def test_names_are_found_in_the_schema_that_was_said(
    postgres_server: Server, run: Callable[[str], None]
) -> None:
    """The mutant lets a role choose where functions and operators are looked for."""
    run("CREATE TABLE t AS SELECT 1.5::double precision AS x FROM generate_series(1, 4)")
    run("CREATE FUNCTION tallied.never(double precision, integer) RETURNS boolean"
        " LANGUAGE sql IMMUTABLE AS 'SELECT true'")  # fmt: skip
    run("CREATE OPERATOR tallied.= (LEFTARG = double precision, RIGHTARG = integer,"
        " FUNCTION = tallied.never)")  # fmt: skip
    run("DO $$ BEGIN CREATE ROLE strayed LOGIN; EXCEPTION WHEN duplicate_object THEN END $$")
    run("ALTER ROLE strayed SET search_path = tallied, pg_catalog")
    run("GRANT USAGE ON SCHEMA tallied TO strayed")
    run("GRANT SELECT ON t TO strayed")
    assert check(at(postgres_server, "strayed"), quasi_identifiers=["x"]).k == 4
    with psycopg.connect(postgres_server.address(role="strayed")) as connection:
        assert connection.execute("SELECT x = 0 FROM t LIMIT 1").fetchall() == [(True,)]
    run("DROP OWNED BY strayed")
    run("DROP ROLE strayed")


def test_a_statement_that_takes_too_long_is_refused(
    postgres_server: Server, run: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    run("CREATE TABLE t AS SELECT 1 AS age")
    monkeypatch.setattr(tallies, "TIMEOUT", 1)
    with open_tally(server_of(at(postgres_server))) as counted:
        assert counted.different("age") == 1
    slow = Tally.sizes

    def sleeping(self: Tally, names: list[str]) -> Any:
        self._table = f"(SELECT t.*, pg_sleep(5) AS s FROM {self._table} AS t) AS slow"  # noqa: S608
        return slow(self, names)

    monkeypatch.setattr(Tally, "sizes", sleeping)
    with pytest.raises(InvalidTable, match="gave up a statement"):
        check(at(postgres_server), quasi_identifiers=["age"])


def test_a_table_that_is_locked_is_refused(
    postgres_server: Server, run: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    run("CREATE TABLE t AS SELECT 1 AS age")
    settings = tuple(s.replace("'10s'", "'100ms'") for s in sessions._SETTINGS)
    monkeypatch.setattr(sessions, "_SETTINGS", settings)
    run("BEGIN")
    run("LOCK TABLE t IN ACCESS EXCLUSIVE MODE")
    with pytest.raises(InvalidTable):
        check(at(postgres_server), quasi_identifiers=["age"])
    run("ROLLBACK")
    assert check(at(postgres_server), quasi_identifiers=["age"]).k == 1


def test_texts_are_told_apart_whatever_the_collation_says(
    postgres_server: Server, run: Callable[[str], None]
) -> None:
    run(
        "CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level1', deterministic = false)"
    )
    run("CREATE TABLE t (c text COLLATE loose)")
    run("INSERT INTO t VALUES ('a'), ('A'), ('á')")
    with open_tally(server_of(at(postgres_server))) as counted:
        assert counted.different("c") == 3
        assert [part.tolist() for part in counted.sizes(["c"])] == [[1], [3]]


def test_types_are_counted_as_they_are_read(
    postgres_server: Server, run: Callable[[str], None]
) -> None:
    run(
        "CREATE TABLE t AS SELECT CAST(i % 2 AS numeric(9, 2)) AS d, CAST(i % 3 AS numeric) AS n,"
        " CAST(i % 2 AS real) AS r, CAST(lpad(CAST(i % 2 AS text), 32, '0') AS uuid) AS u,"
        " CAST(i % 2 AS character(3)) AS c, CAST('infinity' AS date) AS e,"
        " CAST('[1]' AS json) AS j FROM generate_series(1, 6) i"
    )
    with open_tally(server_of(at(postgres_server))) as counted:
        told = [name for name in counted.names if counted.can_tell(name)]
        assert told == ["d", "n", "r", "u", "c", "e"]
        for name, many in zip(told, (2, 3, 2, 2, 2, 1), strict=True):
            assert counted.different(name) == many
            found = pa.concat_tables(counted.tally([name]))
            whole = counted.load([name]).column(name)
            assert found.column(name).type == whole.type
            assert set(found.column(name).cast(pa.string()).to_pylist()) == set(
                whole.cast(pa.string()).to_pylist()
            )


def test_what_may_not_be_read_is_refused_without_a_word_of_the_server(
    postgres_server: Server, run: Callable[[str], None]
) -> None:
    run("CREATE TABLE t AS SELECT 'canary'::text AS w")
    for address in (at(postgres_server) + "x", at(postgres_server, "nobody_there")):
        with pytest.raises(InvalidTable) as refused:
            check(address, quasi_identifiers=["w"])
        assert refused.value.__context__ is None
        told = "".join(traceback.format_exception(refused.value))
        assert "canary" not in told
        assert str(postgres_server.folder) not in told.split("InvalidTable")[-1]


def test_no_session_is_left(postgres_server: Server, run: Callable[[str], None]) -> None:
    run("CREATE TABLE t AS SELECT i % 5 AS age, i AS n FROM generate_series(1, 100) i")
    check(at(postgres_server), quasi_identifiers=["age"], confidential=["n"])
    with psycopg.connect(postgres_server.address()) as connection:
        sql = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database()"
        for _ in range(100):
            ((many,),) = connection.execute(sql).fetchall()
            connection.execute("SELECT pg_stat_clear_snapshot(), pg_sleep(0.02)")
            if many == 2:  # the holder's and this one
                break
        assert many == 2
