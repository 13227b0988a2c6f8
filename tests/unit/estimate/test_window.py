"""The window holds everything that weighs anything."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenue.errors import InvalidArgument
from tenue.estimate import total
from tenue.estimate.likelihood import likelihood
from tenue.estimate.window import possible, worth_counting
from tenue.noise import DiscreteLaplace, Optimal
from tenue.prior import BetaBinomial, Binomial, Histogram, Normal, Uniform


@settings(max_examples=150)
@given(
    st.sampled_from(
        [Binomial(3000, 0.3), Binomial(2000, "0.999"), BetaBinomial(3000, 2, 5), Binomial(1, 0.5)]
    ),
    st.integers(-5000, 9000),
    st.sampled_from([0.0, 0.001, 0.1, 3.0]),
)
def test_what_is_left_out_weighs_nothing(
    prior: Binomial | BetaBinomial, noisy: int, rate: float
) -> None:
    lattice = prior.lattice
    first, last = worth_counting(lattice, noisy, rate, 60)
    k = np.arange(prior.n + 1)
    logs = lattice.log_weights(0, prior.n) - rate * np.abs(k - noisy)
    weights = np.exp(logs - logs.max())
    assert weights[first : last + 1].sum() / weights.sum() == pytest.approx(1, abs=1e-15)
    assert weights[:first].sum() + weights[last + 1 :].sum() < 1e-20
    # and little more: the ends lie about sixty e-folds below the peak
    assert logs.max() - logs[first] <= 60.001
    assert logs.max() - logs[last] <= 60.001


def test_steps_of_a_staircase_are_allowed_for() -> None:
    law = Optimal(sensitivity=50, epsilon=30).on_grid(1)
    steps, logs, unit = possible(Uniform(0, 10**6), Fraction(500_000), likelihood(law))
    assert unit == 1
    assert steps[0] < 500_000 - 100 < 500_000 + 100 < steps[-1]
    assert logs.tolist() == [0.0] * steps.size


def test_wide_windows_are_put_on_a_coarser_grid() -> None:
    """A sum of incomes: the noise alone spans a hundred million steps."""
    law = DiscreteLaplace(sensitivity=200_000, epsilon="0.1")
    for prior in (Uniform(0, 10**9), Histogram([0, 10**9], [1])):
        steps, _, unit = possible(prior, Fraction(5 * 10**8), likelihood(law))
        assert unit.denominator == 1
        assert steps.size <= 1 << 20
        assert float(unit) < 2_000_000 / 1000
        found = total(5 * 10**8, law, prior)
        assert found.mean == pytest.approx(5 * 10**8, rel=1e-5)
        assert found.variance == pytest.approx(law.variance, rel=1e-4)
    near = total(33_000_000, law, Normal(30_000_000, 2_000_000, 0, 10**9))
    scaled = DiscreteLaplace(sensitivity=200, epsilon="0.1")
    small = total(33_000, scaled, Normal(30_000, 2000, 0, 10**6))
    assert near.mean == pytest.approx(1000 * small.mean, rel=1e-6)
    assert near.interval("0.95")[0] == pytest.approx(1000 * small.interval("0.95")[0], rel=1e-3)


def test_holes_of_a_histogram() -> None:
    law = DiscreteLaplace(sensitivity=1, epsilon=1)
    prior = Histogram([0, 10, 1000, 1010], ["1/2", 0, "1/2"])
    for noisy, side in ((-500, 0), (400, 0), (600, 1000), (5000, 1000)):
        found = total(noisy, law, prior)
        assert side <= found.mean <= side + 10
        logs = prior.lattice(Fraction(1)).log_weights(0, 1010) - np.abs(np.arange(1011) - noisy)
        weights = np.exp(logs - logs.max())
        true = float(weights @ np.arange(1011) / weights.sum())
        assert found.mean == pytest.approx(true, rel=1e-9)


def test_too_wide_windows_are_refused() -> None:
    law = DiscreteLaplace(sensitivity=1, epsilon=1)
    far = Histogram([0, 10, 2 * 10**8, 3 * 10**8], ["1/2", 0, "1/2"])
    for prior, noisy in ((Uniform(0, 10**100), 500), (far, 10**8)):
        with pytest.raises(InvalidArgument):
            total(noisy, law, prior)
    with pytest.raises(InvalidArgument):
        total(5, DiscreteLaplace(sensitivity=1, epsilon="1e-9"), BetaBinomial(10**9, 1, 1))
    first, last = worth_counting(Normal(0, 10**5, -(10**7), 10**7).lattice(Fraction(1)), 0, 0, 60)
    assert -first == last == pytest.approx(10**5 * np.sqrt(120), abs=2)
