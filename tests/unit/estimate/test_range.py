"""How often a noisy count is patently wrong."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tenue.errors import Refused
from tenue.estimate import out_of_range
from tenue.noise import DiscreteLaplace, HeavyTail, Laplace, Optimal


@pytest.mark.parametrize("true", [0, 3, 10])
def test_on_a_grid_it_is_the_sum_of_masses(true: int) -> None:
    for law in (
        DiscreteLaplace(sensitivity=1, epsilon="0.4"),
        DiscreteLaplace(sensitivity=1, epsilon="0.4", grid="0.5"),
        Optimal(sensitivity=4, epsilon=1).on_grid(1),
    ):
        steps = np.arange(-4000, 4001)
        noisy = true + steps * float(law.grid)
        wrong = float(law.mass(steps)[(noisy < 0) | (noisy > 10)].sum())
        assert out_of_range(true, 10, law) == pytest.approx(wrong, rel=1e-9)


def test_the_ends_are_worst_and_the_middle_best() -> None:
    law = Laplace(sensitivity=1, epsilon="0.1")
    at = [out_of_range(a, 50, law) for a in range(51)]
    assert max(at) == at[0] == at[50] == pytest.approx((1 + math.exp(-5)) / 2)
    assert min(at) == at[25] == pytest.approx(math.exp(-2.5))


def test_wrong_parameters_are_refused() -> None:
    law = Laplace(sensitivity=1, epsilon=1)
    heavy = HeavyTail(gamma=2, smooth_sensitivity=1, epsilon=1)
    for true, n, used in ((5, 4, law), (-1, 4, law), (1.5, 4, law), (1, 4, "x"), (1, 4, heavy)):
        with pytest.raises(Refused):
            out_of_range(true, n, used)
