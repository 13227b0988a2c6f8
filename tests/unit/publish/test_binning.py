"""Few groups of a column's places, and grids of them."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenue.engine.passes.in_memory import InMemory
from tenue.noise.discrete_laplace import DiscreteLaplace
from tenue.noise.source import Seeded
from tenue.publish.synthetic import grid
from tenue.publish.synthetic.binning import Binning, forced, leanings, located, numbered, within
from tenue.publish.synthetic.domain import Axis
from tenue.publish.synthetic.grid import (
    Grid,
    Gridded,
    dependent,
    independent,
    private_grid,
    refined,
)
from tenue.publish.synthetic.independent_columns import Margin, Measured
from tenue.schema import Schema


def test_what_may_be_noise_changes_nothing() -> None:
    expected = np.multiply.outer(np.outer([60, 140], [0.1, 0.2, 0.7]), [0.5, 0.5])
    near = np.rint(expected) + np.array([[[0, 1]], [[1, 0]]])
    found = dependent(near, expected, 4.0, [True] * 3)
    assert found == pytest.approx(expected)


def test_margins_are_kept_and_what_is_surely_not_noise() -> None:
    expected = np.outer([0.5, 0.5], [0.25, 0.75]) * 4000
    seen = np.array([[900, 1100], [100, 1900]])
    found = dependent(seen, expected, 2.0, [False, False])
    assert found.sum(axis=0) == pytest.approx([1000, 3000])
    assert found.sum(axis=1) == pytest.approx([2000, 2000])
    assert found == pytest.approx(seen, abs=3)


def test_what_is_small_in_each_cell_but_the_same_in_many_is_seen() -> None:
    """From near every departure is taken for noise; the mutant looks from near only."""
    size = 16
    expected = np.full((size, size), 100.0)
    side = np.where(np.arange(size) < size // 2, 1, -1)
    seen = expected + 4 * np.outer(side, side)
    far = dependent(seen, expected, 10.0, [True, True])
    near = dependent(seen, expected, 10.0, [False, False])
    assert near == pytest.approx(expected)
    # from far away, 64 cells are off by 256 together, with noise of a scale of 80
    kept = 4 * (1 - (80 / 256) ** 2)
    assert far[0, 0] - 100 == pytest.approx(kept)
    assert far[0, -1] - 100 == pytest.approx(-kept)


def test_noise_of_empty_cells_adds_no_rows_to_their_region(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All rows lie on the diagonal. The mutant cuts off what is below 0 and shares nothing out:
    it keeps what noise there is above 0, and rows move away from the diagonal."""
    size, rows, scale = 64, 20_000, 2.0
    expected = np.full((size, size), rows / size**2)
    noise = np.random.default_rng(3).laplace(0, scale, expected.shape)
    middle = np.arange(size) - (size - 1) / 2

    def correlation() -> float:
        seen = np.diag(np.full(size, rows / size)) + noise
        found = dependent(seen, expected, scale, [True, True])
        return float(middle @ found @ middle / (found.sum(axis=1) @ middle**2))

    assert correlation() > 0.99
    monkeypatch.setattr(grid, "_shared", lambda values, *_: np.maximum(values, 0.0))
    assert correlation() < 0.9


@pytest.mark.parametrize("sizes", [(1, 3), (2, 5), (3, 3, 7), (1, 1)])
def test_any_number_of_groups_will_do(sizes: tuple[int, ...]) -> None:
    rng = np.random.default_rng(1)
    expected = np.ones(sizes) * 50
    found = dependent(expected + rng.normal(0, 9, sizes), expected, 3.0, [True] * len(sizes))
    assert found.sum() == pytest.approx(expected.sum())
    assert (found >= 0).all()


def test_a_total_that_rounding_swallows_is_no_fault() -> None:
    expected = np.outer([1e-12, 1.0], [1e-12, 1.0]) * 100
    found = dependent(np.array([[50.0, -30.0], [20.0, 60.0]]), expected, 0.1, [True, True])
    assert np.isfinite(found).all()
    assert found.sum() == pytest.approx(100)


# -- Few groups of places, from a noisy distribution alone -----------------------------------------


def axis(**declared: object) -> Axis:
    table = {"name": "t", "unit": "record", "neighbours": "replace"}
    schema = Schema.from_dict({"table": table, "columns": {"x": declared}})
    return Axis.of(schema.columns["x"])


def line(size: int, **more: object) -> Axis:
    return axis(type="number", bounds=[0, size - 1], **({"missing": 0} | more))


def flat(size: int) -> Axis:
    return axis(type="category", categories=[f"c{i}" for i in range(size)], missing="c0")


def grouped(axis: Axis, margin: Margin, most: int) -> Binning:
    return Binning.of(margin, ordered=axis.ordered, blank=axis.blank, most=most)


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
    groups = Binning(held, np.array([0, 0, 1, 1]))
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
    plain = Binning.of(margin(weights), ordered=True, blank=False, most=8)
    near = Binning.of(margin(weights), ordered=True, blank=False, most=8, near=True)
    tail = np.arange(10, 110)
    assert len(set(plain.number(tail))) == 1
    assert len(set(near.number(tail))) >= 3
    assert len(set(near.number(np.arange(10)))) >= 3


