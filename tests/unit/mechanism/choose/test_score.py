"""The exponential mechanism over whole scores, by its exact law."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import product

import pytest

from tenue.mechanism.choose.score import HighScore
from tenue.noise.source import Seeded


def law(rule: HighScore, scores: tuple[int, ...]) -> list[float]:
    """The probability of each candidate, from the classes that are drawn."""
    weight = [0.0] * len(scores)
    for behind, places in rule.classes(scores).items():
        for place in places:
            weight[place] = math.exp(-float(rule.fall) * behind)
    total = sum(weight)
    return [one / total for one in weight]


def worst(rule: HighScore, moved: int) -> float:
    """The largest log-ratio over all scores of three candidates that move by at most `moved`."""
    found = 0.0
    for scores in product(range(0, 9, 2), repeat=3):
        for shift in product((-moved, 0, moved), repeat=3):
            before = law(rule, scores)
            after = law(rule, tuple(s + t for s, t in zip(scores, shift, strict=True)))
            ratios = (abs(math.log(a / b)) for a, b in zip(before, after, strict=True))
            found = max(found, *ratios)
    return found


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(5)])
def test_scores_that_move_by_the_sensitivity_cost_epsilon(epsilon: Fraction) -> None:
    rule = HighScore(epsilon, 2)
    assert worst(rule, 2) <= float(epsilon) + 1e-9
    assert worst(rule, 2) > 0.5 * float(epsilon)
    # the mutant: a score that moves by 4, as with true counts of the parents
    assert worst(rule, 4) > float(epsilon)


def test_the_cut_is_far_and_costs_nothing() -> None:
    rule = HighScore(Fraction(40), 1)
    assert worst(rule, 1) <= 40
    assert list(rule.classes([0, 100])) == [0, 2]


def test_draws_follow_the_law() -> None:
    rule, scores, source = HighScore(Fraction(2), 2), (0, 2, 3), Seeded(4)
    drawn = Counter(rule.choose(scores, source) for _ in range(6000))
    for place, chance in enumerate(law(rule, scores)):
        assert drawn[place] / 6000 == pytest.approx(chance, abs=0.03)


def test_one_candidate_is_chosen_without_a_draw_of_luck() -> None:
    assert HighScore(Fraction(1), 1).choose([7], Seeded(1)) == 0


def test_equal_scores_are_equally_likely() -> None:
    source = Seeded(9)
    drawn = Counter(HighScore(Fraction(1), 1).choose([5, 5, 5, 5], source) for _ in range(4000))
    assert min(drawn.values()) > 880
