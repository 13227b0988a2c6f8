"""The score is the product of both factors, above 1 where masking improved on the baseline."""

from __future__ import annotations

import math

import numpy as np
import pytest

import tenue as tn
from tenue.errors import InvalidArgument
from tenue.evaluate import Score


def test_the_product_and_not_the_ratio() -> None:
    found = Score.of(sse=400, record_linkage=0.1, baseline_sse=100, baseline_record_linkage=0.8)
    assert (found.sse_factor, found.rl_factor) == (0.5, pytest.approx(8))
    assert found.value == pytest.approx(4)
    assert found.value != pytest.approx(found.sse_factor / found.rl_factor)


def test_of_tables() -> None:
    original = np.array([[0.0], [10.0], [20.0], [30.0]])
    baseline, masked = original + 1, original[[1, 0, 3, 2]]
    found = tn.evaluate.score(original, masked, baseline)
    assert found.sse_factor == pytest.approx(0.1)
    assert (found.rl_factor, found.value) == (math.inf, math.inf)
    same = tn.evaluate.score(original, baseline, baseline, scale=[30])
    assert (same.sse_factor, same.rl_factor, same.value) == (1, 1, 1)


def test_nothing_over_nothing_is_no_change() -> None:
    found = Score.of(sse=0, record_linkage=0, baseline_sse=0, baseline_record_linkage=0)
    assert (found.sse_factor, found.rl_factor) == (1, 1)
    for wrong in (-1, None, "x"):
        with pytest.raises(InvalidArgument):
            Score.of(sse=wrong, record_linkage=1, baseline_sse=1, baseline_record_linkage=1)
