"""What `engines.py --spark` measures: private answers beside the same questions in Spark.

Spark runs on this machine, with two processors, and reads a Parquet folder that it wrote. Seconds
are processor seconds of this process and of all that descend from it: the Java process, in which
driver and executors are one, and its Python workers. `reached` is what the tasks of a question
handed to the driver, in bytes, as Spark itself counts it; an executor's own memory is not in it.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tenue as tn

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from spark_cluster import start

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_TICKS = os.sysconf("SC_CLK_TCK")
RELEASE = "ordered private release of two columns"
RELEASE_BAR = 2.5


_seen: dict[int, int] = {}


def used() -> float:
    """Processor seconds of this process and its descendants, as far as each was seen.

    Idle Python workers end, and the ticks of one that ended stand nowhere: its last are kept.
    """
    parents, ticks = dict[int, int](), dict[int, int]()
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:  # it ended meanwhile
                continue
            parents[int(folder.name)] = int(fields[1])
            ticks[int(folder.name)] = sum(map(int, fields[11:13]))
    ours = {os.getpid()}
    while more := {one for one, parent in parents.items() if parent in ours} - ours:
        ours |= more
    _seen.update({one: ticks[one] for one in ours})
    return sum(_seen.values()) / _TICKS


def reached(spark: SparkSession) -> tuple[int, int]:
    """Bytes that all tasks so far handed to the driver, and how many tasks there were."""
    context: Any = spark.sparkContext
    none = context._jvm.java.util.ArrayList()
    quantiles = context._gateway.new_array(context._jvm.double, 0)
    stages = context._jsc.sc().statusStore().stageList(none, False, False, quantiles, none)
    found = [stages.apply(i) for i in range(stages.size())]
    return sum(s.resultSize() for s in found), sum(s.numCompleteTasks() for s in found)


def write_table(
    spark: SparkSession, folder: Path, rows: int, each: int, groups: int, high: int
) -> DataFrame:
    """Rows that depend on nothing but their number, in files."""

    def mixed(seed: int) -> str:
        return f"(xxhash64(id, {seed}) & 9007199254740991)"

    path = str(folder / f"rows_{rows}")
    if Path(path).exists():
        return spark.read.parquet(path)
    spark.range(0, rows, 1, 8).selectExpr(
        f"CAST({mixed(1)} % {max(rows // each, 1)} AS INT) AS person",
        f"concat('g', lpad(CAST({mixed(2)} % {groups} AS STRING), 2, '0')) AS text",
        f"concat('g', {mixed(2)} % 10) AS few",
        f"CAST({mixed(3)} AS DOUBLE) / 9007199254740992 * {high} AS double",
        f"CAST({mixed(4)} % {high} AS INT) AS int32",
        f"{mixed(5)} % {high} AS int64",
    ).write.parquet(path)
    return spark.read.parquet(path)


def released(frame: DataFrame, high: int) -> tuple[Callable[[], object], Callable[[], object]]:
    """An ordered private release of two columns, and a sort and a GROUP BY of the same rows."""
    two = frame.selectExpr("int32 AS x", "int64 AS y")
    number = {"type": "number", "bounds": [0, high]}
    declared = {
        "table": {"name": "t", "unit": "record", "neighbours": "replace"},
        "columns": {"x": number, "y": number},
        "budget": {"total": 1000},
    }

    def ours() -> object:
        books = tn.ledger.Memory()
        return tn.publish(
            two,
            schema=declared,
            ledger=books,
            method="private",
            epsilon=1,
            by="microaggregation",
            memory=1 << 27,
        ).rows

    def raw() -> object:
        two.orderBy("x", "y").write.format("noop").mode("overwrite").save()
        two.groupBy("x", "y").count().write.format("noop").mode("overwrite").save()
        return None

    return raw, ours


class Spark:
    """A session of Spark and a folder, for as long as the context lasts."""

    def __enter__(self) -> Spark:
        self._folder = tempfile.TemporaryDirectory(prefix="tenue-")
        self.spark = start()
        return self

    def __exit__(self, *_: object) -> None:
        self.spark.stop()
        self._folder.cleanup()

    def table(self, rows: int, each: int, groups: int, high: int) -> DataFrame:
        return write_table(self.spark, Path(self._folder.name), rows, each, groups, high)
