"""The engine for a table in Spark."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tenue as tn
from contracts.engine_suite import ROWS as ENGINE_ROWS
from contracts.engine_suite import ROWS_OF, each
from contracts.engine_suite import SCHEMA as ENGINE_SCHEMA
from contracts.test_spark_engine import KINDS, frame
from tenue.ask.doctor import diagnose
from tenue.engine import sql_engine
from tenue.engine.contract import CHANGED, FAULT
from tenue.engine.open import describe_table, open_engine
from tenue.engine.request import Group, Measure, People, RankRequest, Request, Window
from tenue.engine.source.location import Cluster, Distributed
from tenue.engine.spark.backend import BACKEND
from tenue.engine.spark.session import ClusterSession
from tenue.errors import EngineFault, InvalidTable
from tenue.noise import source
from tenue.schema import Schema

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


pytestmark = [pytest.mark.needs("spark"), pytest.mark.slow]
SCHEMA = Schema.from_dict(
    {
        "table": {"name": "t", "unit": "who", "neighbours": "add-or-remove", "rows_per_unit": 2},
        "columns": {
            "who": {"type": "identifier"},
            "x": {"type": "number", "bounds": [0, 2**20]},
        },
    }
)
ASKED = Request((Measure("rows"), Measure("total", "x")), people=People("who", 2, None))
ROWS = [(f"p{i % 10}", 1 << (i // 10)) for i in range(100)]


def test_each_question_has_a_key_of_its_own_that_decides_all(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With one key, whatever the partitions are, the same rows are kept; with another, others."""
    drawn: list[int] = []

    def words(self: object, count: int, bits: int = 64) -> object:
        drawn.append(count)
        return source.Seeded(fixed[0]).words(count, 64)

    monkeypatch.setattr(source.OperatingSystem, "words", words)
    fixed, found = [1], []
    for parts, rows in ((1, ROWS), (7, ROWS[::-1]), (3, ROWS)):
        given = spark.createDataFrame(rows, "who string, x bigint").repartition(parts)
        engine = open_engine(given, SCHEMA)
        found.append(engine.measure(ASKED))
        engine.close()
    assert found[0] == found[1] == found[2]
    assert drawn == [4, 4, 4], "a key for each question, and nothing else"
    fixed[0] = 2
    engine = open_engine(spark.createDataFrame(ROWS, "who string, x bigint"), SCHEMA)
    other = engine.measure(ASKED)
    assert other != found[0]
    assert other[()][0] == found[0][()][0] == 20
    engine.close()


# -- files that are written meanwhile -------------------------------------------------------------


@pytest.mark.parametrize("keys", [(), (Group("who", 2),)], ids=["one cell", "cells"])
def test_a_median_of_files_that_were_written_meanwhile_is_no_answer(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keys: tuple[Group, ...]
) -> None:
    """One statement reads the rows twice; the answer might mix both states, unnoticed."""
    folder = tmp_path / "some rows"
    folder.mkdir()
    pq.write_table(pa.table({"who": ["a", "b"] * 4, "x": range(8)}), folder / "t.parquet")
    schema = SCHEMA.replace(
        table={"unit": "record", "rows_per_unit": None},
        columns={"who": {"type": "category", "categories": ["a", "b"]}},
    )
    engine = open_engine(spark.read.parquet(str(folder)), schema)
    request = RankRequest("x", (Window(1, 1, -1, 0, 1),), keys=keys)
    assert engine.ranks(request) == engine.ranks(request)
    read = sql_engine.profiles

    def meanwhile(*given: Any) -> Any:
        found = read(*given)
        pq.write_table(pa.table({"who": ["a", "b"] * 5, "x": range(10)}), folder / "t.parquet")
        return found

    monkeypatch.setattr(sql_engine, "profiles", meanwhile)
    with pytest.raises(EngineFault, match=CHANGED):
        engine.ranks(request)
    engine.close()


def test_a_table_without_files_is_read_as_it_is(spark: SparkSession) -> None:
    session = ClusterSession(Distributed(spark.range(3)))
    assert session.files() == frozenset()
    session.close()


