"""Individual differential privacy on whole steps."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tenue.errors import InvalidArgument, InvalidTable, NotPromised
from tenue.mechanism import individual_steps
from tenue.noise import Seeded

HUGE = 10_000
"""An epsilon that leaves no noise where a record moves the answer by at most 200 steps."""

ROWS = [1, 2, 2, 5, 9]
PAIRS = [(0, 1), (1, 2), (2, 2), (3, 5)]


@pytest.mark.parametrize(
    ("statistic", "given", "wanted"),
    [
        ("median", {}, 2),
        ("quantile", {"q": 0.9}, 9),
        ("max", {}, 9),
        ("min", {}, 1),
        ("second-max", {}, 5),
        ("kth-largest", {"k": 3}, 2),
        ("kth-smallest", {"k": 4}, 5),
        ("sum", {}, 19),
        ("mean", {}, 4),
        ("mean", {"grid": "1/10"}, Fraction(19, 5)),
        ("mean", {"grid": "1/10", "noise": "laplace"}, Fraction(19, 5)),
        ("variance", {"grid": "1/10"}, Fraction(43, 5)),
        ("range-count", {"between": (2, 5)}, 3),
        ("range-count", {"between": (2, 5), "truncated": True}, 3),
        ("mode", {}, 2),
        ("mode", {"truncated": True}, 2),
    ],
)
def test_values(statistic, given, wanted):
    found = individual_steps(statistic, ROWS, 0, 10, HUGE, **given)
    assert found == wanted
    assert isinstance(found, Fraction)
    assert individual_steps(statistic, np.array(ROWS[::-1]), 0, 10, HUGE, **given) == wanted


def test_pairs():
    ends = (0, 0), (3, 6)
    slope = individual_steps("slope", PAIRS, *ends, HUGE, grid="1/100", ridge=1)
    assert slope == 1  # 6 / (5 + 1)
    found = individual_steps("correlation", np.array(PAIRS), *ends, HUGE, grid="1/100")
    assert float(found) == pytest.approx(np.corrcoef(np.array(PAIRS).T)[0, 1], abs=0.0051)


def test_values_beyond_the_bounds_are_clamped():
    assert individual_steps("max", [3, 99], 0, 10, HUGE) == 10
    assert individual_steps("sum", [-5, 3], 0, 10, HUGE) == 3
    assert individual_steps("mode", [7, 9, 1], 0, 3, HUGE) == 3


def test_answers_stay_in_the_public_range():
    answers = {int(individual_steps("max", [0, 10], 0, 10, "1/1000")) for _ in range(60)}
    assert answers <= set(range(11))
    assert len(answers) > 1


@pytest.mark.parametrize(
    ("refusal", "arguments", "given"),
    [
        (InvalidTable, ("median", [0.5, 1], 0, 10, 1), {}),
        (InvalidTable, ("median", [1, None], 0, 10, 1), {}),
        (InvalidTable, ("median", [], 0, 10, 1), {}),
        (InvalidTable, ("median", [1], 0, 10.5, 1), {}),
        (InvalidArgument, ("medain", ROWS, 0, 10, 1), {}),
        (InvalidArgument, ("median", ROWS, 0, 10, 0), {}),
        (InvalidArgument, ("median", ROWS, 0, 10, 1), {"noise": "gauss"}),
        (InvalidArgument, ("median", ROWS, 0, 10, 1), {"truncated": True}),
        (InvalidArgument, ("median", ROWS, 0, 10, 1), {"k": 1}),
        (InvalidArgument, ("range-count", ROWS, 0, 10, 1), {}),
        (InvalidArgument, ("kth-largest", ROWS, 0, 10, 1), {"k": 6}),
        (InvalidArgument, ("correlation", PAIRS, (0, 0), (3, 6), 1), {}),
        (InvalidArgument, ("correlation", PAIRS, 0, 6, 1), {"grid": 0.1}),
        (InvalidArgument, ("mode", ROWS, 0, 2**16, 1), {}),
        (NotPromised, ("slope", PAIRS, (0, 0), (3, 6), 1), {}),
        (InvalidArgument, ("slope", PAIRS, (0, 0), (3, 6), 1), {"ridge": 0}),
        (NotPromised, ("median", ROWS, 0, 10, 1, Seeded(7)), {}),
    ],
)
def test_refusals(refusal, arguments, given):
    with pytest.raises(refusal):
        individual_steps(*arguments, **given)


def test_the_slope_of_rows_on_a_vertical_line_is_answered():
    """Without the ridge such rows would be refused, and the refusal would tell."""
    assert individual_steps("slope", [(1, 0), (1, 6)], (0, 0), (3, 6), HUGE, ridge=1) == 0
