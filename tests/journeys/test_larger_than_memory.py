"""The memory that a release or a check takes does not grow with the table that it is about."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.any_draw("how much memory is held follows from the numbers of rows and columns"),
]

PUBLISH = """
import re, sys
import tenue as tn

path, by, memory, out = sys.argv[1:]
number = {"type": "number", "bounds": [0, 99_999]}
schema = {
    "table": {"name": "large", "unit": "record", "neighbours": "replace"},
    "columns": {
        "x": {**number, "role": "quasi-identifier"},
        "y": {**number, "role": "confidential"},
    },
    "budget": {"total": 1},
}
groups = {
    "each-confidential": "swap",
    "multidimensional": "generalise",
    "each-quasi-identifier": "microaggregate",
    "confidential": "anatomy",
}
how = {"method": "private", "epsilon": 1, "by": by}
if by in groups:
    how = {"method": groups[by], "by": by, "k": 50}
elif by == "t-close":
    how = {"method": "t-close", "t": 2, "k": 50}
books = tn.ledger.Memory()
made = tn.publish(path, schema=schema, memory=int(memory), ledger=books, **how)
made.save(out)
# of this program alone: getrusage would count what the process held that started it
with open("/proc/self/status") as status:
    print(made.rows, int(re.search(r"VmHWM:\\s+(\\d+)", status.read())[1]) // 1024)
"""


def megabytes(folder: Path, rows: int, by: str, memory: int) -> int:
    """The most that a process holds which publishes a table of so many rows and saves it."""
    path = folder / f"{rows}.parquet"
    if not path.exists():
        values = np.random.default_rng(1).integers(0, 10_000, (rows, 2)) ** 2 // 1000
        pq.write_table(pa.table({"x": values[:, 0], "y": values[:, 1]}), path)
    out = folder / f"{rows} {by} {memory}"
    command = [sys.executable, "-c", PUBLISH, str(path), by, str(memory), str(out)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    written, held = map(int, done.stdout.split())
    several = by in ("confidential", "t-close")
    name = "quasi_identifiers.parquet" if several else "table.parquet"
    assert written == rows == pq.read_metadata(out / name).num_rows
    return held


@pytest.mark.parametrize(
    "by",
    [
        "tree",
        "two-stage",
        "microaggregation",
        "each-confidential",
        "multidimensional",
        "each-quasi-identifier",
        "confidential",
        "t-close",
    ],
)
def test_memory_does_not_follow_the_rows(by: str, tmp_path: Path) -> None:
    small, large = (megabytes(tmp_path, rows, by, 128 << 20) for rows in (1_500_000, 6_000_000))
    assert large < small + 120
    # the same table at once, which is what a wrong choice would do
    assert megabytes(tmp_path, 6_000_000, by, 16 << 30) > 2 * large


CHECK = """
import re, sys
from tenue.evaluate import rows; from tenue.evaluate import check

path, memory = sys.argv[1:]
rows._MEMORY = rows.LARGE = int(memory)
known, wanted = ["age", "town"], ["pay"]
found = check(path, quasi_identifiers=known, confidential=wanted)
with open("/proc/self/status") as status:
    held = int(re.search(r"VmHWM:\\s+(\\d+)", status.read())[1]) // 1024
print(found.reading.by, found.rows, found.k, held)
"""
ROWS, LIMIT = 24_000_000, 128 << 20


@pytest.mark.parametrize("kind", ["parquet", "duckdb"])
def test_a_table_larger_than_memory_is_checked(kind: str, tmp_path: Path) -> None:
    """The process holds less than the table in memory, and DuckDB may hold less than the file."""
    path, source = tmp_path / f"large.{kind}", str(tmp_path / f"large.{kind}")
    columns = "i % 97 AS age, i % 89 AS town, hash(i) % 1000 AS pay, hash(i + 1) AS more"
    sql = f"SELECT {columns} FROM range({ROWS}) t(i)"  # noqa: S608
    with duckdb.connect(source if kind == "duckdb" else ":memory:") as connection:
        connection.execute("SET memory_limit = '1GB'")
        if kind == "duckdb":
            connection.execute(f"CREATE TABLE t AS {sql}")
            source = f"duckdb://{source}#t"
        else:
            how = "FORMAT parquet, COMPRESSION uncompressed"
            connection.execute(f"COPY ({sql}) TO '{path}' ({how})")
    assert path.stat().st_size > LIMIT
    in_memory = ROWS * 4 * 8 >> 20
    command = [sys.executable, "-c", CHECK, source, str(LIMIT)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    by, rows, k, held = done.stdout.split()
    assert (by, int(rows), int(k)) == ("DuckDB", ROWS, ROWS // (97 * 89))
    assert int(held) < in_memory  # read at once, it would be 6,769
