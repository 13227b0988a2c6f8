"""Refinement followed by Bayes' rule: its error equals the sum over all truths and samples."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenue.errors import InvalidPrior
from tenue.estimate import guess_error, refined_error
from tenue.mechanism import expected_error, refine
from tenue.prior import Binomial, Categorical, Normal, Points, Uniform, normalised


def enumerated(prior: Points, epsilon: object, kind: str) -> float:
    """Every truth, every sample, the best guess for each sample: exact fractions."""
    laws = {truth: refine(prior, truth, epsilon, kind=kind).masses for truth in prior.values}
    total = Fraction(0)
    for sample in prior.values:
        joint = {truth: prior.mass(truth) * laws[truth][sample] for truth in prior.values}
        total += min(
            sum((m * abs(t - guess) for t, m in joint.items()), Fraction(0))
            for guess in prior.values
        )
    return float(total)


points = st.dictionaries(st.integers(-20, 20), st.integers(1, 50), min_size=1, max_size=9).map(
    lambda weights: Points(normalised(weights))
)


@settings(max_examples=150, deadline=None)
@given(points, st.sampled_from(["0.1", "1", "3"]), st.sampled_from(["individual", "statistical"]))
def test_it_is_the_sum_over_truths_and_samples(prior: Points, epsilon: str, kind: str) -> None:
    found = refined_error(prior, epsilon, kind=kind)
    assert found == pytest.approx(enumerated(prior, epsilon, kind), abs=1e-9)
    assert found <= guess_error(prior) + 1e-9
    assert found <= expected_error(prior, epsilon, kind=kind) + 1e-9


def test_the_error_of_the_draw_itself_is_another_number() -> None:
    """Mutant: the sample's own error, which overstates what is left to be known."""
    prior = Binomial(100, 0.3)
    draw = expected_error(prior, 1, kind="statistical")
    assert refined_error(prior, 1, kind="statistical") < 0.9 * draw


def test_many_points_are_merged_within_a_thousandth_of_the_range() -> None:
    wide = Uniform(0, 4095).on_grid(1)
    fine = Uniform(0, 1023).on_grid(1)
    for epsilon in (1, 4):
        many = refined_error(wide, epsilon, kind="statistical")
        few = refined_error(fine, epsilon, kind="statistical") * 4
        assert many == pytest.approx(few, abs=4.096)
    # a narrow peak in a wide range keeps its shape
    narrow = Normal(1_000_000, 1000, 0, 10**9)
    assert guess_error(narrow) == pytest.approx(797.9, rel=0.01)
    same = refined_error(Normal(0, 1, -9, 9), 1, kind="statistical") * 1000
    assert refined_error(narrow, 1, kind="statistical") == pytest.approx(same, rel=0.01)
    bell = Normal(50, 10, 0, 100)
    dense = refined_error(bell, 1, kind="statistical")
    assert dense == pytest.approx(
        refined_error(bell.on_grid("0.1"), 1, kind="statistical"), abs=0.1
    )


def test_points_that_weigh_nothing_change_nothing() -> None:
    """A binomial of 4,001 points, a few hundred of which matter, against its exact error."""
    wide = Binomial(4000, 0.3)
    values = [v for v in wide.points.values if 1000 <= v <= 1400]
    near = Points(normalised({v: wide.points.mass(v) for v in values}))
    assert len(near.values) < 1024
    found = refined_error(wide, 1, kind="statistical")
    assert found == pytest.approx(refined_error(near, 1, kind="statistical"), rel=1e-9)


def test_a_guess_from_the_prior_alone() -> None:
    assert guess_error(Points({0: "1/4", 1: "1/2", 10: "1/4"})) == pytest.approx(2.5)
    assert guess_error(Uniform(0, 1)) == pytest.approx(0.25, abs=1e-3)
    with pytest.raises(InvalidPrior):
        guess_error(Categorical({"a": 1}))
