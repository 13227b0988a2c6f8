"""How far off the answers of whole workloads are, beside others who answer one by one.

RMSE at epsilon = 1, add-or-remove, from exact variances. OpenDP and Tumult Analytics have no
planner for many questions in pure differential privacy: each question gets epsilon/D, with discrete
Laplace (OpenDP) or two-sided geometric (Tumult) noise, which are the same law. Where OpenDP is
installed its scale is asked of it; otherwise, and for Tumult, the law's own formula is used.

    .venv/bin/python benchmarks/workload.py            a table
    .venv/bin/python benchmarks/workload.py --json     one JSON object
"""

from __future__ import annotations

import importlib.util
import json
import math
import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from tenue.query.explain import explain_many
from tenue.query.workload.declare import Declared, Line, marginals, prefixes, ranges
from tenue.schema import Schema


def line_schema(values: int) -> Schema:
    return Schema.from_dict(
        {
            "table": {"name": "t", "unit": "record", "neighbours": "add-or-remove"},
            "columns": {"x": {"type": "number", "bounds": [0, values - 1], "missing": 0}},
            "budget": {"total": 1},
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
    rate = 1 / questions
    if importlib.util.find_spec("opendp") is not None:
        rate = _opendp_rate(questions)
    return 1 / math.sqrt(2) / math.sinh(rate / 2)


def _opendp_rate(questions: int) -> float:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.atom_domain(T=int), dp.absolute_distance(T=int)
    made = dp.binary_search_param(
        lambda scale: dp.m.make_laplace(*space, scale), d_in=1, d_out=1 / questions
    )
    return 1 / float(made)


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
        "one_by_one": one_by_one(questions),
        "planning_cpu_seconds": spent,
    }


def main() -> None:
    cases = [
        measured(f"{n:,} thresholds", prefixes("x"), line_schema(n), n, "variance")
        for n in (99, 1_000, 10_000)
    ]
    for n in (100, 1_000):
        many = n * (n + 1) // 2
        cases.append(
            measured(f"all ranges of {n:,}", ranges("x"), line_schema(n), many, "variance")
        )
    census = tables_schema((2, 16, 7, 14, 10))
    pairs = marginals([f"c{i}" for i in range(5)], ways=2)
    for minimise in ("mean", "variance"):
        cases.append(measured(f"2-way tables, {minimise}", pairs, census, 10, minimise))
    total = ["SELECT COUNT(*) FROM t", "SELECT BIN(x, 1), COUNT(*) FROM t GROUP BY 1"]
    for minimise in ("mean", "variance"):
        cases.append(
            measured(f"total and 10 parts, {minimise}", total, line_schema(10), 2, minimise)
        )
    if "--json" in sys.argv:
        print(json.dumps({"epsilon": 1, "neighbours": "add-or-remove", "cases": cases}))
        return
    print(f"{'workload':<30}{'answers':>9} {'way':<20}{'RMSE':>8}{'largest':>9}{'one by one':>13}")
    for case in cases:
        print(
            f"{case['workload']:<30}{case['answers']:>9,} {case['way']:<20}{case['rmse']:>8.2f}"
            f"{case['largest']:>9.2f}{case['one_by_one']:>13,.1f}"
        )


if __name__ == "__main__":
    main()
