"""How long publishing takes: CPU seconds of one process, after warm-up.

    python benchmarks/publish.py                    prints a table, writes results/publish.json
    python benchmarks/publish.py --out growth.svg   also draws how MDAV grows with the table

The targets are those of issue 6. Every figure is the least of a few runs: what the work costs when
least disturbed. The growth exponent is the slope of the line through the logarithms of rows and
seconds.
"""

from __future__ import annotations

import argparse
import importlib
import math
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from record import record

import tenue as tn
from tenue.microdata import individual_ranking, mdav, records, v_mdav
from tenue.noise.source import SYSTEM
from tenue.publish.partition import mdav_reference
from tenue.publish.partition.exact_means import points_of
from tenue.publish.permute import permuted
from tenue.report import Axis, Curve, Dots, Panel, Picture, Words, plot
from tenue.report.picture import Mark

Table = NDArray[np.float64]
GROWTH = {100_000: 0.5, 200_000: None, 400_000: None, 1_000_000: 8.0}
EXPONENT = 1.4
JOBS = {"any": {"desk": ["clerk", "writer", "judge"], "field": ["farmer", "miner"]}}


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
    mdav_reference.mdav(mdav_reference.Euclidean(points_of(table)), k)


def compiled(table: Table, k: int) -> None:
    importlib.import_module("tenue.publish.partition.mdav_numba").mdav(points_of(table), k)


def ir_swap(column: Table, k: int) -> Table:
    swapped: Table = column[permuted(individual_ranking(column, k).labels, SYSTEM)]
    return swapped


def in_passes(path: Path) -> None:
    """IR-SWAP of a stored column that is not held, measured and written."""
    number = {"type": "number", "bounds": [-6, 6], "grid": 1e-6, "role": "confidential"}
    schema = tn.Schema.from_dict(
        {
            "table": {"name": "column", "unit": "record", "neighbours": "replace"},
            "columns": {"x": number},
        }
    )
    way: dict[str, Any] = {"method": "swap", "by": "each-confidential", "k": 5}
    tn.publish(path, schema=schema, ledger=False, memory=256 << 20, **way)


def people(n: int) -> tuple[pa.Table, tn.Schema]:
    """Four quasi-identifiers, two confidential columns, and a job with a taxonomy."""
    rng = np.random.default_rng(7)
    table = pa.table(
        {
            "age": rng.integers(18, 95, n),
            "region": rng.choice(["north", "east", "south", "west"], n),
            "height": rng.normal(170, 10, n).round(1),
            "weight": rng.normal(75, 15, n).round(1),
            "job": rng.choice(["clerk", "writer", "judge", "farmer", "miner"], n),
            "income": rng.lognormal(10, 0.6, n).round(0),
            "ill": rng.choice(["no", "flu", "cold"], n, p=[0.8, 0.1, 0.1]),
        }
    )
    quasi, secret = {"role": "quasi-identifier"}, {"role": "confidential"}
    regions = ["north", "east", "south", "west"]
    schema = tn.Schema.from_dict(
        {
            "table": {"name": "people", "unit": "record", "neighbours": "replace"},
            "columns": {
                "age": {"type": "number", "bounds": [0, 120], **quasi},
                "region": {"type": "category", "categories": regions, **quasi},
                "height": {"type": "number", "bounds": [100, 250], "grid": 0.1, **quasi},
                "weight": {"type": "number", "bounds": [0, 300], "grid": 0.1, **quasi},
                "job": {"type": "category", "taxonomy": JOBS, "role": "other"},
                "income": {"type": "number", "bounds": [0, 10**6], **secret},
                "ill": {"type": "category", "categories": ["no", "flu", "cold"], **secret},
            },
        }
    )
    return table, schema


def seconds(run: Callable[[], object], times: int) -> float:
    took = []
    for _ in range(times):
        begin = time.process_time()
        run()
        took.append(time.process_time() - begin)
    return min(took)


def warm_up() -> None:
    for columns in (4, 13):
        compiled(normal(1000, columns), 5)
    v_mdav(normal(20_000, 4), 5)
    for method in ("mdav", "optimal"):
        individual_ranking(normal(600_000, 1), 5, method=method)
    table, schema = people(2_000)
    tn.publish(table, schema=schema, method="swap", k=5)


