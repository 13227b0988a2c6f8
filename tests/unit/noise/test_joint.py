"""What mechanisms ask of the noise of several whole numbers, whatever its law."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tenue.errors import Fault
from tenue.noise import DiscreteLaplace, Laplace, Optimal, OptimalBox, Seeded
from tenue.noise.joint import joint

LEVEL = Fraction(9, 10)
NARROW, WIDE = (DiscreteLaplace(sensitivity=s, epsilon=1) for s in (1, 9))
STEP = Optimal(sensitivity=30, epsilon=1).on_grid(1)
BOX = OptimalBox(sensitivities=[4, 4], epsilon=1, signs="same")
LAWS: list[tuple[Any, int]] = [(NARROW, 1), (STEP, 1), ((NARROW, WIDE), 2), (BOX, 2)]


@pytest.mark.parametrize(("law", "size"), LAWS)
def test_vectors_are_drawn_a_row_each_with_the_variance_told(law: object, size: int) -> None:
    noise = joint(law)
    drawn = noise.steps(20_000, Seeded(5))
    assert drawn.shape == (20_000, size)
    assert drawn.dtype == np.int64
    for j in range(size):
        assert np.abs(drawn[:, j]).mean() == pytest.approx(noise.mean_absolute_error(j), rel=0.1)
        inside = np.mean(np.abs(drawn[:, j]) <= noise.half_width(j, LEVEL))
        assert inside >= 0.9 - 0.02


@pytest.mark.parametrize(("law", "size"), LAWS[:3])
def test_independent_components_have_their_own_laws(law: Any, size: int) -> None:
    noise = joint(law)
    for j in range(size):
        own = law[j] if size > 1 else law
        assert noise.independent(j) is own
        assert noise.variance(j) == own.variance
        assert noise.half_width(j, LEVEL) == noise.quick_half_width(j, LEVEL)
        assert noise.half_width(j, LEVEL) == own.interval(LEVEL)[1]
        assert noise.quick_mean_absolute_error(j) == own.mean_absolute_error
        assert noise.alone(j, Fraction(2)).interval(LEVEL)[1] == 2 * own.interval(LEVEL)[1]


def test_the_components_of_a_box_depend_on_each_other() -> None:
    noise, whole = joint(BOX), BOX.on_grid(1)
    assert noise.independent(0) is None
    assert noise.variance(1) == BOX.variance[1]
    assert noise.mean_absolute_error(1) == whole.mean_absolute_error[1]
    assert noise.quick_mean_absolute_error(1) == BOX.mean_absolute_error[1]
    assert noise.half_width(1, LEVEL) == whole.interval(LEVEL)[1][1]
    assert noise.quick_half_width(1, LEVEL) == BOX.interval(LEVEL)[1][1]
    alone = noise.alone(1, Fraction(1, 2))
    assert (alone.component, alone.grid) == (1, Fraction(1, 2))


def test_certificates_state_scales_or_cores() -> None:
    assert joint(NARROW).words == repr(NARROW)
    assert joint((NARROW, WIDE)).words == "scale 1, 9 steps"
    core = f"{BOX.core[0]:.6g}"
    assert joint(BOX).words == f"core {core}, {core} steps"


@pytest.mark.parametrize(("law", "sign"), [((WIDE, WIDE), -1), ((WIDE, WIDE), 1), (BOX, 1)])
def test_a_blend_is_the_error_of_the_weighted_pair(law: object, sign: int) -> None:
    noise, share = joint(law), 0.25
    drawn = noise.steps(40_000, Seeded(6))
    error = share * drawn[:, 0] - sign * (1 - share) * drawn[:, 1]
    found = noise.blend(share, sign)
    assert found.variance == pytest.approx(error.var(), rel=0.1)
    assert found.mean_absolute_error == pytest.approx(np.abs(error).mean(), rel=0.1)
    inside = np.mean(np.abs(error) <= found.half_width(0.1) + 0.5)
    assert inside == pytest.approx(0.9, abs=0.02)


def test_what_is_no_pair_and_no_noise_on_whole_numbers_is_a_fault() -> None:
    with pytest.raises(Fault):
        joint((STEP, STEP)).blend(0.5, 1)
    with pytest.raises(Fault):
        joint(Laplace(sensitivity=1, epsilon=1))
