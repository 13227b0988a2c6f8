"""How far private medians are off: every mechanism on one table, and selection beside diffprivlib.

    python benchmarks/median.py [--out chart.svg] [--answers 400] [--beside 200]
        [--census FILE] [--python PATH]

Part 1: the median of Census incomes (total income of 1,080 people, if ../shared/data/census.parquet
is there, else a made-up lognormal column of the same size), bounds 0 to 200,000, grid 1, the number
of rows public, neighbours "replace". Mean absolute error in the income's units and in ranks.
All answers are clamped to the bounds. Individual differential privacy is not differential privacy;
it is shown because its paper compares the same mechanisms.

Part 2: a million different values, epsilon 1, add-or-remove: mean rank error of selection, beside
diffprivlib's median on the same values where `--python` names an interpreter that has it (or this
one has); ours must not exceed 2 rows, nor theirs. The rank error is how many rows the answer is
away from halving the table.

Part 3: the whole journey of MEDIAN over such a million in a Parquet file, as a ratio of processor
seconds to DuckDB's own median (the least of 15 of each, taking turns); at most 4.

Writes benchmarks/results/median.json, and the chart to --out.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from median_chart import Dot, chart
from numpy.typing import NDArray
from record import record
from rich.console import Console
from rich.progress import track
from rich.table import Table

import tenue as tn
from tenue.mechanism import individual_steps, smooth_release
from tenue.mechanism.exponential_mechanism import quantile
from tenue.noise import DiscreteLaplace

Values = NDArray[np.int64]
Answer = Callable[[Values, Fraction], Fraction]

CENSUS = Path(__file__).parents[2] / "shared" / "data" / "census.parquet"
LOW, HIGH = 0, 200_000
EPSILONS = (Fraction(1, 10), Fraction(1), Fraction(3))
MILLION, WIDE = 10**6, 10**9
RANK_BAR = 2.0
CPU_BAR = 4.0

BESIDE = """
import json, sys, numpy
from diffprivlib.tools import median
values = numpy.load(sys.argv[1]).astype(float)
bounds = (0, int(sys.argv[3]))
answers = [float(median(values, epsilon=1, bounds=bounds)) for _ in range(int(sys.argv[2]))]
print(json.dumps(answers))
"""


@dataclass(frozen=True)
class Row:
    name: str
    table: str
    rows: int
    epsilon: float
    answers: int
    value_error: float | None
    rank_error: float
    bar: float | None = None
    met: bool | None = None


def incomes(census: Path) -> tuple[str, Values]:
    """Census incomes, or made-up ones."""
    if census.exists():
        return "Census incomes", pq.read_table(census)["PTOTVAL"].to_numpy().astype(np.int64)
    made_up = np.random.default_rng(7).lognormal(np.log(43_000), 0.45, 1080)
    return "made-up incomes", np.rint(made_up).astype(np.int64)


def global_laplace(values: Values, epsilon: Fraction) -> Fraction:
    """Whatever the other rows are, one record moves a median of an even number by half the range.

    The truth is a multiple of half a step, so the noise is too.
    """
    ordered = np.sort(values)
    n = len(ordered)
    twice = int(ordered[(n - 1) // 2]) + int(ordered[n // 2])
    widest = (HIGH - LOW) * (1 if n % 2 == 0 else 2)
    noisy = twice + DiscreteLaplace(sensitivity=widest, epsilon=epsilon).steps()
    return Fraction(min(max(noisy, 2 * LOW), 2 * HIGH), 2)


def smooth(gamma: int) -> Answer:
    return lambda values, epsilon: smooth_release(
        "median", values, LOW, HIGH, epsilon, gamma, rows_public=True
    )


def selection(values: Values, epsilon: Fraction) -> Fraction:
    return quantile(values, "1/2", bounds=(LOW, HIGH), epsilon=epsilon, neighbours="replace")  # type: ignore[arg-type]


def individual(values: Values, epsilon: Fraction) -> Fraction:
    return individual_steps("median", values, LOW, HIGH, epsilon)


MECHANISMS: dict[str, Answer] = {
    "global sensitivity": global_laplace,
    "smooth, γ = 2": smooth(2),
    "smooth, γ = 3": smooth(3),
    "selection": selection,
    "individual DP": individual,
}


def rank_errors(ordered: Values, answers: list[float]) -> NDArray[Any]:
    """How many rows each answer is away from halving the rows; 0 if it does."""
    below = np.searchsorted(ordered, answers, side="left")
    up_to = np.searchsorted(ordered, answers, side="right")
    half = len(ordered) / 2
    return np.asarray(np.maximum(0, np.maximum(below - half, half - up_to)))


def compare(answers: int, census: Path) -> list[Row]:
    """Part 1."""
    table, values = incomes(census)
    ordered = np.sort(values)
    truth = float(np.median(ordered))
    found = []
    cases = [(name, epsilon) for name in MECHANISMS for epsilon in EPSILONS]
    for name, epsilon in track(cases, "medians", transient=True):
        given = [float(MECHANISMS[name](values, epsilon)) for _ in range(answers)]
        found.append(
            Row(
                name=name,
                table=table,
                rows=len(values),
                epsilon=float(epsilon),
                answers=answers,
                value_error=round(float(np.abs(np.array(given) - truth).mean()), 2),
                rank_error=round(float(rank_errors(ordered, given).mean()), 3),
            )
        )
    return found


def beside(answers: int, python: str) -> list[Row]:
    """Part 2."""
    drawn = np.random.default_rng(7).choice(WIDE, MILLION, replace=False)
    ordered = np.sort(drawn).astype(np.int64)

    def row(name: str, error: float, bar: float | None = None) -> Row:
        return Row(
            name=name,
            table="a million different values",
            rows=MILLION,
            epsilon=1.0,
            answers=answers,
            value_error=None,
            rank_error=round(error, 3),
            bar=bar,
            met=None if bar is None else error <= bar,
        )

    ours = [
        float(quantile(ordered, "1/2", bounds=(0, WIDE), epsilon=1))  # type: ignore[arg-type]
        for _ in track(range(answers), "a million values", transient=True)
    ]
    error, bar, found = float(rank_errors(ordered, ours).mean()), RANK_BAR, []
    if subprocess.run([python, "-c", "import diffprivlib"], capture_output=True).returncode == 0:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "values.npy"
            np.save(path, ordered)
            command = [python, "-c", BESIDE, str(path), str(answers), str(WIDE)]
            theirs = json.loads(subprocess.check_output(command, text=True))
        other = float(rank_errors(ordered, theirs).mean())
        found.append(row("diffprivlib", other))
        bar = min(bar, other)
    return [row("selection", error, round(bar, 3)), *found]


def journey() -> dict[str, object]:
    """Part 3."""

    def seconds() -> float:
        used = resource.getrusage(resource.RUSAGE_SELF)
        return used.ru_utime + used.ru_stime

    values = np.random.default_rng(1).permutation(MILLION) * 997
    schema = {
        "table": {"name": "t", "unit": "record", "neighbours": "add-or-remove"},
        "columns": {"x": {"type": "number", "bounds": [0, WIDE], "grid": 1}},
        "budget": {"total": 1000},
    }
    raw, ours, errors = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "million.parquet"
        pq.write_table(pa.table({"x": values}), path)
        connection = duckdb.connect()
        with tn.protect(path, schema=schema, ledger=tn.ledger.Memory()) as data:
            for _ in range(15):
                start = seconds()
                connection.execute(f"SELECT median(x) FROM read_parquet('{path}')").fetchall()  # noqa: S608
                middle = seconds()
                found = data.ask("SELECT MEDIAN(x) FROM t", epsilon=1, fresh=True).value
                raw.append(middle - start)
                ours.append(seconds() - middle)
                errors.append(abs(found / 997 - MILLION / 2))
    ratio = min(ours) / min(raw)
    return {
        "name": "ask MEDIAN, a million in Parquet",
        "raw_seconds": round(min(raw), 4),
        "seconds": round(min(ours), 4),
        "ratio": round(ratio, 2),
        "rank_error": round(float(np.mean(errors)), 2),
        "bar": CPU_BAR,
        "met": ratio <= CPU_BAR,
    }


def shown(rows: list[Row]) -> Table:
    table = Table(title="Private medians: mean absolute errors")
    for title in ("table", "mechanism", "ε", "value error", "rank error", "bar", ""):
        table.add_column(title, justify="left" if title in ("table", "mechanism") else "right")
    for row in rows:
        table.add_row(
            row.table,
            row.name,
            f"{row.epsilon:g}",
            "" if row.value_error is None else f"{row.value_error:,.0f}",
            f"{row.rank_error:,.2f}",
            "" if row.bar is None else f"≤ {row.bar:g}",
            {None: "", True: "met", False: "missed"}[row.met],
        )
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="where to write the chart (SVG)")
    parser.add_argument("--census", type=Path, default=CENSUS, help="the Census file (Parquet)")
    parser.add_argument("--answers", type=int, default=400, help="answers for each mean of part 1")
    parser.add_argument(
        "--beside", type=int, default=200, help="answers of part 2; 0 leaves it out"
    )
    parser.add_argument("--python", default=sys.executable, help="an interpreter with diffprivlib")
    given = parser.parse_args()
    first = compare(given.answers, given.census)
    rows = first + (beside(given.beside, given.python) if given.beside else [])
    console = Console()
    console.print(shown(rows))
    whole = journey()
    console.print(f"{whole['name']}: {whole['ratio']} × DuckDB's own, at most {CPU_BAR:g}")
    written = record("median", [*(asdict(row) for row in rows), whole])
    console.print(f"Written to {written.name}.")
    if given.out:
        dots = [
            Dot(row.name, row.epsilon, row.value_error, row.rank_error)
            for row in first
            if row.value_error is not None
        ]
        text = chart(dots, table=f"{first[0].table}, {first[0].rows:,} people")
        given.out.write_text(text)
        console.print(f"Chart: {given.out}")


if __name__ == "__main__":
    main()
