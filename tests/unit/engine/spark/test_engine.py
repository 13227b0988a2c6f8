from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import tenue as tn
from contracts.engine_suite import ROWS, ROWS_OF, SCHEMA, each
from contracts.test_spark_engine import KINDS, frame
from tenue.engine.contract import FAULT
from tenue.engine.open import open_engine
from tenue.engine.request import Request
from tenue.errors import EngineFault, InvalidTable
from tenue.schema import Schema

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.needs("spark"), pytest.mark.slow]


def test_the_logical_table_is_a_data_frame(spark: SparkSession) -> None:
    from tenue.engine.source.location import Distributed
    from tenue.engine.spark.engine import Spark

    engine = Spark(Distributed(frame(spark, ROWS, SCHEMA, KINDS)), SCHEMA)
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
    frame(spark, ROWS, SCHEMA, KINDS).write.parquet(str(tmp_path / "people"))
    schema = SCHEMA
    with pytest.raises(InvalidTable) as refused:
        open_engine("spark://local#people", schema, tmp_path)
    assert "another Spark" in str(refused.value), "the tests run on two processors, not on all"
    with pytest.raises(InvalidTable):
        open_engine("spark://local#people", schema)


def test_a_closed_engine_does_not_answer(spark: SparkSession) -> None:
    engine = open_engine(frame(spark, ROWS, SCHEMA, KINDS), SCHEMA)
    asked = Request((ROWS_OF, *each("total", "age")))
    assert engine.measure(asked) == {(): (6, 201)}
    engine.close()
    with pytest.raises(EngineFault, match=FAULT):
        engine.measure(asked)
    engine.close()


def test_nothing_is_left_in_the_session(spark: SparkSession) -> None:
    from tenue.engine.request import People

    before = {table.name for table in spark.catalog.listTables()}
    engine = open_engine(frame(spark, ROWS, SCHEMA, KINDS), SCHEMA)
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
    engine = open_engine(frame(spark, ROWS, SCHEMA, KINDS), SCHEMA)
    found = engine.validate()
    assert found.rows == len(ROWS)
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
