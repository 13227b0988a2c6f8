"""How long `check` takes: CPU seconds for k, l and t, all cores together, after warm-up.

    python benchmarks/check.py

Prints a table and writes benchmarks/results/check.json. The targets are those of issue 6: 0.5 s for
a million rows, 0.05 s for a hundred thousand. pycanon, if it is installed, is timed beside it on
two thousand rows, and must find the same k, l and t.
"""

from __future__ import annotations

import importlib
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
from record import record

from tenue.evaluate import check, record_linkage

KNOWN = ["age", "zip", "sex", "job"]
SECRET = ["illness", "income"]
TARGETS = {100_000: 0.05, 1_000_000: 0.5}


def table(rows: int, *, groups: str) -> pa.Table:
    """5,600 groups at most, as in a release, or nearly as many groups as rows."""
    rng = np.random.default_rng(7)
    places = 20 if groups == "large" else 1000
    words = np.array([f"illness {i}" for i in range(40)])
    return pa.table(
        {
            "age": rng.integers(0, 10 if groups == "large" else 100, rows),
            "zip": rng.integers(0, places, rows),
            "sex": np.array(["f", "m"])[rng.integers(0, 2, rows)],
            "job": np.array([f"job {i}" for i in range(14)])[rng.integers(0, 14, rows)],
            "illness": words[rng.integers(0, 40, rows)],
            "income": np.round(np.exp(rng.normal(10, 1, rows)), 2),
        }
    )


def seconds(run: Callable[[], object], times: int) -> float:
    """The least of several runs: what the work costs when least disturbed."""
    took = []
    for _ in range(times):
        begin = time.process_time()
        run()
        took.append(time.process_time() - begin)
    return min(took)


def measured(source: Any) -> object:
    return check(source, quasi_identifiers=KNOWN, confidential=SECRET)


def main() -> None:
    found: list[dict[str, object]] = []

    def note(
        what: str,
        rows: int,
        run: Callable[[], object],
        target: float | None = None,
        times: int = 5,
    ) -> None:
        took = seconds(run, times)
        found.append({"what": what, "rows": rows, "cpu_seconds": round(took, 4), "target": target})
        verdict = "" if target is None else f"   at most {target:g}"
        print(f"{what:<52}{rows:>10,}{took:>10.3f}{verdict}", flush=True)

    measured(table(1000, groups="large"))
    for rows, target in TARGETS.items():
        for groups in ("large", "small"):
            whole = table(rows, groups=groups)
            note(f"check, Arrow, {groups} groups", rows, partial(measured, whole), target)
        note("check, pandas, small groups", rows, partial(measured, whole.to_pandas()))
        with tempfile.TemporaryDirectory() as folder:
            pq.write_table(whole, Path(folder) / "t.parquet")
            pyarrow.csv.write_csv(whole, Path(folder) / "t.csv")
            for name in ("t.parquet", "t.csv"):
                path = Path(folder) / name
                note(f"check, {path.suffix[1:]} file, small groups", rows, partial(measured, path))
    _linkage(note)
    _pycanon(note, table(2_000, groups="large"))
    print(record("check", found))


def _linkage(note: Callable[..., None]) -> None:
    original = np.random.default_rng(7).normal(size=(100_000, 4))
    for noise in (0.01, 0.1, 1.0):
        masked = original + noise * np.random.default_rng(8).normal(size=original.shape)
        run = partial(record_linkage, original, masked)
        note(f"record linkage, 4 columns, noise {noise}", 100_000, run)


def _pycanon(note: Callable[..., None], whole: pa.Table) -> None:
    try:
        anonymity = importlib.import_module("pycanon.anonymity")
    except ImportError:
        return
    frame = whole.to_pandas()
    secret = ["illness"]

    def theirs() -> tuple[int, int, float]:
        return (
            anonymity.k_anonymity(frame, KNOWN),
            anonymity.l_diversity(frame, KNOWN, secret),
            float(anonymity.t_closeness(frame, KNOWN, secret)),
        )

    ours = partial(check, whole, quasi_identifiers=KNOWN, confidential=secret)
    found, other = ours(), theirs()
    assert (found.k, found.l) == other[:2]
    assert found.t is not None
    assert abs(found.t - other[2]) < 1e-9
    note("pycanon: k, l, t of one column", whole.num_rows, theirs, times=1)
    note("check: the same", whole.num_rows, ours)


if __name__ == "__main__":
    main()
