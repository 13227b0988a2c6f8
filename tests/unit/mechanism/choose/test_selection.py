"""Choosing a grid point: intervals, exact privacy of the whole law, the sampler's own table."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenue.errors import Refused
from tenue.mechanism.choose import rank_score
from tenue.mechanism.choose.rank_score import RankScore
from tenue.mechanism.choose.selection import Selection, _near, quantile
from tenue.noise import Seeded

HALF = Fraction(1, 2)


def listed(table: Any) -> list[tuple[int, int, int]]:
    counts = Counter(table)
    found, below = [], 0
    for value in sorted(counts):
        found.append((value, below, counts[value]))
        below += counts[value]
    return found


def plain(selection: Selection, table: Any) -> list[int]:
    """The cut score of every grid point, one by one."""
    return [
        min(
            selection.reach,
            selection.score.of(len(table), sum(x < v for x in table), sum(x <= v for x in table)),
        )
        for v in range(selection.low, selection.high + 1)
    ]


def spread(selection: Selection, table: Any) -> list[int]:
    """The same from the intervals."""
    scores = [selection.reach] * selection.points
    for interval in selection.intervals(len(table), listed(table)):
        for v in range(interval.first, interval.first + interval.points):
            scores[v - selection.low] = interval.score
    return scores


def masses(selection: Selection, table: Any) -> list[float]:
    weights = [math.exp(-float(selection.law.fall) * s) for s in plain(selection, table)]
    return [w / sum(weights) for w in weights]


SCORES = [
    rank_score.quantile(HALF, "add-or-remove"),
    rank_score.quantile(Fraction(3, 10), "replace"),
    rank_score.minimum(Fraction(4), 30),
    rank_score.maximum(Fraction(4), 30),
]


@settings(max_examples=200)
@given(
    table=st.lists(st.integers(-5, 24), max_size=40),
    score=st.sampled_from(SCORES),
    epsilon=st.sampled_from([Fraction(1, 10), Fraction(2), Fraction(60)]),
)
def test_intervals_hold_the_scores_of_all_points(
    table: list[int], score: RankScore, epsilon: Fraction
) -> None:
    selection = Selection(score, -5, 24, epsilon)
    assert spread(selection, table) == plain(selection, table)


@settings(max_examples=100)
@given(table=st.lists(st.integers(0, 60), min_size=20, max_size=80), data=st.data())
def test_values_beyond_the_reach_need_not_be_listed(table: list[int], data: Any) -> None:
    """With a large epsilon the reach is short: most rows are not looked at."""
    selection = Selection(data.draw(st.sampled_from(SCORES)), 0, 60, Fraction(60))
    whole = listed(table)
    near = [
        (v, below, at)
        for v, below, at in whole
        if selection.score.of(len(table), below, below + at) < selection.reach
    ]
    far = [entry for entry in whole if entry not in near]
    extra = sorted([*near, *data.draw(st.lists(st.sampled_from(far or near or whole), max_size=3))])
    some = [entry for i, entry in enumerate(extra) if i == 0 or entry != extra[i - 1]]
    assert selection.intervals(len(table), some) == selection.intervals(len(table), whole)


@settings(max_examples=100)
@given(table=st.lists(st.integers(0, 30), max_size=60), score=st.sampled_from(SCORES))
def test_the_values_within_the_reach_are_enough(table: list[int], score: RankScore) -> None:
    selection = Selection(score, 0, 30, Fraction(60))
    near = _near(selection, np.array(table, dtype=np.int64))
    assert set(near) <= set(listed(table))
    assert selection.intervals(len(table), near) == selection.intervals(len(table), listed(table))


DOMAIN = range(3)


@pytest.mark.parametrize("neighbours", ["add-or-remove", "replace"])
@pytest.mark.parametrize("p", [HALF, Fraction(1, 4)])
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(3), Fraction(40)])
def test_the_whole_law_keeps_its_promise(p: Fraction, neighbours: str, epsilon: Fraction) -> None:
    worst = worst_loss(rank_score.quantile(p, neighbours), neighbours, epsilon)
    assert worst <= float(epsilon) * (1 + 1e-9)


def test_what_would_break_it() -> None:
    """Mutants: a sensitivity that is too small, and weights without the factor 2."""
    wrong = rank_score.quantile(Fraction(1, 4), "add-or-remove")
    assert worst_loss(RankScore(wrong.b, wrong.a, 0, 0, 1), "replace", Fraction(3)) > 3.3
    right = rank_score.quantile(HALF, "add-or-remove")
    assert worst_loss(right, "add-or-remove", Fraction(6)) > 3.3


def worst_loss(score: RankScore, neighbours: str, epsilon: Fraction) -> float:
    selection = Selection(score, 0, 2, epsilon)
    worst = 0.0
    for n in range(4):
        for table in itertools.combinations_with_replacement(DOMAIN, n):
            if neighbours == "replace":
                others = [(*table[:i], x, *table[i + 1 :]) for i in range(n) for x in DOMAIN]
            else:
                others = [(*table, x) for x in DOMAIN]
            for other in others:
                pairs = zip(masses(selection, table), masses(selection, other), strict=True)
                worst = max(worst, *(abs(math.log(p / q)) for p, q in pairs))
    return worst


def test_the_sampler_follows_the_masses() -> None:
    """Its table is the distribution of classes, to the last of 64 bits."""
    table = (1, 1, 4, 7, 7, 7, 9)
    selection = Selection(rank_score.quantile(HALF, "add-or-remove"), 0, 12, Fraction(1))
    by_score = Counter(plain(selection, table))
    ordered = sorted(by_score.items())
    weights = [n * math.exp(-float(selection.law.fall) * (s - ordered[0][0])) for s, n in ordered]
    told = np.cumsum(weights)[:-1] / sum(weights)
    thresholds = selection.law.table(ordered).thresholds.astype(float) / 2**64
    assert thresholds == pytest.approx(told, rel=1e-12)
    drawn = [selection.choose(7, listed(table), Seeded(i)) for i in range(3000)]
    expected = masses(selection, table)
    seen = np.bincount(drawn, minlength=13) / len(drawn)
    assert seen == pytest.approx(expected, abs=0.035)


@pytest.mark.parametrize(
    ("table", "right"),
    [
        ([7] * 1000, {7}),
        ([0] * 400 + [10] * 600, {10}),
        ([3], set(range(11))),
        ([], set(range(11))),
    ],
)
def test_ties_constants_and_tiny_tables(table: list[int], right: set[int]) -> None:
    selection = Selection(rank_score.quantile(HALF, "add-or-remove"), 0, 10, Fraction(1))
    assert {selection.choose(len(table), listed(table), Seeded(i)) for i in range(40)} <= right


def test_a_grid_of_a_billion_points_costs_as_little_as_a_small_one() -> None:
    table = list(range(0, 10**9, 10**6))
    selection = Selection(rank_score.quantile(HALF, "add-or-remove"), 0, 10**9, Fraction(1))
    near = selection.intervals(len(table), listed(table))
    assert len(near) < 4 * selection.reach
    found = [selection.choose(len(table), listed(table), Seeded(i)) for i in range(100)]
    assert np.mean([abs(v / 10**6 - 500) for v in found]) < 3


def test_minimum_and_maximum_lie_inside_the_rows() -> None:
    table = sorted(range(1000, 2000))
    for make, inside in ((rank_score.minimum, 1000), (rank_score.maximum, 1999)):
        epsilon = Fraction(1)
        selection = Selection(make(epsilon, 10**6 + 1), 0, 10**6, epsilon)
        assert selection.score.rank is not None
        found = [selection.choose(1000, listed(table), Seeded(i)) for i in range(100)]
        assert sum(1000 <= v <= 1999 for v in found) > 80
        assert max(abs(v - inside) for v in found if 1000 <= v <= 1999) < 4 * selection.score.rank


def test_the_public_function_checks_what_it_is_given() -> None:
    assert 400 < quantile(range(1000), 0.5, bounds=(0, 1000), epsilon=5) < 600
    near = quantile([0.125, 0.25, 0.75], 0.5, bounds=(0, 1), grid=0.25, epsilon=100)
    assert near in (Fraction(1, 4), Fraction(1, 2))
    for wrong in (
        {"q": 0},
        {"q": 1},
        {"bounds": (0, 0.5)},
        {"bounds": (3, 1)},
        {"epsilon": 0},
        {"neighbours": "swap"},
        {"source": Seeded(1)},
    ):
        given: dict[str, Any] = {"q": 0.5, "bounds": (0, 10), "epsilon": 1} | wrong
        with pytest.raises(Refused):
            quantile([1, 2, 3], **given)


def test_no_value_decides_how_the_others_are_read() -> None:
    """As an array, one float among integers would round all of them to 53 bits."""
    large = [2**53 + 1] * 200
    bounds = (0, 2**54)
    alone = {quantile(large, 0.5, bounds=bounds, epsilon=30) for _ in range(5)}
    beside = {quantile([*large, 0.5], 0.5, bounds=bounds, epsilon=30) for _ in range(5)}
    assert alone == beside == {2**53 + 1}
    assert quantile(np.full(9, 2**63 + 5, dtype=np.uint64), 0.5, bounds=(0, 9), epsilon=30) == 9
    assert quantile([2**70] * 9, 0.5, bounds=(0, 9), epsilon=30) == 9


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), "secret-77", None])
def test_refusals_do_not_quote_values(wrong: Any) -> None:
    with pytest.raises(Refused) as refusal:
        quantile([1, 2, wrong], 0.5, bounds=(0, 9), epsilon=1)
    assert "secret" not in str(refusal.value)
    assert refusal.value.__cause__ is None
    assert refusal.value.__context__ is None
