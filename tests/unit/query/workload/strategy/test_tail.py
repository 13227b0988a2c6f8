"""Bounds on tails against sums over the masses themselves."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from tenue.noise import DiscreteLaplace
from tenue.noise.laplace_sum import LaplaceSum
from tenue.query.workload.strategy.tail import MOST_RATE, LaplaceCombination

CASES = [
    ([1], [1]),
    ([1, 1], [1, 1]),
    ([1, 2, 3], [1, Fraction(1, 2), 2]),
    ([1] * 12, [Fraction(1, 4)] * 12),
    ([3, -1, 1, 1], [Fraction(1, 10), Fraction(1, 3), 1, 1]),
]


def built(weights: list[int], rates: list[Fraction]) -> tuple[LaplaceCombination, LaplaceSum]:
    pairs = zip(weights, rates, strict=True)
    laws = [(Fraction(w), DiscreteLaplace(sensitivity=1, epsilon=r)) for w, r in pairs]
    bound = LaplaceCombination(np.array(weights, float), np.array([float(r) for r in rates]))
    return bound, LaplaceSum(laws)


@pytest.mark.parametrize(("weights", "rates"), CASES)
@pytest.mark.parametrize("level", [Fraction(1, 2), Fraction(19, 20), Fraction(999, 1000)])
def test_intervals_are_never_too_short(
    weights: list[int], rates: list[Fraction], level: Fraction
) -> None:
    bound, masses = built(weights, rates)
    true = masses.half_width(level)  # the least whole number that holds so much
    assert bound.half_width(level) >= true - 1
    assert (
        bound.half_width(level)
        <= bound.chernoff(float(1 - level))
        == pytest.approx(bound.quick_half_width(level))
    )
    # what is inside holds at least the level
    unit, values = masses._masses  # type: ignore[misc]
    places = np.abs(np.arange(values.size) - values.size // 2) * float(unit)
    assert values[places <= bound.half_width(level)].sum() >= float(level) - 1e-9


@pytest.mark.parametrize(("weights", "rates"), CASES)
def test_moments_are_those_of_the_sum(weights: list[int], rates: list[Fraction]) -> None:
    bound, masses = built(weights, rates)
    assert bound.variance == pytest.approx(masses.variance)
    assert bound.mean_absolute_error == pytest.approx(masses.mean_absolute_error, rel=0.01)


def test_many_alike_terms_are_close_to_normal() -> None:
    bound = LaplaceCombination(np.ones(10), np.full(10, 0.2))
    normal = 1.959964 * math.sqrt(bound.variance)
    assert normal < bound.half_width(Fraction(19, 20)) <= 1.12 * normal


def test_no_noise_has_no_width() -> None:
    none = LaplaceCombination(np.zeros(3), np.ones(3))
    assert none.half_width(Fraction(1, 2)) == none.variance == none.mean_absolute_error == 0


def test_small_terms_are_bounded_apart_and_change_little() -> None:
    weights = np.concatenate([np.linspace(1, 2, 20), np.geomspace(1e-6, 1e-9, 500)])
    rates = np.full(520, 0.3)
    both = LaplaceCombination(weights, rates)
    main, rest = both._apart
    assert rest is not None
    assert main.variance + rest.variance == pytest.approx(both.variance)
    large = LaplaceCombination(weights[:20], rates[:20]).half_width(Fraction(19, 20))
    assert large <= both.half_width(Fraction(19, 20)) <= 1.002 * large


def test_doubts_widen_by_what_they_can_move_and_no_more() -> None:
    """Mutant: the weights as floats found them, whatever they may be off by."""
    weights, rates = np.linspace(1, 2, 20), np.full(20, 0.3)
    level = Fraction(19, 20)
    plain = LaplaceCombination(weights, rates)
    doubted = LaplaceCombination(weights, rates, np.full(20, 1e-6))
    least = 20 * 1e-6 / 0.3 * math.log(2 * 20 / 0.05)
    wider = doubted.half_width(level) - plain.half_width(level)
    assert least < wider < 8 * least
    assert plain.variance < doubted.variance < plain.variance * 1.001
    assert doubted.quick_half_width(level) > plain.quick_half_width(level)


def test_weights_that_are_nothing_but_rounding_have_an_interval() -> None:
    """As those of a total that is public anyway."""
    law = LaplaceCombination(np.full(900, 1e-17), np.full(900, 0.3), np.full(900, 1e-13))
    assert 0 < law.half_width(Fraction(19, 20)) < 1e-6


def test_rates_that_are_told_as_the_largest_are_bounded_by_chernoff() -> None:
    """They may be larger: no other bound holds for all of these."""
    law = LaplaceCombination(np.ones(12), np.full(12, MOST_RATE))
    assert law.half_width(Fraction(19, 20)) == law.chernoff(0.05)
