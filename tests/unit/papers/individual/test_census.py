from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from exhibits import assert_as_expected
from tenue.mechanism.choose import rank_score
from tenue.papers.individual import census as module

EXPECTED = {
    "idp.median": "equal",
    "idp.maximum": "equal",
    "idp.range": "equal",
}


def test_every_exhibit_has_its_verdict() -> None:
    assert_as_expected(module.EXHIBITS, EXPECTED)


def test_selection_is_as_far_off_as_its_probabilities_say() -> None:
    values = np.arange(0, 1000, 10)
    score = rank_score.quantile(Fraction(1, 2), "replace")
    near = module.selected(score, values, 2**18, 495.0)
    assert 5 < near < 60
    weights = np.exp(-0.5 * np.maximum(0, np.abs(np.arange(0, 1001) / 10 - 50) - 0.5))
    places = np.abs(np.arange(0, 1001) - 495.0)
    order = np.argsort(places)
    half = places[order][np.searchsorted(np.cumsum(weights[order]), weights.sum() / 2)]
    assert near == pytest.approx(half, abs=4)


def test_bounds_are_above_all_values() -> None:
    assert module.upper(np.array([3])) == 2**18
    assert module.upper(np.array([2**18])) == 2**19
