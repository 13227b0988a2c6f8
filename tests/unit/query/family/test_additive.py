"""Which strategies are offered, at which price. Their privacy: properties/test_joint_loss.py."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from tenue.noise import DiscreteLaplace, OptimalBox
from tenue.noise.criterion import VARIANCE
from tenue.promise.loss import EpsilonDelta
from tenue.query.family.strategy import Range, Setting, Strategy
from tenue.query.plan.ways import strategies
from tenue.query.question import Aggregate

RANGES = {
    "x": Range(low=0, high=1000, grid=Fraction(1), never_missing=False),
    "y": Range(low=0, high=10, grid=Fraction(1), never_missing=True),
    "z": Range(low=-5, high=7, grid=Fraction(1), never_missing=False),
}
COUNT = Aggregate("count")


def offered(*aggregates: Aggregate, kind: str = "add-or-remove", **more: bool) -> list[Strategy]:
    setting = Setting(
        kind, more.get("grouped", False), more.get("filtered", False), RANGES, frozenset("y")
    )
    return strategies(aggregates, setting, EpsilonDelta(10**9), VARIANCE)


def spread(strategy: Strategy, aggregate: Aggregate) -> float:
    return math.sqrt(strategy.readings[aggregate].error(strategy.parts).variance)


def test_a_count_has_discrete_laplace_of_scale_one_over_epsilon() -> None:
    (only,) = offered(COUNT)
    (part,) = only.parts
    assert isinstance(part.law, DiscreteLaplace)
    assert part.law.scale == 1
    (halved,) = offered(COUNT, kind="replace", grouped=True)
    assert halved.parts[0].law.scale == 2  # type: ignore[union-attr]


def test_a_sum_is_offered_optimal_noise_and_its_yardstick() -> None:
    best, laplace = offered(Aggregate("sum", "x"))
    assert (best.name, laplace.name) == ("optimal", "discrete Laplace")
    assert spread(best, Aggregate("sum", "x")) < spread(laplace, Aggregate("sum", "x"))


def test_a_mean_needs_no_split_of_epsilon() -> None:
    """The pair's variance in the middle of the range is 1/(εn)² ranges², a plain split's is 10."""
    mean = Aggregate("avg", "x")
    (pair,) = offered(mean)
    assert pair.epsilon == 1
    assert spread(pair, mean) == pytest.approx(1000, rel=1e-3)  # times n, in units of the range


def test_a_mean_over_a_public_number_of_rows_is_one_sum() -> None:
    mean = Aggregate("avg", "y")
    best = offered(mean, kind="replace")[0]
    assert len(best.parts[0].components) == 1
    assert len(offered(mean, kind="replace", filtered=True)[0].parts[0].components) == 2
    assert len(offered(mean)[0].parts[0].components) == 2


def test_a_mean_under_replace_may_use_the_same_sign_ball() -> None:
    mean = Aggregate("avg", "x")
    pair, ball = offered(mean, kind="replace")
    assert isinstance(ball.parts[0].law, OptimalBox)
    assert spread(ball, mean) < 0.8 * spread(pair, mean)


def test_counts_and_sums_together_share_one_noise() -> None:
    wanted = (COUNT, Aggregate("count", "x"), Aggregate("sum", "y"))
    found = {s.name: s for s in offered(*wanted)}
    assert "same-sign box" in found
    box, pairs = found["same-sign box"], offered(*wanted)[0]
    assert all(spread(box, a) < spread(pairs, a) for a in wanted[1:2])


def test_sums_of_both_signs_get_a_box_in_any_direction() -> None:
    names = {s.name for s in offered(Aggregate("sum", "x"), Aggregate("sum", "z"))}
    assert "box" in names
    assert "same-sign box" not in names


def test_prices_never_exceed_what_was_offered() -> None:
    three = (COUNT, Aggregate("avg", "x"), Aggregate("avg", "z"))
    for strategy in offered(*three):
        assert strategy.epsilon <= 1
        assert strategy.epsilon > Fraction(999_999_998, 10**9)
