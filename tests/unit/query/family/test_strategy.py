"""Comparing ways to answer: one number for each aggregate, and strategies side by side."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest

from tenue.noise.criterion import VARIANCE, criterion
from tenue.promise.loss import EpsilonDelta
from tenue.query.family.reading import Linear
from tenue.query.family.smooth import ValueOnly
from tenue.query.family.strategy import (
    Range,
    Setting,
    Span,
    Strategy,
    merged,
    no_worse,
    score_of,
    sizes,
)
from tenue.query.plan.ways import strategies
from tenue.query.question import Aggregate

RANGES = {
    "x": Range(0, 1000, Fraction(1), never_missing=False),
    "y": Range(-5, 50, Fraction(1, 2), never_missing=True),
}
SETTING = Setting(
    "add-or-remove",
    grouped=False,
    filtered=False,
    ranges=RANGES,
    spans={name: Span(r.low, r.high, r.grid) for name, r in RANGES.items()},
    categories={"c": 4},
)
SUM_X, SUM_Y, AVG_X = Aggregate("sum", "x"), Aggregate("sum", "y"), Aggregate("avg", "x")
MAX_X, SPREAD, MODE = Aggregate("max", "x"), Aggregate("variance", "x"), Aggregate("mode", "c")


TENTH = EpsilonDelta.of("0.1")


def alone(aggregate: Aggregate, price: EpsilonDelta = TENTH) -> Strategy:
    return strategies((aggregate,), SETTING, price, VARIANCE)[0]


@pytest.mark.parametrize("asked", [SUM_X, AVG_X, MAX_X, SPREAD, MODE], ids=str)
@pytest.mark.parametrize("minimise", ["variance", "absolute-error", ("interval", 0.9)])
def test_half_of_the_price_is_twice_the_error(asked: Aggregate, minimise: object) -> None:
    wanted = criterion(minimise)
    one, half = (sizes(alone(asked, price), wanted)[asked] for price in (TENTH, TENTH // 2))
    assert half == pytest.approx(2 * one, rel=0.02)
    assert score_of(alone(asked, TENTH // 2), wanted) > score_of(alone(asked), wanted)


def test_what_cannot_be_told_is_never_the_best() -> None:
    told = Strategy("untold", (), {MAX_X: ValueOnly(Fraction(1), differential=True)})
    assert score_of(told, VARIANCE) == float("inf")


def test_no_worse_looks_at_each() -> None:
    assert no_worse({SUM_X: 1.0, SUM_Y: 0.0}, {SUM_X: 1.0, SUM_Y: 0.0})
    assert not no_worse({SUM_X: 0.1, SUM_Y: 2.0}, {SUM_X: 5.0, SUM_Y: 1.9})


def test_merged_strategies_read_their_own_parts() -> None:
    several = [alone(a) for a in (SUM_X, AVG_X, MAX_X, SPREAD, MODE, SUM_Y)]
    whole = merged("one by one", several)
    assert whole.epsilon == Fraction(6, 10)
    together = sizes(whole, VARIANCE)
    for one in several:
        assert {a: together[a] for a in one.readings} == pytest.approx(sizes(one, VARIANCE))
    last = whole.readings[SUM_Y]
    assert isinstance(last, Linear)
    assert whole.parts[last.terms[0].part].components[0].column == "y"
    assert (whole.readings[MAX_X].place, whole.readings[MODE].place) == (0, 1)  # type: ignore[union-attr]


@pytest.mark.parametrize("neighbours", ["add-or-remove", "replace"])
@pytest.mark.parametrize("cells", [1, 2, 3, 4])
@pytest.mark.parametrize("groups", [None, 1, 2, 3])
def test_one_person_moves_counts_of_people_so_far(
    neighbours: str, cells: int, groups: int | None
) -> None:
    """Against every way to be in cells; the mutants forget that a person may leave and enter, or
    that a cell moves by one at most."""
    setting = Setting(
        neighbours, grouped=True, filtered=False, ranges={}, groups_per_unit=groups, cells=cells
    )
    most = min(cells, groups or cells)
    ways = [w for w in itertools.product([0, 1], repeat=cells) if sum(w) <= most]
    others = ways if neighbours == "replace" else [(0,) * cells]
    far = max(
        sum(abs(a - b) for a, b in zip(one, other, strict=True)) for one in ways for other in others
    )
    assert setting.units_moved == far
    if (neighbours, cells, groups) == ("replace", 4, 1):
        assert most < far  # a person enters one cell and leaves another
    if (neighbours, cells, groups) == ("replace", 3, 2):
        assert 2 * most > far
