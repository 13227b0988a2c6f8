"""What a refined answer tells."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from tenue.errors import Refused
from tenue.estimate import Opinion, Posterior, refined
from tenue.estimate.refined import as_points
from tenue.mechanism import refine
from tenue.prior import (
    Binomial,
    Categorical,
    Histogram,
    Normal,
    Points,
    Table,
    Uniform,
    normalised,
)


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
