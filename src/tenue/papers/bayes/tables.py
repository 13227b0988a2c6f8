"""Out-of-range answers, widths, and what the paper says that is not exact."""

from __future__ import annotations

import math
from statistics import NormalDist

from ...estimate import compare, out_of_range
from ...noise import Laplace
from ...prior import Binomial
from ..cell import Cell, beside, claimed, refuted
from ..data import Data
from ..exhibit import erratum, example
from .measure import exact


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


EXHIBITS = (
    example("bayes.range", "Answers that are patently wrong", "Bayes, section 2", patently_wrong),
    example("bayes.width", "What is known before asking", "Bayes, section 3", widths),
)
ERRATA = (
    erratum("err.gain", "The gain does not grow with the noise", "Bayes, section 4", monotone),
    erratum("err.growth", "The error does not grow for ever", "Bayes, section 4", growth),
    erratum("err.parity", "The least is reached for even n", "Bayes, section 2", parity),
    erratum("err.median", "Absolute errors want the median", "Bayes, section 3", median),
)
