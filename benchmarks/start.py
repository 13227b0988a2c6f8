"""How long a command takes from the prompt and back, on a small table, when all is warm.

    python benchmarks/start.py

Prints a table and writes benchmarks/results/start.json. The target is that of issue 12: 0.45 s for
`tenue ask` on a CSV and a Parquet file, the median of 15 runs, each with a new question on a ledger
that is there. A busy machine disturbs seconds, so each row has more numbers: the seconds of the
processor, median and least, and the ratio of the least to `python -c "import duckdb, sqlglot"` in
the same rounds. The floor is what no Tenue could do without: it loads the same libraries, reads the
CSV file with DuckDB, commits twice to SQLite, and ends at once.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
from record import record
from rich.console import Console
from rich.table import Table

RUNS = 15
TARGET = 0.45
SOURCE = Path(__file__).parent.parent / "src"
SCHEMA = """
[table]
name = "census"
source = "census.{kind}"
unit = "record"
neighbours = "add-or-remove"
[columns.income]
type = "number"
bounds = [0, 200_000]
grid = 1
[columns.region]
type = "category"
categories = ["North", "South"]
[budget]
total = 1_000
"""
COUNT = "SELECT COUNT(*) FROM census WHERE income > {turn}"
MEANS = "SELECT region, AVG(income) AS mean FROM census WHERE income > {turn} GROUP BY region"
ASK = ["-m", "tenue", "ask"]
TERMS = ["--epsilon", "0.5"]
IMPORT = "import duckdb, sqlglot"
FLOOR = """
import os
os.environ["OPENBLAS_NUM_THREADS"] = "1"
import duckdb, numpy, sqlglot, sqlite3
sqlglot.parse_one("SELECT COUNT(*) FROM census WHERE income > 1", dialect="duckdb")
rows = duckdb.connect()
rows.execute("SELECT COUNT(*) FROM read_csv('census.csv', all_varchar = true)").fetchall()
rows.close()
books = sqlite3.connect("floor.db", isolation_level=None)
books.execute("PRAGMA journal_mode = WAL")
books.execute("PRAGMA synchronous = FULL")
books.execute("CREATE TABLE IF NOT EXISTS spent (price)")
books.execute("INSERT INTO spent VALUES (1)")
books.execute("INSERT INTO spent VALUES (2)")
books.close()
os._exit(0)
"""
CASES: dict[str, tuple[list[str], float | None]] = {
    "pass": (["-c", "pass"], None),
    "import duckdb": (["-c", "import duckdb"], None),
    IMPORT: (["-c", IMPORT], None),
    "the floor of an answer": (["-c", FLOOR], None),
    "tenue --help": (["-m", "tenue", "--help"], None),
    "tenue ask, CSV": ([*ASK, COUNT, "--schema", "csv.toml", *TERMS], TARGET),
    "tenue ask, Parquet": ([*ASK, COUNT, "--schema", "parquet.toml", *TERMS], TARGET),
    "tenue ask, means by region": ([*ASK, MEANS, "--schema", "csv.toml", *TERMS], None),
    "tenue explain": (["-m", "tenue", "explain", COUNT, "--schema", "csv.toml", *TERMS], None),
    "tenue ledger show": (["-m", "tenue", "ledger", "show", "census.ledger"], None),
    "tenue check": (["-m", "tenue", "check", "census.csv", "--quasi-identifiers", "region"], None),
}


def prepare(folder: Path) -> None:
    rows = pa.table({"income": [31_000, 52_000, 78_000] * 400, "region": ["North", "South"] * 600})
    pyarrow.csv.write_csv(rows, folder / "census.csv")
    pq.write_table(rows, folder / "census.parquet")
    for kind in ("csv", "parquet"):
        (folder / f"{kind}.toml").write_text(SCHEMA.format(kind=kind))


def run(words: list[str], turn: int, folder: Path) -> tuple[float, float]:
    """Seconds by the clock and of the processor."""
    # bytecode is kept, as it is wherever Tenue is installed
    env = {**os.environ, "PYTHONPATH": str(SOURCE), "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(
        [sys.executable, *(word.format(turn=turn) for word in words)],
        check=True,
        cwd=folder,
        env=env,
        stdout=subprocess.DEVNULL,
    )
    wall, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in CASES}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder)
        for turn in range(RUNS + 1):  # in turn, so that a busy minute disturbs all alike
            for case, (words, _) in CASES.items():
                took = run(words, turn, folder)
                if turn:
                    found[case].append(took)
    base = min(cpu for _, cpu in found[IMPORT])
    rows = []
    shown = Table("", "median s", "least s", "processor s", "least", "ratio", "target s")
    for case, (_, target) in CASES.items():
        walls, processor = zip(*found[case], strict=True)
        median = statistics.median(walls)
        row = {
            "name": case,
            "runs": RUNS,
            "seconds": round(median, 3),
            "least_seconds": round(min(walls), 3),
            "processor_seconds": round(statistics.median(processor), 3),
            "least_processor_seconds": round(min(processor), 3),
            "ratio": round(min(processor) / base, 2),
            "target": target,
            "met": None if target is None else median <= target,
        }
        rows.append(row)
        shown.add_row(*(str(value) for key, value in row.items() if key not in ("runs", "met")))
    Console().print(shown)
    print(record("start", rows))


if __name__ == "__main__":
    main()
