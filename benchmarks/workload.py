"""How far off the answers of whole workloads are, beside others who answer one by one.

RMSE at epsilon = 1, from exact variances. OpenDP and Tumult Analytics have no planner for many
questions in pure differential privacy: each question gets epsilon/D. Their errors are those of
2,000 counts that they really drew (`workload_others.py`), beside the formula of their law, which
both share: the discrete Laplace law, or two-sided geometric.

    .venv/bin/python benchmarks/workload.py                     a table
    .venv/bin/python benchmarks/workload.py --others PYTHON     with a Python that has opendp and
                                                                tmlt.analytics, and is not ours
    .venv/bin/python benchmarks/workload.py --out chart.svg     a chart too
    .venv/bin/python benchmarks/workload.py --large             planning of written thresholds, and
                                                                10M rows beside a raw GROUP BY
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from record import record
from rich.console import Console
from rich.table import Table
from workload_chart import chart

import tenue as tn
from tenue.ask.explain import explain_many
from tenue.ask.sql.parse import parse
from tenue.ask.workload.plan import plan_workload
from tenue.ask.workload.workloads import Declared, Line, marginals, prefixes, ranges
from tenue.privacy.loss import EpsilonDelta
from tenue.schema import Schema

OTHERS = Path(__file__).with_name("workload_others.py")
MOST_DRAWN = 10_000
"""Tumult and OpenDP are asked up to so many questions; of more, their law says enough."""


def line_schema(values: int, neighbours: str = "add-or-remove") -> Schema:
    return Schema.from_dict(
        {
            "table": {"name": "t", "unit": "record", "neighbours": neighbours},
            "columns": {"x": {"type": "number", "bounds": [0, values - 1], "missing": 0}},
            "budget": {"total": 99},
        }
    )


def tables_schema(sizes: Sequence[int]) -> Schema:
    columns: dict[str, Any] = {}
    for place, size in enumerate(sizes):
        words = [f"v{i}" for i in range(size)]
        columns[f"c{place}"] = {"type": "category", "categories": words, "missing": "v0"}
    table = {"name": "t", "unit": "record", "neighbours": "add-or-remove"}
    return Schema.from_dict({"table": table, "columns": columns, "budget": {"total": 1}})


def one_by_one(questions: int) -> float:
    """The standard deviation of a count at epsilon/D."""
    return 1 / math.sqrt(2) / math.sinh(1 / questions / 2)


def measured(
    name: str, asked: list[str] | Declared, schema: Schema, questions: int, minimise: str
) -> dict[str, Any]:
    start = time.process_time()
    plan = explain_many(asked, schema, 1, minimise, None)
    spent = time.process_time() - start
    (block,) = plan.workload.blocks
    if isinstance(asked, Line):
        variances = block.estimator.variances(asked.rows(len(block.rows)))
    else:
        variances = block.variances
    return {
        "workload": name,
        "answers": len(variances),
        "way": block.strategy.name,
        "rmse": math.sqrt(float(np.mean(variances))),
        "largest": math.sqrt(float(np.max(variances))),
        "questions": questions,
        "one_by_one": one_by_one(questions),
        "planning_cpu_seconds": spent,
    }


def cases() -> list[dict[str, Any]]:
    found = [
        measured(f"{n:,} thresholds", prefixes("x"), line_schema(n), n, "variance")
        for n in (99, 1_000, 10_000)
    ]
    for n in (100, 1_000):
        many = n * (n + 1) // 2
        found.append(
            measured(f"all ranges of {n:,}", ranges("x"), line_schema(n), many, "variance")
        )
    census = tables_schema((2, 16, 7, 14, 10))
    pairs = marginals([f"c{i}" for i in range(5)], ways=2)
    for minimise in ("mean", "variance"):
        found.append(measured(f"2-way tables, {minimise}", pairs, census, 10, minimise))
    total = ["SELECT COUNT(*) FROM t", "SELECT BIN(x, 1), COUNT(*) FROM t GROUP BY 1"]
    for minimise in ("mean", "variance"):
        found.append(
            measured(f"total and 10 parts, {minimise}", total, line_schema(10), 2, minimise)
        )
    return found


def replaced() -> dict[str, Any]:
    """99 thresholds where a row may be replaced, and the number of rows is public."""
    texts = [f"SELECT COUNT(*) FROM t WHERE x < {k}" for k in range(1, 100)]  # noqa: S608
    schema = line_schema(100, "replace")
    return measured("99 thresholds, replace", texts, schema, 99, "variance")


def planned(n: int) -> dict[str, Any]:
    """What planning so many written thresholds costs, after they were read."""
    schema = line_schema(n)
    texts = [f"SELECT COUNT(*) FROM t WHERE x < {k}" for k in range(1, n)]  # noqa: S608
    questions = [parse(text, schema) for text in texts]
    start = time.process_time()
    plan_workload(questions, texts, schema, EpsilonDelta.of(1))
    spent = time.process_time() - start
    return {"workload": f"{n:,} written thresholds", "planning_cpu_seconds": spent}


def large(rows: int = 10_000_000, atoms: int = 1_000) -> dict[str, Any]:
    """A workload of 1,000 atoms over stored rows, and one raw GROUP BY of them, in CPU seconds."""
    schema = line_schema(atoms)
    with tempfile.TemporaryDirectory() as folder:
        stored = Path(folder, "t.parquet")
        with duckdb.connect() as raw:
            raw.execute(
                f"COPY (SELECT hash(range) % {atoms} AS x FROM range({rows})) TO '{stored}' "  # noqa: S608
                "(FORMAT parquet)"
            )
            count = f"SELECT x, COUNT(*) FROM '{stored}' GROUP BY x"  # noqa: S608
            plain = min(_spent(lambda: raw.execute(count).fetchall()) for _ in range(5))
        with tn.protect(str(stored), schema=schema, ledger=tn.ledger.Memory()) as data:
            asked = prefixes("x")
            ours = min(
                _spent(lambda: data.ask_many(asked, epsilon=1, fresh=True)) for _ in range(5)
            )
    return {
        "workload": f"{rows:,} rows, {atoms:,} atoms",
        "cpu_seconds": ours,
        "raw_cpu_seconds": plain,
        "ratio": ours / plain,
    }


def _spent(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def beside(python: str, rows: list[dict[str, Any]]) -> dict[str, str]:
    """Adds what others drew to the rows; their versions."""
    numbers = sorted({row["questions"] for row in rows if row["questions"] <= MOST_DRAWN})
    words = [python, str(OTHERS), *map(str, numbers)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    told = json.loads(done.stdout.splitlines()[-1])
    for name, found in told.items():
        for row in rows:
            error = found["rmse"].get(str(row["questions"]))
            if error is not None and "replace" not in row["workload"]:
                row[name] = error
    return {name: found["version"] for name, found in told.items()}


def show(rows: Sequence[dict[str, Any]], names: Sequence[str]) -> None:
    table = Table("workload", "answers", "way", "RMSE", "largest", "one by one", *names)
    for row in rows:
        numbers = [row["rmse"], row["largest"], row["one_by_one"]]
        drawn = [f"{row[name]:,.1f}" if name in row else "" for name in names]
        told = [f"{number:,.2f}" for number in numbers]
        table.add_row(row["workload"], f"{row['answers']:,}", row["way"], *told, *drawn)
    Console(width=130).print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--others", help="a Python that has opendp and tmlt.analytics")
    parser.add_argument("--out", type=Path, help="where the chart goes")
    parser.add_argument("--large", action="store_true", help="times, and 10M rows")
    given = parser.parse_args()
    if given.large:
        found = [planned(1_000), planned(10_000), large()]
        for row in found:
            print(row)
        print(f"written to {record('workload_large', found)}")
        return
    rows = [*cases(), replaced()]
    versions = beside(given.others, rows) if given.others else {}
    show(rows, list(versions))
    if given.out:
        given.out.write_text(chart(rows[:-1]))
    if given.others:
        print(f"written to {record('workload', rows, versions)}")


if __name__ == "__main__":
    main()
