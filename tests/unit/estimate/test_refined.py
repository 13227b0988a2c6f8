"""What follows from a refined answer, and its error."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenue.errors import InvalidPrior, Refused
from tenue.estimate import Opinion, Posterior, guess_error, refined, refined_error
from tenue.estimate.refined import as_points
from tenue.mechanism import expected_error, refine
from tenue.prior import Binomial, Categorical, Histogram, Normal, Points, Table, Uniform, normalised


@pytest.mark.parametrize(
    "prior",
    [
        Points(normalised({0: 1, 1: 3, 4: 2, "4.5": 2})),
        Categorical(normalised({"a": 1, "b": 5, "c": 4})),
        Table(normalised({("a", 1): 1, ("b", 2): 5, ("b", 7): 4})),
    ],
    ids=repr,
)
@pytest.mark.parametrize("kind", ["individual", "statistical"])
def test_it_is_bayes_rule(prior: Any, kind: str) -> None:
    for sample in prior.values:
        joint = {
            truth: prior.mass(truth) * refine(prior, truth, 1, kind=kind).mass(sample)
            for truth in prior.values
        }
        total = sum(joint.values())
        found = refined(sample, prior, 1, kind=kind)
        for truth, mass in joint.items():
            shown = (
                tuple(float(t) if isinstance(t, Fraction) else t for t in truth)
                if isinstance(truth, tuple)
                else truth
            )
            assert found.mass(shown) == pytest.approx(float(mass / total), rel=1e-9)


def test_an_answer_cannot_move_the_belief_by_more_than_epsilon() -> None:
    prior = Categorical({"flu": 0.01, "none": 0.99})
    after = refined("flu", prior, 1, kind="individual")
    assert isinstance(after, Opinion)
    assert 0.01 < after.mass("flu") < 0.01 * 2.718281828459045**2
    assert after.mode == "none"
    assert after.mass("cold") == 0


def test_numbers_give_a_posterior_and_densities_too() -> None:
    for prior, sample in (
        (Binomial(20, 0.5), 12),
        (Uniform(0, 100), 12.3456),
        (Normal(10, 3, 0, 20), 12),
        (Normal(10_000, 3000, 0, 20_000).on_grid(1), 12_345),
    ):
        found = refined(sample, prior, 2, kind="individual")
        assert isinstance(found, Posterior)
        assert found.masses.sum() == pytest.approx(1)
        assert abs(found.median - sample) <= 0.25 * float(sample)


def test_density_and_points_agree() -> None:
    fine = refined(40, Uniform(0, 100), 1, kind="individual")
    points = refined(40, Uniform(0, 100).on_grid("0.1"), 1, kind="individual")
    assert isinstance(fine, Posterior)
    assert isinstance(points, Posterior)
    assert fine.mean == pytest.approx(points.mean, abs=0.2)


@pytest.mark.parametrize(
    ("sample", "prior"),
    [
        ("x", Categorical({"a": 1})),
        (None, Points({0: 1})),
        (5, Uniform(0, 1)),
        (5, "prior"),
        ("a", Points({0: 1})),
    ],
)
def test_what_cannot_be_an_answer_is_refused(sample: object, prior: object) -> None:
    with pytest.raises(Refused):
        refined(sample, prior, 1, kind="individual")


def test_an_opinion_is_shown_by_its_likeliest_truths() -> None:
    few = Opinion({"a": 0.25, "<b>": 0.75})
    assert repr(few) == "Opinion(<b> 75.0%, a 25.0%)"
    assert "&lt;b&gt;" in few._repr_html_()
    assert "<b>" not in few._repr_html_()
    many = Opinion(dict.fromkeys(range(10), 0.1))
    assert repr(many).endswith("4 10.0%, 5 others 50.0%)")
    joint = Opinion({("yes", "no"): 1.0}, names=("employed", "benefits"))
    assert repr(joint) == "Opinion(employed yes and benefits no 100.0%)"


def test_a_density_keeps_its_shape_and_its_grid_on_points() -> None:
    narrow = Normal(1_000_000, 1000, 0, 10**9).on_grid(5)
    points = as_points(narrow, 512)
    assert len(points.values) <= 512
    assert all((value / 5).denominator == 1 for value in points.values)
    assert sum(points.masses.values()) == 1
    assert points.mean == pytest.approx(1_000_000, abs=20)
    assert points.variance == pytest.approx(10**6, rel=0.02)
    # mutant: equally spaced points, of which one or two would hold everything
    assert max(points.masses.values()) < 0.01
    few = Uniform(0, 5000).on_grid(1)
    assert as_points(few, 6000).values == tuple(range(5001))
    # an empty interval stays impossible
    gap = Histogram([0, 10, 10**6, 10**6 + 10], ["0.5", 0, "0.5"])
    assert all(v <= 20 or v >= 10**6 - 20 for v in as_points(gap, 100).values)


# Refinement followed by Bayes' rule: its error equals the sum over all truths and samples.


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
