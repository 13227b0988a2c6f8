from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import tenue as tn
from tenue.report.picture import Band, Bars, Curve, Panel
from tenue.report.plot import picture_of

LAWS: list[Any] = [
    tn.noise.Laplace(sensitivity=1, epsilon=1),
    tn.noise.Optimal(sensitivity=2, epsilon=1, minimise="variance"),
    tn.noise.HeavyTail(gamma=3, smooth_sensitivity=1, epsilon=1),
    tn.noise.DiscreteLaplace(sensitivity=1, epsilon=0.5),
    tn.noise.DiscreteLaplace(sensitivity=1, epsilon=0.01),
    tn.noise.Optimal(sensitivity=10, epsilon=1).on_grid(1),
]


def marks(panel: Panel, kind: type) -> list[Any]:
    return [mark for mark in panel.marks if isinstance(mark, kind)]


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_a_law_is_drawn_with_its_interval(law: Any) -> None:
    (panel,) = picture_of(law).panels
    (band,) = marks(panel, Band)
    low, high = law.interval(Fraction(95, 100))
    assert band.low <= low
    assert band.high >= high
    assert panel.x.low is not None
    assert panel.x.low <= band.low


def test_heights_are_the_density() -> None:
    law = LAWS[1]
    (panel,) = picture_of(law).panels
    (curve,) = marks(panel, Curve)
    for x, height in curve.points[::50]:
        assert height == pytest.approx(law.pdf(x))


def test_few_masses_are_bars_and_many_a_line() -> None:
    (few,) = picture_of(LAWS[3]).panels
    (bars,) = marks(few, Bars)
    middle = len(bars.bars) // 2
    assert bars.bars[middle][2] == pytest.approx(LAWS[3].mass(0))
    assert bars.bars[middle + 1][2] == pytest.approx(LAWS[3].mass(1))
    (many,) = picture_of(LAWS[4]).panels
    assert not marks(many, Bars)
    assert marks(many, Curve)


def test_a_box_has_a_panel_for_each_answer() -> None:
    law = tn.noise.OptimalBox(sensitivities=[1, 10], epsilon=1)
    first, second = picture_of(law).panels
    assert (first.title, second.title) == ("answer 1", "answer 2")
    (curve,) = marks(second, Curve)
    places = np.array([x for x, _ in curve.points])
    heights = np.array([h for _, h in curve.points])
    assert float((heights * np.diff(places)[0]).sum()) == pytest.approx(1, abs=0.05)
    (one,) = (mark for mark in first.marks if isinstance(mark, Band))
    (other,) = (mark for mark in second.marks if isinstance(mark, Band))
    assert other.high == pytest.approx(10 * one.high)


def test_independent_answers_have_their_own_scales() -> None:
    panels = picture_of(tn.noise.IndependentLaplace(scales=[1, 5])).panels
    highs = [mark.high for panel in panels for mark in panel.marks if isinstance(mark, Band)]
    assert highs[1] == pytest.approx(5 * highs[0])
