"""How long partitions take: CPU seconds of one core, after warm-up.

    python benchmarks/partition.py

Prints a table and writes benchmarks/results/partition.json. The targets are those of issue 6.
"""

from __future__ import annotations

import datetime
import importlib
import json
import os
import platform
import time
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tenue.microdata import individual_ranking, mdav, v_mdav
from tenue.microdata.partition import plain
from tenue.microdata.partition.points import points_of

RESULTS = Path(__file__).parent / "results" / "partition.json"
Table = NDArray[np.float64]


def normal(n: int, columns: int) -> Table:
    return np.random.default_rng(7).normal(size=(n, columns))


def latent(n: int, columns: int, noise: float) -> Table:
    """Three factors behind all columns, and noise in each."""
    rng = np.random.default_rng(7)
    factors = rng.normal(size=(n, 3)) @ rng.normal(size=(3, columns))
    return factors + noise * rng.normal(size=(n, columns))


def lognormal(n: int, columns: int) -> Table:
    return np.exp(normal(n, columns))


def whole(n: int, columns: int) -> Table:
    return np.random.default_rng(7).integers(0, 10, (n, columns)).astype(np.float64)


def plainly(table: Table, k: int) -> None:
    plain.mdav(plain.Euclidean(points_of(table)), k)


def compiled(table: Table, k: int) -> None:
    importlib.import_module("tenue.microdata.partition.fast").mdav(points_of(table), k)


def seconds(run: Callable[[], object], times: int) -> float:
    """The least of several runs: what the work costs when least disturbed."""
    took = []
    for _ in range(times):
        begin = time.process_time()
        run()
        took.append(time.process_time() - begin)
    return min(took)


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":")[1].strip() for line in lines if "model name" in line), "")


def warm_up() -> None:
    for columns in (4, 13):
        compiled(normal(1000, columns), 5)
    v_mdav(normal(20_000, 4), 5)
    for method in ("mdav", "optimal"):
        individual_ranking(normal(600_000, 1), 5, method=method)


def main() -> None:
    rows: list[dict[str, Any]] = []

    def measure(
        name: str, run: Callable[[], object], times: int = 2, target: float | None = None
    ) -> float:
        took = seconds(run, times)
        rows.append({"what": name, "cpu_seconds": round(took, 4), "target": target})
        verdict = "" if target is None else f"   at most {target:g}"
        print(f"{name:<62}{took:>10.3f}{verdict}", flush=True)
        return took

    warm_up()
    targets = {100_000: 0.5, 200_000: None, 400_000: None, 1_000_000: 8.0}
    took = []
    for n, target in targets.items():
        run = partial(mdav, normal(n, 4), 5)
        took.append(measure(f"mdav, {n:,} x 4 normal, k = 5", run, 3, target))
    exponent = float(np.polyfit(np.log(list(targets)), np.log(took), 1)[0])
    print(f"{'growth exponent':<62}{exponent:>10.3f}   at most 1.4")

    n = 100_000
    measure("mdav, 100,000 x 4 lognormal, k = 5", partial(mdav, lognormal(n, 4), 5))
    measure("mdav, 100,000 x 4 whole numbers 0..9, k = 5", partial(mdav, whole(n, 4), 5))
    measure("mdav, 100,000 x 8 normal, k = 5", partial(mdav, normal(n, 8), 5))
    for noise in (0.1, 0.3, 0.5):
        name = f"mdav, 100,000 x 13, three factors, noise {noise}, k = 5"
        measure(name, partial(mdav, latent(n, 13, noise), 5), 2, 4.0)
    measure("v_mdav, 100,000 x 4 normal, k = 5", partial(v_mdav, normal(n, 4), 5))

    column = normal(10_000_000, 1)[:, 0]
    for method, target in (("mdav", 5.0), ("optimal", None)):
        name = f"individual ranking, 10,000,000 values, {method}"
        measure(name, partial(individual_ranking, column, 5, method=method), 2, target)

    for columns in (4, 13, 40):
        table = normal(20_000, columns)
        for way in (plainly, compiled):
            name = f"{way.__name__}, 20,000 x {columns} normal, k = 5"
            measure(name, partial(way, table, 5), 1)

    report = {
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "machine": {
            "processor": processor(),
            "cores": os.cpu_count(),
            "system": platform.system(),
            "load": round(os.getloadavg()[0], 2),
        },
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in ("numpy", "numba", "tenue")},
        },
        "growth_exponent": round(exponent, 3),
        "measurements": rows,
    }
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
