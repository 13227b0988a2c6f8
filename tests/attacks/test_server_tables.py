"""Tables, types, views, roles and settings of a server that would make an answer wrong, let one row
decide whether it comes, or have the server or us speak of a row."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

import tenue as tn
from postgres_server import Server
from tenue.engine.contract import FAULT, Engine
from tenue.engine.open import open_engine
from tenue.engine.postgres import session as sessions
from tenue.engine.postgres.dialect import POSTGRES
from tenue.engine.postgres.session import ServerSession, Snapshot
from tenue.engine.request import Group, Measure, People, Request
from tenue.errors import EngineFault, InvalidTable, Refused
from tenue.schema import Schema

pytestmark = pytest.mark.needs("postgres")
NUMBER = {"type": "number", "bounds": [0, 10]}
PERSONS = Request((Measure("units"), Measure("total", "x")), people=People("who", 1, None))
ROWS, TOTAL = Measure("rows"), Measure("total", "x")


def stated(columns: dict[str, Any], **table: Any) -> dict[str, Any]:
    about = {"name": "t", "unit": "record", "neighbours": "add-or-remove", **table}
    return {"table": about, "columns": columns, "budget": {"total": 10**6}}


@pytest.fixture
def run(postgres_server: Server) -> Iterator[Callable[[str], None]]:
    """Statements of the holder, in a schema of this test alone."""
    with psycopg.connect(postgres_server.address(), autocommit=True) as owner:
        owner.execute("CREATE SCHEMA attacked")
        owner.execute("SET search_path = attacked, public")
        yield lambda sql: owner.execute(sql.encode()) and None
        owner.execute("SET client_min_messages = 'error'")
        owner.execute("DROP SCHEMA attacked CASCADE")


@contextmanager
def opened(
    server: Server, columns: dict[str, Any], role: str = "tenue", **table: Any
) -> Iterator[Engine]:
    source = f"{server.address(role=role)}#attacked.t"
    engine = open_engine(source, Schema.from_dict(stated(columns, **table)))
    try:
        yield engine
    finally:
        engine.close()


def refusal(server: Server, columns: dict[str, Any], **table: Any) -> InvalidTable:
    with pytest.raises(InvalidTable) as refused, opened(server, columns, **table) as engine:
        engine.validate()
    assert "canary" not in "".join(traceback.format_exception(refused.value))
    assert refused.value.__context__ is None
    return refused.value


def test_a_person_is_one_however_the_number_is_written(
    postgres_server: Server, run: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """1, 1.0 and 1.00 are one number. The mutant, as it was, takes their texts: three persons."""
    run("CREATE TABLE t (who numeric, x integer)")
    run("INSERT INTO t VALUES (1, 1), (1.0, 1), (1.00, 1), (1e20, 3), ('NaN', 9), (NULL, 9)")
    columns = {"who": {"type": "identifier"}, "x": NUMBER}
    with opened(postgres_server, columns, unit="who", rows_per_unit=1) as engine:
        assert engine.measure(PERSONS) == {(): (2, 4)}
        assert engine.look_up("who", "1", "x") == [1, 1]
        assert engine.look_up("who", "100000000000000000000", "x") == [3]

        def as_text(self: Any, name: str, kind: Any) -> str:
            return f"CAST({name} AS text)" if "who" in name else name

        monkeypatch.setattr(type(POSTGRES), "stored", as_text)
        assert engine.measure(PERSONS)[()][0] > 2


def test_two_columns_of_one_name_are_refused(
    postgres_server: Server, run: Callable[[str], None]
) -> None:
    """The mutant, as it was, reads the first: nobody knows which one the schema means."""
    run('CREATE TABLE t ("X" integer, x integer)')
    assert "2 columns" in refusal(postgres_server, {"x": NUMBER}).what


def test_texts_are_told_apart_whatever_the_collation_says(
    postgres_server: Server, run: Callable[[str], None]
) -> None:
    run(
        "CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level1', deterministic = false)"
    )
    run("CREATE DOMAIN word AS text COLLATE loose")
    run("CREATE TABLE t (who text COLLATE loose, c word, x integer)")
    texts = ["a", "A", "é", "e\u0301", "а"]  # the last one is Cyrillic
    for i, text in enumerate(texts):
        run(f"INSERT INTO t VALUES ('{text}', '{text}', {i})")  # noqa: S608
    columns = {"who": {"type": "identifier"}, "x": NUMBER}
    columns["c"] = {"type": "category", "categories": texts}
    with opened(postgres_server, columns, unit="who", rows_per_unit=1) as engine:
        assert engine.measure(PERSONS) == {(): (5, 10)}
        grouped = engine.measure(Request((ROWS, TOTAL), keys=(Group("c", 5),)))
        assert grouped == {(i,): (1, i) for i in range(5)}
        assert [engine.look_up("who", text, "x") for text in texts] == [[i] for i in range(5)]


def test_blanks_at_the_end_of_fixed_texts_do_not_count(
    postgres_server: Server, run: Callable[[str], None]
) -> None:
    run("CREATE TABLE t (c character(4), x integer)")
    run("INSERT INTO t VALUES ('a', 1), ('a ', 2), (' a', 3)")
    columns = {"c": {"type": "category", "categories": ["a", "a ", " a"]}, "x": NUMBER}
    with opened(postgres_server, columns) as engine:
        grouped = engine.measure(Request((TOTAL,), keys=(Group("c", 3),)))
        assert grouped == {(0,): (3,), (2,): (3,)}


MOMENT = {"bounds": ["0001-01-01T00:00:00", "9999-12-31T00:00:00"], "grid": 1}
FAR = "('infinity'), ('-infinity'), ('4713-01-01 BC'), (NULL)"


@pytest.mark.parametrize(
    ("kind", "last"),
    [("date", "5874897-12-31"), ("timestamp", "294276-12-31"), ("timestamptz", "294276-12-31")],
)
@pytest.mark.parametrize(
    "column",
    [
        {"type": "date", "bounds": ["0001-01-01", "9999-12-31"]},
        {"type": "datetime", **MOMENT},
    ],
    ids=["date", "datetime"],
)
def test_no_calendar_makes_a_statement_fail(
    postgres_server: Server,
    run: Callable[[str], None],
    kind: str,
    last: str,
    column: dict[str, Any],
) -> None:
    """The mutant, as it was, casts every date to a timestamp, which ends in 294276."""
    run(f"CREATE TABLE t (x {kind})")
    run(f"INSERT INTO t VALUES ('{last}'), {FAR}")  # noqa: S608
    with opened(postgres_server, {"x": column}) as engine:
        assert engine.validate().unreadable == {}
        rows = engine.read_all()
        assert (rows.beyond["x"], rows.infinite["x"]) == (4, 2)
        high = max(rows.logical["x"].to_pylist()[:4])
        assert rows.logical["x"].to_pylist() == [high, high, 0, 0, None]
        assert engine.hand_over(lambda batch: None, 10).beyond == {"x": 4}
        assert engine.measure(Request((TOTAL,))) == {(): (2 * high,)}


@pytest.mark.parametrize("kind", ["money", "jsonb", "integer[]", "bytea", "interval", "point"])
def test_what_is_no_number_is_refused_by_its_type(
    postgres_server: Server, run: Callable[[str], None], kind: str
) -> None:
    run(f"CREATE TABLE t (x {kind})")
    assert "something that is no number" in refusal(postgres_server, {"x": NUMBER}).what


def test_a_cast_of_an_enumeration_that_somebody_made_is_not_called(
    postgres_server: Server, run: Callable[[str], None]
) -> None:
    """The mutant casts it to text: whoever owns the type would decide, for each row, what is read
    and whether the question fails."""
    run("CREATE TYPE mood AS ENUM ('a', 'b')")
    run("CREATE TABLE t (x mood)")
    run("INSERT INTO t VALUES ('a'), ('b')")
    column = {"x": {"type": "category", "categories": ["a", "b"]}}
    with opened(postgres_server, column) as engine:
        assert engine.measure(Request((ROWS,), keys=(Group("x", 2),))) == {(0,): (1,), (1,): (1,)}
    run(
        "CREATE FUNCTION lie(mood) RETURNS text IMMUTABLE LANGUAGE plpgsql AS"
        " $$ BEGIN IF $1 = 'b' THEN RAISE EXCEPTION 'canary'; END IF; RETURN 'b'; END $$"
    )
    run("CREATE CAST (mood AS text) WITH FUNCTION lie(mood)")
    assert "`x`" in refusal(postgres_server, column).what
    run("DROP CAST (mood AS text)")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT x FROM base WHERE random() < 0.5",
        "SELECT x FROM base TABLESAMPLE BERNOULLI (50)",
        "SELECT x FROM (SELECT x + 0 * own(x) AS x FROM base) AS inside",
        "SELECT x FROM below",
    ],
    ids=["random", "sample", "function", "nested"],
)
def test_a_view_that_differs_from_look_to_look_is_refused(
    postgres_server: Server, run: Callable[[str], None], sql: str
) -> None:
    """A question may take several looks, which must see the same rows."""
    run("CREATE TABLE base AS SELECT 1 AS x")
    run("CREATE FUNCTION own(i integer) RETURNS integer LANGUAGE sql AS 'SELECT i'")
    run("CREATE VIEW below AS SELECT x FROM base WHERE clock_timestamp() > '2000-01-01'")
    run(f"CREATE VIEW t AS {sql}")
    assert "other rows each time" in refusal(postgres_server, {"x": NUMBER}).what
    run("ALTER FUNCTION own STABLE")
    run("CREATE OR REPLACE VIEW below AS SELECT x FROM base WHERE now() > '2000-01-01'")
    if "own" in sql or "below" in sql:  # what the refusal advises
        with opened(postgres_server, {"x": NUMBER}) as engine:
            assert engine.measure(Request((TOTAL,))) == {(): (1,)}


@pytest.mark.parametrize("column", ["x", "who"])
@pytest.mark.parametrize(
    "made",
    ["1 / (z - 3)", "CAST('canary' || z AS integer)", "fails(z)", "CAST(z AS tame)"],
    ids=["division", "cast", "exception", "domain"],
)
def test_a_view_that_fails_on_one_row_is_refused_before_a_question(
    postgres_server: Server, run: Callable[[str], None], made: str, column: str
) -> None:
    """The mutant does not read identifiers, or takes what is no error of data for the server's."""
    run("CREATE TABLE base AS SELECT i AS z FROM generate_series(1, 5) i")
    run("CREATE DOMAIN tame AS integer CHECK (VALUE < 4)")
    run(
        "CREATE FUNCTION fails(i integer) RETURNS integer IMMUTABLE LANGUAGE plpgsql AS"
        " $$ BEGIN IF i = 3 THEN RAISE EXCEPTION 'canary'; END IF; RETURN i; END $$"
    )
    values = {"x": "1", "who": "z"} | {column: made}
    who, x = values["who"], values["x"]
    run(f"CREATE VIEW t AS SELECT {who} AS who, {x} AS x FROM base")  # noqa: S608
    columns = {"who": {"type": "identifier"}, "x": NUMBER}
    refused = refusal(postgres_server, columns, unit="who", rows_per_unit=1)
    assert "could not be read to its end" in refused.what


