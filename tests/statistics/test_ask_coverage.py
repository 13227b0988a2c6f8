"""Do intervals cover their level, and is the expected error what happens?

Draws come from prepared plans on fixed true numbers: 10,000 for each kind of reading. An interval
covers at least its level (discrete laws round up); a continuous one covers it exactly. The mutant
with intervals 10 % too narrow is rejected where the law is fine enough to tell.
"""

from __future__ import annotations

import itertools
import math
import zlib
from fractions import Fraction

import numpy as np
import pytest

from alarm import SHARE, budget, claim
from tenue.ask.aggregates.reading import Reading
from tenue.ask.aggregates.strategy import Range, Setting, Strategy
from tenue.ask.plan.planner import strategies
from tenue.ask.question import Aggregate
from tenue.mechanism.additive_noise import Atoms
from tenue.noise import Seeded
from tenue.noise.criterion import VARIANCE
from tenue.privacy.loss import EpsilonDelta

FILE = "statistics/test_ask_coverage.py"
DRAWS = 10_000
LEVEL = Fraction(9, 10)
RANGES = {
    "x": Range(low=0, high=5_000, grid=Fraction(1, 10), never_missing=False),
    "y": Range(low=-300, high=400, grid=Fraction(1), never_missing=True),
}
TRUE = Atoms(rows=900, present={"x": 800, "y": 900}, total={"x": 1_500_000, "y": 30_000})
COUNT, COUNT_X = Aggregate("count"), Aggregate("count", "x")
SUM_X, SUM_Y = Aggregate("sum", "x"), Aggregate("sum", "y")
AVG_X, AVG_Y = Aggregate("avg", "x"), Aggregate("avg", "y")
QUESTIONS = [
    (COUNT,),
    (SUM_X,),
    (AVG_X,),
    (AVG_Y,),
    (COUNT, SUM_X, AVG_X),
    (COUNT, SUM_Y),
    (COUNT, COUNT_X),
]
TRUTH = {
    COUNT: Fraction(900),
    COUNT_X: Fraction(800),
    SUM_X: Fraction(150_000),
    SUM_Y: Fraction(30_000),
    AVG_X: Fraction(150_000, 800),
    AVG_Y: Fraction(30_000, 900),
}


def plans() -> list[tuple[str, Strategy]]:
    found = []
    settings = (("add-or-remove", False), ("replace", False), ("replace", True))
    for (kind, grouped), aggregates in itertools.product(settings, QUESTIONS):
        setting = Setting(kind, grouped, False, RANGES, frozenset(["y"]))
        for strategy in strategies(aggregates, setting, EpsilonDelta.of(0.5), VARIANCE):
            asked = "+".join(f"{a.kind}{a.column or ''}" for a in aggregates)
            found.append((f"{kind}-{grouped}-{asked}-{strategy.name}", strategy))
    return found


PLANS = plans()


def noisy_cells(strategy: Strategy, seed: int) -> list[list[list[int]]]:
    """The released components of DRAWS independent answers."""
    source = Seeded(seed)
    by_part = []
    for part in strategy.parts:
        truth = np.array([c.of(TRUE) for c in part.components], dtype=object)
        by_part.append((np.array(part.draw(DRAWS, source), dtype=object) + truth).tolist())
    return [[part[i] for part in by_part] for i in range(DRAWS)]


def binomial_slack(p: float) -> float:
    """How far a share of DRAWS may stray from p (Bernstein)."""
    log = math.log(2 / SHARE)
    return math.sqrt(2 * p * (1 - p) * log / DRAWS) + 2 * log / (3 * DRAWS)


def covered(
    reading: Reading, strategy: Strategy, cells: list[list[list[int]]], truth: Fraction
) -> float:
    hits = 0
    for cell in cells:
        found = reading.interval(strategy.parts, LEVEL, cell, TRUE.rows)
        assert found is not None
        hits += found[0] <= truth <= found[1]
    return hits / DRAWS


@pytest.mark.parametrize(("name", "strategy"), PLANS, ids=[name for name, _ in PLANS])
def test_intervals_cover_and_errors_are_as_expected(name: str, strategy: Strategy) -> None:
    cells = noisy_cells(strategy, zlib.crc32(name.encode()))
    slack = binomial_slack(float(LEVEL))
    for aggregate, reading in strategy.readings.items():
        claim(FILE, f"{name}-{aggregate}")
        truth = TRUTH[aggregate]
        share = covered(reading, strategy, cells, truth)
        facts = budget(plan=name, aggregate=aggregate, covered=share, level=float(LEVEL))
        assert share >= float(LEVEL) - slack, facts
        # counts round to whole numbers, so they may cover more; nothing else does
        if aggregate.kind != "count" and not (aggregate == COUNT and len(strategy.parts) > 1):
            assert share <= float(LEVEL) + slack + 0.01, facts

        seen = [abs(reading.value(cell, TRUE.rows) - truth) for cell in cells]
        mean = float(sum(seen)) / DRAWS
        expected = reading.expected_error(strategy.parts, cells[0], TRUE.rows)
        if aggregate.kind == "avg":  # told from the noisy parts: average over answers
            told = [reading.expected_error(strategy.parts, c, TRUE.rows) for c in cells[:300]]
            expected = sum(t for t in told if t is not None) / len(told)
        assert expected is not None
        spread = float(np.std([float(s) for s in seen])) / math.sqrt(DRAWS)
        limit = 0.02 * expected + 5.5 * spread
        assert abs(mean - expected) <= limit, (facts, mean, expected)


def test_intervals_a_tenth_too_narrow_are_seen() -> None:
    claim(FILE, "mutant")
    setting = Setting("add-or-remove", False, False, RANGES, frozenset(["y"]))
    strategy = strategies((SUM_X,), setting, EpsilonDelta.of(0.5), VARIANCE)[0]
    reading = strategy.readings[SUM_X]
    hits = 0
    for cell in noisy_cells(strategy, 5):
        found = reading.interval(strategy.parts, LEVEL, cell, None)
        assert found is not None
        middle, half = (found[0] + found[1]) / 2, (found[1] - found[0]) / 2 * Fraction(9, 10)
        hits += middle - half <= TRUTH[SUM_X] <= middle + half
    assert hits / DRAWS < float(LEVEL) - binomial_slack(float(LEVEL))