# -- doctor ----------------------------------------------------------------------------------------


def test_a_cluster_that_is_away_is_named() -> None:
    from tenue.engine.spark.engine import examine

    (away,) = examine(Cluster("spark://127.0.0.1:1", ("t",)))
    assert (away.subject, away.verdict) == ("cluster", "missing")
    found = diagnose("sc://127.0.0.1:1#t")
    assert [one.subject for one in found] == ["source", "driver", "cluster"]


# -- tally -----------------------------------------------------------------------------------------


def test_decimals_are_doubles_and_zeros_keep_their_sign(spark: SparkSession) -> None:
    rows = [(Decimal("1.50"), 0.0), (Decimal("1.50"), -0.0), (None, -0.0)]
    given = spark.createDataFrame(rows, "`d e` decimal(9,2), z double")
    with BACKEND.open_tally(Distributed(given), 0) as counted:
        found = pa.concat_tables(counted.tally(["d e", "z"])).to_pydict()
        assert counted.different("z") == 2
        assert counted.different("d e") == 1
        assert counted.load(["d e"]).schema.field("d e").type == pa.float64()
    told = zip(found["d e"], map(str, found["z"]), found[""], strict=True)
    assert sorted(told, key=str) == [(1.5, "-0.0", 1), (1.5, "0.0", 1), (None, "-0.0", 1)]


def test_a_collation_does_not_make_two_words_one(spark: SparkSession) -> None:
    given = spark.sql("SELECT w COLLATE UTF8_LCASE AS w FROM VALUES ('a'), ('A'), ('a') AS t(w)")
    assert given.select("w").distinct().count() == 1
    with BACKEND.open_tally(Distributed(given), 0) as counted:
        assert counted.different("w") == 2
        assert [part.tolist() for part in counted.sizes(["w"])] == [[1, 2], [1, 1]]


def test_no_name_is_left_in_the_session(spark: SparkSession) -> None:
    before = spark.catalog.listTables()
    with BACKEND.open_tally(Distributed(spark.range(3)), 0) as counted:
        next(iter(counted.tally(["id"])))
    assert spark.catalog.listTables() == before


# -- whole -----------------------------------------------------------------------------------------


def test_a_table_is_read_and_described_without_a_schema(spark: SparkSession) -> None:
    rows = [("a", Decimal("1.50"), 3), ("b", None, 4)]
    given = spark.createDataFrame(rows, "c string, `d e` decimal(9,2), n int")
    names, load = BACKEND.open_table(Distributed(given))
    assert names == ("c", "d e", "n")
    assert load(["n", "d e"]).to_pydict() == {"n": [3, 4], "d e": [1.5, None]}
    found = describe_table(given, values=True)
    assert [(one.name, one.type) for one in found] == [
        ("c", "category"),
        ("d e", "number"),
        ("n", "number"),
    ]
    assert found[2].bounds == (3, 4)


def test_rows_that_fail_are_refused_without_a_word_of_them(spark: SparkSession) -> None:
    failing = spark.sql("SELECT CAST(concat('canary-', id) AS INT) AS a FROM range(3)")
    _, load = BACKEND.open_table(Distributed(failing))
    with pytest.raises(InvalidTable) as refused:
        load(["a"])
    assert "canary" not in str(refused.value)
    assert refused.value.__context__ is None


# -- engine ----------------------------------------------------------------------------------------


def test_the_logical_table_is_a_data_frame(spark: SparkSession) -> None:
    from tenue.engine.source.location import Distributed
    from tenue.engine.spark.engine import Spark

    engine = Spark(Distributed(frame(spark, ENGINE_ROWS, ENGINE_SCHEMA, KINDS)), ENGINE_SCHEMA)
    made = engine.logical_frame("age", "sex", "member")
    assert made.dtypes == [("age", "bigint"), ("sex", "bigint"), ("member", "bigint")]
    assert sorted(map(tuple, made.collect()), key=repr)[:2] == [(10, 0, 1), (100, None, 1)]
    everything = engine.logical_frame()
    assert "who" not in everything.columns
    told = engine.read_all().logical
    assert sorted(map(repr, map(tuple, everything.select(*told.column_names).collect()))) == sorted(
        repr(tuple(row.values())) for row in told.to_pylist()
    )
    engine.close()


