"""No more is known than the two ends."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tenue.errors import InvalidPrior
from tenue.noise import Seeded
from tenue.prior import Points, Uniform, from_json
from tenue.prior.density import Density
from tenue.prior.uniform import two_ends


def test_every_number_between_the_ends_is_as_likely() -> None:
    belief = Uniform(-2, 6)
    assert (belief.low, belief.high, belief.total) == (-2, 6, 1)
    assert [belief.density(x) for x in (-2, 0, "5.9")] == [Fraction(1, 8)] * 3
    assert belief.density(6) == belief.density(-3) == 0
    assert [belief.cdf(x) for x in (-3, 0, 6)] == [0, Fraction(1, 4), 1]
    assert belief.quantile(Fraction(3, 4)) == 4


def test_on_a_grid_every_multiple_has_the_same_mass_ends_included() -> None:
    found = Uniform("0.5", 3).on_grid(1)
    assert isinstance(found, Points)
    assert found.masses == {1: Fraction(1, 3), 2: Fraction(1, 3), 3: Fraction(1, 3)}
    ends = Uniform(0, 120).on_grid(1)
    assert isinstance(ends, Points)
    assert ends.mass(0) == ends.mass(120) == Fraction(1, 121)


def test_many_points_stay_a_density_whose_outer_points_weigh_no_less() -> None:
    found = Uniform(0, 10_000).on_grid(1)
    assert isinstance(found, Density)
    assert not isinstance(found, Points)
    assert (found.low, found.high) == (Fraction(-1, 2), Fraction(20_001, 2))
    assert found.limits == (0, 10_000)
    drawn = found.sample(2000, Seeded(4))
    assert (min(drawn), max(drawn)) >= (0, 0)
    assert max(drawn) <= 10_000
    assert np.mean(drawn) == pytest.approx(5000, abs=500)


def test_a_lattice_is_flat() -> None:
    lattice = Uniform(1, 9).lattice(Fraction(2))
    assert (lattice.first, lattice.last, lattice.concave) == (1, 4, True)
    assert lattice.log_weights(1, 4).tolist() == [0, 0, 0, 0]
    assert lattice.log_weight(3) == 0


@pytest.mark.parametrize("ends", [(1, 1), (2, 1), (0, "1e-101"), ("x", 1), (0, float("nan"))])
def test_ends_that_are_no_range_are_refused(ends: tuple[object, object]) -> None:
    with pytest.raises(InvalidPrior):
        two_ends(*ends)


def test_it_is_written_and_read_exactly() -> None:
    belief = Uniform("1/3", 2)
    assert belief.to_dict() == {"prior": "uniform", "low": "1/3", "high": 2}
    assert from_json(belief.to_json()) == belief
    assert repr(Uniform(0, 120)) == "Uniform(0, 120)"