def draw(path: Path, rows: Sequence[int], took: Sequence[float], exponent: float) -> None:
    """Rows against seconds, both logarithmic, with the line that was fitted and that of n²."""
    middle = math.exp(float(np.mean(np.log(took))))
    centre = math.exp(float(np.mean(np.log(rows))))
    marks: list[Mark] = []
    for power, tone in ((2.0, "third"), (exponent, "main")):
        line = [(float(n), middle * (n / centre) ** power) for n in (rows[0], rows[-1])]
        name = "n²" if power == 2 else f"n^{power:.2f}, measured"
        marks += [Curve(line, tone), Words(name, *line[1], tone, bold=True, right=10)]
    marks.append(Dots([(float(n), s) for n, s in zip(rows, took, strict=True)]))
    panel = Panel(
        marks,
        x=Axis(
            "rows (4 columns, k = 5); log scales",
            float(rows[0]),
            rows[-1] * 2.5,
            log=True,
            ticks=tuple(map(float, rows)),
            write=",d",
        ),
        y=Axis(log=True, ticks=(0.1, 1, 10), grid=True, write="~g"),
        title="processor seconds",
        width=480,
        height=300,
    )
    plot(Picture("How exact MDAV grows", [panel])).save(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="where the drawing of the growth goes (.svg)")
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []

    def measure(
        name: str, run: Callable[[], object], times: int = 2, target: float | None = None
    ) -> float:
        took = seconds(run, times)
        rows.append({"what": name, "cpu_seconds": round(took, 4), "target": target})
        verdict = "" if target is None else f"   at most {target:g}"
        print(f"{name:<66}{took:>10.3f}{verdict}", flush=True)
        return took

    warm_up()
    took = []
    for n, target in GROWTH.items():
        run = partial(mdav, normal(n, 4), 5)
        took.append(measure(f"mdav, {n:,} x 4 normal, k = 5", run, 3, target))
    exponent = float(np.polyfit(np.log(list(GROWTH)), np.log(took), 1)[0])
    rows.append({"what": "growth exponent", "exponent": round(exponent, 3), "target": EXPONENT})
    print(f"{'growth exponent':<66}{exponent:>10.3f}   at most {EXPONENT}")
    if options.out is not None:
        draw(options.out, list(GROWTH), took, exponent)

    n = 100_000
    measure("mdav, 100,000 x 4 lognormal, k = 5", partial(mdav, lognormal(n, 4), 5))
    measure("mdav, 100,000 x 4 whole numbers 0..9, k = 5", partial(mdav, whole(n, 4), 5))
    measure("mdav, 100,000 x 8 normal, k = 5", partial(mdav, normal(n, 8), 5), 1)
    for noise in (0.1, 0.3, 0.5):
        name = f"mdav, 100,000 x 13, three factors, noise {noise}, k = 5"
        measure(name, partial(mdav, latent(n, 13, noise), 5), 2, 4.0)
    measure("v_mdav, 100,000 x 4 normal, k = 5", partial(v_mdav, normal(n, 4), 5))

    column = normal(10_000_000, 1)[:, 0]
    for method, target in (("mdav", 5.0), ("optimal", None)):
        name = f"individual ranking, 10,000,000 values, {method}"
        measure(name, partial(individual_ranking, column, 5, method=method), 2, target)
    measure("IR-SWAP, 10,000,000 values, k = 5", partial(ir_swap, column, 5), 2, 5.0)

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "column.parquet"
        pq.write_table(pa.table({"x": column}), path)
        name = "publish, 10,000,000 values on disk, swap, each-confidential, read within 256 MB"
        measure(name, partial(in_passes, path), 1)

    for columns in (4, 13):
        table = normal(20_000, columns)
        for plain_or_not in (plainly, compiled):
            name = f"{plain_or_not.__name__}, 20,000 x {columns} normal, k = 5"
            measure(name, partial(plain_or_not, table, 5), 1)

    million, schema = people(1_000_000)
    checked = partial(tn.evaluate.check, million.select(["age", "region", "income", "ill"]), schema)
    measure("check, 1,000,000 rows (k, l, t)", checked, 3, 0.5)
    some = million.slice(0, n)
    mixed = records(million.slice(0, 10_000), schema, ["age", "region", "job"])
    measure("mdav, 10,000 records with a taxonomy, k = 5", partial(mdav, mixed, 5), 1)
    ways: list[dict[str, Any]] = [
        {"method": "microaggregate"},
        {"method": "swap"},
        {"method": "swap", "by": "each-confidential", "override": "homogeneous-groups"},
    ]
    for how in ways:
        name = "publish, 100,000 x 7, k = 5, " + ", ".join(how.values()) + ", evaluated"
        measure(name, partial(tn.publish, some, schema=schema, k=5, **how), 1)
    print(f"wrote {record('publish', rows)}")


if __name__ == "__main__":
    main()
