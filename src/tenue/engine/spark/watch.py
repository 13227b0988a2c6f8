"""Gives up what a cluster does nothing about: Spark itself would wait for a processor for ever."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_OFTEN = 5.0
_numbers = count(1)


@contextmanager
def watched(spark: SparkSession, seconds: float) -> Iterator[None]:
    """Cancels what this thread asks of Spark once no machine has worked on it for so long.

    However long the work takes, it is not cancelled while one machine does a part of it. Spark
    Connect does not tell what is done: what is asked there is never cancelled.
    """
    busy = _busy(spark)
    if busy is None:
        yield
        return
    tag, done = f"tenue_watch_{os.getpid()}_{next(_numbers)}", threading.Event()

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
