"""The window holds everything that weighs anything."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenue.errors import InvalidArgument
from tenue.estimate.likelihood import likelihood
from tenue.estimate.window import possible, worth_counting
from tenue.noise import Optimal
from tenue.prior import BetaBinomial, Binomial, Normal, Uniform


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


def test_too_wide_windows_are_refused() -> None:
    lattice = Uniform(0, 10**9).lattice(Fraction(1))
    with pytest.raises(InvalidArgument):
        worth_counting(lattice, 0, 1e-12, 60)
    first, last = worth_counting(Normal(0, 10**5, -(10**7), 10**7).lattice(Fraction(1)), 0, 0, 60)
    assert -first == last == pytest.approx(10**5 * np.sqrt(120), abs=2)
