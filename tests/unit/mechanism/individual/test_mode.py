"""The most frequent category: who can win, and how it is chosen."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement

import pytest

from tenue.mechanism.individual.mode import ModeChoice, calibrate_mode, winner
from tenue.noise import Seeded
from tenue.sensitivity import local
from unit.sensitivity.oracle import neighbours

ONE = Fraction(1)


def votes_of(table, categories):
    return [table.count(place) for place in range(categories)]


@pytest.mark.parametrize("categories", [1, 2, 4])
def test_truncated_candidates_are_the_modes_of_neighbours(categories):
    for rows in range(1, 7):
        for table in combinations_with_replacement(range(categories), rows):
            near = [table, *neighbours(table, range(categories))]
            wanted = {winner(votes_of(other, categories)) for other in near}
            votes = votes_of(table, categories)
            found = calibrate_mode(votes, ONE, truncated=True).candidates
            assert set(found) == wanted
            moves = local("mode", table, categories=range(categories))
            assert (len(found) > 1) == bool(moves)
            everything = calibrate_mode(votes, ONE, truncated=False).candidates
            assert len(everything) == (categories if moves else 1)


def test_a_truncated_answer_is_at_most_two_votes_behind():
    for table in combinations_with_replacement(range(3), 7):
        votes = votes_of(table, 3)
        for place in calibrate_mode(votes, ONE, truncated=True).candidates:
            assert votes[place] >= max(votes) - 2


def test_ties_go_to_the_first():
    assert winner([2, 3, 3]) == 1


@pytest.mark.parametrize(("epsilon", "others"), [(ONE, 3), (Fraction(3), 10), (Fraction(1, 5), 1)])
def test_masses(epsilon, others):
    """Seeded: 20,000 draws against e^-epsilon each; twice the exponent is rejected."""
    choice = ModeChoice(tuple(range(10, 11 + others)), epsilon)
    source, size = Seeded(7), 20_000
    drawn = Counter(choice.release(11, source) for _ in range(size))
    assert set(drawn) <= set(choice.candidates)

    def misses(rate):
        rest = math.exp(-rate)
        wanted = [1.0 if c == 11 else rest for c in choice.candidates]
        shares = [w / sum(wanted) for w in wanted]
        return max(
            abs(drawn[c] - size * p) / math.sqrt(size * p * (1 - p))
            for c, p in zip(choice.candidates, shares, strict=True)
        )

    assert misses(float(epsilon)) < 4 < misses(2 * float(epsilon))


def test_a_huge_epsilon_gives_the_truth():
    choice = ModeChoice(tuple(range(1000)), Fraction(10_000))
    assert choice.release(500, Seeded(7)) == 500
