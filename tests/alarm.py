"""The one false-alarm budget of the whole suite.

A statistical test may fail although the code is right. All of them together do so with probability
at most `BUDGET` per run, each with its equal `SHARE`. A new statistical test file adds its number
of tests to `REGISTERED`; every failure prints these numbers.

How a law is tested
    With probability 1 − SHARE the empirical distribution function of n draws stays within
    t = sqrt(ln(2/SHARE) / 2n) of the true one, everywhere at once (Dvoretzky, Kiefer, Wolfowitz;
    constant by Massart). A wrong law at distance δ > 2t is then always rejected. So both errors
    are one event, and n follows from δ: `draws_for`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

BUDGET = 1e-6
"""The probability that a run of the suite fails although everything is right."""

REGISTERED = {
    "attacks/test_workload_coverage.py": 10,
    "statistics/test_noise.py": 60,
    "statistics/test_box_ratios.py": 40,
    "statistics/test_ask_coverage.py": 90,
    "statistics/test_ask_end_to_end.py": 1,
    "statistics/test_people_coverage.py": 1,
    "statistics/test_private_blocks.py": 5,
    "statistics/test_value_interval.py": 4,
    "statistics/test_workload.py": 16,
    "unit/noise/test_source.py": 8,
    "elsewhere": 100,
}
"""How many statistical tests each file may hold; `claim` counts them."""

SHARE = BUDGET / sum(REGISTERED.values())

WRONG_SCALES = (0.9, 1.1)
"""Every test must reject the law with its scale this many times the true one."""

_claimed: dict[str, set[str]] = {}
_calls = 0

Values = npt.NDArray[Any]
Distribution = Callable[[Values], Values]


def claim(file: str, test: str) -> None:
    """One statistical test of `file` uses its share; more than were registered is an error."""
    global _calls
    _calls += 1
    names = _claimed.setdefault(file, set())
    names.add(test)
    if len(names) > REGISTERED.get(file, 0):
        raise AssertionError(f"{file} holds more statistical tests than it registered in alarm.py")


def claims() -> int:
    """How often a share was taken so far."""
    return _calls


def accepted_distance(draws: int) -> float:
    """The largest distance that chance explains."""
    return math.sqrt(math.log(2 / SHARE) / (2 * draws))


def draws_for(distance: float) -> int:
    """How many draws tell apart two laws at this distance, both errors within SHARE."""
    return math.ceil(1.05 * 2 * math.log(2 / SHARE) / distance**2)


def distance_between(one: Distribution, other: Distribution, points: Values) -> float:
    """A lower bound on the distance of two laws: the largest seen at `points`."""
    return float(np.abs(one(points) - other(points)).max())


def distance_from(draws: Values, law: Distribution, below: Distribution) -> float:
    """sup |F_n − F|; `law` is P(≤ x), `below` is P(< x)."""
    values, counts = np.unique(draws, return_counts=True)
    after = np.cumsum(counts) / draws.size
    before = after - counts / draws.size
    return float(max(np.abs(after - law(values)).max(), np.abs(before - below(values)).max()))


def budget(**facts: object) -> str:
    """What every failing statistical test prints."""
    seen = ", ".join(f"{name} = {value}" for name, value in facts.items())
    return (
        f"{seen}. False alarms: {BUDGET:g} per run over {sum(REGISTERED.values())} tests, "
        f"{SHARE:.2g} for this one."
    )


def assert_accepted(draws: Values, law: Distribution, below: Distribution, name: str) -> None:
    """The draws are as the law says, as far as this many draws can tell."""
    seen = distance_from(draws, law, below)
    limit = accepted_distance(draws.size)
    assert seen <= limit, budget(law=name, draws=draws.size, distance=seen, limit=limit)


def assert_rejected(draws: Values, wrong: Distribution, below: Distribution, name: str) -> None:
    """The draws are told apart from a wrong law."""
    seen = distance_from(draws, wrong, below)
    limit = accepted_distance(draws.size)
    assert seen > limit, budget(wrong_law=name, draws=draws.size, distance=seen, limit=limit)


def mean_within(draws: int, variance: float, largest: float) -> float:
    """How far the mean of bounded draws may stray from its expectation (Bernstein)."""
    log = math.log(2 / SHARE)
    return math.sqrt(2 * variance * log / draws) + 2 * largest * log / (3 * draws)
