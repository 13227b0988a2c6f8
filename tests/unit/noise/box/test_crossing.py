from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from tenue.noise.box.crossing import crossing


@pytest.mark.parametrize(
    ("excess", "low", "high", "root"),
    [
        (lambda x: math.exp(-x) - 0.05, 0.0, 1e6, -math.log(0.05)),
        (lambda x: 1 / (1 + x) - 1e-4, 0.0, 1e9, 9999.0),
        (lambda x: 3.0 if x < 7 else -1e-9, 0.0, 100.0, 7.0),
        (lambda x: 1e-300 * (5 - x), 0.0, 6.0, 5.0),
        (lambda x: 2.0 - x, 0.0, 2.0, 2.0),
    ],
)
def test_the_first_place_that_is_not_above_zero(
    excess: Callable[[float], float], low: float, high: float, root: float
) -> None:
    found = crossing(excess, low, high)
    assert excess(found) <= 0
    assert found == pytest.approx(root, rel=1e-12)


def test_smooth_functions_take_few_calls() -> None:
    calls = []

    def excess(x: float) -> float:
        calls.append(x)
        return math.exp(-x) * (1 + x) - 0.01

    crossing(excess, 0.0, 100.0)
    assert len(calls) < 40
