"""Balls of lattice points: membership, counts, and draws that reach every point equally."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from tenue.noise import Seeded
from tenue.noise.box.ball import Box
from tenue.noise.box.same_sign_ball import SameSign

Array = np.ndarray[Any, Any]


def lattice(reach: int, dimension: int) -> list[tuple[int, ...]]:
    return list(itertools.product(range(-reach, reach + 1), repeat=dimension))


@pytest.mark.parametrize(("s", "core"), [((1, 1), (0, 0)), ((2, 3), (1, 4)), ((4,), (0,))])
def test_box_levels_are_those_of_the_largest_ratio(s: Any, core: Any) -> None:
    ball = Box(s, core)
    for x in lattice(9, len(s)):
        beyond = max(-(-(abs(v) - c) // w) for v, w, c in zip(x, s, core, strict=True))
        assert ball.level(np.array(x)) == max(0, beyond)


@pytest.mark.parametrize(
    "ball",
    [
        Box((1, 2), (1, 0)),
        Box((3,), (2,)),
        SameSign((1, 1), 1, 1),
        SameSign((2, 3), 0, 6),
        SameSign((2, 3), 1, 2),
        SameSign((3, 5), 2, 4),
        SameSign((1, 2, 2), 0, 2),
        SameSign((4,), 1, 4),
    ],
    ids=lambda b: f"{type(b).__name__}{b.sensitivities}",
)
def test_draws_stay_inside_and_reach_every_point(ball: Any) -> None:
    dimension = len(ball.sensitivities)
    i = 1
    reach = 3 * max(ball.sensitivities) + 3
    points = {x for x in lattice(reach, dimension) if int(ball.level(np.array(x))) <= i}
    assert len(points) == ball.count(i)
    drawn = ball.draw(np.full(60 * len(points), i), Seeded(1))
    assert {tuple(row) for row in drawn.tolist()} == points  # one is missed with chance e^-60
