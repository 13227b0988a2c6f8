"""What a private answer costs beside the same question asked of DuckDB itself.

    python benchmarks/ask.py [--rows 10000000] [--rounds 7]

Part 1, the whole journey: COUNT(*), SUM and AVG by 100 groups over a Parquet file, raw and through
`ask` (parse, plan, ledger in memory, exact sums, noise, answer). The two kinds take turns in
processes of their own, each of which asks five times once the table is open. Seconds are processor
seconds of all threads; ratios are of the least seconds of each kind, which a busy machine disturbs
least. `tidy` values all lie in their bounds; `untidy` ones have one in a hundred outside, and one
in a thousand each missing, NaN and infinite.

Part 2, planning: the middle of five plans for each question, each at a new epsilon.

Writes benchmarks/results/ask.json.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

import duckdb
from beside import least, measure, seconds, show
from record import record
from rich.console import Console
from rich.table import Table

import tenue as tn
from tenue.ask.explain import plan_for
from tenue.ask.paid_request import Terms
from tenue.schema import Schema

GROUPS = 100
HIGH = 200_000
RUNS = 5
FLOAT_BAR, INTEGER_BAR, MEMORY_BAR, PLANNING_BAR = 1.4, 1.2, 2.0, 30.0
PLANNED = [
    "SELECT text, COUNT(*), SUM(double), AVG(double) FROM t GROUP BY text",
    "SELECT COUNT(*) FROM t WHERE int32 > 100",
    "SELECT AVG(int64) FROM t WHERE text = 'g01'",
    "SELECT COUNT(*), SUM(double), SUM(int32) FROM t",
    "SELECT COUNT(*), SUM(double), SUM(int32), SUM(int64), COUNT(double) FROM t",
]


@dataclass(frozen=True)
class Case:
    """A column to add up, a key to group by, and what the ratio of seconds may be at most."""

    column: str
    key: str
    tidy: bool
    bar: float | None

    @property
    def name(self) -> str:
        return f"{self.column} by {self.key}, {'tidy' if self.tidy else 'untidy'}"


CASES = [
    Case("double", "text", True, FLOAT_BAR),
    Case("double", "text", False, FLOAT_BAR),
    Case("double", "number", True, FLOAT_BAR),
    Case("int32", "text", True, INTEGER_BAR),
    Case("int32", "text", False, None),
    Case("int32", "number", True, INTEGER_BAR),
    Case("int64", "text", True, INTEGER_BAR),
    Case("int64", "text", False, None),
]


def schema() -> Schema:
    whole = {"type": "number", "bounds": [0, HIGH]}
    return Schema.from_dict(
        {
            "table": {"name": "t", "unit": "record", "neighbours": "add-or-remove"},
            "columns": {
                "double": whole | {"grid": 0.01},
                "int32": whole,
                "int64": whole,
                "text": {"type": "category", "categories": [f"g{i:02d}" for i in range(GROUPS)]},
                "number": {"type": "category", "categories": [str(i) for i in range(GROUPS)]},
            },
            "budget": {"total": 1000},
        }
    )


def write_table(path: Path, rows: int, *, tidy: bool) -> None:
    """Rows that depend on nothing but their number."""
    number, spread = (0, HIGH) if tidy else (-HIGH // 100, HIGH + 2 * (HIGH // 100))
    odd = "FALSE" if tidy else "hash(3 * i) % 1000 = {}"
    whole = f"CAST(hash(5 * i + 3) % {spread} AS BIGINT) + {number}"
    double = f"(hash(7 * i + 1) % 1000000) / 1e6 * {spread} + {number}"
    with duckdb.connect() as connection:
        connection.execute(
            f"""COPY (SELECT
                printf('g%02d', CAST(hash(i) % {GROUPS} AS INTEGER)) AS text,
                CAST(hash(i) % {GROUPS} AS INTEGER) AS number,
                CASE WHEN {odd.format(0)} THEN NULL
                     WHEN {odd.format(1)} THEN CAST('nan' AS DOUBLE)
                     WHEN {odd.format(2)} THEN CAST('inf' AS DOUBLE) ELSE {double} END AS double,
                CASE WHEN {odd.format(0)} THEN NULL ELSE CAST({whole} AS INTEGER) END AS int32,
                CASE WHEN {odd.format(0)} THEN NULL ELSE {whole} END AS int64
            FROM range({rows}) AS r(i)) TO '{path}' (FORMAT parquet)"""  # noqa: S608
        )


def worker(kind: str, column: str, key: str, path: str) -> None:
    """Asks, in this process, and prints the least seconds and the peak of memory."""
    if kind == "raw":
        connection = duckdb.connect()
        sql = (
            f"SELECT {key}, COUNT(*), SUM({column}), AVG({column}) "  # noqa: S608
            f"FROM read_parquet('{path}') GROUP BY {key}"
        )

        def ask() -> int:
            return len(connection.execute(sql).fetchall())
    else:
        data = tn.protect(path, schema=schema(), ledger=tn.ledger.Memory())
        question = f"SELECT {key}, COUNT(*), SUM({column}), AVG({column}) FROM t GROUP BY {key}"  # noqa: S608

        def ask() -> int:
            return len(data.ask(question, epsilon=1, fresh=True).value)

    def all_there() -> None:
        assert ask() == GROUPS

    least(all_there, RUNS)


def planning() -> list[dict[str, object]]:
    """Processor milliseconds of parse, plan and choose; no table is there."""
    rows: list[dict[str, object]] = []
    declared = schema()
    for question in PLANNED:
        found = []
        for turn in range(RUNS):
            before = seconds()
            plan_for(question, declared, Terms(epsilon=0.5 + turn / 100))
            found.append((seconds() - before) * 1000)
        middle = round(sorted(found)[RUNS // 2], 1)
        rows.append(
            {"name": question, "milliseconds": middle, "bar": 30, "met": middle <= PLANNING_BAR}
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--worker", nargs=4, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        worker(*given.worker)
        return
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for tidy in (True, False):
            path = Path(folder) / f"{tidy}.parquet"
            write_table(path, given.rows, tidy=tidy)
            cases = [case for case in CASES if case.tidy == tidy]
            for case in cases:
                words = [case.column, case.key, str(path)]
                rows.append(
                    measure(
                        case.name,
                        given.rows,
                        given.rounds,
                        lambda kind, words=words: [kind, *words],  # type: ignore[misc]
                        case.bar,
                        MEMORY_BAR,
                    )
                )
    show(rows)
    planned = planning()
    table = Table("planning", "CPU ms", "met")
    for row in planned:
        table.add_row(str(row["name"]), str(row["milliseconds"]), "yes" if row["met"] else "NO")
    Console().print(table)
    record("ask", [*(asdict(row) for row in rows), *planned])


if __name__ == "__main__":
    main()