def test_rows_are_numbered_and_located_column_by_column() -> None:
    halves = Binning(margin([1, 1, 1, 1]), np.array([0, 0, 1, 1]))
    odd = Binning(margin([1, 1, 1, 1]), np.array([0, 1, 0, 1]))
    places = np.array([[0, 0], [1, 3], [2, 2], [3, 1]])
    numbers = np.stack(numbered([halves, odd], places), axis=1)
    assert numbers.tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
    many = np.repeat(numbers, 100, axis=0)
    leans = {0: np.linspace(-1, 1, len(many))}
    made = located([many[:, 0], many[:, 1]], [halves, odd], leans, Seeded(1))
    assert (np.stack(numbered([halves, odd], made), axis=1) == many).all()
    for column in made.T:
        assert np.bincount(column).tolist() == pytest.approx([100] * 4, abs=1)


# -- Where rows lie inside groups, by a released table alone ---------------------------------------


def by_hand(table: list[list[int]]) -> list[list[Fraction]]:
    """The leanings along the first axis, in fractions, cell by cell."""
    rows, total = len(table), sum(map(sum, table))
    down = [Fraction(sum(row), total) for row in table]
    across = [Fraction(sum(column), total) for column in zip(*table, strict=True)]
    found = []
    for i in range(rows):
        found.append([])
        for j, share in enumerate(across):
            over = [Fraction(table[k][j], total) / (down[k] * share) for k in range(rows)]
            low = (over[i] + over[i - 1]) / 2 if i else None
            high = (over[i] + over[i + 1]) / 2 if i + 1 < rows else None
            low = max(2 * over[i] - high, Fraction(0)) if low is None else low
            high = max(2 * over[i] - low, Fraction(0)) if high is None else high
            found[-1].append((high - low) / (high + low) if high + low else Fraction(0))
    return found


@pytest.mark.parametrize(
    "table",
    [
        [[4, 1], [1, 4]],
        [[9, 2, 1], [3, 5, 2], [1, 2, 7], [0, 0, 5]],
        [[1, 0], [0, 1], [1, 1]],
    ],
)
def test_rows_lean_as_the_lines_between_cells_do(table: list[list[int]]) -> None:
    expected = np.array(by_hand(table), np.float64)
    held = np.array(table, np.float64)
    assert leanings(held, 0, blank=False) == pytest.approx(expected)
    assert leanings(held.T, 1, blank=False) == pytest.approx(expected.T)


def test_without_dependence_nothing_leans() -> None:
    table = np.multiply.outer(np.outer([1.0, 5], [2.0, 3, 1]), [1.0, 7])
    for axis in range(3):
        assert leanings(table, axis, blank=False) == pytest.approx(np.zeros(table.shape))


def test_a_leaning_is_within_its_bounds() -> None:
    tables = np.random.default_rng(1).exponential(1, (50, 5, 4, 3)) ** 4
    for table, axis in itertools.product(tables, range(3)):
        assert (np.abs(leanings(table, axis, blank=False)) <= 1).all()


def test_blanks_are_no_neighbours() -> None:
    """Whatever the blanks do, other groups lean as they would without them, up to their share."""
    table = np.array([[6.0, 2, 0], [2, 6, 9]])
    found = leanings(table, 1, blank=True)
    assert (found[:, 2] == 0).all()
    assert found[0, 0] < 0 < found[1, 0]
    over = table / table.sum(axis=1, keepdims=True) / table.sum(axis=0)
    low, high = over[1, :2]
    middle = (low + high) / 2
    assert found[1, 1] == pytest.approx((2 * high - middle - middle) / (2 * high))
    alone = leanings(np.array([[3.0, 5], [2, 1]]), 1, blank=True)
    assert (alone == 0).all()


@pytest.mark.parametrize("lean", [-1.0, -0.3, 0.0, 1e-9, 0.5, 1.0])
def test_rows_are_spread_by_a_straight_density(lean: float) -> None:
    found = np.sort(within(np.full(20_000, lean), Seeded(5)))
    assert 0 <= found[0] <= found[-1] < 1
    law = found + lean * (found**2 - found)
    assert np.abs(law - (np.arange(20_000) + 0.5) / 20_000).max() < 0.015


