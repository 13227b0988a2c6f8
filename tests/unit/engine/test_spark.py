"""A session of Spark, and rows in passes on its machines.

nothing, and no file stays. The contract is in tests/contracts.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

from tenue.engine.contract import FAULT, Numbers
from tenue.engine.source.location import Cluster, Distributed
from tenue.errors import EngineFault, InvalidTable
from tenue.noise.source import Seeded

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


pytestmark = [pytest.mark.needs("spark"), pytest.mark.slow]


def test_nobody_listens_is_said_at_once() -> None:
    from tenue.engine.spark.session import check_reached

    for address in ("spark://127.0.0.1:1", "sc://127.0.0.1:1", "spark://no.such.host.invalid"):
        with pytest.raises(InvalidTable, match="cannot be reached"):
            check_reached(address)


def test_a_process_has_one_cluster(spark: SparkSession) -> None:
    from tenue.engine.spark.session import ClusterSession

    with pytest.raises(InvalidTable, match="another Spark"):
        ClusterSession(Cluster("spark://local", (), "/nowhere"))


def test_settings_that_change_the_meaning_of_statements_are_refused(spark: SparkSession) -> None:
    from tenue.engine.spark.session import ClusterSession

    given = spark.createDataFrame([(1,)], "a bigint")
    spark.conf.set("spark.sql.groupByOrdinal", "false")
    try:
        with pytest.raises(InvalidTable, match="groupByOrdinal"):
            ClusterSession(Distributed(given))
    finally:
        spark.conf.set("spark.sql.groupByOrdinal", "true")
    session = ClusterSession(Distributed(given))
    assert session.columns == (("a", "bigint"),)
    assert session.run(f"SELECT a FROM {session.name}") == [(1,)]  # noqa: S608
    session.close()


def test_batches_hold_each_row_once(spark: SparkSession) -> None:
    from tenue.engine.spark.session import ClusterSession

    session = ClusterSession(Distributed(spark.range(0, 1000, 1, 5)))
    parts = list(session.batches(f"SELECT id FROM {session.name}", 64))  # noqa: S608
    assert max(part.num_rows for part in parts) <= 64
    assert sorted(i for part in parts for i in part.column("id").to_pylist()) == list(range(1000))
    session.close()


def test_failures_of_a_statement_are_not_written_down(
    spark: SparkSession, capfd: pytest.CaptureFixture[str]
) -> None:
    from tenue.engine.spark.session import ClusterSession

    session = ClusterSession(Distributed(spark.createDataFrame([("canary-9",)], "a string")))
    with pytest.raises(Exception, match="canary-9"):
        session.run(f"SELECT CAST(a AS BIGINT) FROM {session.name}")  # noqa: S608
    session.close()
    written = capfd.readouterr()
    assert "canary" not in written.out + written.err


# Rows on the machines of a cluster: a task that is done again draws the same, a failure says.


@pytest.fixture
def frame(spark: SparkSession) -> DataFrame:
    values = np.arange(1000)
    made = spark.createDataFrame(pa.table({"a": values % 7, "b": values}))
    return made.repartition(5, "b")


def test_files_are_gone_at_the_end(frame: DataFrame, tmp_path: Path) -> None:
    from tenue.engine.spark.passes import keep

    numbers = lambda part: np.stack([c.to_numpy() for c in part.columns], axis=1)  # noqa: E731
    with keep(frame, numbers, 2, str(tmp_path)) as kept:
        assert kept.rows == 1000
        with kept.map(lambda rows: rows[rows[:, 0] > 3], (7, 1000)) as fewer:
            assert fewer.rows == (np.arange(1000) % 7 > 3).sum()
            assert len(list(tmp_path.iterdir())) == 2
        assert len(list(tmp_path.iterdir())) == 1
    assert list(tmp_path.iterdir()) == []


def test_rows_in_many_partitions_change_places_in_their_groups_only(
    frame: DataFrame, tmp_path: Path
) -> None:
    from tenue.engine.spark.passes import keep

    numbers = lambda part: np.stack([c.to_numpy() for c in part.columns], axis=1)  # noqa: E731
    with keep(frame, numbers, 2, str(tmp_path)) as kept:
        every = np.arange(1000)
        before = kept.take(every)
        with kept.permute([1], lambda rows: rows[:, 0], Seeded(1)) as moved:
            after = moved.take(every)
        with kept.permute([1], lambda rows: rows[:, 0], Seeded(1)) as again:
            assert again.take(every).tolist() == after.tolist()  # as a task that is done again
        with kept.shuffle(Seeded(2)) as mixed:
            order = np.concatenate(list(mixed.batches()))
    assert (after[:, 0] == before[:, 0]).all()
    assert (after[:, 1] % 7 == after[:, 0]).all()
    assert sorted(after[:, 1]) == list(range(1000))
    assert (after[:, 1] == before[:, 1]).sum() < 40  # seven stay on average
    assert sorted(order[:, 1]) == list(range(1000))
    assert np.abs(np.diff(order[:, 1])).mean() > 200


def test_whatever_fails_is_one_fault_that_quotes_nothing(frame: DataFrame, tmp_path: Path) -> None:
    from tenue.engine.spark.passes import keep

    def broken(rows: Numbers) -> Numbers:
        raise ValueError(f"canary {rows[0, 1]}")

    def empty_is_fine(rows: Numbers) -> Numbers:
        return broken(rows) if len(rows) else rows.sum(axis=0)

    numbers = lambda part: np.stack([c.to_numpy() for c in part.columns], axis=1)  # noqa: E731
    with keep(frame, numbers, 2, str(tmp_path)) as kept:
        for fails in (
            lambda: kept.sum(empty_is_fine),
            lambda: kept.map(broken, (7, 1000)).__enter__(),
            lambda: list(kept.sort(lambda rows: [empty_is_fine(rows)])),
        ):
            with pytest.raises(EngineFault, match=FAULT) as caught:
                fails()
            seen: BaseException | None = caught.value
            while seen is not None:
                assert "canary" not in repr(seen)
                seen = seen.__context__ or seen.__cause__


REDONE = """
import sys

