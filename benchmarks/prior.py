"""How long a refined answer and a Bayes estimate take.

    python benchmarks/prior.py

Milliseconds of processor time of one core, the median of many calls after one warm call; a prior is
made once and used often. Writes benchmarks/results/prior.json.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass

from record import record
from rich.console import Console
from rich.table import Table

from tenue.ask.belief.plan import plan_belief
from tenue.estimate import count, counts, expected_error
from tenue.estimate import refined_error as guessed_error
from tenue.mechanism import expected_error as refined_error
from tenue.mechanism import refine
from tenue.noise import DiscreteLaplace, Optimal
from tenue.prior import Binomial, Categorical, Normal, Points, Uniform, normalised
from tenue.privacy.loss import EpsilonDelta
from tenue.schema import Schema

ROUNDS = 31
TABLE = Schema.from_dict(
    {
        "table": {"name": "t", "unit": "record", "neighbours": "add-or-remove"},
        "columns": {"x": {"type": "number", "bounds": [0, 200]}},
    }
)


@dataclass(frozen=True)
class Case:
    """A call, and the most milliseconds it may take."""

    name: str
    call: Callable[[], object]
    bar: float | None = None
    rounds: int = ROUNDS


TENTH = EpsilonDelta.of("0.1")


def cases() -> list[Case]:
    uneven = Points(normalised({k: 1 + k * k % 997 for k in range(4096)}))
    words = Categorical(normalised({f"category {k}": 1 + k % 7 for k in range(4096)}))
    bell = Normal(50_000, 20_000, 0, 200_000)
    fine = bell.on_grid(1)
    laplace = DiscreteLaplace(sensitivity=1, epsilon="0.1")
    step = Optimal(sensitivity=20, epsilon=1).on_grid(1)

    def answer(prior: object, truth: object, delta: str | float = 0) -> Callable[[], object]:
        return lambda: refine(prior, truth, 1, kind="individual", delta=delta).sample()

    def posterior(n: int, law: object) -> Callable[[], object]:
        def call() -> object:
            found = count(n * 3 // 10 + 40, law, Binomial(n, "0.3"))
            return found.mean, found.median, found.interval("0.95")

        return call

    return [
        Case("refine and sample, 4,096 numbers", answer(uneven, 1234), 5),
        Case("refine and sample, 4,096 categories", answer(words, "category 7"), 5),
        Case("refine and sample, 4,096 numbers, delta", answer(uneven, 1234, "1e-6")),
        Case("refine and sample, absent", answer(uneven, None), 5),
        Case("refine and sample, uniform density", answer(Uniform(0, 1), "0.5")),
        Case("refine and sample, normal on 200,001 points", answer(fine, 61_000)),
        Case("posterior, n = 10^6, discrete Laplace", posterior(10**6, laplace), 20),
        Case("posterior, n = 10^6, optimal", posterior(10**6, step), 20),
        Case("posterior, n = 10^7, discrete Laplace", posterior(10**7, laplace), None),
        Case(
            "four counts with total 1,080",
            lambda: counts([310, 250, 460, 60], laplace, total=1080, prior=[0.3, 0.2, 0.4, 0.1]),
        ),
        Case(
            "expected error of refinement, 4,096 numbers",
            lambda: refined_error(uneven, 1, kind="individual"),
            rounds=7,
        ),
        Case(
            "expected error of refinement and Bayes, 4,096 numbers",
            lambda: guessed_error(uneven, 1, kind="statistical"),
            rounds=7,
        ),
        Case(
            "plan of a count with a binomial prior, n = 1,080",
            lambda: plan_belief("SELECT COUNT(*) FROM t", TABLE, Binomial(1080, "0.3"), TENTH),
            rounds=7,
        ),
        Case(
            "plan of a sum with a normal prior",
            lambda: plan_belief("SELECT SUM(x) FROM t", TABLE, bell, TENTH),
            rounds=7,
        ),
        Case(
            "expected error of refinement, normal density",
            lambda: refined_error(bell, 1, kind="individual"),
            rounds=7,
        ),
        Case(
            "expected error of noise and Bayes, n = 1,080",
            lambda: expected_error(laplace, Binomial(1080, "0.3")),
            rounds=7,
        ),
    ]


def milliseconds(case: Case) -> float:
    case.call()
    times = []
    for _ in range(case.rounds):
        start = time.process_time()
        case.call()
        times.append(time.process_time() - start)
    return statistics.median(times) * 1e3


@dataclass(frozen=True)
class Row:
    name: str
    milliseconds: float
    bar: float | None
    met: bool | None


def main() -> None:
    table = Table(title="Refinement and Bayes estimates (one core, processor time)")
    for title in ("call", "ms", "bar", ""):
        table.add_column(title, justify="left" if title == "call" else "right")
    rows: list[dict[str, object]] = []
    for case in cases():
        spent = milliseconds(case)
        row = Row(
            case.name, round(spent, 3), case.bar, None if case.bar is None else spent <= case.bar
        )
        rows.append(asdict(row))
        table.add_row(
            row.name,
            f"{spent:.2f}",
            "" if row.bar is None else f"≤ {row.bar:g}",
            {None: "", True: "met", False: "missed"}[row.met],
        )
    console = Console()
    console.print(table)
    console.print(f"Written to {record('prior', rows).name}.")


if __name__ == "__main__":
    main()
