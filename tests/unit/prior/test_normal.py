"""The bell curve: against the error function, on grids, on a lattice, and where it is cut."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from tenue.errors import InvalidPrior
from tenue.prior import Histogram, Normal, Points
from tenue.prior.normal import bell_weights


def phi(z: float) -> float:
    return (1 + math.erf(z / math.sqrt(2))) / 2


@pytest.mark.parametrize(
    ("mean", "sd", "low", "high"),
    [(0, 1, -4, 4), (170, 10, 100, 250), (0, 5, 0, 40), (-20, 10, 0, 10), (3, 1000, 0, 6)],
)
def test_the_cdf_is_the_cut_bell(mean: int, sd: int, low: int, high: int) -> None:
    belief = Normal(mean, sd, low, high)
    below, above = phi((low - mean) / sd), phi((high - mean) / sd)
    for k in range(1, 10):
        x = low + (high - low) * Fraction(k, 10)
        wanted = (phi((float(x) - mean) / sd) - below) / (above - below)
        assert float(belief.cdf(x)) == pytest.approx(wanted, abs=2e-6)
    assert belief.cdf(low) == 0
    assert belief.cdf(high) == 1
    assert len(belief.weights) == 4096
    assert all(weight > 0 for weight in belief.weights)


def test_a_grid_of_few_points_takes_the_height_at_each() -> None:
    belief = Normal(50, 10, 0, 100).on_grid(5)
    assert isinstance(belief, Points)
    assert [int(v) for v in belief.values] == list(range(0, 101, 5))
    for value in (40, 45, 60, 80):
        ratio = belief.mass(value) / belief.mass(50)
        assert float(ratio) == pytest.approx(math.exp(-(((value - 50) / 10) ** 2) / 2), rel=1e-12)
    assert belief.mass(30) == belief.mass(70)
    assert belief.mass(47) == 0


def test_a_fine_grid_reaches_half_a_step_beyond_its_outer_points() -> None:
    belief = Normal(50, 10, 0, 100).on_grid("0.01")
    assert isinstance(belief, Histogram)
    assert (belief.low, belief.high) == (Fraction(-1, 200), Fraction(20001, 200))
    assert belief.limits == (0, 10_000)
    drawn = belief.sample(2000)
    assert drawn.min() >= 0
    assert drawn.max() <= 100
    assert drawn.mean() == pytest.approx(50, abs=2)


def test_the_lattice_rises_as_the_curve_does() -> None:
    lattice = Normal(7, 3, 0, 20).lattice(Fraction(1, 2))
    assert (lattice.first, lattice.last, lattice.concave) == (0, 40, True)
    logs = lattice.log_weights(0, 40)
    wanted = np.array([-(((k / 2 - 7) / 3) ** 2) / 2 for k in range(41)])
    assert np.allclose(logs - logs[14], wanted - wanted[14])


def test_weights_never_vanish_and_never_rise_away_from_the_mean() -> None:
    weights = bell_weights(Fraction(0), Fraction(1), Fraction(-100), Fraction(1), 201)
    assert weights[0] == weights[-1] == 1
    assert weights[100] == 1 << 128
    assert weights[:101] == sorted(weights[:101])
    assert weights == weights[::-1]


def test_a_mean_outside_the_ends_is_highest_at_the_nearer_one() -> None:
    belief = Normal(-50, 10, 0, 100).on_grid(10)
    assert isinstance(belief, Points)
    assert max(belief.values, key=belief.mass) == 0
    ratio = float(belief.mass(10) / belief.mass(0))
    assert ratio == pytest.approx(math.exp((25 - 36) / 2), rel=1e-9)


@pytest.mark.parametrize(
    "facts", [(0, 0, 0, 1), (0, -1, 0, 1), (0, 1, 1, 1), (0, "nan", 0, 1), (0, "1e-101", 0, 1)]
)
def test_what_is_no_bell_is_refused(facts: tuple[object, ...]) -> None:
    with pytest.raises(InvalidPrior):
        Normal(*facts)


def test_it_is_written_and_shown_by_its_numbers() -> None:
    belief = Normal("0.5", 2, -3, 4)
    assert belief.to_dict() == {"prior": "normal", "mean": "1/2", "sd": 2, "low": -3, "high": 4}
    assert repr(belief) == "Normal(0.5, 2, -3, 4)"
