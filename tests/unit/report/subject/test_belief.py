from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import tenue as tn
from tenue.report.picture import Band, Bars, Curve, Lengths, Words
from tenue.report.plot import picture_of
from tenue.report.subject.belief import HIDDEN, known_panel, prior_panel

PRIORS: list[Any] = [
    tn.prior.Uniform(0, 10),
    tn.prior.Normal(0, 1, -4, 4),
    tn.prior.Histogram([0, 1, 3], [0.5, 0.5]),
    tn.prior.Points({0: 0.5, 1: 0.5}),
    tn.prior.Binomial(1080, 0.3),
    tn.prior.Binomial(10**8, 0.3),
    tn.prior.BetaBinomial(20, 1, 2),
    tn.prior.Categorical({"flu": 0.7, "none": 0.3}),
    tn.prior.Ordinal(["low", "high"], [0.2, 0.8]),
    tn.prior.Table({("a", 1): 0.5, ("b", 2): 0.5}),
]


@pytest.mark.parametrize("prior", PRIORS, ids=repr)
def test_every_prior_is_drawn(prior: Any) -> None:
    picture = picture_of(prior)
    assert picture.title == repr(prior)
    (panel,) = picture.panels
    assert panel.marks


def test_heights_are_masses() -> None:
    (mark,) = prior_panel(tn.prior.Points({0: 0.25, 3: 0.75})).marks
    assert isinstance(mark, Bars)
    assert [height for *_, height in mark.bars] == [0.25, 0.75]
    (curve,) = prior_panel(tn.prior.Binomial(1080, 0.3)).marks
    assert isinstance(curve, Curve)
    peak = max(curve.points, key=lambda point: point[1])
    assert peak[0] == pytest.approx(324, abs=1)
    assert peak[1] == pytest.approx(float(tn.prior.Binomial(1080, 0.3).points.mass(324)), rel=1e-3)
    names = prior_panel(
        tn.prior.Categorical({f"c{i}": Fraction(i + 1, 1275) for i in range(50)})
    ).marks[0]
    assert isinstance(names, Lengths)
    assert len(names.bars) == 20
    assert sum(share for _, share in names.bars) == pytest.approx(1)


TEN = tn.prior.Points(dict.fromkeys(range(10), 0.1))
FOUR = tn.prior.Categorical({"flu": 0.25, "cold": 0.25, "none": 0.25, "both": 0.25})


@pytest.mark.parametrize("prior", [PRIORS[0], TEN, FOUR], ids=repr)
def test_of_a_refined_law_nothing_depends_on_the_truth(prior: Any) -> None:
    """The mutant draws the law, or its core: two truths would give two pictures."""
    truths: list[Any] = ["flu", "none"] if "Cat" in repr(prior) else [0, 9]
    laws = [tn.mechanism.refine(prior, truth, 1, kind="statistical") for truth in truths]
    one, other = (picture_of(law) for law in laws)
    assert one == other
    assert one.subtitle == HIDDEN
    assert laws[0].core != laws[1].core


def test_a_posterior_has_its_interval_and_median() -> None:
    law = tn.noise.DiscreteLaplace(sensitivity=1, epsilon=0.1)
    found = tn.estimate.count(400, law, tn.prior.Binomial(1080, 0.3))
    (panel,) = picture_of(found).panels
    (band,) = (mark for mark in panel.marks if isinstance(mark, Band))
    assert (band.low, band.high) == found.interval(0.95)
    assert any(isinstance(mark, Words) and "347" in mark.text for mark in panel.marks)


def test_an_opinion_is_drawn_by_name() -> None:
    prior = tn.prior.Categorical({"flu": 0.7, "none": 0.3})
    found = tn.estimate.refined("flu", prior, 1, kind="individual")
    (panel,) = picture_of(found).panels
    assert set(panel.y.names) == {"flu", "none"}


def test_what_is_no_belief_is_a_fault_of_the_caller() -> None:
    for draw in (prior_panel, known_panel):
        with pytest.raises(TypeError):
            draw(3)
