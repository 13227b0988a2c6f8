"""The eight figures: average error and probability of being closer, over noise, ε and p."""

from __future__ import annotations

import math
from collections.abc import Callable

from ...noise import Laplace
from ..cell import Cell, beside, claimed
from ..data import Data
from ..exhibit import Exhibit, figure
from ..figure import Figure, Panel, Series, between, log_between, pairs, panels
from .measure import EPSILONS, SIZES, closer_agrees, error_agrees, exact

RIGHT = {
    (100, "0.05"): ("3.57352987261", "0.854659581714", "20.1418357988"),
    (100, "0.1"): ("3.39728256285", "0.760878530577", "18.2908894026"),
    (100, "0.2"): ("2.93611979505", None, "13.9902793426"),
    (100, "0.5"): ("1.79574596396", None, "5.6918410276"),
    (100, "1"): ("0.980481638653", None, None),
    (100, "2"): ("0.482380982658", "0.566901416486", "0.486620781555"),
    (1000, "0.05"): (None, None, "157.78235209"),
    (1000, "0.1"): ("7.64571705575", "0.590617393668", "98.2802749081"),
    (1000, "0.2"): (None, "0.531077252129", "40.0874474488"),
    (1000, "0.5"): ("1.99003431946", None, "7.70570188301"),
    (1000, "1"): ("0.996932550911", "0.508527609246", "1.98097684802"),
    (1000, "2"): ("0.483576186778", "0.651762187459", None),
}
P = ("0.05", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9", "0.95")
CURVE = [f"{epsilon:.4g}" for epsilon in log_between(0.03, 3, 25)]


def deviation(epsilon: str) -> float:
    return math.sqrt(Laplace(sensitivity=1, epsilon=epsilon).variance)


# -- average error ---------------------------------------------------------------------------------


def error_figure(n: int, over: str) -> Figure:
    curve = sorted(CURVE, key=deviation)
    place = deviation if over == "noise" else float
    xs = [place(epsilon) for epsilon in curve]
    dots = [place(epsilon) for epsilon in EPSILONS]
    panel = Panel(
        f"{n} records, p = 0.3",
        "standard deviation of the noise" if over == "noise" else "ε",
        "average error",
        (
            Series("noisy count", pairs(xs, [exact(n, e).naive_error for e in curve])),
            Series("Bayes", pairs(xs, [exact(n, e).bayes_error for e in curve])),
            Series("Bayes, simulated", pairs(dots, [error_run(n, e) for e in EPSILONS]), "point"),
        ),
        log_x=True,
        log_y=True,
        reverse_x=over != "noise",
    )
    return panels(panel, caption="The error levels off near what knowing p alone gives.")


def error_run(n: int, epsilon: str) -> float:
    return float(error_agrees(n, epsilon).ours or 0.0)


def error_cells(n: int) -> list[Cell]:
    cells: list[Cell] = []
    for epsilon in EPSILONS:
        right, _, squared = RIGHT[n, epsilon]
        found, row = exact(n, epsilon), f"n = {n}, ε = {epsilon}"
        cells += [
            claimed(
                row,
                "noisy count",
                "1/ε",
                found.naive_error,
                holds=math.isclose(found.naive_error, 1 / float(epsilon), rel_tol=1e-12),
            ),
            beside(row, "Bayes, exact", found.bayes_error, right=right),
            beside(row, "Bayes, mean square", found.bayes_squared, right=squared),
            claimed(
                row,
                "Bayes / noisy",
                "below 1",
                found.bayes_error / found.naive_error,
                holds=found.bayes_error < found.naive_error,
            ),
            error_agrees(n, epsilon),
        ]
    low, lower = exact(n, "0.01").bayes_error, exact(n, "0.05").bayes_error
    return [
        *cells,
        claimed(
            f"n = {n}, ε = 0.01 / 0.05",
            "Bayes, exact",
            "levels off",
            low / lower,
            holds=low / lower < (1.1 if n == 100 else 1.4),
        ),
    ]


# -- over p ----------------------------------------------------------------------------------------


def over_p(value: Callable[[int, str], float], y: str, flat: float | None) -> Figure:
    shares = [f"{p:.3g}" for p in between(0.02, 0.98, 25)]
    series = [
        Series(f"n = {n}", pairs([float(p) for p in shares], [value(n, p) for p in shares]))
        for n in SIZES
    ]
    if flat is not None:
        series.append(Series("noisy count", ((0.02, flat), (0.98, flat)), "dashed"))
    panel = Panel("ε = 0.1", "probability p of the predicate", y, tuple(series))
    return panels(panel, caption="The more certain the predicate, the more the prior helps.")


def error_p_cells(_: Data) -> list[Cell]:
    cells = []
    for n in SIZES:
        found = [exact(n, "0.1", p).bayes_error for p in P]
        middle = found[P.index("0.5")]
        cells += [
            claimed(
                f"n = {n}",
                "error at p = 0.5 / 0.05",
                "largest at ½",
                middle / found[0],
                holds=middle == max(found),
            ),
            claimed(
                f"n = {n}",
                "error at p = 0.05 / 0.95",
                "alike",
                found[0] / found[-1],
                holds=math.isclose(found[0], found[-1], rel_tol=1e-9),
            ),
            error_agrees(n, "0.1", "0.05"),
        ]
    return cells


# -- probability of being closer -------------------------------------------------------------------


def closer_figure(over: str) -> Figure:
    curve = sorted(CURVE, key=deviation)
    place = deviation if over == "noise" else float
    xs = [place(epsilon) for epsilon in curve]
    panel = Panel(
        "p = 0.3",
        "standard deviation of the noise" if over == "noise" else "ε",
        "P(Bayes closer)",
        (
            *(Series(f"n = {n}", pairs(xs, [exact(n, e).closer for e in curve])) for n in SIZES),
            Series("a coin", ((min(xs), 0.5), (max(xs), 0.5)), "dashed"),
        ),
        log_x=True,
        reverse_x=over != "noise",
        y_range=(0.4, 1),
    )
    return panels(panel, caption="It falls, dips near ε = 1, and rises again where ε is large.")


def closer_cells(_: Data) -> list[Cell]:
    cells: list[Cell] = []
    for n in SIZES:
        for epsilon in EPSILONS:
            right = RIGHT[n, epsilon][1]
            found = exact(n, epsilon).closer
            cells += [
                claimed(
                    f"n = {n}, ε = {epsilon}",
                    "P(closer), exact",
                    "above ½",
                    found,
                    holds=found > 0.5,
                    right=right,
                ),
                closer_agrees(n, epsilon),
            ]
    return cells


def closer_p_cells(_: Data) -> list[Cell]:
    cells = []
    for n in SIZES:
        found = [exact(n, "0.1", p).closer for p in P]
        cells += [
            claimed(
                f"n = {n}",
                "P(closer) at p = 0.5",
                "worst in the middle",
                found[P.index("0.5")],
                holds=found[P.index("0.5")] == min(found),
            ),
            closer_agrees(n, "0.1", "0.5"),
        ]
    return cells


LOST = "The numbers of this figure are not in the text at hand; ε = 0.1 is ours."


def _error(name: str, n: int, over: str) -> Exhibit:
    title = f"Average error over {'the noise' if over == 'noise' else 'ε'}, {n} records"
    return figure(
        name,
        title,
        f"Bayes, figure {name[-1]}",
        lambda _: error_cells(n),
        lambda _: error_figure(n, over),
        seconds=4,
    )


EXHIBITS = (
    _error("bayes.fig1", 100, "noise"),
    _error("bayes.fig2", 1000, "noise"),
    _error("bayes.fig3", 100, "epsilon"),
    _error("bayes.fig4", 1000, "epsilon"),
    figure(
        "bayes.fig5",
        "Average error over p",
        "Bayes, figure 5",
        error_p_cells,
        lambda _: over_p(lambda n, p: exact(n, "0.1", p).bayes_error, "average error", 10.0),
        note=LOST,
        seconds=6,
    ),
    figure(
        "bayes.fig6",
        "Probability of being closer, over the noise",
        "Bayes, figure 6",
        closer_cells,
        lambda _: closer_figure("noise"),
        seconds=2,
    ),
    figure(
        "bayes.fig7",
        "Probability of being closer, over ε",
        "Bayes, figure 7",
        closer_cells,
        lambda _: closer_figure("epsilon"),
        seconds=1,
    ),
    figure(
        "bayes.fig8",
        "Probability of being closer, over p",
        "Bayes, figure 8",
        closer_p_cells,
        lambda _: over_p(lambda n, p: exact(n, "0.1", p).closer, "P(Bayes closer)", None),
        note=LOST,
        seconds=1,
    ),
)