def test_leaning_keeps_dependence_inside_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two columns in four groups each. The mutant takes every cell for evenly filled."""
    rng = np.random.default_rng(2)
    one = rng.uniform(size=200_000)
    both = np.stack([one, (one + rng.uniform(0, 0.5, one.size)) / 1.5], axis=1)
    places = (np.argsort(np.argsort(both, axis=0), axis=0) * 400) // one.size
    table, *_ = np.histogram2d(places[:, 0], places[:, 1], bins=4)
    groups = [
        Binning(
            Margin(np.arange(401), np.full(400, 1 / 400)), np.repeat(range(4), 100), ordered=True
        )
    ] * 2

    def off() -> float:
        made = Gridded(table, [0, 1], groups).block(range(200_000), Seeded(3))
        for j in range(2):
            assert np.ptp(np.bincount(made[:, j])) <= 2
        again, *_ = np.histogram2d(made[:, 0], made[:, 1], bins=4)
        assert np.abs(again - table).max() <= 2
        return abs(np.corrcoef(made.T)[0, 1] - np.corrcoef(places.T)[0, 1])

    right = off()
    monkeypatch.setattr(grid, "leanings", lambda table, *_, **__: np.zeros(table.shape))
    assert right < 0.6 * off()


# -- Counts of all combinations of groups: their price, and what they make better ------------------


def measured(*counts: float, variance: float = 1.0) -> Measured:
    cells = np.array(counts, np.float64)
    block = np.zeros(cells.size, np.int64)
    return Measured(np.arange(cells.size + 1), cells, variance, block, int(cells.sum()))


def every(column: Measured) -> Binning:
    return Binning(column.margin, np.arange(column.counts.size))


COLUMNS = [measured(30, 70), measured(10, 20, 70), measured(50, 50)]
GROUPS = [every(column) for column in COLUMNS]


def test_every_record_is_counted_once_and_every_cell_has_noise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[Any] = []

    def seen(counts: Any, epsilon: Any, source: Any) -> Any:
        asked.append((counts.tolist(), epsilon))
        return counts + 1

    monkeypatch.setattr(grid, "noisy", seen)
    places = np.array([[0, 2, 0], [1, 0, 1], [1, 0, 0], [1, 0, 1]])
    found = private_grid(InMemory(places), [0, 1], GROUPS, Fraction(1, 2), Seeded(1))
    assert asked == [([[0, 0, 1], [3, 0, 0]], Fraction(1, 2))]
    assert found.counts.tolist() == [[1, 1, 2], [4, 1, 1]]
    law = DiscreteLaplace(sensitivity=2, epsilon=Fraction(1, 2))
    assert found.variance == pytest.approx(law.variance)


def test_one_record_moves_a_grid_by_two(monkeypatch: pytest.MonkeyPatch) -> None:
    """All tables of two rows against each other, over all three columns."""
    monkeypatch.setattr(grid, "noisy", lambda counts, epsilon, source: counts)
    records = list(itertools.product(range(2), range(3), range(2)))
    worst = 0
    for kept, one, other in itertools.product(records, repeat=3):
        counts = [
            private_grid(
                InMemory(np.array([kept, last])), [0, 1, 2], GROUPS, Fraction(1), Seeded(1)
            )
            for last in (one, other)
        ]
        worst = max(worst, int(np.abs(counts[0].counts - counts[1].counts).sum()))
    assert worst == 2


def test_what_a_grid_tells_of_each_column() -> None:
    held = Grid((2, 0), np.array([[1, 2], [3, 4], [5, 6]]), 3.0)
    for column, totals, variance in ((2, [3, 7, 11], 6.0), (0, [9, 12], 9.0)):
        told = held.about(column)
        assert told[0].tolist() == totals
        assert told[1] == variance


def test_margins_weigh_all_grids_by_their_variances() -> None:
    # the first column is counted by itself as 30 : 70, and by two grids as 40 : 60 and 50 : 50
    grids = [
        Grid((0, 2), np.array([[20, 20], [30, 30]]), 1.0),
        Grid((0, 1), np.array([[10, 20, 20], [10, 20, 20]]), 2.0),
    ]
    found = refined(COLUMNS, GROUPS, grids)
    sure = np.array([1, 1 / 2, 1 / 6])
    wanted = sure @ np.array([30, 40, 50]) / sure.sum()
    assert found[0].weights[0] * 100 == pytest.approx(wanted)
    alone = refined(COLUMNS, GROUPS, grids[:1])
    assert alone[1] is GROUPS[1]


def test_without_dependence_a_grid_is_the_product() -> None:
    expected = independent(GROUPS, 200)
    assert expected.sum() == pytest.approx(200)
    assert expected[1, 2, 0] == pytest.approx(200 * 0.7 * 0.7 * 0.5)


def test_rows_follow_the_grid_and_the_margins() -> None:
    margins = [
        Margin(np.array([0, 2, 4]), np.array([0.25, 0.75])),
        Margin(np.array([0, 1, 2]), np.array([0.4, 0.6])),
        Margin(np.array([0, 1, 2]), np.array([0.5, 0.5])),
    ]
    table = np.array([[0.0, 25], [50, 25]])
    groups = [Binning(margin, np.arange(2), ordered=True) for margin in margins]
    made = Gridded(table, [0, 2], groups).block(range(4000), Seeded(3))
    assert (made[:, 0] < 2).sum() == 1000
    assert (made[:, 1] == 0).sum() == 1600
    assert (made[:, 2] == 0).sum() == 2000
    assert ((made[:, 0] < 2) & (made[:, 2] == 0)).sum() <= 1
    both = ((made[:, 1] == 0) & (made[:, 2] == 0)).mean()
    assert both == pytest.approx(0.2, abs=5 * math.sqrt(0.2 * 0.8 / 4000))
    assert not (np.diff(made[:, 0]) >= 0).all()
