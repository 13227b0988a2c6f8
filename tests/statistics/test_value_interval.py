"""Do bought intervals cover their level, drawn by the shipped sampler?"""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from alarm import SHARE, budget, claim
from tenue.ask.aggregates.order_statistics import RankReading, choices_for
from tenue.ask.aggregates.strategy import Span
from tenue.ask.question import Aggregate
from tenue.noise import Seeded

FILE = "statistics/test_value_interval.py"
DRAWS = 1_000
LEVEL = Fraction(9, 10)
ROWS = 100
VALUES = [(10 * i, i, 1) for i in range(ROWS)]
SPAN = Span(0, 100_000, Fraction(1))
TRUTH = {
    Aggregate("quantile", "x", q=Fraction(1, 2)): Fraction(10 * (ROWS - 1), 2),
    Aggregate("quantile", "x", q=Fraction(1, 5)): Fraction(10 * (ROWS - 1), 5),
    Aggregate("min", "x"): Fraction(0),
    Aggregate("max", "x"): Fraction(10 * (ROWS - 1)),
}


@pytest.mark.parametrize("asked", list(TRUTH), ids=str)
def test_bought_intervals_cover(asked: Aggregate) -> None:
    claim(FILE, str(asked))
    choices, bought = choices_for(asked, SPAN, "replace", Fraction(4), lambda share: share, LEVEL)
    reading = RankReading(0, Fraction(1), choices[0].selection, bought)
    source, hits = Seeded(11), 0
    for _ in range(DRAWS):
        drawn = [choice.selection.choose(ROWS, VALUES, source) for choice in choices]
        found = reading.interval((), LEVEL, [drawn], None)
        assert found is not None
        hits += found[0] <= TRUTH[asked] <= found[1]
    log, p = math.log(2 / SHARE), float(LEVEL)
    slack = math.sqrt(2 * p * (1 - p) * log / DRAWS) + 2 * log / (3 * DRAWS)
    assert hits / DRAWS >= p - slack, budget(asked=asked, covered=hits / DRAWS, level=p)
