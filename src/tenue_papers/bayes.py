"""Bayes estimates of one noisy count (Naldi and D'Acquisto)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache
from statistics import NormalDist

from tenue.estimate import Comparison, compare, out_of_range
from tenue.noise import Laplace
from tenue.prior import Binomial

from .cell import Cell, Spread, beside, claimed, explains, formula, refuted, seeded
from .data import Data
from .draw import Figure, Series, between, log_between, pairs, plot
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
    law, belief = Laplace(sensitivity=1, epsilon=epsilon), Binomial(n, share)
    return compare(law, belief, draws=RUNS, source=seeded(f"bayes {n} {epsilon} {share}"))


def error_agrees(n: int, epsilon: str, share: str = SHARE) -> Cell:
    """The simulated average error against the integral."""
    whole, run = exact(n, epsilon, share), simulated(n, epsilon, share)
    variance = max(run.bayes_squared - run.bayes_error**2, 0.0)
    numbers = whole.bayes_error, run.bayes_error, math.sqrt(variance)
    return _agrees("average error", n, epsilon, share, *numbers)


def closer_agrees(n: int, epsilon: str, share: str = SHARE) -> Cell:
    whole, run = exact(n, epsilon, share), simulated(n, epsilon, share)
    numbers = whole.closer, run.closer, math.sqrt(run.closer * (1 - run.closer))
    return _agrees("P(closer)", n, epsilon, share, *numbers)


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
"""The right average error, probability of being closer, and mean square."""
P = ("0.05", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9", "0.95")


def noise_deviation(epsilon: str) -> float:
    return math.sqrt(Laplace(sensitivity=1, epsilon=epsilon).variance)


CURVE = [f"{epsilon:.4g}" for epsilon in reversed(log_between(0.03, 3, 25))]
Horizontal = Callable[[str], float]
AXES: dict[Horizontal, str] = {noise_deviation: "standard deviation of the noise", float: "ε"}


def error_figure(n: int, horizontal: Horizontal) -> Figure:
    places, dots = ([horizontal(epsilon) for epsilon in some] for some in (CURVE, EPSILONS))
    runs = [float(error_agrees(n, e).ours or 0.0) for e in EPSILONS]
    return plot(
        *(f"{n} records, p = 0.3", AXES[horizontal], "average error"),
        Series("noisy count", pairs(places, [exact(n, e).naive_error for e in CURVE])),
        Series("Bayes", pairs(places, [exact(n, e).bayes_error for e in CURVE])),
        Series("Bayes, simulated", pairs(dots, runs), "point"),
        log_x=True,
        log_y=True,
        reverse_x=horizontal is float,
        caption="The error levels off near the error of knowing p alone.",
    )


def error_cells(n: int) -> Iterator[Cell]:
    for epsilon in EPSILONS:
        right, _, squared = RIGHT[n, epsilon]
        whole, row = exact(n, epsilon), f"n = {n}, ε = {epsilon}"
        ratio = whole.bayes_error / whole.naive_error
        yield formula(row, "noisy count", "1/ε", whole.naive_error, 1 / float(epsilon))
        yield beside(row, "Bayes, exact", whole.bayes_error, right=right)
        yield beside(row, "Bayes, mean square", whole.bayes_squared, right=squared)
        yield claimed(row, "Bayes / noisy", "below 1", ratio, holds=ratio < 1)
        yield error_agrees(n, epsilon)
    ratio = exact(n, "0.01").bayes_error / exact(n, "0.05").bayes_error
    row, flat = f"n = {n}, ε = 0.01 / 0.05", ratio < (1.1 if n == 100 else 1.4)
    yield claimed(row, "Bayes, exact", "levels off", ratio, holds=flat)


# -- over p ----------------------------------------------------------------------------------------


def over_p(value: Callable[[Comparison], float], y: str, *more: Series) -> Figure:
    shares = [f"{p:.3g}" for p in between(0.02, 0.98, 25)]
    places = [float(p) for p in shares]
    return plot(
        *("ε = 0.1", "probability p of the predicate", y),
        *(
            Series(f"n = {n}", pairs(places, [value(exact(n, "0.1", p)) for p in shares]))
            for n in SIZES
        ),
        *more,
        caption="The more certain the predicate, the more the prior helps.",
    )


def error_p_cells(_: Data) -> Iterator[Cell]:
    columns = "error at p = 0.5 / 0.05", "error at p = 0.05 / 0.95"
    for n in SIZES:
        row, errors = f"n = {n}", [exact(n, "0.1", p).bayes_error for p in P]
        middle = errors[P.index("0.5")]
        ratio, ends = middle / errors[0], errors[0] / errors[-1]
        alike = math.isclose(errors[0], errors[-1], rel_tol=1e-9)
        yield claimed(row, columns[0], "largest at ½", ratio, holds=middle == max(errors))
        yield claimed(row, columns[1], "alike", ends, holds=alike)
        yield error_agrees(n, "0.1", "0.05")


# -- probability of being closer -------------------------------------------------------------------


def closer_figure(horizontal: Horizontal) -> Figure:
    places = [horizontal(epsilon) for epsilon in CURVE]
    return plot(
        *("p = 0.3", AXES[horizontal], "P(Bayes closer)"),
        *(Series(f"n = {n}", pairs(places, [exact(n, e).closer for e in CURVE])) for n in SIZES),
        Series("a coin", ((min(places), 0.5), (max(places), 0.5)), "dashed"),
        log_x=True,
        reverse_x=horizontal is float,
        y_range=(0.4, 1),
        caption="It falls, dips near ε = 1, and rises again where ε is large.",
    )


def closer_cells(_: Data) -> Iterator[Cell]:
    column = "P(closer), exact"
    for n in SIZES:
        for epsilon in EPSILONS:
            row, right, ours = f"n = {n}, ε = {epsilon}", RIGHT[n, epsilon][1], exact(n, epsilon)
            above = ours.closer > 0.5
            yield claimed(row, column, "above ½", ours.closer, holds=above, right=right)
            yield closer_agrees(n, epsilon)


def closer_p_cells(_: Data) -> Iterator[Cell]:
    column, says = "P(closer) at p = 0.5", "worst in the middle"
    for n in SIZES:
        closer = [exact(n, "0.1", p).closer for p in P]
        middle = closer[P.index("0.5")]
        yield claimed(f"n = {n}", column, says, middle, holds=middle == min(closer))
        yield closer_agrees(n, "0.1", "0.5")


LOST = "The numbers of this figure are not in the available text; ε = 0.1 is our choice."
CLOSER = "Probability of being closer, over"


def _error(name: str, n: int, horizontal: Horizontal) -> Exhibit:
    over = "ε" if horizontal is float else "the noise"
    title = f"Average error over {over}, {n} records"
    return figure(
        *(name, title, lambda _: error_cells(n), lambda _: error_figure(n, horizontal)), seconds=4
    )


FIGURES = (
    _error("bayes.fig1", 100, noise_deviation),
    _error("bayes.fig2", 1000, noise_deviation),
    _error("bayes.fig3", 100, float),
    _error("bayes.fig4", 1000, float),
    figure(
        *("bayes.fig5", "Average error over p", error_p_cells),
        lambda _: over_p(
            lambda one: one.bayes_error,
            "average error",
            Series("noisy count", ((0.02, 10.0), (0.98, 10.0)), "dashed"),
        ),
        note=LOST,
        seconds=6,
    ),
    figure(
        *("bayes.fig6", f"{CLOSER} the noise", closer_cells),
        lambda _: closer_figure(noise_deviation),
        seconds=2,
    ),
    figure(*("bayes.fig7", f"{CLOSER} ε", closer_cells), lambda _: closer_figure(float), seconds=1),
    figure(
        *("bayes.fig8", f"{CLOSER} p", closer_p_cells),
        lambda _: over_p(lambda one: one.closer, "P(Bayes closer)"),
        note=LOST,
        seconds=1,
    ),
)


# -- Out-of-range answers, widths, and claims of the paper that are not exact ----------------------


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


def patently_wrong(_: Data) -> Iterator[Cell]:
    columns, says = ("P(out of range), ends", "P(out of range), middle"), "(1 + e^(−nε))/2"
    for (n, epsilon), (most, least) in KNOWN.items():
        row, ends = f"n = {n}, ε = {epsilon}", wrong(0, n, epsilon)
        bound = (1 + math.exp(-n * float(epsilon))) / 2
        holds = math.isclose(ends, bound, rel_tol=1e-10) and ends >= wrong(1, n, epsilon)
        yield claimed(row, columns[0], says, ends, holds=holds, right=most)
        yield beside(row, columns[1], wrong(n // 2, n, epsilon), right=least)


def widths(_: Data) -> Iterator[Cell]:
    """10,000 records, p = 0.3: the width of the prior."""
    known = 2 * NormalDist().inv_cdf(0.95) * math.sqrt(Binomial(10_000, "0.3").variance)
    tenth, one = (2 * Laplace(sensitivity=1, epsilon=e).interval("0.9")[1] for e in ("0.1", "1"))
    column, remark = "90 % width", "The level and ε of the example are not in the available text."
    ratio, less = one / known, one < known / 10
    yield beside("binomial", column, known, right="150.753325053")
    yield beside("noise, ε = 0.1", column, tenth, right="46.051701859881")
    yield beside("noise, ε = 1", column, one, right="4.6051701859881")
    yield claimed("noise / binomial", "ε = 1", "much lower", ratio, holds=less, remark=remark)


def monotone(_: Data) -> Iterator[Cell]:
    known = {"1": None, "1.5": "0.52215407398", "3": "0.74189079164", "5": "0.91248827405"}
    closer = {e: exact(100, e).closer for e in ("0.1", *known, "10")}
    yield refuted(
        *("n = 100", "P(closer) at ε = 10", "the gap grows with the noise", closer["10"]),
        fails=closer["1"] < closer["0.1"] < closer["10"],
        because="It is least near ε = 1 and rises again: where the noise is small, an "
        "estimate that moves towards the nearest whole number wins.",
    )
    for e, right in known.items():
        yield beside("n = 100", f"P(closer) at ε = {e}", closer[e], right=right)


def growth(_: Data) -> Iterator[Cell]:
    small, limit = exact(100, "0.001").bayes_error, deviation(100)
    larger = exact(100, "0.01").bayes_error
    says = "a very slow growth that goes on"
    yield refuted(
        *("n = 100", "error at ε = 0.001 / 0.01", says, small / larger),
        fails=small < larger,
        because="The average error rises a little above the error of knowing p alone, and "
        "then falls to it as ε goes to 0.",
    )
    yield beside("n = 100", "error at ε = 0.01", larger, right="3.655184823")
    yield beside("n = 100", "error at ε = 0.001", small, right="3.6466619543")
    yield beside("n = 100", "limit", limit, right="3.6449223196")


def deviation(n: int) -> float:
    """The mean absolute deviation of the binomial from its mean."""
    masses = Binomial(n, "0.3").points.masses.items()
    return float(sum(float(m) * abs(float(v) - 0.3 * n) for v, m in masses))


def parity(_: Data) -> Iterator[Cell]:
    even, odd = wrong(50, 100, "0.1"), wrong(50, 101, "0.1")
    yield refuted(
        *("lowest at n/2", "n = 100", "whole just when n is odd", even),
        fails=math.isclose(even, math.exp(-5), rel_tol=1e-10) and odd > math.exp(-101 * 0.05),
        because="n/2 is whole just when n is even; there it is e^(−nε/2).",
    )


def median(_: Data) -> Iterator[Cell]:
    law, belief = Laplace(sensitivity=1, epsilon=1), Binomial(100, "0.3")
    mean, middle = (compare(law, belief, estimator=e).bayes_error for e in ("mean", "median"))
    says = "the mean is the estimate to take"
    yield refuted(
        *("n = 100, ε = 1", "error, median / mean", says, middle / mean),
        fails=middle < mean * 0.97,
        because="The posterior mean has the least squared error; the posterior median has the "
        "least absolute error, which the paper measures.",
    )
    yield beside("posterior mean", "average error", mean, right="0.980481638653")
    yield beside("posterior median", "average error", middle)


TABLES = (
    example(
        "bayes.range", "Answers that are patently wrong", patently_wrong, source="Bayes, section 2"
    ),
    example("bayes.width", "What is known before asking", widths, source="Bayes, section 3"),
)
ERRATA = (
    erratum(
        "err.gain", "The gain does not grow with the noise", monotone, source="Bayes, section 4"
    ),
    erratum("err.growth", "The error does not grow for ever", growth, source="Bayes, section 4"),
    erratum("err.parity", "The least is reached for even n", parity, source="Bayes, section 2"),
    erratum("err.median", "Absolute errors need the median", median, source="Bayes, section 3"),
)
