"""A weighted sum of the two components of a same-sign box, against its exact integer law."""

from __future__ import annotations

import numpy as np
import pytest

from tenue.noise import OptimalBox
from tenue.noise.box.combination import SameSignCombination

WIDTH = 40


@pytest.mark.parametrize("weights", [(0.5, 0.5), (0.2, 0.8), (1.0, 0.0), (0.7, -0.3)])
def test_moments_and_tail_agree_with_the_masses(weights: tuple[float, float]) -> None:
    law = OptimalBox(sensitivities=[WIDTH, WIDTH], epsilon=2, signs="same", core=[20, 20])
    exact = law.on_grid(1)
    reach = np.arange(-600, 601)
    points = np.stack(np.meshgrid(reach, reach, indexing="ij"), axis=-1)
    masses = exact.mass(points)
    assert masses.sum() == pytest.approx(1, abs=1e-6)
    sums = (points * np.array(weights)).sum(axis=-1) / WIDTH
    combination = SameSignCombination(weights, 0.5, 2.0)
    assert combination.variance == pytest.approx(float((masses * sums**2).sum()), rel=0.01)
    assert combination.mean_absolute_error == pytest.approx(
        float((masses * np.abs(sums)).sum()), rel=0.01
    )
    half = combination.half_width(0.1)
    assert float(masses[np.abs(sums) <= half].sum()) == pytest.approx(0.9, abs=0.01)


def test_independent_components_would_be_wrong() -> None:
    """Mutant: components move together, so their difference is narrower than if independent."""
    apart = SameSignCombination((1.0, -1.0), 0.5, 1.0)
    alone = SameSignCombination((1.0, 0.0), 0.5, 1.0)
    assert apart.variance < 1.2 * alone.variance


def test_a_step_is_the_unit_of_all_errors() -> None:
    unit = SameSignCombination((0.3, -0.7), 0.5, 1.0)
    wide = SameSignCombination((0.3, -0.7), 0.5, 1.0, step=40.0)
    assert wide.variance == pytest.approx(1600 * unit.variance)
    assert wide.mean_absolute_error == pytest.approx(40 * unit.mean_absolute_error)
    assert wide.half_width(0.1) == pytest.approx(40 * unit.half_width(0.1))
