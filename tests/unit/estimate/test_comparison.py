"""Naive against Bayes, and the integrals behind it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenue.errors import Refused
from tenue.estimate import compare, count, expected_error
from tenue.estimate.comparison import LaplaceIntegral
from tenue.noise import DiscreteLaplace, Laplace, Optimal, Seeded
from tenue.prior import BetaBinomial, Binomial, Normal, Points, Uniform, normalised

RATES = st.sampled_from([0.05, 0.7, 2.0, 9.0])


@st.composite
def problems(draw: st.DrawFn, estimator: str) -> LaplaceIntegral:
    size = draw(st.integers(1, 7))
    values = draw(st.lists(st.integers(0, 20), min_size=size, max_size=size, unique=True))
    weights = draw(st.lists(st.integers(1, 9), min_size=size, max_size=size))
    masses = np.array(weights, dtype=float) / sum(weights)
    return LaplaceIntegral(np.array(sorted(values), dtype=float), masses, draw(RATES), estimator)


def brute(found: LaplaceIntegral) -> tuple[float, float]:
    """A plain sum over a fine net, tails included."""
    reach = 30 / found.rate
    y = np.linspace(found.values[0] - reach, found.values[-1] + reach, 100_001)
    y = (y[:-1] + y[1:]) / 2
    width = y[1] - y[0]
    guess = found.guess(y)
    error = closer = 0.0
    for value, mass in zip(found.values, found.masses, strict=True):
        density = mass * found.rate / 2 * np.exp(-found.rate * np.abs(y - value)) * width
        error += float(density @ np.abs(guess - value))
        closer += float(density[np.abs(guess - value) < np.abs(y - value)].sum())
    return error, closer


@settings(max_examples=12)
@given(problems("mean"))
def test_means(found: LaplaceIntegral) -> None:
    error, closer = brute(found)
    assert found.averages()[0] == pytest.approx(error, abs=2e-3)
    assert found.closer() == pytest.approx(closer, abs=2e-3)


@settings(max_examples=12)
@given(problems("median"))
def test_medians(found: LaplaceIntegral) -> None:
    error, closer = brute(found)
    assert found.averages()[0] == pytest.approx(error, abs=2e-3)
    assert found.closer() == pytest.approx(closer, abs=2e-3)


@settings(max_examples=60)
@given(problems("mean"))
def test_between_cuts_the_mean_stays_on_one_side(found: LaplaceIntegral) -> None:
    cuts = found._fixed_points()
    for low, high in pairwise(cuts):
        inner = np.linspace(low, high, 40)[1:-1]
        gap = found.guess(inner) - inner
        # only within rounding of the ends may the sign be in doubt
        clear = gap[np.abs(gap) > 1e-9]
        assert (clear > 0).all() or (clear < 0).all()


# -- Naive against Bayes: sums, integrals and simulation tell the same -----------------------------

PRIOR = Binomial(40, "0.3")
LAWS: list[Any] = [
    Laplace(sensitivity=1, epsilon="0.5"),
    DiscreteLaplace(sensitivity=1, epsilon="0.5"),
    Optimal(sensitivity=6, epsilon=1).on_grid(1),
]


def test_sums_are_those_of_single_posteriors() -> None:
    for law in LAWS[1:]:
        found = {e: compare(law, PRIOR, estimator=e) for e in ("mean", "median")}  # type: ignore[arg-type]
        error = {"mean": 0.0, "median": 0.0}
        squared = closer = 0.0
        for y in range(-150, 200):
            after = count(y, law, PRIOR)
            for k in range(41):
                joint = float(PRIOR.points.mass(k)) * law.mass(y - k)
                error["mean"] += joint * abs(after.mean - k)
                error["median"] += joint * abs(after.median - k)
                squared += joint * (after.mean - k) ** 2
                closer += joint * (abs(after.mean - k) < abs(y - k))
        assert found["mean"].bayes_error == pytest.approx(error["mean"], rel=1e-6)
        assert found["median"].bayes_error == pytest.approx(error["median"], rel=1e-6)
        assert found["mean"].bayes_squared == pytest.approx(squared, rel=1e-6)
        assert found["mean"].closer == pytest.approx(closer, abs=1e-6)
        assert found["mean"].naive_error == law.mean_absolute_error


@pytest.mark.parametrize("law", LAWS, ids=repr)
@pytest.mark.parametrize("estimator", ["mean", "median"])
def test_simulation_agrees(law: Any, estimator: Any) -> None:
    """A fixed seed: within five standard errors of 60,000 draws."""
    exact = compare(law, PRIOR, estimator=estimator)
    drawn = compare(law, PRIOR, estimator=estimator, draws=60_000, source=Seeded(7))
    assert drawn.draws == 60_000
    assert exact.draws is None
    assert drawn.bayes_error == pytest.approx(exact.bayes_error, abs=0.05)
    assert drawn.naive_error == pytest.approx(exact.naive_error, rel=0.03)
    assert drawn.closer == pytest.approx(exact.closer, abs=0.011)
    assert drawn.bayes_squared == pytest.approx(exact.bayes_squared, rel=0.04)


def test_integrals_are_the_limit_of_fine_grids() -> None:
    fine = DiscreteLaplace(sensitivity=1, epsilon="0.5", grid="1/64")
    for estimator in ("mean", "median"):
        limit = compare(LAWS[0], PRIOR, estimator=estimator)  # type: ignore[arg-type]
        near = compare(fine, PRIOR, estimator=estimator)  # type: ignore[arg-type]
        assert near.bayes_error == pytest.approx(limit.bayes_error, rel=1e-3)
        assert near.closer == pytest.approx(limit.closer, abs=0.01)


def test_each_estimator_is_best_at_its_own_error() -> None:
    """Soundness §5: the median is 5 % better at n = 100, ε = 1."""
    law, prior = Laplace(sensitivity=1, epsilon=1), Binomial(100, "0.3")
    mean, median = compare(law, prior), compare(law, prior, estimator="median")
    assert median.bayes_error < 0.96 * mean.bayes_error
    assert mean.bayes_squared < median.bayes_squared


@pytest.mark.parametrize("law", LAWS[1:], ids=repr)
def test_the_expected_error_is_that_of_the_median(law: Any) -> None:
    wanted = compare(law, PRIOR, estimator="median").bayes_error
    assert expected_error(law, PRIOR) == pytest.approx(wanted, rel=1e-9)


def test_blocks_are_near_the_exact_sum() -> None:
    """The same law and prior, once small enough for all values and once merged into blocks."""
    for epsilon in ("0.002", "0.005", "0.02"):
        law = DiscreteLaplace(sensitivity=1, epsilon=epsilon)
        blocks = expected_error(law, Binomial(200_000, "0.5"))
        limit = expected_error(Laplace(sensitivity=1, epsilon=epsilon), Binomial(200_000, "0.5"))
        coarse = DiscreteLaplace(sensitivity=10, epsilon=10 * float(epsilon), grid=10)
        fine = compare(
            coarse, Normal(100_000, 223.6, 98_000, 102_000).on_grid(10), estimator="median"
        )
        assert blocks == pytest.approx(fine.bayes_error, rel=0.01)
        assert limit == pytest.approx(fine.bayes_error, rel=0.01)


def test_bounds_where_sums_are_too_long() -> None:
    narrow = DiscreteLaplace(sensitivity=1, epsilon=1)
    assert expected_error(narrow, Uniform(0, 10**6)) == narrow.mean_absolute_error
    wide = DiscreteLaplace(sensitivity=10**6, epsilon=1)
    assert expected_error(wide, Points(normalised({0: 1, 10: 1}))) <= 5


def test_single_points_are_known() -> None:
    for law in LAWS:
        found = compare(law, Points({3: 1}))
        assert found.bayes_error == pytest.approx(0, abs=1e-12)
        assert found.closer == pytest.approx(1 if law is LAWS[0] else 1 - law.mass(0), abs=1e-9)


@pytest.mark.parametrize(
    "ask",
    [
        lambda: compare("x", PRIOR),
        lambda: compare(Optimal(sensitivity=6, epsilon=1), PRIOR),
        lambda: compare(LAWS[0], "x"),
        lambda: compare(LAWS[0], PRIOR, estimator="mode"),  # type: ignore[arg-type]
        lambda: compare(LAWS[0], PRIOR, draws=0),
        lambda: compare(LAWS[0], PRIOR, draws=10, source=7),  # type: ignore[arg-type]
        lambda: compare(LAWS[1], BetaBinomial(10**6, 1, 1)),
        lambda: compare(LAWS[0], BetaBinomial(10**6, 1, 1)),
        lambda: compare(LAWS[0], BetaBinomial(10**6, 1, 1), draws=10**6),
        lambda: expected_error("x", PRIOR),
    ],
)
def test_what_cannot_be_compared_is_refused(ask: object) -> None:
    with pytest.raises(Refused):
        ask()  # type: ignore[operator]


def test_uneven_points_are_integrated_too() -> None:
    prior = Points(normalised({0: 3, 1: 1, 7: 2, "7.5": 2}))
    law = Laplace(sensitivity=1, epsilon=2)
    exact = compare(law, prior)
    drawn = compare(law, prior, draws=60_000, source=Seeded(5))
    assert drawn.bayes_error == pytest.approx(exact.bayes_error, abs=0.01)
    assert drawn.closer == pytest.approx(exact.closer, abs=0.01)
    assert np.isfinite(exact.bayes_squared)