def test_parquet_files_are_read_on_this_machine(spark: SparkSession, tmp_path: Path) -> None:
    """As `spark://local#folder`, where the tests' own session is the one of the process."""
    frame(spark, ENGINE_ROWS, ENGINE_SCHEMA, KINDS).write.parquet(str(tmp_path / "people"))
    schema = ENGINE_SCHEMA
    with pytest.raises(InvalidTable) as refused:
        open_engine("spark://local#people", schema, tmp_path)
    assert "another Spark" in str(refused.value), "the tests run on two processors, not on all"
    with pytest.raises(InvalidTable):
        open_engine("spark://local#people", schema)


def test_a_closed_engine_does_not_answer(spark: SparkSession) -> None:
    engine = open_engine(frame(spark, ENGINE_ROWS, ENGINE_SCHEMA, KINDS), ENGINE_SCHEMA)
    asked = Request((ROWS_OF, *each("total", "age")))
    assert engine.measure(asked) == {(): (6, 201)}
    engine.close()
    with pytest.raises(EngineFault, match=FAULT):
        engine.measure(asked)
    engine.close()


def test_nothing_is_left_in_the_session(spark: SparkSession) -> None:
    from tenue.engine.request import People

    before = {table.name for table in spark.catalog.listTables()}
    engine = open_engine(frame(spark, ENGINE_ROWS, ENGINE_SCHEMA, KINDS), ENGINE_SCHEMA)
    engine.measure(Request((ROWS_OF,), people=People("who", 1, None)))
    assert len({table.name for table in spark.catalog.listTables()} - before) == 1
    engine.close()
    assert {table.name for table in spark.catalog.listTables()} == before


def test_columns_that_differ_in_case_only_are_refused(spark: SparkSession) -> None:
    twice = spark.createDataFrame([(1, 2)], "`a` bigint, `A` bigint")
    schema = Schema.from_dict(
        {
            "table": {"name": "t", "unit": "record", "neighbours": "replace"},
            "columns": {"a": {"type": "number", "bounds": [0, 9]}},
        }
    )
    with pytest.raises(InvalidTable, match="upper and lower case"):
        open_engine(twice, schema)


def test_the_holder_is_told_what_cannot_be_read(spark: SparkSession) -> None:
    engine = open_engine(frame(spark, ENGINE_ROWS, ENGINE_SCHEMA, KINDS), ENGINE_SCHEMA)
    found = engine.validate()
    assert found.rows == len(ENGINE_ROWS)
    assert found.unreadable == {"sex": 1, "town": 2}
    engine.close()


def test_persons_are_refused_where_machines_cannot_choose_rows(spark: SparkSession) -> None:
    """When the table is opened: at the first question it would be paid for."""
    rows = spark.createDataFrame([("a", 1), ("b", 2)], "who string, x int")
    stated: dict[str, Any] = {
        "table": {"name": "t", "unit": "who", "rows_per_unit": 1, "neighbours": "add-or-remove"},
        "columns": {
            "who": {"type": "identifier"},
            "x": {"type": "number", "bounds": [0, 9]},
        },
        "budget": {"total": 10},
    }
    records = stated | {"table": stated["table"] | {"unit": "record"}}
    del records["table"]["rows_per_unit"]
    before, spark.sparkContext.pythonExec = spark.sparkContext.pythonExec, "/nowhere/python"
    books = tn.ledger.Memory()
    try:
        with pytest.raises(tn.Refused, match="run no Python") as refused:
            tn.protect(rows, schema=stated, ledger=books)
        with tn.protect(rows, schema=records, ledger=tn.ledger.Memory()) as data:
            assert data.ask("SELECT COUNT(*) FROM t", epsilon=9).value is not None
    finally:
        spark.sparkContext.pythonExec = before
    assert "nowhere" not in str(refused.value)
    assert books.balance("t").spent == 0
