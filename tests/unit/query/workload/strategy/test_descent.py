"""Prices descend to the least mean error, and stay within what every answer may have."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tenue.query.workload.strategy.descent import descend
from tenue.query.workload.strategy.runs import Reals


def errors(p: Reals) -> tuple[Reals, Callable[[Reals], Reals]]:
    """Two answers, each with noise of its own: allowed 8 and 8, weights far apart."""
    return 1 / (4 * p**2), lambda weights: -2 * weights / (4 * p**3)


MEANS = np.array([0.9, 0.1])


def test_the_least_mean_is_found() -> None:
    value, prices = descend(errors, np.array([0.5, 0.5]), MEANS, 300, bounded=False)
    best = np.cbrt(MEANS) / np.cbrt(MEANS).sum()
    assert prices == pytest.approx(best, abs=0.01)
    assert value == pytest.approx(float(MEANS @ errors(best)[0]), rel=1e-3)


def test_no_answer_gets_more_than_it_may() -> None:
    _, prices = descend(errors, np.array([0.5, 0.5]), MEANS, 300, bounded=True)
    assert errors(prices)[0].max() <= 1.02
