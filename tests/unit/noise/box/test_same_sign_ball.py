"""Balls of answers that move all up or all down: levels, draws, shares."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tenue.noise import Seeded
from tenue.noise.box.same_sign_ball import SameSign

Array = np.ndarray[Any, Any]


def norm(x: tuple[int, ...], s: tuple[int, ...]) -> Fraction:
    up = max(Fraction(max(v, 0), w) for v, w in zip(x, s, strict=True))
    down = max(Fraction(max(-v, 0), w) for v, w in zip(x, s, strict=True))
    return up + down


def lattice(reach: int, dimension: int) -> list[tuple[int, ...]]:
    return list(itertools.product(range(-reach, reach + 1), repeat=dimension))


@pytest.mark.parametrize("s", [(1, 1), (2, 3), (2, 4), (1, 2, 3), (5,)])
def test_same_sign_levels_are_those_of_the_norm_where_ticks_divide(s: Any) -> None:
    ticks = math.lcm(*s)
    for core in (0, 1, ticks - 1, ticks):
        ball = SameSign(s, core, ticks)
        for x in lattice(6 if len(s) < 3 else 4, len(s)):
            beyond = math.ceil(norm(x, s) - Fraction(core, ticks))
            assert ball.level(np.array(x)) == max(0, beyond)


@pytest.mark.parametrize("ticks", [1, 2, 3, 7])
def test_uneven_ticks_stay_within_two_ticks_of_the_norm(ticks: int) -> None:
    s = (3, 5)
    ball = SameSign(s, 0, ticks)
    for x in lattice(9, 2):
        level = int(ball.level(np.array(x)))
        assert norm(x, s) <= level
        assert level <= math.ceil(norm(x, s) + Fraction(2, ticks))


def test_ticks_are_exact_where_they_are_few() -> None:
    assert SameSign.ticks_for([2, 3, 4], Fraction(1)) == 12
    assert SameSign.ticks_for([10**9] * 3, Fraction(1)) == 10**9
    many = SameSign.ticks_for([97, 89, 83], Fraction(1, 100))
    assert 4 <= many <= 256


@pytest.mark.parametrize(
    ("s", "ticks", "proposer"),
    [
        ((2, 3), 6, "_propose"),
        ((2, 2), 2, "_propose"),
        ((2, 2), 2, "_propose_range"),
        ((1, 1, 1), 1, "_propose_range"),
    ],
)
def test_every_proposal_of_the_same_sign_ball_leads_to_a_different_point(
    s: tuple[int, ...], ticks: int, proposer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All choices of whole numbers once each: kept ones are the points of the ball, once each."""
    core = ticks // 2
    ball = SameSign(s, core, ticks)
    radius = core + ticks
    widest = [radius * w // ticks for w in s]
    found: list[tuple[int, ...]] = []
    for choice in itertools.product(*[range(w + 1) for w in widest], range(len(s) + 1)):
        left = list(choice)

        def chosen(counts: Any, size: int, source: Any, left: list[int] = left) -> Array:
            taken = np.array([left.pop(0) for _ in range(size)])
            assert (taken < counts).all()
            return taken

        monkeypatch.setattr("tenue.noise.box.same_sign_ball.uniform", chosen)
        points, kept = getattr(ball, proposer)(np.array([[radius]]), np.array(s), Seeded(1))
        if kept[0]:
            found.append(tuple(points[0].tolist()))
    reach = 2 * max(s) + 1
    inside = {x for x in lattice(reach, len(s)) if int(ball.level(np.array(x))) <= 1}
    assert len(found) == len(set(found)) == len(inside)
    assert set(found) == inside


@pytest.mark.parametrize("s", [10**6, 10**9, 4 * 10**9, 10**12, 10**15])
def test_long_sensitivities_do_not_overflow_in_draws(s: int) -> None:
    ball = SameSign((s, s), 0, s)
    drawn = ball.draw(np.full(3000, 2), Seeded(2))
    span = np.maximum(drawn, 0).max(axis=1) + np.maximum(-drawn, 0).max(axis=1)
    assert (span <= 2 * s).all()
    assert (ball.level(drawn) <= 2).all()
    # a third of the ball each: both up, both down, mixed; the mean of |x| is 4/9 of the radius
    assert np.abs(drawn).mean() / (2 * s) == pytest.approx(4 / 9, rel=0.06)


@pytest.mark.parametrize("s", [10**3, 10**6, 10**9, 10**12, 10**15])
def test_shares_of_long_balls_keep_their_digits(s: int) -> None:
    """Continuous shares within t·radius: t on a line, (4t − t²)/3 in the plane."""
    i = np.array([1.0, 2.0, 30.0])
    line = SameSign((s,), 0, s)
    plane = SameSign((s, s), 0, s)
    for t in (0.1, 0.5, 0.9):
        for ball, expected in ((line, t), (plane, (2 * t + (2 * t - t * t)) / 3)):
            reach = int(t * 2 * s)
            share = ball.share_within(i[1:2], 0, reach)[0]
            assert share == pytest.approx(expected, rel=3 / s + 1e-9)


@pytest.mark.parametrize(
    ("s", "ticks", "core"), [((2, 3), 6, 3), ((1, 4, 6), 12, 0), ((5, 7), 9, 4)]
)
def test_margins_of_all_reaches_equal_those_of_one_reach_at_a_time(
    s: tuple[int, ...], ticks: int, core: int
) -> None:
    ball = SameSign(s, core, ticks)
    for i in (0, 1, 4):
        margins = ball.margins(i)
        for j, width in enumerate(s):
            for t, share in enumerate(margins[width].tolist()):
                one = float(ball.share_within(np.array([float(i)]), j, t * width // ticks)[0])
                assert share == pytest.approx(one, abs=1e-12)
