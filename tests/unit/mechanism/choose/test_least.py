"""Choices by whole scores: the exact loss of the law, ties, and the cut."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

import pytest

from tenue.mechanism.choose.least import Least
from tenue.noise import Seeded

SCORES = list(itertools.product(range(5), repeat=3))


def masses(choice: Least, scores: Sequence[int]) -> list[float]:
    weights = [0.0] * len(scores)
    for score, places in choice.classes(scores).items():
        for place in places:
            weights[place] = math.exp(-float(choice.fall) * score)
    return [w / sum(weights) for w in weights]


def loss(choice: Least, one: Sequence[int], other: Sequence[int]) -> float:
    pairs = zip(masses(choice, one), masses(choice, other), strict=True)
    return max(abs(math.log(p / q)) for p, q in pairs)


def within_one() -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    return [
        (one, other)
        for one, other in itertools.product(SCORES, SCORES)
        if max(abs(a - b) for a, b in zip(one, other, strict=True)) <= 1
    ]


@pytest.mark.parametrize("fall", [Fraction(1, 10), Fraction(1), Fraction(20)])
def test_scores_that_move_by_one_cost_twice_the_fall(fall: Fraction) -> None:
    choice = Least(3, fall)  # at 20 the reach of 2 cuts these scores
    worst = max(loss(choice, one, other) for one, other in within_one())
    assert worst <= 2 * float(fall) * (1 + 1e-12)
    assert worst > 1.2 * float(fall)  # so a claim of once the fall would be wrong


def test_candidates_that_occur_only_are_told_apart() -> None:
    """Mutant: candidates taken from the rows. One that is there for one table only tells all."""
    occurring = masses(Least(2, Fraction(1)), [0, 3])
    all_of_them = masses(Least(3, Fraction(1)), [0, 3, 3])
    assert len(occurring) == 2  # the third has no mass at all, so the loss is infinite
    assert all_of_them[2] > 0


def test_the_draw_follows_the_law_and_ties_are_even() -> None:
    choice, source = Least(4, Fraction(1)), Seeded(3)
    drawn = Counter(choice.choose([5, 5, 6, 9], source) for _ in range(4000))
    for place, p in enumerate(masses(choice, [5, 5, 6, 9])):
        assert abs(drawn[place] - 4000 * p) < 6 * math.sqrt(4000 * p)


def test_equal_scores_are_chosen_evenly() -> None:
    choice, source = Least(3, Fraction(1)), Seeded(4)
    drawn = Counter(choice.choose([7, 7, 7], source) for _ in range(3000))
    assert all(abs(drawn[place] - 1000) < 160 for place in range(3))


def test_scores_are_cut_where_hardly_anything_is_left() -> None:
    choice = Least(2, Fraction(1, 2**32))
    assert list(choice.classes([0, 2**50])) == [0, choice.reach]
    assert math.exp(-choice.reach * 2.0**-32) < 1e-12
