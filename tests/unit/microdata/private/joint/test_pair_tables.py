"""Groups of values, the choice of pairs, and their tables."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from tenue.microdata.private.column import Margin
from tenue.microdata.private.joint.grouping import Groups, by_group
from tenue.microdata.private.joint.pair_tables import PairTables, cross, walked
from tenue.noise.source import Seeded


def margin(*weights: float) -> Margin:
    return Margin(np.arange(len(weights) + 1), np.array(weights) / sum(weights))


def every(groups: Margin) -> Groups:
    return Groups.of(groups, ordered=True, blank=False, most=99)


def test_neighbours_share_a_group_and_heaps_have_their_own() -> None:
    found = Groups.of(margin(1, 1, 1, 1, 12, 1, 1, 1, 1), ordered=True, blank=False, most=4)
    assert found.label.tolist() == [0, 0, 0, 0, 1, 2, 2, 3, 3]
    assert found.weights == pytest.approx([0.2, 0.6, 0.1, 0.1])


def test_rare_categories_share_a_group() -> None:
    found = Groups.of(margin(1, 9, 2, 7, 1), ordered=False, blank=False, most=3)
    assert found.label.tolist() == [2, 0, 2, 1, 2]


def test_a_blank_is_a_group_of_its_own() -> None:
    for ordered in (True, False):
        found = Groups.of(margin(3, 3, 3, 3, 0.1), ordered=ordered, blank=True, most=2)
        assert found.many == 3
        assert (found.label == 2).tolist() == [False] * 4 + [True]


def test_places_of_a_group_follow_the_margin() -> None:
    wide = Margin(np.array([0, 10, 11, 20]), np.array([0.5, 0.2, 0.3]))
    groups = Groups(wide, np.array([0, 1, 0]))
    assert groups.number(np.array([0, 9, 10, 11, 19])).tolist() == [0, 0, 1, 0, 0]
    numbers = np.arange(1600) % 2
    made = groups.drawn(numbers, Seeded(1))
    assert (groups.number(made) == numbers).all()
    assert abs((made[numbers == 0] < 10).sum() - 500) <= 1
    assert len(set(made[numbers == 0])) == 19


def test_budgets_sum_to_epsilon() -> None:
    for columns in (2, 3, 7):
        pairs = PairTables(columns, 1000, Fraction(3, 10))
        assert (pairs.choosing + pairs.counting) * (columns - 1) == Fraction(3, 10)
    assert PairTables(2, 1000, Fraction(1)).choosing == 0


def test_few_rows_mean_few_groups() -> None:
    assert [PairTables(2, n, Fraction(1)).groups for n in (10, 1300, 10**7)] == [2, 8, 32]


TABLES = list(itertools.product(itertools.product(range(2), range(3)), repeat=3))


def moves(score: object) -> int:
    """The most that one record moves a score over all tables of three rows."""
    known = {}
    for rows in TABLES:
        one, other = np.array(rows).T
        known[rows] = score(cross(one, other, 2, 3))  # type: ignore[operator]
    return max(
        abs(known[a] - known[b])
        for a, b in itertools.product(TABLES, repeat=2)
        if sum(x != y for x, y in zip(a, b, strict=True)) == 1
    )


def test_a_record_moves_the_score_by_two() -> None:
    pairs = PairTables(3, 3, Fraction(1))
    released = np.outer([0.4, 0.6], [0.2, 0.5, 0.3]) * 3
    assert moves(lambda counts: pairs.score(counts, released)) == 2


def test_true_margins_in_the_score_are_seen() -> None:
    pairs = PairTables(3, 3, Fraction(1))

    def from_rows(counts: np.ndarray) -> int:
        return pairs.score(counts, np.outer(counts.sum(axis=1), counts.sum(axis=0)) / 3)

    assert moves(from_rows) > 2


def test_pairs_are_chosen_with_the_weights_of_their_scores() -> None:
    pairs = PairTables(3, 100, Fraction(40))  # choices have epsilon 2, weights e^(score / 2)
    scores = {(0, 1): 3, (0, 2): 1, (1, 2): 0}
    source = Seeded(7)
    first = Counter(pairs.spanned(scores, [False] * 3, source)[0] for _ in range(4000))
    weights = {pair: math.exp(score / 2) for pair, score in scores.items()}
    for pair, weight in weights.items():
        assert first[pair] / 4000 == pytest.approx(weight / sum(weights.values()), abs=0.03)


def test_a_score_far_behind_is_no_fault() -> None:
    pairs = PairTables(3, 10**7, Fraction(10))
    scores = {(0, 1): 10**7, (0, 2): 0, (1, 2): -(10**7)}
    assert pairs.spanned(scores, [False] * 3, Seeded(1)) == [(0, 1), (0, 2)]


def test_numbers_are_joined_to_each_other_first() -> None:
    pairs = PairTables(4, 10**7, Fraction(10))
    scores = dict.fromkeys(itertools.combinations(range(4), 2), 10**7) | {(1, 3): 0}
    found = pairs.spanned(scores, [False, True, False, True], Seeded(1))
    assert found[0] == (1, 3)
    assert len(found) == 3


def test_chosen_pairs_span_all_columns() -> None:
    pairs = PairTables(6, 100, Fraction(1))
    scores = dict.fromkeys(itertools.combinations(range(6), 2), 0)
    for seed in range(20):
        found = pairs.spanned(scores, [False] * 6, Seeded(seed))
        reached = {0}
        for _ in range(6):
            reached |= {c for pair in found for c in pair if reached & set(pair)}
        assert len(found) == 5
        assert reached == set(range(6))


def test_rows_follow_the_tables() -> None:
    groups = [every(margin(1, 1)), every(margin(1, 3)), every(margin(1, 1, 2))]
    tables = {
        (1, 2): np.array([[0.0, 0, 200], [200, 200, 200]]),
        (0, 1): np.array([[200.0, 200], [0, 400]]),
    }
    made = walked(tables, groups, 800, Seeded(1))
    assert cross(made[0], made[1], 2, 2).tolist() == [[200, 200], [0, 400]]
    assert cross(made[1], made[2], 2, 3).tolist() == [[0, 0, 200], [200, 200, 200]]
    # given the middle column the others are independent: the row of 600 is mixed at random
    mixed = cross(made[0][made[1] == 1], made[2][made[1] == 1], 2, 3)
    assert mixed[0] == pytest.approx([67, 67, 67], abs=25)


def test_rows_of_a_group_come_in_random_order() -> None:
    numbers = np.array([1, 0, 1, 1, 2, 0])
    seen = set()
    for seed in range(60):
        order, held = by_group(numbers, 3, Seeded(seed))
        assert held.tolist() == [2, 3, 1]
        assert numbers[order].tolist() == [0, 0, 1, 1, 1, 2]
        seen.add(tuple(order.tolist()))
    assert len(seen) == 12
