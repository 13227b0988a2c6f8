"""Several aggregates in one SELECT: none is worse than asked alone for an equal part."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest

from tenue.noise.criterion import VARIANCE, criterion
from tenue.promise.loss import EpsilonDelta
from tenue.query.family.strategy import Range, Setting, Span, Strategy, score_of, sizes
from tenue.query.plan.ways import strategies
from tenue.query.question import Aggregate

RANGES = {
    "x": Range(0, 1000, Fraction(1), never_missing=False),
    "y": Range(-5, 50, Fraction(1, 2), never_missing=True),
}
SPANS = {name: Span(r.low, r.high, r.grid) for name, r in RANGES.items()}
COUNT, COUNT_X = Aggregate("count"), Aggregate("count", "x")
SUM_X, SUM_Y = Aggregate("sum", "x"), Aggregate("sum", "y")
AVG_X, AVG_Y = Aggregate("avg", "x"), Aggregate("avg", "y")
MIN_X, MAX_X = Aggregate("min", "x"), Aggregate("max", "x")
MEDIAN = Aggregate("quantile", "y", q=Fraction(1, 2))
SPREAD = Aggregate("variance", "x")
MODE = Aggregate("mode", "c")
ASKED = [
    (COUNT, SUM_X),
    (COUNT, AVG_X),
    (AVG_X, AVG_Y, MAX_X),
    (COUNT, SUM_X, AVG_X, MIN_X, MAX_X),
    (COUNT, COUNT_X, SUM_Y, MEDIAN, SPREAD),
    (SUM_X, SUM_Y, MODE),
    (MIN_X, MAX_X, MEDIAN),
]
SETTINGS = [
    ("add-or-remove", False, 1),
    ("replace", False, 1),
    ("replace", True, 1),
    ("add-or-remove", True, 3),
]


def setting(kind: str, grouped: bool, rows: int) -> Setting:
    return Setting(
        kind,
        grouped,
        False,
        RANGES,
        frozenset("y"),
        SPANS,
        {"c": 4},
        rows_per_unit=rows,
        persons=rows > 1,
    )


ONE = EpsilonDelta.of(1)


def chosen(
    asked: tuple[Aggregate, ...], given: Setting, price: EpsilonDelta, **more: object
) -> Strategy:
    wanted = criterion(more.get("minimise", "variance"))
    found = strategies(asked, given, price, wanted)
    return min(found, key=lambda s: (not s.preferred, score_of(s, wanted)))


@pytest.mark.parametrize("asked", ASKED, ids=str)
@pytest.mark.parametrize("given", SETTINGS, ids=str)
@pytest.mark.parametrize("epsilon", ["0.1", "1", "12"])
def test_no_answer_is_worse_than_asked_alone(
    asked: tuple[Aggregate, ...], given: tuple[str, bool, int], epsilon: str
) -> None:
    price = EpsilonDelta.of(epsilon)
    described = setting(*given)
    best = chosen(asked, described, price)
    assert best.preferred
    assert best.epsilon <= Fraction(epsilon)
    found = sizes(best, VARIANCE)
    assert set(found) == set(asked)
    for one in asked:
        alone = chosen((one,), described, price // len(asked))
        assert found[one] <= sizes(alone, VARIANCE)[one] * (1 + 1e-5), one


def test_extremes_get_what_a_shared_noise_does_not_need() -> None:
    """Count, sum and mean come from one pair, which leaves more than a fifth for each extreme."""
    described = setting("add-or-remove", grouped=False, rows=1)
    best = chosen((COUNT, SUM_X, AVG_X, MIN_X, MAX_X), described, ONE)
    prices = [choice.epsilon for choice in best.draws if choice.chosen]
    assert prices[0] == prices[1] > Fraction(1, 4)
    assert best.epsilon <= 1


def test_equal_parts_for_blocks_would_be_worse_for_means() -> None:
    """Mutant: half for two means together and half for the maximum."""
    described = setting("add-or-remove", grouped=False, rows=1)
    (naive, *_) = strategies((AVG_X, AVG_Y), described, ONE // 2, VARIANCE)
    alone = chosen((AVG_X,), described, ONE // 3)
    assert sizes(naive, VARIANCE)[AVG_X] > 1.2 * sizes(alone, VARIANCE)[AVG_X]


def test_other_criteria_keep_the_promise() -> None:
    described = setting("replace", grouped=False, rows=1)
    for minimise, asked in itertools.product(["absolute-error", ("interval", 0.9)], ASKED[:4]):
        best = chosen(asked, described, ONE, minimise=minimise)
        assert best.preferred


def test_a_count_beside_a_sum_and_a_mean_is_kept_aside_under_replace() -> None:
    """One pair would be worse for the count; one by one would be worse for sum and mean."""
    described = setting("replace", grouped=False, rows=1)
    best = chosen((COUNT, SUM_X, AVG_X, MAX_X), described, ONE)
    assert best.name == "discrete Laplace + same-sign pair + selection"
    found = sizes(best, VARIANCE)
    alone = chosen((AVG_X,), described, ONE // 4)
    assert found[AVG_X] < 0.9 * sizes(alone, VARIANCE)[AVG_X]