def test_a_view_that_was_made_anew_is_not_asked_unread(
    postgres_server: Server, run: Callable[[str], None], tmp_path: Path
) -> None:
    """The mutant knows a view by its number and columns, which CREATE OR REPLACE keeps."""
    run("CREATE TABLE base AS SELECT i AS z FROM generate_series(1, 5) i")
    run("CREATE VIEW below AS SELECT z AS x FROM base")
    run("CREATE VIEW t AS SELECT x FROM below")
    run("CREATE ROLE onlooker LOGIN")
    run("GRANT USAGE ON SCHEMA attacked TO onlooker")
    run("GRANT SELECT ON t TO onlooker")
    run("REVOKE TEMPORARY ON DATABASE postgres FROM PUBLIC")
    source = f"{postgres_server.address(role='onlooker')}#attacked.t"
    ledger = tmp_path / "t.ledger"
    tn.protect(source, schema=stated({"x": NUMBER}), ledger=ledger).close()
    data = tn.protect(source, schema=stated({"x": NUMBER}), ledger=ledger, analyst="ann")
    data.ask("SELECT COUNT(*) FROM t", epsilon=1)
    run("CREATE OR REPLACE VIEW below AS SELECT 1 / (z - 3) AS x FROM base")
    with pytest.raises(Refused, match="holder"):
        data.ask("SELECT SUM(x) FROM t", epsilon=1)
    assert data.budget.spent == 1
    data.close()
    run("DROP OWNED BY onlooker")
    run("DROP ROLE onlooker")


