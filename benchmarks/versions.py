"""Whether this version is as fast as another one: both in turn, on the same machine, in one run.

    git worktree add ../before <tag>
    python benchmarks/versions.py ../before [--rounds 5] [--only ask noise]

Runs every benchmark in both trees, taking turns, at sizes that a few minutes allow, and compares
the median processor seconds of each figure. Writes benchmarks/results/versions.json.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from record import record
from rich.console import Console
from rich.progress import track
from rich.table import Table

HERE = Path(__file__).parent.parent
SIZES = {
    "ask": ["--rows", "2000000", "--rounds", "2"],
    "check": [],
    "ledger": ["--quick"],
    "median": ["--answers", "20", "--beside", "20"],
    "noise": ["--quick"],
    "people": ["--rows", "1000000", "--rounds", "2"],
    "prior": [],
    "publish": [],
}
UNITS = ("seconds", "cpu_seconds", "milliseconds", "cpu_us_each")
"""The figures that are processor time, by their names in the results."""


def figures(found: object, name: str = "") -> Iterator[tuple[str, float]]:
    """Every processor time in the results of a benchmark, with what it is of."""
    if isinstance(found, list):
        for row in found:
            yield from figures(row, name)
    elif isinstance(found, dict):
        own = str(found.get("name") or found.get("what") or "")
        if "epsilon" in found:
            own += f" {found['epsilon']}"
        if "rows" in found and not isinstance(found["rows"], list):
            own += f" ({found['rows']})"
        title = f"{name} {own}".strip()
        for key, value in found.items():
            if key == "cpu_seconds" or (key in UNITS and "cpu_seconds" not in found):
                if isinstance(value, int | float):
                    yield title, float(value)
            elif isinstance(value, list | dict):
                yield from figures(value, title if key in ("rows", "figures") else f"{title} {key}")


def run(tree: Path, benchmark: str) -> dict[str, float]:
    """One run of a benchmark in a tree."""
    subprocess.run(
        [sys.executable, str(tree / "benchmarks" / f"{benchmark}.py"), *SIZES[benchmark]],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree / "src")},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,  # a bar that was missed at this size is not what is asked here
    )
    path = tree / "benchmarks" / "results" / f"{benchmark}.json"
    return dict(figures(json.loads(path.read_text())))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("before", type=Path, help="the other version's tree")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="+", choices=list(SIZES), default=list(SIZES))
    given = parser.parse_args()
    rows = []
    for benchmark in given.only:
        kept = {
            tree: (tree / "benchmarks" / "results" / f"{benchmark}.json").read_text()
            for tree in (given.before.resolve(), HERE)
        }
        seen: dict[Path, list[dict[str, float]]] = {tree: [] for tree in kept}
        for _ in track(range(given.rounds), benchmark):
            for tree, found in seen.items():
                found.append(run(tree, benchmark))
        for tree, text in kept.items():  # small sizes are not what the results are about
            (tree / "benchmarks" / "results" / f"{benchmark}.json").write_text(text)
        before, after = seen.values()
        for name in before[0].keys() & after[0].keys():
            both = [[one[name] for one in some] for some in (before, after)]
            old, new = map(statistics.median, both)
            if old > 0:
                rows.append(
                    {"benchmark": benchmark, "name": name, "before": old, "after": new}
                    | {"ratio": round(new / old, 3)}
                    # a busy machine makes some runs slower and none faster
                    | {"ratio of the least": round(min(both[1]) / min(both[0]), 3)}
                )
    rows.sort(key=lambda row: (str(row["benchmark"]), str(row["name"])))
    table = Table("benchmark", "figure", "before", "after", "ratio", "of the least")
    for row in rows:
        table.add_row(*(f"{v:.4g}" if isinstance(v, float) else str(v) for v in row.values()))
    console = Console(width=120)
    console.print(table)
    ratios = [float(str(row["ratio"])) for row in rows]
    console.print(f"{len(rows)} figures, median ratio {statistics.median(ratios):.3f}")
    console.print(f"written to {record('versions', rows)}")


if __name__ == "__main__":
    main()
