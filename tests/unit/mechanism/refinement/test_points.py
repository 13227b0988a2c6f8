"""The refined law over points."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from refinement_oracle import divergence, power
from tenue.errors import InvalidPrior
from tenue.mechanism import refine
from tenue.mechanism.refinement.points import log_of
from tenue.noise import Seeded
from tenue.prior import Categorical, Points, Uniform, normalised

FLAT = Uniform(0, 9).on_grid(1)


def test_near_is_raised_far_is_lowered_between_takes_the_rest() -> None:
    law = refine(FLAT, 2, 1, kind="individual")
    assert law.core == (2,)  # 0.1 ≤ 0.269 < 0.3
    up, down = law.factor_up, law.factor_down
    assert law.mass(2) == up / 10
    assert law.mass(7) == law.mass(0) == down / 10
    between = (1 - up / 10 - 7 * down / 10) / 2
    assert law.mass(1) == law.mass(3) == between
    assert down / 10 < between < up / 10


def test_a_ball_of_exactly_the_wanted_mass_leaves_nothing_between() -> None:
    """α_ud would be 0/0."""
    up = refine(FLAT, 0, 1, kind="individual").factor_up
    prior = Points({0: 1 / (1 + up), 5: 1 - 1 / (1 + up)})
    law = refine(prior, 0, 1, kind="individual")
    assert law.core == (0,)
    assert law.mass(0) == up / (1 + up)
    assert law.mass(5) == 1 / (1 + up)


def test_delta_moves_mass_from_the_far_end() -> None:
    plain = refine(FLAT, 0, 1, kind="individual")
    law = refine(FLAT, 0, 1, kind="individual", delta="0.2")
    moved = law.mass(0) - plain.mass(0)
    assert float(moved) == pytest.approx(0.2 / math.e, rel=1e-12)
    assert law.mass(9) == 0  # holds 0.037, less than what moves
    assert 0 < law.mass(8) < plain.mass(8)
    assert law.mass(1) == plain.mass(1)
    assert law.loss_against(None) == math.inf
    assert law.ratio_against(None) is None


def test_no_more_moves_than_the_far_end_holds() -> None:
    prior = Points({0: "0.95", 1: "0.05"})
    law = refine(prior, 0, "0.1", kind="individual", delta="0.9")
    assert law.masses == {0: 1, 1: 0}
    assert refine(prior, 0, "0.1", kind="individual", delta="0.9").sample(50, Seeded(1)).sum() == 0


def test_losses_are_those_of_the_masses() -> None:
    for kind, most in (("individual", 2), ("statistical", 1)):
        laws = [refine(FLAT, f, 1, kind=kind) for f in range(10)]
        for f, law in enumerate(laws):
            for g, other in enumerate(laws):
                a, b = law.masses, other.masses  # type: ignore[union-attr]
                true = max(max(a[v] / b[v], b[v] / a[v]) for v in a)
                assert law.ratio_against(g) == true
                assert law.loss_against(g) == pytest.approx(float(math.log(true)), abs=1e-14)
                assert law.loss_against(g) <= most
                if f == g:
                    assert law.loss_against(g) == 0
        assert laws[0].loss_against(9) == most


def test_divergences_are_those_of_the_masses() -> None:
    one, two = (refine(FLAT, f, 1, kind="statistical", delta="0.1") for f in (1, 8))
    a, b = one.masses, two.masses  # type: ignore[union-attr]
    for epsilon in ("0.5", "1"):
        true = max(divergence(a, b, power(epsilon)), divergence(b, a, power(epsilon)))
        found = one.divergence_against(8, epsilon)
        assert true <= found <= true + Fraction(1, 2**80)
    assert one.divergence_against(8) == one.divergence_against(8, 1) <= Fraction(1, 10)


def test_the_logarithm_never_exceeds_a_rounded_epsilon() -> None:
    for epsilon in ("0.1", "0.3", "0.7", "1.1", "3", "17.3"):
        law = refine(FLAT, 0, epsilon, kind="individual")
        assert law.loss_against(None) <= float(epsilon)
    assert refine(FLAT, 0, 10_000, kind="individual").loss_against(None) == 10_000
    assert log_of(Fraction(10**400)) == pytest.approx(400 * math.log(10))


def test_the_representation_keeps_the_secret() -> None:
    prior = Categorical({"flu": 0.01, "none": 0.99})
    texts = {repr(refine(prior, f, 1, kind="individual")) for f in ("flu", "none", None)}
    assert texts == {"Refined(Categorical(2 categories), epsilon=1, kind='individual')"}


def test_samples_follow_the_masses() -> None:
    prior = Points(normalised({0: 1, 1: 2, 2: 3}))
    law = refine(prior, 2, 1, kind="individual")
    drawn = law.sample(40_000, Seeded(3))
    shares = np.bincount(drawn, minlength=3) / 40_000
    assert shares == pytest.approx([float(law.mass(k)) for k in range(3)], abs=0.01)
    assert law.sample(source=Seeded(1)) in (0, 1, 2)


def test_cdf_is_for_numbers() -> None:
    law = refine(FLAT, 2, 1, kind="individual")
    assert law.cdf(-1) == 0
    assert law.cdf(3) == sum(law.mass(k) for k in range(4))
    assert law.cdf(9) == 1
    with pytest.raises(InvalidPrior):
        refine(Categorical({"a": 1}), "a", 1, kind="individual").cdf(1)


def test_a_draw_is_exact() -> None:
    """The sample of a third leaves as a double; what is stored is the third."""
    law = refine(Points({Fraction(1, 3): "1/2", Fraction(2, 3): "1/2"}), 0, 1, kind="individual")
    drawn = {law.draw(Seeded(k)) for k in range(20)}
    assert drawn == {Fraction(1, 3), Fraction(2, 3)}
    assert all(type(value) is Fraction for value in drawn)
    assert law.sample(source=Seeded(3)) == float(law.draw(Seeded(3)))