def test_neither_paths_nor_settings_of_a_role_change_an_answer(
    postgres_server: Server, run: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Functions, operators and settings that another made for this role. The mutant, a session
    that looks into other schemas first, computes with theirs."""
    run("CREATE TABLE t (x double precision, y text, d text)")
    run("INSERT INTO t VALUES (2.6, '3', '2000-01-02'), (4.4, ' 4', '2000-01-02 01:00+02')")
    run(
        "CREATE FUNCTION floor(double precision) RETURNS double precision IMMUTABLE LANGUAGE sql"
        " AS 'SELECT 7.0'"
    )
    run("CREATE FUNCTION count(double precision) RETURNS bigint LANGUAGE sql AS 'SELECT 99'")
    run("CREATE FUNCTION btrim(text, text) RETURNS text IMMUTABLE LANGUAGE sql AS $$SELECT '9'$$")
    run(
        "CREATE FUNCTION less(double precision, double precision) RETURNS boolean IMMUTABLE"
        " LANGUAGE sql AS 'SELECT true'"
    )
    run(
        "CREATE OPERATOR < (FUNCTION = less, LEFTARG = double precision,"
        " RIGHTARG = double precision)"
    )
    run("CREATE ROLE misled LOGIN")
    run("GRANT USAGE ON SCHEMA attacked TO misled")
    run("GRANT SELECT ON t TO misled")
    for setting in (
        "search_path = attacked, pg_catalog",
        "transform_null_equals = on",
        "client_encoding = 'LATIN1'",
        "DateStyle = 'German, DMY'",
        "IntervalStyle = 'sql_standard'",
        "TimeZone = 'Asia/Tokyo'",
        "extra_float_digits = -15",
        "standard_conforming_strings = off",
        "statement_timeout = '1min'",
    ):
        run(f"ALTER ROLE misled SET {setting}")
    columns = {
        "x": NUMBER,
        "y": NUMBER,
        "d": {"type": "date", "bounds": ["2000-01-01", "2000-12-31"]},
    }
    asked = Request((ROWS, TOTAL, Measure("total", "y"), Measure("total", "d")))
    expected = {(): (2, 7, 7, 1)}
    with opened(postgres_server, columns, role="misled") as engine:
        assert engine.measure(asked) == expected
        assert engine.read_all().logical["x"].to_pylist() == [3, 4]
    kept = tuple(one for one in sessions._SETTINGS if "search_path" not in one)
    monkeypatch.setattr(sessions, "_SETTINGS", kept)
    with opened(postgres_server, columns, role="misled") as engine:
        assert engine.measure(asked) != expected
    run("DROP OWNED BY misled")
    run("DROP ROLE misled")


def test_a_function_of_a_view_cannot_speak_to_us(
    postgres_server: Server, run: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server sends warnings beside rows, and a driver may print them."""
    run("CREATE TABLE base AS SELECT 3 AS z")
    run(
        "CREATE FUNCTION speaks(i integer) RETURNS integer IMMUTABLE LANGUAGE plpgsql AS"
        " $$ BEGIN RAISE WARNING 'canary %', i; RETURN i; END $$"
    )
    run("CREATE VIEW t AS SELECT speaks(z) AS x FROM base")
    heard: list[str | None] = []

    def listen() -> None:
        session = ServerSession(postgres_server.address(), 5)
        session._connection.add_notice_handler(lambda said: heard.append(said.message_primary))
        with session.snapshot() as state:
            assert state.run('SELECT x FROM "attacked"."t"') == [(3,)]
        session.close()

    listen()
    assert heard == []
    kept = tuple(one for one in sessions._SETTINGS if "min_messages" not in one)
    monkeypatch.setattr(sessions, "_SETTINGS", kept)
    listen()
    assert heard == ["canary 3"], "the mutant hears it"


def test_a_session_that_is_ended_in_a_question_costs_its_price_once(
    postgres_server: Server, run: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    run("CREATE TABLE t AS SELECT i % 10 AS x FROM generate_series(1, 50) i")
    source = f"{postgres_server.address()}#attacked.t"
    data = tn.protect(source, schema=stated({"x": NUMBER}), ledger=tn.ledger.Memory())
    real = Snapshot.run

    def ended(self: Snapshot, sql: str) -> Any:
        if "SUM" in sql:
            monkeypatch.undo()
            run(f"SELECT pg_terminate_backend({self._connection.info.backend_pid})")
        return real(self, sql)

    monkeypatch.setattr(Snapshot, "run", ended)
    with pytest.raises(EngineFault) as fault:
        data.ask("SELECT SUM(x) FROM t", epsilon=1)
    assert (str(fault.value), fault.value.__context__) == (FAULT, None)
    assert data.budget.spent == 1
    assert data.ask("SELECT SUM(x) FROM t", epsilon=1000, fresh=True).value == 225
    assert data.budget.spent == 1001
    data.close()


def test_a_password_comes_from_the_environment_or_a_file_and_is_never_repeated(
    postgres_server: Server,
    run: Callable[[str], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    secret = "canary-s3cret"  # noqa: S105
    rules = postgres_server.folder / "data" / "pg_hba.conf"
    before = rules.read_text()
    run("CREATE TABLE t AS SELECT 1 AS x")
    run(f"CREATE ROLE locked LOGIN PASSWORD '{secret}'")
    run("GRANT USAGE ON SCHEMA attacked TO locked")
    run("GRANT SELECT ON t TO locked")
    rules.write_text(f"local all locked scram-sha-256\n{before}")
    run("SELECT pg_reload_conf()")
    log = len(postgres_server.log())
    source = f"{postgres_server.address(role='locked')}#attacked.t"
    file, ledger = tmp_path / "passwords", tmp_path / "t.ledger"
    told: list[str] = []

    def ask() -> None:
        with tn.protect(source, schema=stated({"x": NUMBER}), ledger=ledger) as data:
            told.append(repr(data) + data.ask("SELECT COUNT(*) FROM t", epsilon=1).to_json())

    def refused() -> None:
        with pytest.raises(Refused) as found:
            ask()
        told.append("".join(traceback.format_exception(found.value)))
        assert found.value.code == "server-away"

    try:
        for name in ("PGPASSWORD", "PGPASSFILE"):
            monkeypatch.setenv("PGPASSFILE", os.devnull)
            refused()
            if name == "PGPASSFILE":
                file.write_text(f"*:*:*:locked:{secret}\n")
                file.chmod(0o600)
            monkeypatch.setenv(name, secret if name == "PGPASSWORD" else str(file))
            ask()
            monkeypatch.delenv(name)
        monkeypatch.setenv("PGPASSWORD", f"{secret}-wrong")
        refused()
        monkeypatch.delenv("PGPASSWORD")
        for held in (
            source.replace("locked@", f"locked:{secret}@"),
            source.replace("#", f"&password={secret}#"),
        ):
            with pytest.raises(Refused) as found:
                tn.protect(held, schema=stated({"x": NUMBER}), ledger=ledger)
            assert found.value.code == "password-in-address"
            told.append("".join(traceback.format_exception(found.value)))
    finally:
        rules.write_text(before)
        run("SELECT pg_reload_conf()")
    kept = b"".join(path.read_bytes() for path in tmp_path.glob("t.ledger*") if path.is_file())
    said = "\n".join(told) + postgres_server.log()[log:]
    assert secret.encode() not in kept
    assert secret not in said
    run("DROP OWNED BY locked")
    run("DROP ROLE locked")
