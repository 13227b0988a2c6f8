"""Blocks hold every point once, and leave out none that is near."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenue.evaluate import block
from tenue.evaluate.block import Blocks, blocked

POINTS = st.integers(1, 3).flatmap(
    lambda width: st.lists(
        st.lists(st.integers(0, 6), min_size=width, max_size=width), min_size=1, max_size=40
    )
)


def small(points: Any) -> Blocks:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(block, "_ROOM", 2)
        return blocked(points)


@given(POINTS)
def test_every_point_is_in_one_block_within_its_corners(rows: list[list[int]]) -> None:
    points = np.array(rows, np.float64)
    found = small(points)
    assert sorted(found.order.tolist()) == list(range(len(rows)))
    for number in range(found.starts.size - 1):
        members = points[found.members(number)]
        assert 0 < len(members) <= max(2, len(rows))
        assert (members >= found.low[number]).all()
        assert (members <= found.high[number]).all()
    assert found.starts.size - 1 == 1 or np.diff(found.starts).max() <= 2
    home = found.home(points)
    assert ((home >= 0) & (home < found.starts.size - 1)).all()


@given(POINTS, st.data())
def test_no_near_point_is_left_out(rows: list[list[int]], data: Any) -> None:
    points = np.array(rows, np.float64)
    width = points.shape[1]
    query = np.array(data.draw(st.lists(st.integers(-2, 8), min_size=width, max_size=width)))
    squared = data.draw(st.integers(0, 50))
    near = small(points).near(query, query, squared).tolist()
    assert len(near) == len(set(near))
    distances = ((points - query) ** 2).sum(axis=1)
    assert set(np.flatnonzero(distances <= squared).tolist()) <= set(near)


def test_far_blocks_are_left_out() -> None:
    points = np.arange(1000, dtype=np.float64)[:, None]
    found = blocked(points).near(np.array([500.0]), np.array([501.0]), 4)
    assert set(range(498, 504)) <= set(found.tolist())
    assert found.size < 200


def test_without_coordinates_there_is_one_block() -> None:
    found = blocked(np.empty((500, 0)))
    assert found.members(0).size == 500
    assert found.home(np.empty((3, 0))).tolist() == [0, 0, 0]
    assert found.near(np.empty(0), np.empty(0), 0.0).size == 500
