"""`tn.mechanism.exponential`: the exact law of the choice, and what it may not tell."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest

import tenue as tn
from tenue.errors import InvalidArgument
from tenue.mechanism import exponential_mechanism as module
from tenue.mechanism.exponential_mechanism import Exponential

WORD = 1 << 64
EPSILON = Fraction(1)


def chances(scores: list[Fraction], sensitivity: Fraction) -> list[float]:
    """The probability of each candidate, from the thresholds of the table that is drawn from."""
    steps = module._scored(scores, sensitivity / module._PARTS)
    law = Exponential(len(scores), EPSILON, module._PARTS)
    classes = law.classes(steps)
    counted = [(gap, len(members)) for gap, members in classes.items()]
    ends = [0, *map(int, law.table(counted).thresholds), WORD] if len(classes) > 1 else [0, WORD]
    found = [0.0] * len(scores)
    for (low, high), members in zip(itertools.pairwise(ends), classes.values(), strict=True):
        for index in members:
            found[index] = (high - low) / WORD / len(members)
    return found


def worst(before: list[Fraction], step: Fraction, stated: Fraction) -> float:
    """The largest loss over all tables of scores that one unit can turn `before` into."""
    losses = [0.0]
    for moved in itertools.product((-step, Fraction(0), step), repeat=len(before)):
        after = [score + move for score, move in zip(before, moved, strict=True)]
        pair = zip(chances(before, stated), chances(after, stated), strict=True)
        losses += [abs(math.log(one / other)) for one, other in pair]
    return max(losses)


def test_the_chance_of_a_candidate_follows_from_its_score() -> None:
    scores = [Fraction(3), Fraction(1), Fraction(0), Fraction(3)]
    weights = [math.exp(float(score) / 4) for score in scores]
    expected = [weight / sum(weights) for weight in weights]
    assert chances(scores, Fraction(2)) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("step", [Fraction(1), Fraction("0.7"), Fraction(1, 3)])
def test_the_loss_is_at_most_epsilon(step: Fraction) -> None:
    """Rounded scores move by no more than the sensitivity. Mutant: half of it."""
    before = [Fraction(1), Fraction(11, 7), Fraction(2, 3), Fraction(-9)]
    assert 0.5 < worst(before, step, step) <= 1 + 1e-9
    assert worst(before, step, step / 2) > 1


def test_names_and_positions_are_chosen() -> None:
    exponential, given = tn.mechanism.exponential, {"sensitivity": 1, "epsilon": 1}
    assert exponential({"a": 0, "b": 500}, **given) == "b"
    assert exponential([0, 500, 0], **given) == 1
    assert exponential({"only": 3}, **given) == "only"
    drawn = {exponential([0, 1], **given) for _ in range(200)}
    assert drawn == {0, 1}


def test_a_refusal_names_no_score() -> None:
    for scores in ({"a": math.nan, "b": 37123}, [math.inf], {"a": "37123x"}):
        with pytest.raises(InvalidArgument, match="Some score") as refused:
            tn.mechanism.exponential(scores, sensitivity=1, epsilon=1)  # type: ignore[type-var]
        assert "37123" not in str(refused.value)
        assert refused.value.__context__ is None
    with pytest.raises(InvalidArgument, match="candidate"):
        tn.mechanism.exponential([], sensitivity=1, epsilon=1)
