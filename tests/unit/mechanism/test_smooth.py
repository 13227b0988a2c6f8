"""Releases scaled to the smooth sensitivity."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tenue.errors import InvalidArgument, InvalidTable, NotPromised
from tenue.mechanism import smooth_release
from tenue.mechanism.smooth import LEAST, smooth_mechanism
from tenue.noise import Seeded
from tenue.sensitivity import smooth

ROWS = [1, 2, 2, 5, 9]


def made(statistic="median", rows=ROWS, low=0, high=10, epsilon=1, gamma=2, **given):
    return smooth_mechanism(
        statistic, rows, low, high, epsilon, gamma, **{"rows_public": True, **given}
    )


@pytest.mark.parametrize(
    ("statistic", "given", "truth", "parts"),
    [
        ("median", {}, 2, 1),
        ("median", {"rows": [1, 2, 5, 9]}, 7, 2),
        ("max", {}, 9, 1),
        ("min", {"rows": np.array(ROWS)}, 1, 1),
        ("second-max", {}, 5, 1),
        ("quantile", {"q": 0.7}, 5, 1),
        ("kth-largest", {"k": 5}, 1, 1),
        ("max", {"rows": [99, 3]}, 10, 1),
    ],
)
def test_truths(statistic, given, truth, parts):
    mechanism = made(statistic, **given)
    assert (mechanism.truth, mechanism.parts) == (truth, parts)
    assert (mechanism.low, mechanism.high) == (0, 10 * parts)


def test_the_scale_is_four_gamma_sensitivities_over_epsilon():
    mechanism = made(epsilon="1/2", gamma=3)
    wanted = smooth("median", ROWS, bounds=(0, 10), beta="1/6")
    assert float(mechanism.spread) == pytest.approx(wanted, rel=1e-12)
    assert float(mechanism.spread) >= wanted
    assert float(mechanism.law._scale) == pytest.approx(4 * 3 * wanted / 0.5, rel=1e-12)


def test_release_is_the_truth_plus_the_law_settled():
    mechanism = made(rows=[1, 2, 5, 9])
    for seed in range(20):
        noise = mechanism.law.steps(source=Seeded(seed))
        assert mechanism.release(Seeded(seed)) == mechanism.settle(noise)
    assert mechanism.settle(-2) == Fraction(5, 2)
    assert (mechanism.settle(99), mechanism.settle(-99)) == (10, 0)


def test_a_vanishing_sensitivity_is_not_refused():
    """e^-500000 of a constant column: a refusal would tell that the column is constant."""
    rows = np.full(100_001, 7)
    assert made(rows=rows, epsilon=100).spread == LEAST
    assert smooth_release("median", rows, 0, 10, 100, 2, rows_public=True) == 7


def test_a_domain_of_one_point():
    assert smooth_release("median", [3, 3], 3, 3, 1, 2, rows_public=True) == 3


@pytest.mark.parametrize(
    ("refusal", "given"),
    [
        (NotPromised, {"rows_public": False}),
        (InvalidArgument, {"gamma": 7}),
        (InvalidArgument, {"gamma": 1}),
        (InvalidArgument, {"epsilon": 0}),
        (InvalidArgument, {"high": 10.5}),
        (InvalidArgument, {"high": 2**60}),
        (InvalidArgument, {"low": 11}),
        (InvalidArgument, {"statistic": "mean"}),
        (InvalidTable, {"rows": [0.5, 1]}),
        (InvalidTable, {"rows": [1, None]}),
        (InvalidTable, {"rows": []}),
    ],
)
def test_refusals(refusal, given):
    with pytest.raises(refusal):
        made(**given)


def test_a_release_draws_from_the_operating_system():
    with pytest.raises(NotPromised):
        smooth_release("median", ROWS, 0, 10, 1, 2, Seeded(7), rows_public=True)


def test_rows_public_must_be_stated():
    with pytest.raises(InvalidArgument, match="needs `rows_public`"):
        smooth_release("median", ROWS, 0, 10, 1, 2)
