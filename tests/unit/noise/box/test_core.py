"""The core that makes a box's noise least, against a scan of all cores."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tenue.noise import OptimalBox
from tenue.noise.box.core import best_ratio
from tenue.noise.criterion import criterion

COSTS: dict[Any, Any] = {
    "variance": lambda law: sum(law.variance),
    "absolute-error": lambda law: sum(law.mean_absolute_error),
    ("interval", "0.9"): lambda law: law.volume("0.9"),
}


@pytest.mark.parametrize("signs", ["any", "same"])
@pytest.mark.parametrize("wanted", COSTS, ids=str)
@pytest.mark.parametrize(("dimension", "epsilon"), [(1, 1), (2, "0.5"), (3, 4)])
def test_no_other_core_costs_less(wanted: Any, signs: Any, dimension: int, epsilon: Any) -> None:
    def cost(ratio: float) -> float:
        sizes = [1] * dimension
        return float(
            COSTS[wanted](
                OptimalBox(
                    sensitivities=sizes, epsilon=epsilon, core=[ratio] * dimension, signs=signs
                )
            )
        )

    found = best_ratio(dimension, signs, Fraction(epsilon), criterion(wanted))
    assert 0 < found < 1
    least = min(cost(float(ratio)) for ratio in np.linspace(0.01, 0.99, 99))
    assert cost(found) <= least * (1 + 1e-9)


def test_a_large_epsilon_wants_a_narrow_core() -> None:
    narrow = best_ratio(2, "any", Fraction(60), criterion("variance"))
    assert 0 < narrow < 1e-6
