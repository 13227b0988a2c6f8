"""A session of Spark: how it is reached, its settings, and when it is given up."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from ...errors import Refused, refuse
from ..scratch import Scratch
from ..source.location import Cluster, Distributed, InSpark
from .dialect import SPARK
from .udfs import by_value, packed

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.connect.shell.progress import StageInfo


_OFTEN = 5.0
_watch_numbers = count(1)


@contextmanager
def watched(spark: SparkSession, seconds: float) -> Iterator[None]:
    """Cancels what this thread asks of Spark once no machine has worked on it for so long.

    However long the work takes, it is not cancelled while one machine does a part of it.
    """
    tag, busy = f"tenue_watch_{os.getpid()}_{next(_watch_numbers)}", _busy(spark)
    with (
        _by_progress(spark, tag, seconds)
        if busy is None
        else _by_looking(spark, tag, busy, seconds)
    ):
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
        with suppress(Exception):  # stopping Spark meanwhile removes the tag too
            spark.sparkContext.removeJobTag(tag)


@contextmanager
def _by_progress(spark: SparkSession, tag: str, seconds: float) -> Iterator[None]:
    """For Spark Connect, whose server reports progress every few seconds.

    Silence is not counted: it also comes from reading the rows slowly.
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
            # beside this thread, which is about to read the result
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
    """A check whether a machine does something, or nothing waits for one."""
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


_START = {
    "spark.app.name": "tenue",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.eventLog.enabled": "false",
    # logs would quote rows, and the logs of a cluster's machines cannot be silenced from here
    "spark.log.level": "OFF",
    "spark.driver.extraJavaOptions": "-Dlog4j2.level=OFF",
    "spark.executor.extraJavaOptions": "-Dlog4j2.level=OFF",
}
_NEEDED = {
    "spark.sql.groupByOrdinal": "true",
    "spark.sql.parser.quotedRegexColumnNames": "false",
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",
    "spark.sql.caseSensitive": "false",
}
"""The meaning of statements depends on these; all are Spark's defaults."""
_ZONE = "spark.sql.session.timeZone"
_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
_PORTS = {"spark": 7077, "sc": 15002}
_REMOTE = "sc:"
_MODE = "SPARK_CONNECT_MODE_ENABLED"
_WAIT = 10
FREE = 120
"""Seconds within which a processor of a cluster must become free."""
_numbers = count(1)
_kept: list[Scratch] = []


class ClusterSession:
    """The session in which the questions about one table run.

    Guarantee
        Statements only read. A name for the table is made when it is opened, and removed with
        `close`; nothing else is changed in a session that was given. No word of Spark about a
        failure is written down by this process.

    frame: the table.
    version: the version of Spark.
    """

    def __init__(self, source: InSpark) -> None:
        self._source, self._names = source, list[str]()
        with quiet():
            self.frame = source.frame if isinstance(source, Distributed) else _frame(source)
            self._spark: SparkSession = self.frame.sparkSession
            self.version = str(self._spark.version)
            for setting, value in _NEEDED.items():
                if str(self._spark.conf.get(setting)).lower() != value:
                    raise refuse("engine.spark-setting-differs", setting=setting, value=value)
            self.name = self.named(self.frame)

    @property
    def columns(self) -> tuple[tuple[str, str], ...]:
        """The columns of the table, each with its type as Spark names it."""
        with quiet():
            return tuple((one.name, one.dataType.simpleString()) for one in self.frame.schema)

    def described(self) -> str:
        """The catalogue's present entry of the table, in words; empty if it is gone."""
        with quiet(), suppress(Exception):
            assert isinstance(self._source, Cluster)  # noqa: S101 - a given frame has no address
            found = _read(self._spark, self._source)
            kinds = [f"{one.name} {one.dataType.simpleString()}" for one in found.schema]
            return "\n".join([self._source.address, *self._source.table, self._source.path, *kinds])
        return ""

    def files(self) -> frozenset[tuple[Any, ...]]:
        """The files behind the table as they are now: name, size and time of writing of each. None
        if it has no files, or they cannot be listed."""
        with quiet(), suppress(Exception), watched(self._spark, FREE):
            names = [unquote(name) for name in self.frame.inputFiles()]
            listed = self._spark.read.format("binaryFile").load(names) if names else None
            if listed is not None:  # their content is not read
                found = listed.select("path", "length", "modificationTime").collect()
                return frozenset(tuple(row) for row in found)
        return frozenset()

    def named(self, frame: DataFrame) -> str:
        """A name for a data frame in statements, until `sweep`."""
        name = f"tenue_{os.getpid()}_{next(_numbers)}"
        frame.createOrReplaceTempView(name)
        self._names.append(name)
        return name

    def sweep(self, keep: int = 1) -> None:
        """Removes the names that were given, except the table's."""
        for name in self._names[keep:]:
            with quiet(), suppress(Exception):
                self._spark.catalog.dropTempView(name)
        del self._names[keep:]

    def of(self, sql: str) -> DataFrame:
        """The data frame of a SELECT; nothing is computed yet."""
        return self._spark.sql(sql)

    def run(self, sql: str) -> list[tuple[Any, ...]]:
        with quiet(), watched(self._spark, FREE):
            return [tuple(row) for row in self.of(sql).collect()]

    def arrow(self, sql: str) -> pyarrow.Table:
        with quiet(), watched(self._spark, FREE):
            return self.of(sql).toArrow()

    def batches(self, sql: str, size: int) -> Iterator[pyarrow.RecordBatch]:
        """Those of a SELECT; a partition is fetched when the one before was read."""
        import pyarrow

        with quiet(), watched(self._spark, FREE):
            written = self.of(sql).mapInArrow(by_value(packed), "part binary")
            for (part,) in written.toLocalIterator():
                with pyarrow.ipc.open_stream(part) as reader:
                    for batch in reader:
                        for start in range(0, batch.num_rows, size):
                            yield batch.slice(start, size)

    def close(self) -> None:
        """Removes the table's name. Spark itself is left running: to start it takes long.

        A connection of our own to a server of Spark Connect is closed: left to the end of the
        process, it would keep that from ending.
        """
        self.sweep(0)
        if isinstance(self._source, Cluster) and self._source.address.startswith(_REMOTE):
            with quiet(), suppress(Exception):
                self._spark.stop()


