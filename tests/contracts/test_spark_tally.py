"""Spark counts a table, also where its machines have no Python."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from contracts.tally_suite import TallySuite
from tenue.engine.source.location import Distributed
from tenue.engine.spark.backend import BACKEND

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.needs("spark"), pytest.mark.slow]


class TestSpark(TallySuite):
    engine = "Spark"
    tables = 5  # each takes seconds there

    @pytest.fixture(autouse=True)
    def here(self, spark: SparkSession) -> None:
        self.spark = spark

    def stored(self, table: pa.Table) -> object:
        return self.spark.createDataFrame(table).repartition(3)

    def failing(self) -> object:
        return self.spark.sql("SELECT CAST(concat('canary-', id) AS INT) AS a FROM range(3)")


class TestWithoutPython(TestSpark):
    """Machines that cannot run the Python of Tenue hand counts over all at once."""

    tables = 2

    @pytest.fixture(autouse=True)
    def no_python(self, spark: SparkSession) -> Iterator[None]:
        before = spark.sparkContext.pythonExec
        spark.sparkContext.pythonExec = "/nowhere/python"
        yield
        spark.sparkContext.pythonExec = before

    def test_nothing_comes_in_parts_there(self) -> None:
        """Else the tests above would not have tried the other way."""
        with BACKEND.open_tally(Distributed(self.spark.range(3)), 0) as there:
            assert there.different("id") == 3
        from tenue.engine.spark.session import ClusterSession

        session = ClusterSession(Distributed(self.spark.range(3)))
        with pytest.raises(Exception, match="nowhere"):
            list(session.batches("SELECT 1 AS a", 9))
        session.close()
