"""What a private answer costs beside the same question asked of the server that holds the table.

    python benchmarks/engines.py [--rows 10000000] [--rounds 5] [--spark] [--release ROWS]

A PostgreSQL server of its own (as the tests start one) holds a table of ten rows for each person.
Raw SQL and `ask` take turns, after one turn of each that does not count. `ask` is the whole
journey: parse, plan, ledger in memory, exact sums, noise, answer. Seconds are processor seconds of
the server, with all its workers, and of this process; ratios are of the least seconds of each kind,
which a busy machine disturbs least. How cost grows is told by tables of a tenth and a hundredth of
the rows, and by groups. With --spark the same of Spark instead (`engines_spark.py`), from
a tenth on, and a release.

Writes benchmarks/results/engines.json, in which the rows of the other engine stay.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
from record import RESULTS, record
from rich.console import Console
from rich.table import Table

import tenue as tn
from tenue.ask.session import Session

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from postgres_server import Server

GROUPS, HIGH, EACH = 100, 200_000, 10
MOST_OF_PEOPLE = 10_000_000  # rows of persons in Spark: the two processors here share one memory
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Case:
    """A question as the server is asked itself, and as we are; at most how often as dear.

    people: whether at most three rows of each person count.
    """

    name: str
    raw: str
    ours: str
    bar: float | None
    people: bool = False


def _by_group(column: str, key: str = "text") -> str:
    return f"SELECT {key}, COUNT(*), SUM({column}), AVG({column}) FROM t GROUP BY {key}"  # noqa: S608


_MEDIAN = "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY {0}) FROM t"
CASES = [
    Case("doubles by 100 groups", _by_group("double"), _by_group("double"), 2.0),
    Case("whole numbers by 100 groups", _by_group("int32"), _by_group("int32"), 1.6),
    Case("long numbers by 100 groups", _by_group("int64"), _by_group("int64"), 1.6),
    Case("doubles by 10 groups", _by_group("double", "few"), _by_group("double", "few"), None),
    Case("median of doubles", _MEDIAN.format("double"), "SELECT MEDIAN(double) FROM t", 3.0),
    Case("median of whole numbers", _MEDIAN.format("int32"), "SELECT MEDIAN(int32) FROM t", 3.0),
    Case("three rows of each person", _by_group("double"), _by_group("double"), 12.0, people=True),
]


_APPROXIMATE = "SELECT percentile_approx({0}, 0.5) FROM t"
IN_SPARK = [
    replace(case, raw=_APPROXIMATE.format(case.ours[14:-8]) if "MEDIAN" in case.ours else case.raw)
    for case in CASES
]
SPARK_BARS = {2.0: 1.5, 1.6: 1.5, 3.0: 1.0, 12.0: 20.0}
"""What is allowed in Spark where PostgreSQL has so much."""


@dataclass(frozen=True)
class Row:
    """reached, tasks: for Spark, bytes that one question's tasks handed to the driver."""

    engine: str
    date: str
    name: str
    rows: int
    raw_seconds: float
    seconds: float
    ratio: float
    bar: float | None
    met: bool | None
    reached: int | None = None
    tasks: int | None = None


def schema(*, people: bool) -> dict[str, Any]:
    whole = {"type": "number", "bounds": [0, HIGH]}
    table: dict[str, Any] = {"name": "t", "unit": "record", "neighbours": "add-or-remove"}
    if people:
        table |= {"unit": "person", "rows_per_unit": 3}
    return {
        "table": table,
        "columns": {
            "person": {"type": "identifier"},
            "double": whole | {"grid": 0.01},
            "int32": whole,
            "int64": whole,
            "text": {"type": "category", "categories": [f"g{i:02d}" for i in range(GROUPS)]},
            "few": {"type": "category", "categories": [f"g{i}" for i in range(10)]},
        },
        "budget": {"total": 10_000},
    }


def write_table(server: Server, rows: int) -> str:
    """Rows that depend on nothing but their number; the address of their table."""
    name = f"rows_{rows}"
    mixed = "(hashint8extended(i, {0}) & 9007199254740991)"
    with psycopg.connect(server.address(), autocommit=True) as connection:
        connection.execute(
            f"""CREATE UNLOGGED TABLE {name} AS SELECT
                CAST({mixed.format(1)} % {max(rows // EACH, 1)} AS integer) AS person,
                'g' || lpad(CAST({mixed.format(2)} % {GROUPS} AS text), 2, '0') AS text,
                'g' || {mixed.format(2)} % 10 AS few,
                CAST({mixed.format(3)} AS double precision) / 9007199254740992 * {HIGH} AS double,
                CAST({mixed.format(4)} % {HIGH} AS integer) AS int32,
                {mixed.format(5)} % {HIGH} AS int64
            FROM generate_series(1, {rows}) AS r(i)""".encode()  # noqa: S608
        )
        connection.execute(f"VACUUM ANALYZE {name}".encode())
        connection.execute(b"CHECKPOINT")
    return f"{server.address()}#{name}"


def used_by(server: int) -> float:
    """Processor seconds of a server's processes, those that have ended included."""
    ticks = 0
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:  # it ended meanwhile, and the server has its ticks
                continue
            if int(folder.name) == server:
                ticks += sum(map(int, fields[11:15]))
            elif int(fields[1]) == server:
                ticks += sum(map(int, fields[11:13]))
    return ticks / _TICKS


