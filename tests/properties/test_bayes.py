"""What must hold for every prior and every noisy value: soundness §5."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenue.estimate import compare, count
from tenue.noise import DiscreteLaplace, Laplace, Optimal
from tenue.prior import BetaBinomial, Binomial, Points, normalised

EPSILONS = st.sampled_from(["0.01", "0.1", "0.5", "1", "3"])


@st.composite
def beliefs(draw: st.DrawFn) -> Any:
    n = draw(st.integers(1, 60))
    shape = draw(st.sampled_from(["binomial", "beta", "points"]))
    if shape == "binomial":
        return Binomial(n, draw(st.sampled_from(["0.01", "0.3", "0.5", "0.9"])))
    if shape == "beta":
        return BetaBinomial(n, *draw(st.sampled_from([("1", "1"), ("0.3", "0.3"), ("4", "2")])))
    weights = st.lists(st.sampled_from([0, 1, 1, 9, 1000]), min_size=n + 1, max_size=n + 1)
    return Points(normalised(dict(enumerate(draw(weights.filter(any))))))


@settings(max_examples=250)
@given(beliefs(), EPSILONS, st.booleans())
def test_estimates_rise_with_the_noisy_value_and_stay_in_range(
    prior: Any, epsilon: str, smooth: bool
) -> None:
    n = 60 if isinstance(prior, Points) else prior.n
    law: Any = (Laplace if smooth else DiscreteLaplace)(sensitivity=1, epsilon=epsilon)
    found = [count(y, law, prior) for y in (-500, -3, 0, 1, 2, 17, 30, 31, 60, 61, 900)]
    means = [each.mean for each in found]
    medians = [each.median for each in found]
    assert all(a <= b + 1e-9 for a, b in pairwise(means))
    assert medians == sorted(medians)
    assert all(0 <= m <= n for m in medians)
    if isinstance(prior, Binomial):
        assert all(0 < m < n for m in means)
    else:
        assert all(0 <= m <= n for m in means)


def test_a_staircase_need_not_rise() -> None:
    """Soundness §5: not so for Optimal with Δ > 1, so the property above can fail."""
    law = Optimal(sensitivity=20, epsilon=1).on_grid(1)
    means = [count(y, law, Binomial(100, "0.3")).mean for y in range(-60, 160)]
    falls = [a - b for a, b in pairwise(means) if b < a - 1e-6]
    assert max(falls) == pytest.approx(29.01 - 28.74, abs=0.05)


@settings(max_examples=60)
@given(beliefs(), EPSILONS)
def test_the_risk_is_below_both_that_of_the_noise_and_that_of_the_prior(
    prior: Any, epsilon: str
) -> None:
    if isinstance(prior, Points) and len(prior.values) == 1:
        return
    law = DiscreteLaplace(sensitivity=1, epsilon=epsilon)
    found = compare(law, prior)
    assert found.bayes_squared < min(law.variance, prior.variance) * (1 + 1e-9)
    best = compare(law, prior, estimator="median")
    assert best.bayes_error <= min(found.bayes_error, law.mean_absolute_error) + 1e-9


def test_an_estimate_that_ignores_the_prior_is_seen() -> None:
    """The noisy value itself, cut to the range, does not reach the Bayes risk."""
    law, prior = DiscreteLaplace(sensitivity=1, epsilon="0.1"), Binomial(60, "0.3")
    risk = sum(
        float(prior.points.mass(k)) * law.mass(y - k) * (min(max(y, 0), 60) - k) ** 2
        for k in range(61)
        for y in range(-400, 460)
    )
    assert risk > min(law.variance, prior.variance)
    assert compare(law, prior).bayes_squared < min(law.variance, prior.variance)
