"""The engine for a table in a PostgreSQL server."""

from __future__ import annotations

import signal
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pyarrow as pa
import pytest

import tenue as tn
from postgres_server import Server
from tenue.engine.contract import FAULT
from tenue.engine.open import describe_table, open_engine
from tenue.engine.postgres import engine as tallies
from tenue.engine.postgres import session as sessions
from tenue.engine.postgres.engine import open_tally
from tenue.engine.postgres.session import Snapshot
from tenue.engine.source import location
from tenue.engine.source.count_queries import Tally
from tenue.engine.source.location import locate
from tenue.errors import EngineFault, InvalidTable, NotPromised, Refused
from tenue.evaluate import check
from tenue.schema import Schema

pytestmark = pytest.mark.needs("postgres")
SCHEMA = Schema.from_dict(
    {
        "table": {"name": "rows", "unit": "record", "neighbours": "replace"},
        "columns": {
            "x": {"type": "number", "bounds": [0, 10]},
            "w": {"type": "number", "bounds": [0, 10], "missing": 3},
            "d": {"type": "date", "bounds": ["2000-01-01", "2000-12-31"]},
            "c": {"type": "category", "categories": ["a", "b"]},
        },
    }
)


def test_the_holder_hears_what_cannot_be_read_and_what_is_cut(postgres_server: Server) -> None:
    with psycopg.connect(postgres_server.address(), autocommit=True) as connection:
        connection.execute("CREATE TABLE public.rows (x float8, w text, d date, c text)")
        connection.execute(
            "INSERT INTO public.rows VALUES (1.5, '7', '2000-05-05', 'a'),"
            " ('NaN', 'seven', 'infinity', 'z'), ('-Infinity', NULL, '1999-01-01', NULL),"
            " (11, '12', NULL, 'b')"
        )
    engine = open_engine(f"{postgres_server.address()}#public.rows", SCHEMA)
    found = engine.validate()
    assert (found.rows, found.unreadable, found.rounded) == (4, {"w": 1, "c": 1}, {"x": 1})
    rows = engine.read_all()
    assert rows.unreadable == {"x": 0, "w": 1, "d": 0, "c": 1}
    assert rows.infinite == {"x": 1, "w": 0, "d": 1, "c": 0}
    assert rows.beyond == {"x": 2, "w": 1, "d": 2, "c": 0}
    assert rows.first == {"x": 3, "w": 2, "d": 2, "c": 2}
    assert rows.logical.column("w").to_pylist() == [7, None, None, 10], "nothing is filled in"
    assert [str(rows.types[name]) for name in "xwdc"] == ["double", "None", "date32[day]", "string"]
    engine.close()


# -- tally -----------------------------------------------------------------------------------------


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
    session = sessions.ServerSession(postgres_server.address(), 60)

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
    with pytest.raises(InvalidTable, match="aborted a statement"):
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


def test_a_number_of_more_than_a_thousand_digits_counts_as_the_bound(
    postgres_server: Server, run: Callable[[str], None]
) -> None:
    """As a text it was longer than any that is read, and so was missing."""
    run(
        "CREATE TABLE t AS SELECT CAST(w AS numeric) AS n, CAST(w AS numeric) AS exact,"
        " i AS place, CAST(w AS numeric) AS who FROM (VALUES (1, '1e1500'), (2, '-1e1500'),"
        " (3, '1e-1500'), (4, '7.' || repeat('0', 1200) || '1'), (5, '3.' || repeat('9', 1200)),"
        " (6, '9007199254740993.' || repeat('3', 1100)), (7, 'Infinity'), (8, 'NaN'), (9, NULL),"
        " (10, repeat('8', 1000)), (11, repeat('8', 1001))) AS v (i, w)"
    )
    schema = SCHEMA.replace(
        columns={
            **dict.fromkeys(("x", "w", "d", "c")),
            "n": {"type": "number", "bounds": [-10, 10]},
            "exact": {"type": "number", "bounds": [0, 10**16]},
            "place": {"type": "number", "bounds": [1, 11]},
            "who": {"type": "identifier"},
        }
    )
    engine = open_engine(at(postgres_server), schema)
    assert engine.validate().unreadable == {}
    rows = engine.read_all()
    engine.close()
    read = rows.logical.sort_by("place").to_pydict()
    assert read["n"] == [10, -10, 0, 7, 4, 10, 10, None, None, 10, 10]
    far = 10**16
    exact = [far, 0, 0, 7, 4, 2**53 + 1, far, None, None, far, far]
    assert read["exact"] == exact
    assert rows.infinite["n"] == 5
    assert len(set(rows.identifiers.column("who").to_pylist())) == 10  # two are missing
    with open_tally(server_of(at(postgres_server))) as counted:
        seen = counted.load(["n"]).column("n").to_pylist()
    assert sorted(value for value in seen if value is not None)[-1] == float("inf")
    assert {c.name: c.type for c in describe_table(at(postgres_server))}["n"] == "number"


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


