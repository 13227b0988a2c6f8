"""Bayes estimates of one noisy count (Naldi and D'Acquisto)."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable
from functools import cache
from statistics import NormalDist

from tenue.estimate import Comparison, compare, out_of_range
from tenue.noise import Laplace, Seeded
from tenue.prior import Binomial

from .cell import Cell, Spread, beside, claimed, explains, refuted
from .data import Data
from .draw import Figure, Panel, Series, between, log_between, pairs, panels
from .exhibit import Exhibit, erratum, example, figure

RUNS = 100_000
SHARE = "0.3"
SIZES = (100, 1000)
EPSILONS = ("0.05", "0.1", "0.2", "0.5", "1", "2")


@cache
def exact(n: int, epsilon: str, share: str = SHARE) -> Comparison:
    return compare(Laplace(sensitivity=1, epsilon=epsilon), Binomial(n, share))


@cache
def simulated(n: int, epsilon: str, share: str = SHARE) -> Comparison:
    seed = zlib.crc32(f"bayes {n} {epsilon} {share}".encode())
    law, belief = Laplace(sensitivity=1, epsilon=epsilon), Binomial(n, share)
    return compare(law, belief, draws=RUNS, source=Seeded(seed))


def error_agrees(n: int, epsilon: str, share: str = SHARE) -> Cell:
    """The simulated average error against the integral."""
    whole, run = exact(n, epsilon, share), simulated(n, epsilon, share)
    deviation = math.sqrt(max(run.bayes_squared - run.bayes_error**2, 0.0))
    return _agrees(
        "average error", n, epsilon, share, whole.bayes_error, run.bayes_error, deviation
    )


def closer_agrees(n: int, epsilon: str, share: str = SHARE) -> Cell:
    whole, run = exact(n, epsilon, share), simulated(n, epsilon, share)
    deviation = math.sqrt(run.closer * (1 - run.closer))
    return _agrees("P(closer)", n, epsilon, share, whole.closer, run.closer, deviation)


def _agrees(
    what: str, n: int, epsilon: str, share: str, whole: float, run: float, deviation: float
) -> Cell:
    row = f"n = {n}, ε = {epsilon}" + ("" if share == SHARE else f", p = {share}")
    holds = explains(run, whole, Spread(deviation, RUNS - 1), RUNS, math.inf)
    return claimed(row, f"{what}, {RUNS:,} runs", "as simulated", run, holds=holds)


# The eight figures: average error and probability of being closer, over noise, ε and p.

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


def noise_deviation(epsilon: str) -> float:
    return math.sqrt(Laplace(sensitivity=1, epsilon=epsilon).variance)


# -- average error ---------------------------------------------------------------------------------


def error_figure(n: int, over: str) -> Figure:
    curve = sorted(CURVE, key=noise_deviation)
    place = noise_deviation if over == "noise" else float
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
    curve = sorted(CURVE, key=noise_deviation)
    place = noise_deviation if over == "noise" else float
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


FIGURES = (
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


# -- Out-of-range answers, widths, and what the paper says that is not exact -----------------------


def wrong(true: int, n: int, epsilon: str) -> float:
    return out_of_range(true, n, Laplace(sensitivity=1, epsilon=epsilon))


KNOWN = {
    (10, "0.01"): ("0.95241870901798", "0.95122942450071"),
    (10, "1"): ("0.50002269996488", "0.0067379469990855"),
    (11, "0.1"): ("0.66643554184904", "0.57767114790333"),
    (100, "0.1"): ("0.50002269996488", "0.0067379469990855"),
    (101, "0.01"): ("0.68210948978576", "0.60351311926245"),
    (1000, "0.01"): ("0.50002269996488", "0.0067379469990855"),
}


def patently_wrong(_: Data) -> list[Cell]:
    cells = []
    for (n, epsilon), (most, least) in KNOWN.items():
        row, ends, middle = (
            f"n = {n}, ε = {epsilon}",
            wrong(0, n, epsilon),
            wrong(n // 2, n, epsilon),
        )
        bound = (1 + math.exp(-n * float(epsilon))) / 2
        cells += [
            claimed(
                row,
                "P(out of range), ends",
                "(1 + e^(−nε))/2",
                ends,
                holds=math.isclose(ends, bound, rel_tol=1e-10) and ends >= wrong(1, n, epsilon),
                right=most,
            ),
            beside(row, "P(out of range), middle", middle, right=least),
        ]
    return cells


def widths(_: Data) -> list[Cell]:
    """10,000 records, p = 0.3: how wide is what is known without asking."""
    belief = Binomial(10_000, "0.3")
    half = NormalDist().inv_cdf(0.95)
    known = 2 * half * math.sqrt(belief.variance)
    noise = {e: 2 * Laplace(sensitivity=1, epsilon=e).interval("0.9")[1] for e in ("0.1", "1")}
    return [
        beside("binomial", "90 % width", known, right="150.753325053"),
        beside("noise, ε = 0.1", "90 % width", noise["0.1"], right="46.051701859881"),
        beside("noise, ε = 1", "90 % width", noise["1"], right="4.6051701859881"),
        claimed(
            "noise / binomial",
            "ε = 1",
            "much lower",
            noise["1"] / known,
            holds=noise["1"] < known / 10,
            remark="The level and ε of the example are not in the text at hand.",
        ),
    ]


def monotone(_: Data) -> list[Cell]:
    at = {e: exact(100, e).closer for e in ("0.1", "0.5", "1", "1.5", "3", "5", "10")}
    return [
        refuted(
            "n = 100",
            "P(closer) at ε = 10",
            "the gap grows with the noise",
            at["10"],
            fails=at["1"] < at["0.1"] < at["10"],
            because="It is least near ε = 1 and rises again: where the noise is small, an "
            "estimate drawn to the nearest whole number wins.",
        ),
        beside("n = 100", "P(closer) at ε = 1", at["1"]),
        beside("n = 100", "P(closer) at ε = 1.5", at["1.5"], right="0.52215407398"),
        beside("n = 100", "P(closer) at ε = 3", at["3"], right="0.74189079164"),
        beside("n = 100", "P(closer) at ε = 5", at["5"], right="0.91248827405"),
    ]


def growth(_: Data) -> list[Cell]:
    small, limit = exact(100, "0.001").bayes_error, deviation(100)
    larger = exact(100, "0.01").bayes_error
    return [
        refuted(
            "n = 100",
            "error at ε = 0.001 / 0.01",
            "a very slow growth that goes on",
            small / larger,
            fails=small < larger,
            because="The average error rises a little beyond what knowing p alone gives, and "
            "then falls to it as ε goes to 0.",
        ),
        beside("n = 100", "error at ε = 0.01", larger, right="3.655184823"),
        beside("n = 100", "error at ε = 0.001", small, right="3.6466619543"),
        beside("n = 100", "limit", limit, right="3.6449223196"),
    ]


def deviation(n: int) -> float:
    """The mean absolute deviation of the binomial from its mean."""
    belief = Binomial(n, "0.3")
    masses = belief.points.masses.items()
    return float(sum(float(m) * abs(float(v) - 0.3 * n) for v, m in masses))


def parity(_: Data) -> list[Cell]:
    even, odd = wrong(50, 100, "0.1"), wrong(50, 101, "0.1")
    return [
        refuted(
            "lowest at n/2",
            "n = 100",
            "whole just when n is odd",
            even,
            fails=math.isclose(even, math.exp(-5), rel_tol=1e-10) and odd > math.exp(-101 * 0.05),
            because="n/2 is whole just when n is even; there it is e^(−nε/2).",
        ),
    ]


def median(_: Data) -> list[Cell]:
    law, belief = Laplace(sensitivity=1, epsilon=1), Binomial(100, "0.3")
    mean, middle = (compare(law, belief, estimator=e).bayes_error for e in ("mean", "median"))
    return [
        refuted(
            "n = 100, ε = 1",
            "error, median / mean",
            "the mean is the estimate to take",
            middle / mean,
            fails=middle < mean * 0.97,
            because="The posterior mean has the least squared error; the least absolute error, "
            "which the paper measures, is that of the posterior median.",
        ),
        beside("posterior mean", "average error", mean, right="0.980481638653"),
        beside("posterior median", "average error", middle),
    ]


TABLES = (
    example("bayes.range", "Answers that are patently wrong", "Bayes, section 2", patently_wrong),
    example("bayes.width", "What is known before asking", "Bayes, section 3", widths),
)
ERRATA = (
    erratum("err.gain", "The gain does not grow with the noise", "Bayes, section 4", monotone),
    erratum("err.growth", "The error does not grow for ever", "Bayes, section 4", growth),
    erratum("err.parity", "The least is reached for even n", "Bayes, section 2", parity),
    erratum("err.median", "Absolute errors want the median", "Bayes, section 3", median),
)
