"""What nobody works on is given up, and what somebody works on is not.

A cluster that loses its machines is in `tests/journeys/test_spark_kill.py`; here Spark's own words
about stages are given, so that no clock decides.
"""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace
from typing import Any

import pytest

from tenue.engine.spark.watch import watched


class Telling:
    """A session that tells how many tasks run of the one stage that it has, if it has one."""

    def __init__(self, running: int | None) -> None:
        self.running, self.asked, self.looked = running, 0, threading.Event()
        self.tags: list[str] = []
        self.cancelled = threading.Event()
        self.sparkContext = self

    def statusTracker(self) -> Telling:  # noqa: N802 - Spark's names
        return self

    def getActiveStageIds(self) -> list[int]:  # noqa: N802
        self.asked += 1
        if self.asked > 20:
            self.looked.set()
        return [] if self.running is None else [7]

    def getStageInfo(self, stage: int) -> Any:  # noqa: N802
        return SimpleNamespace(numActiveTasks=self.running)

    def addJobTag(self, tag: str) -> None:  # noqa: N802
        self.tags.append(tag)

    def removeJobTag(self, tag: str) -> None:  # noqa: N802
        self.tags.remove(tag)

    def cancelJobsWithTag(self, tag: str) -> None:  # noqa: N802
        assert self.tags == [tag]
        self.cancelled.set()


@pytest.mark.parametrize("running", [1, None])
def test_work_that_goes_on_is_not_given_up(running: int | None) -> None:
    """Nor a plan that Spark still thinks about."""
    spark: Any = Telling(running)
    with watched(spark, 0.001):
        assert spark.looked.wait(60)
    assert not spark.cancelled.is_set()
    assert spark.tags == []


def test_what_waits_for_a_machine_is_given_up() -> None:
    spark: Any = Telling(0)
    with watched(spark, 0.01):
        assert spark.cancelled.wait(60)
    assert spark.tags == []


class Remote:
    """A session of Spark Connect, in whose place the test sends word."""

    def __init__(self) -> None:
        self.tags: list[str] = []
        self.handlers: list[Any] = []
        self.interrupted = threading.Event()

    @property
    def sparkContext(self) -> object:  # noqa: N802
        raise RuntimeError

    def addTag(self, tag: str) -> None:  # noqa: N802
        self.tags.append(tag)

    def removeTag(self, tag: str) -> None:  # noqa: N802
        self.tags.remove(tag)

    def interruptTag(self, tag: str) -> None:  # noqa: N802
        assert self.tags == [tag]
        self.interrupted.set()

    def registerProgressHandler(self, handler: Any) -> None:  # noqa: N802
        self.handlers.append(handler)

    def removeProgressHandler(self, handler: Any) -> None:  # noqa: N802
        self.handlers.remove(handler)

    def send(self, done: int, tasks: int, running: int, *, ended: bool = False) -> None:
        (handler,) = self.handlers
        stage = SimpleNamespace(num_tasks=tasks, num_completed_tasks=done)
        handler(stages=[stage], inflight_tasks=running, operation_id="one", done=ended)


def test_what_waits_behind_spark_connect_is_given_up() -> None:
    spark: Any = Remote()
    with watched(spark, 0.0):
        spark.send(3, 30, 0)
        time.sleep(0.001)
        assert not spark.interrupted.is_set(), "one word is no time"
        spark.send(3, 30, 0)
        assert spark.interrupted.wait(60)
    assert spark.tags == spark.handlers == []


@pytest.mark.parametrize(
    "between",
    [{"done": 3, "tasks": 30, "running": 1}, {"done": 30, "tasks": 30, "running": 0}],
    ids=["a-machine-works", "the-next-stage-is-planned"],
)
def test_what_goes_on_behind_spark_connect_is_not_given_up(between: dict[str, int]) -> None:
    spark: Any = Remote()
    with watched(spark, 0.0):
        for _ in range(20):
            spark.send(3, 30, 0)
            time.sleep(0.001)
            spark.send(**between)
    assert not spark.interrupted.is_set()
    assert spark.tags == spark.handlers == []
