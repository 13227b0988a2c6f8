"""Gives up what a cluster does nothing about: Spark itself would wait for a processor for ever."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.connect.shell.progress import StageInfo

_OFTEN = 5.0
_numbers = count(1)


@contextmanager
def watched(spark: SparkSession, seconds: float) -> Iterator[None]:
    """Cancels what this thread asks of Spark once no machine has worked on it for so long.

    However long the work takes, it is not cancelled while one machine does a part of it.
    """
    tag, busy = f"tenue_watch_{os.getpid()}_{next(_numbers)}", _busy(spark)
    with _by_word(spark, tag, seconds) if busy is None else _by_looking(spark, tag, busy, seconds):
        yield


@contextmanager
def _by_looking(
    spark: SparkSession, tag: str, busy: Callable[[], bool], seconds: float
) -> Iterator[None]:
    done = threading.Event()

    def watch() -> None:
        last = time.monotonic()
        while not done.wait(min(_OFTEN, seconds / 4)):
            if busy():
                last = time.monotonic()
            elif time.monotonic() - last > seconds:
                with suppress(Exception):
                    spark.sparkContext.cancelJobsWithTag(tag)
                return

    spark.sparkContext.addJobTag(tag)
    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        done.set()
        with suppress(Exception):  # whoever stops Spark meanwhile removes the tag too
            spark.sparkContext.removeJobTag(tag)


@contextmanager
def _by_word(spark: SparkSession, tag: str, seconds: float) -> Iterator[None]:
    """For Spark Connect, whose server sends word every few seconds.

    Silence is not counted: it is also that of somebody who reads the rows slowly.
    """
    idle: dict[str | None, float] = {}

    def give_up() -> None:
        with suppress(Exception):
            spark.interruptTag(tag)

    def heard(
        stages: Iterable[StageInfo] | None,
        inflight_tasks: int,
        operation_id: str | None,
        done: bool,
    ) -> None:
        waiting = any(stage.num_completed_tasks < stage.num_tasks for stage in stages or ())
        if done or inflight_tasks or not waiting:
            idle.pop(operation_id, None)
        elif time.monotonic() - idle.setdefault(operation_id, time.monotonic()) > seconds:
            # beside this thread, which is about to read what comes of it
            threading.Thread(target=give_up, daemon=True).start()

    handler: Any = heard
    spark.addTag(tag)
    spark.registerProgressHandler(handler)
    try:
        yield
    finally:
        with suppress(Exception):  # the session may be gone
            spark.removeProgressHandler(handler)
            spark.removeTag(tag)


def _busy(spark: SparkSession) -> Callable[[], bool] | None:
    """Tells whether a machine does something, or nothing waits for one."""
    tracker = None
    with suppress(Exception):
        tracker = spark.sparkContext.statusTracker()
    if tracker is None:
        return None

    def busy() -> bool:
        with suppress(Exception):
            stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
            waiting = [stage for stage in stages if stage is not None]
            return not waiting or any(stage.numActiveTasks for stage in waiting)
        return True

    return busy
