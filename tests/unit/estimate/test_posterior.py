"""What a posterior answers."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenue.errors import InvalidArgument
from tenue.estimate import Posterior

WEIGHTS = st.lists(st.integers(0, 50), min_size=1, max_size=12).filter(any)


def made(weights: list[int], unit: Fraction = Fraction(1), start: int = 0) -> Posterior:
    kept = [k for k, w in enumerate(weights) if w]
    logs = np.log([weights[k] for k in kept])
    return Posterior(np.array(kept) + start, logs - 1000, unit)


@given(WEIGHTS, st.sampled_from([Fraction(1), Fraction(1, 4)]), st.integers(-5, 10**6))
def test_against_sums(weights: list[int], unit: Fraction, start: int) -> None:
    found = made(weights, unit, start)
    total = sum(weights)
    values = [float((start + k) * unit) for k in range(len(weights))]
    pairs = list(zip(values, weights, strict=True))
    mean = sum(v * w for v, w in pairs) / total
    assert found.mean == pytest.approx(mean, rel=1e-12, abs=1e-9)
    assert found.variance == pytest.approx(
        sum((v - mean) ** 2 * w for v, w in pairs) / total, abs=1e-6
    )
    for v, w in pairs:
        assert found.mass(Fraction(v)) == pytest.approx(w / total)
    assert found.probability(values[0], values[-1]) == pytest.approx(1)
    assert found.probability(values[-1], values[0] - 1) == 0
    # the median minimises the absolute error
    errors = [sum(abs(v - c) * w for v, w in pairs) / total for c in values]
    assert found.mean_absolute_error == pytest.approx(min(errors), abs=1e-6)
    assert dict(pairs)[float(found.mode)] == max(weights)


@given(WEIGHTS, st.sampled_from(["0.05", "0.5", "0.9", "0.99"]))
def test_the_interval_is_the_shortest(weights: list[int], level: str) -> None:
    found = made(weights)
    low, high = found.interval(level)
    assert found.probability(low, high) >= float(level) - 1e-9
    wanted = Fraction(level) * sum(weights)
    widths = [
        b - a
        for a in range(len(weights))
        for b in range(a, len(weights))
        if sum(weights[a : b + 1]) >= wanted
    ]
    assert high - low == min(widths)


def test_values_are_whole_where_the_grid_is() -> None:
    assert isinstance(made([1, 3]).median, int)
    assert made([1, 3], Fraction(1, 2)).mode == 0.5
    assert "95 %" in repr(made([1, 3]))
    assert made([1, 1]).values.tolist() == [0, 1]
    assert math.isclose(made([1, 3]).masses.sum(), 1)


def test_levels_are_between_zero_and_one() -> None:
    for level in (0, 1, 95, "x"):
        with pytest.raises(InvalidArgument):
            made([1, 3]).interval(level)


def test_it_is_shown_in_a_line_and_in_a_table() -> None:
    found = Posterior(np.arange(5), np.log([1.0, 2.0, 4.0, 2.0, 1.0]), Fraction(1, 2))
    assert repr(found) == "Posterior(mean=1, median=1, 95 %: 0 to 2)"
    shown = found._repr_html_()
    for fact in ("<td>1</td>", "<td>0 and 2</td>", "median", "most likely"):
        assert fact in shown