# -- whole -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def address(postgres_server: Server) -> str:
    with psycopg.connect(postgres_server.address(), autocommit=True) as connection:
        connection.execute(
            "CREATE TABLE public.whole AS SELECT i AS id, i % 3 AS age, CAST(i AS numeric(9,2)) / 4"
            " AS pay, CASE WHEN i % 2 = 0 THEN 'a' ELSE '?' END AS town, i > 7 AS sick,"
            " DATE '2020-01-01' + i AS day FROM generate_series(1, 200) i"
        )
        connection.execute("CREATE VIEW public.seen AS SELECT age, town FROM public.whole")
    return postgres_server.address()


def test_a_draft_says_what_the_server_says(address: str) -> None:
    found = {one.name: one for one in describe_table(f"{address}#whole")}
    kinds = {name: one.type for name, one in found.items()}
    assert kinds == {
        "id": "identifier",
        "age": "number",
        "pay": "number",
        "town": "category",
        "sick": "boolean",
        "day": "date",
    }
    assert found["age"].whole
    assert found["town"].marks == ("?",)
    assert found["age"].bounds is None
    assert describe_table(f"{address}#seen", values=True)[0].bounds == (0, 2)


def test_a_table_of_a_server_is_checked_like_a_file(address: str) -> None:
    found = tn.evaluate.check(f"{address}#public.whole", quasi_identifiers=["age", "town"])
    assert found.k == 33


def test_a_view_that_fails_on_a_row_is_refused_without_a_word_of_it(
    address: str, postgres_server: Server
) -> None:
    """The mutant, as it was, expects errors of psycopg: those of ADBC quote the row."""
    with psycopg.connect(postgres_server.address(), autocommit=True) as connection:
        connection.execute(
            "CREATE VIEW public.fails AS SELECT CAST('canary-' || age AS integer) AS age"
            " FROM public.whole"
        )
    with pytest.raises(InvalidTable) as refused:
        describe_table(f"{address}#fails", values=True)
    assert "canary" not in "".join(traceback.format_exception(refused.value))
    assert refused.value.__context__ is None


# A table in a server is asked and paid for as any other, whatever becomes of the server.

STATED: dict[str, Any] = {
    "table": {"name": "people", "unit": "record", "neighbours": "add-or-remove"},
    "columns": {
        "age": {"type": "number", "bounds": [0, 100]},
        "region": {"type": "category", "categories": ["N", "S"]},
    },
    "budget": {"total": 10},
}
COUNT = "SELECT COUNT(*) FROM people"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    made = Server()
    with psycopg.connect(made.address(), autocommit=True) as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT i % 90 AS age,"
            " CASE WHEN i % 3 = 0 THEN 'N' ELSE 'S' END AS region, 'canary' AS secret"
            " FROM generate_series(1, 3000) i"
        )
        connection.execute("CREATE ROLE reader LOGIN")
        connection.execute("REVOKE TEMPORARY ON DATABASE postgres FROM PUBLIC")
        connection.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
        connection.execute("GRANT SELECT ON people TO reader")
    yield made
    made.remove()


def opened(
    server: Server, ledger: Path | tn.ledger.Memory, role: str = "reader", **more: Any
) -> Any:
    source = f"{server.address(role=role)}#people"
    return tn.protect(source, schema=STATED, ledger=ledger, **more)


def test_a_question_is_answered(server: Server) -> None:
    data = opened(server, tn.ledger.Memory())
    answer = data.ask("SELECT region, COUNT(*) AS n FROM people GROUP BY region", epsilon=5)
    assert [row["region"] for row in answer.value] == ["N", "S"]
    assert abs(answer.value[0]["n"] - 1000) < 50
    with pytest.raises(Refused):
        data.ask("SELECT COUNT(*) FROM people WHERE secret = 'canary'", epsilon=1)
    data.close()


def test_an_analyst_asks_what_the_holder_opened_and_no_other_table(
    server: Server, tmp_path: Path
) -> None:
    ledger = tmp_path / "people.ledger"
    with pytest.raises(Refused, match="holder"):
        opened(server, ledger, analyst="ann")
    opened(server, ledger).close()
    data = opened(server, ledger, analyst="ann")
    assert abs(data.ask(COUNT, epsilon=1).value - 3000) < 100
    with psycopg.connect(server.address(), autocommit=True) as connection:
        connection.execute("ALTER TABLE people RENAME TO moved")
        connection.execute("CREATE TABLE people AS SELECT * FROM moved LIMIT 1")
        connection.execute("GRANT SELECT ON people TO reader")
        spent = data.budget.spent
        with pytest.raises(Refused, match="holder"):
            data.ask("SELECT SUM(age) FROM people", epsilon=1)
        assert data.budget.spent == spent
        connection.execute("DROP TABLE people")
        connection.execute("ALTER TABLE moved RENAME TO people")
    data.close()


