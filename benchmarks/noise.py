"""How fast noise is drawn, as a ratio to numpy's Laplace in the same run.

    python benchmarks/noise.py [--quick]

Seconds are processor seconds of one core, so a busy machine changes them little; each law is timed
between two runs of numpy, and the ratio is the median of the rounds. Writes
benchmarks/results/noise.json. OpenDP is timed too where it is installed.
"""

from __future__ import annotations

import argparse
import importlib
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass

import numpy as np
from record import record
from rich.console import Console
from rich.table import Table

from tenue.noise import DiscreteLaplace, HeavyTail, Laplace, Optimal, OptimalBox

ROUNDS = 3


@dataclass(frozen=True)
class Case:
    """A law to draw from, and the least share of numpy's speed it must reach."""

    name: str
    draw: Callable[[int], object]
    bar: float | None = None
    share: float = 1.0
    """Slow laws draw this share of the number asked for."""


@dataclass(frozen=True)
class Row:
    name: str
    draws: int
    seconds: float
    draws_per_second: int
    ratio: float
    bar: float | None
    met: bool | None


def cases() -> list[Case]:
    both = {"sensitivities": [1, 1], "epsilon": 1}
    return [
        *(
            Case(
                f"discrete Laplace, scale {scale}",
                DiscreteLaplace(sensitivity=scale, epsilon=1).steps,
                0.5,
            )
            for scale in (1, 10, 100)
        ),
        Case("discrete Laplace, scale 1e6", DiscreteLaplace(sensitivity=10**6, epsilon=1).steps),
        Case("Laplace, sample()", Laplace(sensitivity=1, epsilon=1).sample),
        Case("optimal on grid, Δ = 10", Optimal(sensitivity=10, epsilon=1).on_grid(1).steps, 0.15),
        Case(
            "optimal on grid, Δ = 5000", Optimal(sensitivity=5000, epsilon=1).on_grid(1).steps, 0.15
        ),
        Case("box D = 2, any signs", OptimalBox(**both).on_grid(1).steps, 0.05),  # type: ignore[arg-type]
        Case(
            "box D = 2, same signs",
            OptimalBox(**both, signs="same").on_grid(1).steps,  # type: ignore[arg-type]
            0.05,
        ),
        Case(
            "box D = 20, same signs",
            OptimalBox(sensitivities=[1] * 20, epsilon=1, signs="same").on_grid(1).steps,
            share=0.02,
        ),
        Case(
            "heavy tail, γ = 4",
            HeavyTail(gamma=4, smooth_sensitivity=1, epsilon=1).on_grid(1).steps,
            share=0.001,
        ),
        *opendp(),
    ]


def opendp() -> list[Case]:
    """The integer Laplace of OpenDP, for comparison only."""
    try:
        dp = importlib.import_module("opendp.prelude")
    except ImportError:
        return []
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    measurement = dp.m.make_laplace(*space, scale=1.0)
    return [Case("OpenDP, integer Laplace", lambda n: measurement([0] * n), share=0.01)]


def seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def timed(case: Case, draws: int) -> Row:
    generator = np.random.default_rng()
    count = max(1, round(draws * case.share))
    case.draw(min(count, 1000))  # tables are made once and are not what is timed
    ratios, times = [], []
    for _ in range(ROUNDS):
        before = seconds(lambda: generator.laplace(size=draws))
        spent = seconds(lambda: case.draw(count))
        after = seconds(lambda: generator.laplace(size=draws))
        times.append(spent)
        ratios.append((before + after) / 2 / draws / (spent / count))
    ratio, spent = statistics.median(ratios), statistics.median(times)
    return Row(
        name=case.name,
        draws=count,
        seconds=round(spent, 4),
        draws_per_second=round(count / spent),
        ratio=round(ratio, 4),
        bar=case.bar,
        met=None if case.bar is None else ratio >= case.bar,
    )


def import_seconds(module: str) -> float:
    """Processor seconds to import, the best of seven fresh interpreters."""
    code = f"import time; t = time.process_time(); import {module}; print(time.process_time() - t)"
    runs = [subprocess.check_output([sys.executable, "-c", code], text=True) for _ in range(7)]
    return min(float(run) for run in runs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="10^6 draws instead of 10^7")
    draws = 10**6 if parser.parse_args().quick else 10**7
    table = Table(title=f"Draws against numpy.random.Generator.laplace ({draws:,} draws, one core)")
    for title in ("law", "million draws/s", "× numpy", "bar", ""):
        table.add_column(title, justify="left" if title == "law" else "right")
    rows: list[dict[str, object]] = []
    for case in cases():
        row = timed(case, draws)
        rows.append(asdict(row))
        table.add_row(
            row.name,
            f"{row.draws_per_second / 1e6:.3g}",
            f"{row.ratio:.3g}",
            "" if row.bar is None else f"{row.bar:g}",
            {None: "", True: "met", False: "missed"}[row.met],
        )
    for module, bar in (("tenue", 0.3), ("tenue.noise", None)):
        spent = import_seconds(module)
        met = None if bar is None else spent <= bar
        rows.append(
            {"name": f"import {module}", "seconds": round(spent, 4), "bar": bar, "met": met}
        )
        table.add_row(
            f"import {module}, CPU seconds",
            "",
            f"{spent:.3f} s",
            "" if bar is None else f"≤ {bar:g} s",
            {None: "", True: "met", False: "missed"}[met],
        )
    console = Console()
    console.print(table)
    console.print(f"Written to {record('noise', rows).name}; a draw of a box is a whole vector.")


if __name__ == "__main__":
    main()