@contextmanager
def quiet() -> Iterator[None]:
    """Keeps Spark's own loggers in this process silent, whose words may quote rows."""
    from pyspark.logger import PySparkLogger

    loggers = [PySparkLogger.getLogger(name) for name in _LOGGERS]
    before = [logger.disabled for logger in loggers]
    for logger in loggers:
        logger.disabled = True
    try:
        yield
    finally:
        for logger, disabled in zip(loggers, before, strict=True):
            logger.disabled = disabled


def _frame(source: Cluster) -> DataFrame:
    spark = _started(source)
    with suppress(Exception):
        found = _read(spark, source)
        found.schema  # noqa: B018 - Spark Connect notices only now
        return found
    # raised out of reach of the error above
    if source.path:
        raise refuse("engine.spark-lacks-parquet")
    raise refuse("engine.spark-lacks-table", table=".".join(source.table))


def _read(spark: SparkSession, source: Cluster) -> DataFrame:
    if source.path:
        return spark.read.parquet(source.path)
    return spark.table(".".join(map(SPARK.quoted, source.table)))


def _started(source: Cluster) -> SparkSession:
    """A session of its own at this address."""
    if not source.is_here:
        check_reached(source.address)
    made: SparkSession | Refused = refuse("engine.spark-unreachable")
    with suppress(Exception):
        remote = source.address.startswith(_REMOTE)
        made = by_connect(source.address) if remote else _classic(source)
    # raised out of reach of the error above
    if isinstance(made, Refused):
        raise made
    if not source.is_here and not is_free(made, FREE):
        raise refuse("engine.spark-busy", seconds=FREE)
    return made


def is_free(spark: SparkSession, seconds: float) -> bool:
    """Whether the cluster completes a small task in `seconds`; Spark itself waits for ever."""
    tag, done = f"tenue_{os.getpid()}_{next(_numbers)}", threading.Event()

    def try_it() -> None:
        with quiet(), suppress(Exception):
            spark.addTag(tag)
            if spark.range(1).repartition(1).count() == 1:
                done.set()

    def give_up() -> None:
        with quiet(), suppress(Exception):
            spark.interruptTag(tag)

    # both beside this thread, for either may wait as long as the cluster does nothing
    threading.Thread(target=try_it, daemon=True).start()
    if done.wait(seconds):
        return True
    threading.Thread(target=give_up, daemon=True).start()
    return False


def by_connect(address: str) -> SparkSession:
    """A session by Spark Connect.

    PySpark's note about it in the environment is removed: else PySpark would take every other
    session, also in programs that this process starts, for one of that kind.
    """
    from pyspark.sql import SparkSession

    before = os.environ.get(_MODE)
    try:
        spark = SparkSession.builder.remote(address).create()
    finally:
        if before is None:
            os.environ.pop(_MODE, None)
    for setting, value in {**_NEEDED, _ZONE: "UTC"}.items():
        spark.conf.set(setting, value)
    return spark


def _classic(source: Cluster) -> SparkSession | Refused:
    from pyspark.sql import SparkSession

    master = "local[*]" if source.is_here else source.address
    running = SparkSession.getActiveSession()
    if running is not None:
        if running.sparkContext.master != master:
            return refuse("engine.other-spark-in-process")
        return running.newSession()
    if os.environ.get("JAVA_HOME") is None and shutil.which("java") is None:
        return refuse("engine.spark-needs-java")
    made = _java(master)
    if source.is_here and "PYSPARK_PYTHON" not in os.environ:
        # else any program called python3 would run beside the rows, and may have no pyarrow
        made.sparkContext.pythonExec = sys.executable
    return made


def _java(master: str) -> SparkSession:
    """A Java process that keeps rows to itself: by default Spark sorts in a folder that everybody
    may read, and logs to this process's screen."""
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    folder = Scratch()
    own = {"spark.master": master, "spark.local.dir": str(folder.path)}
    settings = SparkConf(loadDefaults=False).setAll(
        [*{**_START, **_NEEDED, **own, _ZONE: "UTC"}.items()]
    )
    unheard = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    made = SparkSession(SparkContext(conf=settings, gateway=launch_gateway(settings, unheard)))
    _kept.append(folder)  # as long as this process, and so Java, lasts
    return made


def check_reached(address: str) -> None:
    """Refuses an address at which nobody listens: Spark itself would wait for minutes."""
    parts = urlsplit(address)
    with suppress(OSError, ValueError):
        port = parts.port or _PORTS[parts.scheme]
        socket.create_connection((parts.hostname or "", port), timeout=_WAIT).close()
        return
    raise refuse("engine.spark-unreachable")
