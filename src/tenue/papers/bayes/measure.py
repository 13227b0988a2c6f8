"""The noisy count against its Bayes estimate: exact, and by simulation as in the paper."""

from __future__ import annotations

import math
import zlib
from functools import cache

from ...estimate import Comparison, compare
from ...noise import Laplace, Seeded
from ...prior import Binomial
from ..cell import Cell, claimed
from ..chance import Spread, explains

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
