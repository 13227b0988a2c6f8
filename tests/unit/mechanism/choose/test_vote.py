"""Votes for a category: the exact loss of the whole law, and how far behind it falls."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

import pytest

from tenue.mechanism.choose.vote import Vote
from tenue.noise import Seeded

TABLES = list(itertools.product(range(5), repeat=3))


def masses(vote: Vote, votes: Sequence[int], factor: float = 1) -> list[float]:
    weights = [0.0] * len(votes)
    for score, places in vote.classes(votes).items():
        for place in places:
            weights[place] = math.exp(-factor * float(vote.epsilon) * score)
    return [w / sum(weights) for w in weights]


def loss(vote: Vote, one: Sequence[int], other: Sequence[int]) -> float:
    pairs = zip(masses(vote, one), masses(vote, other), strict=True)
    return max(abs(math.log(p / q)) for p, q in pairs)


def more(votes: Sequence[int]) -> list[list[int]]:
    return [[v + (place == c) for place, v in enumerate(votes)] for c in range(len(votes))]


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(20)])
def test_one_row_more_costs_epsilon_and_no_more(epsilon: Fraction) -> None:
    vote = Vote(3, epsilon)  # at 20 the reach of 2 cuts scores of these tables
    worst = max(loss(vote, votes, other) for votes in TABLES for other in more(votes))
    assert worst <= float(epsilon) * (1 + 1e-12)
    assert worst > 0.4 * float(epsilon)


def test_one_row_that_changes_costs_more() -> None:
    """Mutant: under replace the law must be made for half of epsilon."""
    vote = Vote(3, Fraction(1))
    changed = [
        loss(vote, votes, [v - (place == gone) for place, v in enumerate(other)])
        for votes in TABLES
        for other in more(votes)
        for gone in range(3)
        if votes[gone]
    ]
    assert 1.2 < max(changed) <= 2


def test_a_steeper_fall_would_cost_more() -> None:
    """Mutant: weights exp(2·ε·votes)."""
    vote = Vote(3, Fraction(1))
    worst = max(
        math.log(p / q)
        for votes in TABLES
        for other in more(votes)
        for p, q in zip(masses(vote, other, 2), masses(vote, votes, 2), strict=True)
    )
    assert worst > 1.2


def test_it_is_rarely_far_behind() -> None:
    vote = Vote(50, Fraction(1, 5))
    votes = [1000] + [1000 - math.floor(vote.behind(0.05)) - 1] * 49
    assert 1 - masses(vote, votes)[0] <= 0.05


def test_the_draw_follows_the_classes_and_ties_are_even() -> None:
    vote, source = Vote(4, Fraction(1)), Seeded(3)
    drawn = Counter(vote.choose([2, 2, 1, 0], source) for _ in range(4000))
    expected = masses(vote, [2, 2, 1, 0])
    for place, p in enumerate(expected):
        assert abs(drawn[place] - 4000 * p) < 6 * math.sqrt(4000 * p)
    alone = Vote(1, Fraction(1))
    assert alone.choose([0], source) == 0
    assert {Vote(2, Fraction(1)).choose([0, 0], source) for _ in range(50)} == {0, 1}
