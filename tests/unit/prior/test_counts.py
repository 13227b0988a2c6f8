"""Binomial and beta-binomial beliefs: exact masses, and logarithms for large n."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from tenue.errors import InvalidPrior, Refused
from tenue.prior import BetaBinomial, Binomial
from tenue.prior.counts import with_points


def beta_binomial(n: int, a: Fraction, b: Fraction) -> list[Fraction]:
    """Rising factorials: exact."""

    def rising(x: Fraction, k: int) -> Fraction:
        return math.prod((x + i for i in range(k)), start=Fraction(1))

    total = rising(a + b, n)
    return [math.comb(n, k) * rising(a, k) * rising(b, n - k) / total for k in range(n + 1)]


@pytest.mark.parametrize(("n", "p"), [(1, "0.5"), (20, "0.3"), (60, "0.001"), (60, "0.97")])
def test_binomial_masses_are_the_true_ones_to_thirty_digits(n: int, p: str) -> None:
    share = Fraction(p)
    points = Binomial(n, p).points
    assert points.values == tuple(range(n + 1))
    assert sum(points.masses.values()) == 1
    peak = max(points.masses.values())
    for k in range(n + 1):
        true = math.comb(n, k) * share**k * (1 - share) ** (n - k)
        assert abs(points.mass(k) - true) <= peak / 2**120


@pytest.mark.parametrize(("a", "b"), [("1", "1"), ("0.5", "0.5"), ("2.5", "0.1"), ("30", "7")])
def test_beta_binomial_masses_are_the_true_ones(a: str, b: str) -> None:
    belief = BetaBinomial(25, a, b)
    true = beta_binomial(25, Fraction(a), Fraction(b))
    peak = max(true)
    assert all(abs(belief.points.mass(k) - mass) <= peak / 2**115 for k, mass in enumerate(true))
    assert belief.mean == pytest.approx(belief.points.mean, rel=1e-12)
    assert belief.variance == pytest.approx(belief.points.variance, rel=1e-12)
    logs = belief.lattice.log_weights(0, 25)
    assert logs - logs[0] == pytest.approx([math.log(mass / true[0]) for mass in true], abs=1e-12)


def test_no_count_is_impossible() -> None:
    points = Binomial(4095, "0.0001").points
    assert len(points.values) == 4096
    assert points.mass(4095) > 0


def test_logarithms_of_a_window_agree_with_single_ones() -> None:
    lattice = Binomial(10**7, 0.3).lattice
    window = lattice.log_weights(2_999_000, 3_001_000)
    singles = [lattice.log_weight(k) for k in (2_999_000, 3_000_000, 3_001_000)]
    assert window[1000] - window[0] == pytest.approx(singles[1] - singles[0], abs=1e-6)
    assert window[2000] - window[0] == pytest.approx(singles[2] - singles[0], abs=1e-6)
    assert int(np.argmax(window)) == 1000


def test_concavity_is_known() -> None:
    assert Binomial(10, 0.5).concave
    assert BetaBinomial(10, 1, 2).concave
    assert not BetaBinomial(10, 0.9, 2).concave


def test_too_many_points_to_refine() -> None:
    assert len(Binomial(4095, 0.5).on_grid(1).values) == 4096
    with pytest.raises(InvalidPrior, match="4096"):
        _ = Binomial(4096, 0.5).points


@pytest.mark.parametrize(
    "make",
    [
        lambda: Binomial(0, 0.5),
        lambda: Binomial(10, 0),
        lambda: Binomial(10, 1),
        lambda: Binomial(10, 30),
        lambda: Binomial(1.5, 0.5),
        lambda: Binomial(10**10, 0.5),
        lambda: Binomial(10),  # type: ignore[call-arg]
        lambda: BetaBinomial(10, 0, 1),
        lambda: BetaBinomial(10, 1, 1e13),
        lambda: BetaBinomial(10, 1, float("nan")),
    ],
)
def test_wrong_parameters_are_refused(make: object) -> None:
    with pytest.raises(Refused):
        make()  # type: ignore[operator]


def test_counts_stand_for_points_and_other_beliefs_for_themselves() -> None:
    belief = Binomial(10, "0.5")
    assert with_points(belief) is belief.points
    assert with_points(belief.points) is belief.points
    assert with_points(None) is None
