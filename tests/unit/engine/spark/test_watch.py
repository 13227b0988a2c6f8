"""What nobody works on is given up, and what somebody works on is not."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from tenue.engine.spark.watch import watched

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.needs("spark")


def test_work_that_goes_on_is_not_given_up(spark: SparkSession) -> None:
    """The work takes many times as long as nothing may be done."""

    def slowly(batches: Any) -> Any:
        for batch in batches:
            time.sleep(1.5)
            yield batch

    with watched(spark, 0.2):
        found = spark.range(2, numPartitions=1).mapInArrow(slowly, "id long").collect()
    assert len(found) == 2
    assert not [tag for tag in spark.sparkContext.getJobTags() if "watch" in tag]


def test_a_session_that_tells_nothing_is_let_alone() -> None:
    class Remote:
        @property
        def sparkContext(self) -> object:  # noqa: N802 - Spark's name
            raise RuntimeError

    silent: Any = Remote()
    with watched(silent, 0.0):
        pass
