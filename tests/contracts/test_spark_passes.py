"""Rows on the machines of a cluster keep the contract of rows in memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import reduce
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from contracts.passes_suite import PassesSuite
from spark_cluster import Connect
from tenue.engine.contract import Numbers, Passes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.needs("spark"), pytest.mark.slow]


class TestOnSpark(PassesSuite):
    seeds = 8  # each takes seconds there
    session = "spark"

    spark: SparkSession
    folder: Path

    @pytest.fixture(autouse=True)
    def here(self, request: pytest.FixtureRequest, tmp_path: Path) -> None:
        self.spark, self.folder = request.getfixturevalue(self.session), tmp_path

    @contextmanager
    def kept(self, rows: Numbers, batch: int) -> Iterator[Passes]:
        from tenue.engine.spark.passes import keep

        self.spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", str(batch))
        names = [f"n{j}" for j in range(rows.shape[1])]
        table = pa.table({name: rows[:, j] for j, name in enumerate(names)})
        # in files of different sizes, of which Spark reads the largest first
        cuts = [0, len(rows) // 8, len(rows) // 3, len(rows)]
        frames = []
        for one, other in pairwise(cuts):
            path = str(self.folder / f"{other}.parquet")
            pq.write_table(table.slice(one, other - one), path)
            frames.append(self.spark.read.parquet(path))
        frame = reduce(lambda one, other: one.unionAll(other), frames)

        def numbers(part: pa.RecordBatch) -> Numbers:
            return np.stack([column.to_numpy() for column in part.columns], axis=1)

        with keep(frame, numbers, len(names), str(self.folder)) as passes:
            yield passes


@pytest.fixture(scope="module")
def connected(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A session by Spark Connect, which refuses some of what others do."""
    from tenue.engine.spark.session import by_connect

    server = Connect(tmp_path_factory.mktemp("connect"))
    session = by_connect(server.address)
    yield session
    session.stop()
    server.remove()


class TestByConnect(TestOnSpark):
    seeds = 1
    session = "connected"

    def test_other_sessions_stay_what_they_are(self, spark: SparkSession) -> None:
        """PySpark alone would take every later column for one of Spark Connect."""
        assert [tuple(row) for row in spark.range(3).orderBy("id").collect()] == [(0,), (1,), (2,)]
        assert self.spark.range(3).orderBy("id").collect()[0][0] == 0
