"""One component of a vector's noise, against sums of the vector's own masses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tenue.errors import Refused
from tenue.estimate import count
from tenue.noise import DiscreteLaplace, OptimalBox
from tenue.noise.box.component import Margin
from tenue.prior import Binomial


def summed(law: Any, component: int, reach: int) -> Any:
    """P(component = k) for |k| ≤ 30, over every other component within `reach`."""
    k = np.arange(-30, 31)
    other = np.arange(-reach, reach + 1)
    grid = np.stack(np.meshgrid(k, other, indexing="ij"), axis=-1).reshape(-1, 2)
    if component == 1:
        grid = grid[:, ::-1]
    return law.mass(np.ascontiguousarray(grid)).reshape(k.size, other.size).sum(axis=1)


@pytest.mark.parametrize(
    ("sensitivities", "signs", "close"),
    [
        ([1, 1], "any", 1e-9),
        ([1, 1], "same", 1e-9),
        ([3, 7], "any", 1e-9),
        ([3, 7], "same", 5e-2),  # between steps that are interpolated
    ],
)
def test_a_margin_is_the_sum_over_the_others(
    sensitivities: list[int], signs: Any, close: float
) -> None:
    law = OptimalBox(sensitivities=sensitivities, epsilon=3, signs=signs).on_grid(1)
    for component in (0, 1) if law.ball.closed_form else (1,):
        found = np.exp(Margin(law, component).log_mass(np.arange(-30, 31)))
        assert found == pytest.approx(summed(law, component, 300), rel=close)


def test_far_out_it_falls_by_epsilon_each_period() -> None:
    law = OptimalBox(sensitivities=[5, 5], epsilon=1, signs="any").on_grid(1)
    margin = Margin(law, 0)
    logs = margin.log_mass(np.array([10_000, 10_005]))
    assert logs[0] - logs[1] == pytest.approx(1)


def test_an_estimate_from_one_number_of_a_vector() -> None:
    box = OptimalBox(sensitivities=[1, 1, 1], epsilon="0.3", signs="same").on_grid(1)
    found = count(40, Margin(box, 1), Binomial(100, "0.3"))
    masses = np.exp(Margin(box, 1).log_mass(40 - np.arange(101)))
    prior = np.array([float(Binomial(100, "0.3").points.mass(k)) for k in range(101)])
    true = masses * prior / (masses @ prior)
    assert [found.mass(k) for k in range(101)] == pytest.approx(true, abs=1e-12)
    assert 30 < found.mean < 40


def test_what_is_no_component_is_refused() -> None:
    box = OptimalBox(sensitivities=[1, 1], epsilon=1).on_grid(1)
    for law, component in ((box, 2), (box, -1), (DiscreteLaplace(sensitivity=1, epsilon=1), 0)):
        with pytest.raises(Refused):
            Margin(law, component)  # type: ignore[arg-type]
