"""Raw DuckDB and ours in turn, in processes of their own, so that neither disturbs the other.

Seconds are processor seconds of all threads; ratios are of the least seconds of each kind, which a
busy machine disturbs least.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

__all__ = ["Row", "least", "measure", "seconds", "show"]


@dataclass(frozen=True)
class Row:
    name: str
    rows: int
    raw_seconds: float
    seconds: float
    ratio: float
    raw_megabytes: float
    megabytes: float
    memory_ratio: float
    bar: float | None
    met: bool | None


def seconds() -> float:
    """What this process has used."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def least(ask: Callable[[], None], times: int) -> None:
    """Asks so many times, and prints the least seconds and the peak of memory."""
    found = []
    for _ in range(times):
        before = seconds()
        ask()
        found.append(seconds() - before)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": min(found), "megabytes": peak}))


def measure(
    name: str,
    rows: int,
    rounds: int,
    words: Callable[[str], Sequence[str]],
    bar: float | None,
    memory_bar: float = float("inf"),
) -> Row:
    """Runs the calling script with `words("raw")` and `words("ours")` after --worker, in turn."""
    runs: dict[str, list[tuple[float, float]]] = {"raw": [], "ours": []}
    for _ in range(rounds):
        for kind, found in runs.items():
            done = subprocess.run(
                [sys.executable, sys.argv[0], "--worker", *words(kind)],
                capture_output=True,
                text=True,
                check=True,
            )
            told = json.loads(done.stdout)
            found.append((told["seconds"], told["megabytes"]))
    raw, ours = (min(used for used, _ in runs[kind]) for kind in ("raw", "ours"))
    raw_peak, peak = (max(peak for _, peak in runs[kind]) for kind in ("raw", "ours"))
    met = None if bar is None else ours / raw <= bar and peak / raw_peak <= memory_bar
    return Row(
        name=name,
        rows=rows,
        raw_seconds=round(raw, 4),
        seconds=round(ours, 4),
        ratio=round(ours / raw, 3),
        raw_megabytes=round(raw_peak, 1),
        megabytes=round(peak, 1),
        memory_ratio=round(peak / raw_peak, 3),
        bar=bar,
        met=met,
    )


def show(rows: Sequence[Row]) -> None:
    """Prints the rows as a table."""
    table = Table("question", "raw s", "ours s", "ratio", "bar", "memory ratio", "met")
    for row in rows:
        table.add_row(
            row.name,
            f"{row.raw_seconds:.3f}",
            f"{row.seconds:.3f}",
            f"{row.ratio:.2f}",
            "" if row.bar is None else f"{row.bar}",
            f"{row.memory_ratio:.2f}",
            "" if row.met is None else ("yes" if row.met else "NO"),
        )
    Console().print(table)
