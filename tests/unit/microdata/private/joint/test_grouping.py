"""Few groups of places, from a noisy distribution alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenue.microdata.private.column import Margin
from tenue.microdata.private.domain import Axis
from tenue.microdata.private.joint.grouping import Groups, forced, located, numbered
from tenue.noise.source import Seeded
from tenue.schema import Schema


def axis(**declared: object) -> Axis:
    table = {"name": "t", "unit": "record", "neighbours": "replace"}
    schema = Schema.from_dict({"table": table, "columns": {"x": declared}})
    return Axis.of(schema.columns["x"])


def line(size: int, **more: object) -> Axis:
    return axis(type="number", bounds=[0, size - 1], **more)


def flat(size: int) -> Axis:
    return axis(type="category", categories=[f"c{i}" for i in range(size)])


def grouped(axis: Axis, margin: Margin, most: int) -> Groups:
    return Groups.of(margin, ordered=axis.ordered, blank=axis.blank, most=most)


def margin(weights: list[float]) -> Margin:
    held = np.array(weights, np.float64)
    return Margin(np.arange(len(weights) + 1), held / held.sum())


@given(st.lists(st.floats(0, 9), min_size=2, max_size=40), st.integers(2, 16), st.booleans())
def test_every_place_is_in_one_group_of_few(weights: list[float], most: int, ordered: bool) -> None:
    weights = [weight + 1e-6 for weight in weights]
    places = np.arange(len(weights))
    groups = grouped((line if ordered else flat)(len(weights)), margin(weights), most)
    codes = groups.number(places)
    assert 1 <= groups.many <= most
    assert set(codes) == set(range(groups.many))
    if ordered:
        assert (np.diff(codes) >= 0).all()
    assert groups.weights == pytest.approx(
        np.bincount(codes, weights=np.array(weights) / sum(weights))
    )


def test_a_heavy_place_stands_alone() -> None:
    weights = [1.0] * 30
    weights[7] = 300.0
    groups = grouped(line(30), margin(weights), 8)
    codes = groups.number(np.arange(30))
    assert (codes == codes[7]).sum() == 1
    assert groups.many == 8


def test_the_heaviest_categories_stand_alone() -> None:
    groups = grouped(flat(5), margin([1, 9, 2, 8, 1]), 3)
    codes = groups.number(np.arange(5))
    assert codes[1] != codes[3]
    assert codes[0] == codes[2] == codes[4]


def test_a_blank_stands_alone() -> None:
    groups = grouped(line(6, missing=["NA"]), margin([1.0] * 7), 3)
    codes = groups.number(np.arange(7))
    assert (codes == codes[6]).sum() == 1


@pytest.mark.parametrize("ordered", [True, False])
def test_places_of_a_group_follow_the_margin(ordered: bool) -> None:
    weights = [1.0, 3.0, 5.0, 1.0, 6.0, 4.0]
    groups = grouped((line if ordered else flat)(6), margin(weights), 3)
    codes = np.repeat(np.arange(groups.many), 6000)
    drawn = groups.drawn(codes, Seeded(3))
    assert (groups.number(drawn) == codes).all()
    for code in range(groups.many):
        inside = np.flatnonzero(groups.number(np.arange(6)) == code)
        shares = np.array(weights)[inside] / np.array(weights)[inside].sum()
        found = np.bincount(drawn[codes == code], minlength=6)[inside] / 6000
        assert found == pytest.approx(shares, abs=0.01)


def test_wide_pieces_are_spread_evenly() -> None:
    wide = Margin(np.array([0, 100, 1000]), np.array([0.5, 0.5]))
    groups = grouped(line(1000), wide, 2)
    drawn = groups.drawn(np.array([0] * 5000 + [1] * 5000), Seeded(3))
    assert drawn[:5000].max() <= 99
    assert drawn[5000:].min() >= 100
    assert drawn[5000:].mean() == pytest.approx(549.5, rel=0.02)


def test_a_group_without_weight_still_gives_places() -> None:
    groups = grouped(flat(3), margin([1.0, 1e-300, 1e-300]), 3)
    assert set(groups.drawn(np.array([1, 2]), Seeded(1))) == {1, 2}


def test_places_take_the_order_of_ranks_and_the_margin() -> None:
    margin = Margin(np.array([0, 1, 2, 3]), np.array([0.5, 0.3, 0.2]))
    ranks = np.arange(1000)[::-1] // 2
    made = forced(ranks, margin, Seeded(1))
    assert np.bincount(made).tolist() == [500, 300, 200]
    assert (np.diff(made) <= 0).all()


@pytest.mark.parametrize("drawn", [forced, None])
def test_rows_of_one_group_go_where_they_lean(drawn: Any) -> None:
    """Half of each group leans up, half down; a group's places follow the margin all the same."""
    held = Margin(np.arange(0, 41, 10), np.array([0.2, 0.3, 0.4, 0.1]))
    groups = Groups(held, np.array([0, 0, 1, 1]))
    numbers = np.repeat([0, 1], 5000)
    lean = np.tile([1.0, -1.0], 5000)
    if drawn is None:
        made = groups.drawn(numbers, Seeded(1), lean)
    else:
        made = forced(numbers, held, Seeded(1), lean)
    assert (groups.number(made) == numbers).all()
    assert np.bincount(made // 10) == pytest.approx([2000, 3000, 4000, 1000], abs=1)
    for number in (0, 1):
        up, down = (made[(numbers == number) & (lean == way)].mean() for way in (1, -1))
        # a third of a group that is evenly filled
        assert 3 < up - down < 8


def test_groups_of_near_values_cut_a_long_tail_too() -> None:
    """Nine in ten rows have one of ten values, and the others lie far apart; groups of equal weight
    alone leave the whole tail in one."""
    weights = [9.0] * 10 + [0.1] * 100
    plain = Groups.of(margin(weights), ordered=True, blank=False, most=8)
    near = Groups.of(margin(weights), ordered=True, blank=False, most=8, near=True)
    tail = np.arange(10, 110)
    assert len(set(plain.number(tail))) == 1
    assert len(set(near.number(tail))) >= 3
    assert len(set(near.number(np.arange(10)))) >= 3


def test_rows_are_numbered_and_located_column_by_column() -> None:
    halves = Groups(margin([1, 1, 1, 1]), np.array([0, 0, 1, 1]))
    odd = Groups(margin([1, 1, 1, 1]), np.array([0, 1, 0, 1]))
    places = np.array([[0, 0], [1, 3], [2, 2], [3, 1]])
    numbers = numbered([halves, odd])(places)
    assert numbers.tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
    many = np.repeat(numbers, 100, axis=0)
    leans = {0: np.linspace(-1, 1, len(many))}
    made = located([many[:, 0], many[:, 1]], [halves, odd], leans, Seeded(1))
    assert (numbered([halves, odd])(made) == many).all()
    for column in made.T:
        assert np.bincount(column).tolist() == pytest.approx([100] * 4, abs=1)
