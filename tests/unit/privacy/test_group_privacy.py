"""Group privacy: what several units together lose, from the masses of a mechanism."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import tenue as tn
from tenue.errors import NotPromised

K = np.arange(-400, 401)


def divergence(law: tn.noise.GridLaw, epsilon: float, shift: int) -> float:
    """The least delta for two tables whose counts differ by `shift`."""
    return float(np.maximum(law.mass(K) - math.exp(epsilon) * law.mass(K - shift), 0).sum())


@pytest.mark.parametrize("size", [1, 2, 5])
def test_a_group_of_units_loses_as_many_epsilons(size: int) -> None:
    """Exactly: a count of `size` units more, under discrete Laplace of one step."""
    law = tn.noise.DiscreteLaplace(sensitivity=1, epsilon="0.3")
    promised = tn.Pure("0.3").for_group(size)
    assert promised == tn.Pure(size * Fraction("0.3"))
    assert law.loss(size) == pytest.approx(float(promised.epsilon))


@pytest.mark.parametrize("size", [2, 3, 4])
def test_the_delta_of_a_group_is_not_below_what_masses_show(size: int) -> None:
    epsilon = 0.8
    law = tn.noise.DiscreteGaussian(sigma=2)
    delta = divergence(law, epsilon, 1)
    promised = tn.Approximate(epsilon, delta).for_group(size)
    assert isinstance(promised, tn.Approximate)
    assert promised.epsilon == size * Fraction("0.8")
    assert float(promised.delta) >= divergence(law, size * epsilon, size)
    steps = sum(math.exp(epsilon * i) for i in range(size))
    assert float(promised.delta) == pytest.approx(delta * steps, rel=1e-9)
    assert promised.delta >= Fraction(delta) * Fraction(steps)


def test_deltas_of_a_group_do_not_just_add_up() -> None:
    """Three tables in a row whose events meet (epsilon, delta) with equality, in fractions: the
    mutant that promises twice the delta to two units is refuted."""
    ratio, delta = Fraction(2), Fraction(1, 10)
    third = Fraction(1, 1000)
    second = ratio * third + delta
    first = ratio * second + delta
    assert first - ratio**2 * third == delta * (1 + ratio) > 2 * delta
    promised = tn.Approximate(Fraction(math.log(2)), delta).for_group(2)
    assert isinstance(promised, tn.Approximate)
    assert float(promised.delta) == pytest.approx(float(delta * (1 + ratio)))


def test_what_promises_nothing_to_groups_says_so() -> None:
    promises = (tn.Individual(1), tn.KAnonymity(5), tn.ProbabilisticKAnonymity(5), tn.TCloseness(2))
    for promise in promises:
        with pytest.raises(NotPromised, match="several units"):
            promise.for_group(2)
    for size in (20, 2000):
        with pytest.raises(NotPromised, match="reach 1"):
            tn.Approximate(1, "1e-6").for_group(size)