def seconds_of(work: Callable[[], object], used: Callable[[], float]) -> float:
    before = used()
    work()
    time.sleep(0.05)  # workers of the server end a little later
    return used() - before


def compared(
    case: Case,
    rows: int,
    rounds: int,
    ask: Callable[[], object],
    raw: Callable[[], object],
    used: Callable[[], float],
    engine: str = "PostgreSQL",
) -> Row:
    spent: dict[str, list[float]] = {"raw": [], "ours": []}
    for turn in range(rounds + 1):
        for kind, work in (("raw", raw), ("ours", ask)):
            seconds = seconds_of(work, used)
            if turn:  # the first one warms up
                spent[kind].append(seconds)
    least, ours = min(spent["raw"]), min(spent["ours"])
    ratio = round(ours / least, 2) if least else 0.0
    met = None if case.bar is None else ratio <= case.bar
    date = datetime.now(UTC).isoformat(timespec="seconds")
    times = round(least, 3), round(ours, 3)
    return Row(engine, date, case.name, rows, *times, ratio, case.bar, met)


def measured(server: Server, process: int, rows: int, rounds: int) -> list[Row]:
    address = write_table(server, rows)
    found = []
    sessions: dict[bool, Session] = {
        people: tn.protect(address, schema=schema(people=people), ledger=tn.ledger.Memory())
        for people in (False, True)
    }
    with psycopg.connect(server.address(), autocommit=True) as connection:
        for case in CASES:
            data, sql = sessions[case.people], case.raw.replace("FROM t", f"FROM rows_{rows}")
            found.append(
                compared(
                    case,
                    rows,
                    rounds,
                    lambda data=data, case=case: data.ask(case.ours, epsilon=1, fresh=True),  # type: ignore[misc]
                    lambda sql=sql: connection.execute(sql.encode()).fetchall(),  # type: ignore[misc]
                    lambda: used_by(process) + time.process_time(),
                )
            )
            print(found[-1], file=sys.stderr)
    for data in sessions.values():
        data.close()
    with psycopg.connect(server.address(), autocommit=True) as connection:
        connection.execute(f"DROP TABLE rows_{rows}".encode())
    return found


def _collected(spark: Any, sql: str) -> object:
    return spark.sql(sql).collect()


def measured_in_spark(rows: int, rounds: int, release: int) -> list[Row]:
    import engines_spark as there

    found = []
    with there.Spark() as here:
        spark = here.spark
        for size in (rows // 10, rows):
            frame = here.table(size, EACH, GROUPS, HIGH)
            frame.createOrReplaceTempView("t")
            sessions = {
                people: tn.protect(frame, schema=schema(people=people), ledger=tn.ledger.Memory())
                for people in (False, True)
            }
            for case in IN_SPARK:
                if case.people and size > MOST_OF_PEOPLE:
                    continue
                data = sessions[case.people]
                bar = None if case.bar is None else SPARK_BARS[case.bar]
                ask = partial(data.ask, case.ours, epsilon=1, fresh=True)
                raw = partial(_collected, spark, case.raw)
                judged = replace(case, bar=bar)
                row = compared(judged, size, rounds, ask, raw, there.used, "Spark")
                before = there.reached(spark)
                ask()
                after = there.reached(spark)
                found.append(replace(row, reached=after[0] - before[0], tasks=after[1] - before[1]))
                print(found[-1], file=sys.stderr)
            for data in sessions.values():
                data.close()
        if release:
            plain, ours = there.released(here.table(release, EACH, GROUPS, HIGH), HIGH)
            case = Case(there.RELEASE, "", "", there.RELEASE_BAR)
            found.append(compared(case, release, 1, ours, plain, there.used, "Spark"))
            print(found[-1], file=sys.stderr)
    return found


def measured_in_postgres(rows: int, rounds: int) -> list[Row]:
    server, found = Server(), list[Row]()
    try:
        server.stop()
        process = server.start("shared_buffers=512MB", "max_wal_size=4GB", "work_mem=64MB")
        for size in (rows // 100, rows // 10, rows):
            found += measured(server, process, size, rounds)
    finally:
        server.remove()
    return found


def of_others(engine: str) -> list[dict[str, Any]]:
    """What was recorded of other engines; they have their own dates."""
    path = RESULTS / "engines.json"
    before = json.loads(path.read_text()) if path.exists() else {"rows": []}
    return [row for row in before["rows"] if row["engine"] != engine]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--spark", action="store_true", help="Spark instead of PostgreSQL")
    parser.add_argument("--release", type=int, default=0, help="with --spark: rows of a release")
    given = parser.parse_args()
    if given.spark:
        rows = measured_in_spark(given.rows, given.rounds, given.release)
    else:
        rows = measured_in_postgres(given.rows, given.rounds)
    table = Table("question", "rows", "raw s", "ours s", "ratio", "bar", "met")
    for row in rows:
        judged = row.bar is not None and row.rows in (given.rows, given.release)
        table.add_row(
            row.name,
            f"{row.rows:,}",
            f"{row.raw_seconds:.3f}",
            f"{row.seconds:.3f}",
            f"{row.ratio:.2f}",
            f"{row.bar}" if judged else "",
            ("yes" if row.met else "NO") if judged else "",
        )
    Console().print(table)
    engine = "Spark" if given.spark else "PostgreSQL"
    record("engines", [*of_others(engine), *(asdict(row) for row in rows)])


if __name__ == "__main__":
    main()
