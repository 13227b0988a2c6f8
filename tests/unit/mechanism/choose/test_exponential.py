"""Classes drawn with exponentially falling weights."""

from __future__ import annotations

import math
from fractions import Fraction

from tenue.mechanism.choose.exponential import exponential_table
from tenue.noise import Seeded


def test_the_table_has_the_weights_of_its_classes() -> None:
    table = exponential_table([(0, 2), (3, 5)], Fraction(1, 2), 7)
    drawn = table.draw(20_000, Seeded(5))
    p = 2 / (2 + 5 * math.exp(-1.5))
    assert abs((drawn == 0).mean() - p) < 6 * math.sqrt(p * (1 - p) / 20_000)