def test_a_server_that_dies_in_a_question_costs_its_price_and_tells_nothing(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = opened(server, tn.ledger.Memory())
    run = Snapshot.run

    def dies(self: Snapshot, sql: str) -> Any:
        if "COUNT" not in sql:
            return run(self, sql)
        monkeypatch.undo()
        server.restart(signal.SIGQUIT)
        return run(self, sql)

    monkeypatch.setattr(Snapshot, "run", dies)
    with pytest.raises(EngineFault) as fault:
        data.ask(COUNT, epsilon=1, key="k")
    assert str(fault.value) == FAULT
    assert fault.value.__context__ is None
    assert data.budget.spent == 1
    with pytest.raises(Refused):  # the key was paid for, and is never drawn again
        data.ask(COUNT, epsilon=1, key="k")
    assert abs(data.ask(COUNT, epsilon=2, fresh=True).value - 3000) < 100
    assert data.budget.spent == 3
    data.close()


def test_neither_we_nor_the_server_write_down_a_value(server: Server) -> None:
    """Statements are ours alone, and none fails because of a row: the log has no error of them."""
    with psycopg.connect(server.address(), autocommit=True) as connection:
        connection.execute("CREATE TABLE odd (age text, region text)")
        values = ["canary", "1e999", "9" * 400, "nan", "", "0x5", "-inf", "1e-999", "٣"]
        with connection.cursor() as cursor:
            cursor.executemany("INSERT INTO odd VALUES (%s, 'canary')", [(v,) for v in values])
    before = len(server.log())
    stated = {**STATED, "table": STATED["table"] | {"name": "odd"}}
    source = f"{server.address()}#odd"
    data = tn.protect(source, schema=stated, ledger=tn.ledger.Memory())
    for sql in (
        "SELECT COUNT(*) FROM odd WHERE age > 5",
        "SELECT AVG(age) FROM odd",
        "SELECT MEDIAN(age) FROM odd",
        "SELECT region, SUM(age) AS s FROM odd GROUP BY region",
    ):
        data.ask(sql, epsilon=0.5)
    data.close()
    assert server.log()[before:] == ""


def test_a_table_that_is_not_as_declared_is_refused_at_once(server: Server) -> None:
    for stated, word in (
        ({"height": {"type": "number", "bounds": [0, 9]}}, "height"),
        ({"region": {"type": "date", "bounds": ["2000-01-01", "2001-01-01"]}}, None),
    ):
        schema = {**STATED, "columns": stated}
        if word is None:
            tn.protect(
                f"{server.address()}#people", schema=schema, ledger=tn.ledger.Memory()
            ).close()  # texts that are no days are missing
            continue
        with pytest.raises(InvalidTable, match=word):
            tn.protect(f"{server.address()}#people", schema=schema, ledger=tn.ledger.Memory())


def test_a_role_that_may_write_is_named_to_the_holder_and_refused_to_analysts(
    server: Server, tmp_path: Path
) -> None:
    """The mutant that asks nobody's rights opens for the analyst too."""
    ledger = tmp_path / "people.ledger"
    quiet = opened(server, ledger)
    assert quiet.opening.remarks == ()
    quiet.close()
    with psycopg.connect(server.address(), autocommit=True) as connection:
        connection.execute("GRANT DELETE ON people TO reader")
        data = opened(server, ledger)
        assert data.opening.excess == ("may write to the table",)
        assert "it may write to the table." in data.opening.remarks[0]
        data.close()
        with pytest.raises(NotPromised, match="may write to the table") as refusal:
            opened(server, ledger, analyst="ann")
        assert refusal.value.code == "excessive-grant"
        connection.execute("REVOKE DELETE ON people FROM reader")
    opened(server, ledger, analyst="ann").close()


def test_a_server_that_was_away_between_questions_is_reached_anew(server: Server) -> None:
    data = opened(server, tn.ledger.Memory())
    server.restart(signal.SIGQUIT)
    assert abs(data.ask(COUNT, epsilon=1).value - 3000) < 100
    data.close()


def test_a_view_that_fails_on_a_row_is_refused_when_it_is_opened(server: Server) -> None:
    with psycopg.connect(server.address(), autocommit=True) as connection:
        connection.execute("CREATE VIEW failing AS SELECT 5 / (age - 17) AS age FROM people")
    stated = {**STATED, "columns": {"age": STATED["columns"]["age"]}}
    with pytest.raises(InvalidTable, match="could not be read to its end") as refusal:
        tn.protect(f"{server.address()}#failing", schema=stated, ledger=tn.ledger.Memory())
    assert refusal.value.__context__ is None


def test_another_stated_number_of_rows_is_compared_again(server: Server, tmp_path: Path) -> None:
    ledger = tmp_path / "people.ledger"
    table = {"name": "people", "unit": "record", "neighbours": "replace", "rows": 3000}
    source = f"{server.address(role='reader')}#people"
    tn.protect(source, schema=STATED | {"table": table}, ledger=ledger).close()
    with pytest.raises(Refused, match="another number"):
        tn.protect(source, schema=STATED | {"table": table | {"rows": 2999}}, ledger=ledger)
