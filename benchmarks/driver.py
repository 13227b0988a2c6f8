"""What the driver holds while Spark answers: as much for a hundred million rows as for one.

    python benchmarks/driver.py [--rows 1000000 10000000 100000000] [--release 1000000 10000000]

A standalone master and two workers of its own hold the rows in files; each size has a driver of
its own, a process of Python and one of Java that may use one gigabyte. `live` is what Java still
holds after a question when its garbage was collected, `most` the largest resident memory of Java
and of Python while it was asked, garbage included; both in megabytes. Executors are other
processes, and not in it.

Writes benchmarks/results/driver.json.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import engines_spark as there
from engines import EACH, GROUPS, HIGH, IN_SPARK, MOST_OF_PEOPLE, schema
from record import record
from rich.console import Console
from rich.table import Table

import tenue as tn

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from spark_cluster import Machines, start

SIZES = [1_000_000, 10_000_000, 100_000_000]
ASKED = ("doubles by 100 groups", "median of doubles", "three rows of each person")
_MEGABYTE = 1 << 20


@dataclass(frozen=True)
class Held:
    name: str
    rows: int
    live: int
    most_of_java: int
    most_of_python: int


def most(process: int) -> int:
    """The largest resident memory of a process since it was last forgotten, in megabytes."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) >> 10
    raise ValueError("no such process")


def forget(process: int) -> None:
    Path(f"/proc/{process}/clear_refs").write_text("5")


def live(spark: Any) -> int:
    """What Java holds when its garbage was collected, in megabytes."""
    heap = spark.sparkContext._jvm.java.lang.management.ManagementFactory.getMemoryMXBean()
    heap.gc()
    return int(heap.getHeapMemoryUsage().getUsed()) // _MEGABYTE


def held(spark: Any, name: str, rows: int, work: Callable[[], object]) -> Held:
    java = int(spark.sparkContext._jvm.java.lang.ProcessHandle.current().pid())
    work()  # warms up
    live(spark)
    forget(java)
    forget(os.getpid())
    work()
    peaks = most(java), most(os.getpid())
    return Held(name, rows, live(spark), *peaks)


def measured(address: str, folder: Path, rows: int, *, release: bool) -> list[Held]:
    """One driver's questions, or its release."""
    os.environ["PYSPARK_SUBMIT_ARGS"] = "--driver-memory 1g pyspark-shell"
    spark = start(address)
    frame = there.write_table(spark, folder, rows, EACH, GROUPS, HIGH)
    if release:
        _, publish = there.released(frame, HIGH)
        return [held(spark, there.RELEASE, rows, publish)]
    found = []
    for people in (False, True):
        with tn.protect(frame, schema=schema(people=people), ledger=tn.ledger.Memory()) as data:
            for case in IN_SPARK:
                small = rows <= MOST_OF_PEOPLE or not case.people
                if case.name in ASKED and case.people == people and small:
                    ask = partial(data.ask, case.ours, epsilon=1, fresh=True)
                    found.append(held(spark, case.name, rows, ask))
    return found


def in_a_driver(address: str, folder: Path, rows: int, *, release: bool) -> list[Held]:
    kind = "release" if release else "ask"
    words = [sys.executable, __file__, "--driver", address, str(folder), str(rows), kind]
    done = subprocess.run(words, stdout=subprocess.PIPE, check=True, text=True)
    return [Held(**row) for row in json.loads(done.stdout.splitlines()[-1])]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="*", default=SIZES)
    parser.add_argument("--release", type=int, nargs="*", default=SIZES[:2])
    parser.add_argument("--driver", nargs=4, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.driver:
        address, folder, rows, kind = given.driver
        found = measured(address, Path(folder), int(rows), release=kind == "release")
        print(json.dumps([asdict(row) for row in found]))
        return
    rows = []
    with tempfile.TemporaryDirectory(prefix="tenue-") as folder:
        machines = Machines(Path(folder))
        try:
            for release, sizes in ((False, given.rows), (True, given.release)):
                for size in sizes:
                    rows += in_a_driver(machines.address, Path(folder), size, release=release)
                    print(rows[-1], file=sys.stderr)
        finally:
            machines.remove()
    table = Table("what the driver does", "rows", "live MB", "most, Java", "most, Python")
    for row in sorted(rows, key=lambda row: (row.name, row.rows)):
        memory = row.live, row.most_of_java, row.most_of_python
        table.add_row(row.name, f"{row.rows:,}", *(f"{megabytes:,}" for megabytes in memory))
    Console().print(table)
    record("driver", [asdict(row) for row in rows])


if __name__ == "__main__":
    main()
