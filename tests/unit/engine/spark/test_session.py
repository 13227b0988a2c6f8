from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tenue.engine.source.location import Cluster, Distributed
from tenue.errors import InvalidTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.needs("spark"), pytest.mark.slow]


def test_nobody_listens_is_said_at_once() -> None:
    from tenue.engine.spark.session import check_reached

    for address in ("spark://127.0.0.1:1", "sc://127.0.0.1:1", "spark://no.such.host.invalid"):
        with pytest.raises(InvalidTable, match="cannot be reached"):
            check_reached(address)


def test_a_process_has_one_cluster(spark: SparkSession) -> None:
    from tenue.engine.spark.session import Session

    with pytest.raises(InvalidTable, match="another Spark"):
        Session(Cluster("spark://local", (), "/nowhere"))


def test_settings_that_change_the_meaning_of_statements_are_refused(spark: SparkSession) -> None:
    from tenue.engine.spark.session import Session

    given = spark.createDataFrame([(1,)], "a bigint")
    spark.conf.set("spark.sql.groupByOrdinal", "false")
    try:
        with pytest.raises(InvalidTable, match="groupByOrdinal"):
            Session(Distributed(given))
    finally:
        spark.conf.set("spark.sql.groupByOrdinal", "true")
    session = Session(Distributed(given))
    assert session.columns == (("a", "bigint"),)
    assert session.run(f"SELECT a FROM {session.name}") == [(1,)]  # noqa: S608
    session.close()


def test_batches_hold_each_row_once(spark: SparkSession) -> None:
    from tenue.engine.spark.session import Session

    session = Session(Distributed(spark.range(0, 1000, 1, 5)))
    parts = list(session.batches(f"SELECT id FROM {session.name}", 64))  # noqa: S608
    assert max(part.num_rows for part in parts) <= 64
    assert sorted(i for part in parts for i in part.column("id").to_pylist()) == list(range(1000))
    session.close()


def test_failures_of_a_statement_are_not_written_down(
    spark: SparkSession, capfd: pytest.CaptureFixture[str]
) -> None:
    from tenue.engine.spark.session import Session

    session = Session(Distributed(spark.createDataFrame([("canary-9",)], "a string")))
    with pytest.raises(Exception, match="canary-9"):
        session.run(f"SELECT CAST(a AS BIGINT) FROM {session.name}")  # noqa: S608
    session.close()
    written = capfd.readouterr()
    assert "canary" not in written.out + written.err