import numpy as np
from pyspark import TaskContext

from spark_cluster import start
from tenue.engine.spark.passes import keep
from tenue.noise.source import SYSTEM

spark = start("local[2,4]")
spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "50")
frame = spark.range(1000).selectExpr("id % 7 AS a", "id AS b").repartition(4, "b")


def once(rows):
    # every task fails in its second batch when it is tried for the first time
    context = TaskContext.get()
    if context is not None:
        context.seen = getattr(context, "seen", 0) + 1
        if context.attemptNumber() == 0 and context.seen == 2:
            raise ValueError
    return rows


def numbers(part):
    return np.stack([column.to_numpy() for column in part.columns], axis=1)


every = np.arange(1000)
with keep(frame, lambda part: once(numbers(part)), 2, sys.argv[1]) as kept:
    draw = lambda rows: np.column_stack([once(rows), SYSTEM.words(len(rows), 8)])
    with kept.map(draw, (7, 1000, 256)) as drawn:
        before = drawn.take(every)
        assert drawn.take(every).tolist() == before.tolist()
        assert sorted(before[:, 1]) == list(range(1000))
        tried = lambda rows: [np.full(len(rows), getattr(TaskContext.get(), "_attemptNumber", 0))]
        again = drawn.tally(lambda rows: (tried(once(rows))))
        assert max(part[0].max() for part in again) == 1  # or nothing was done again
        with drawn.permute([1, 2], lambda rows: once(rows)[:, 0], SYSTEM) as moved:
            after = moved.take(every)
            total = moved.sum(lambda rows: once(rows).sum(axis=0))
pairs = [sorted(map(tuple, rows.tolist())) for rows in (before, after)]
assert pairs[0] == pairs[1]
assert total.tolist() == before.sum(axis=0).tolist()
print("right")
"""


@pytest.mark.any_draw("whatever is drawn is drawn once")
def test_tasks_that_are_done_again_lose_and_double_nothing(tmp_path: Path) -> None:
    tests = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", REDONE, str(tmp_path)],
        check=False,
        capture_output=True,
        text=True,
        cwd=tests,
        timeout=300,
    )
    assert done.stdout.strip() == "right", done.stderr[-2000:]
