"""Tables of pairs, and two stages."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import tenue as tn
from private_laws import (
    ROUNDING,
    Exposed,
    categories,
    domain,
    for_one_cell,
    numbers,
    without_noise_where_empty,
    worst_loss,
)
from tenue.engine.passes.in_memory import InMemory
from tenue.noise.source import Seeded
from tenue.publish.synthetic import grid, independent_columns, pair_tables, privtree, two_stage
from tenue.publish.synthetic.binning import Binning, by_group
from tenue.publish.synthetic.grid import Grid, Gridded, independent
from tenue.publish.synthetic.independent_columns import Columns, Margin, Measured, budgets
from tenue.publish.synthetic.pair_tables import (
    AllPairs,
    PairTables,
    agreeing,
    walked,
)
from tenue.publish.synthetic.privtree import Boxes
from tenue.publish.synthetic.two_stage import Coarse, TwoStage


def margin(*weights: float) -> Margin:
    return Margin(np.arange(len(weights) + 1), np.array(weights) / sum(weights))


def every(groups: Margin) -> Binning:
    return Binning.of(groups, ordered=True, blank=False, most=99)


def test_neighbours_share_a_group_and_heaps_have_their_own() -> None:
    found = Binning.of(margin(1, 1, 1, 1, 12, 1, 1, 1, 1), ordered=True, blank=False, most=4)
    assert found.label.tolist() == [0, 0, 0, 0, 1, 2, 2, 3, 3]
    assert found.weights == pytest.approx([0.2, 0.6, 0.1, 0.1])


def test_rare_categories_share_a_group() -> None:
    found = Binning.of(margin(1, 9, 2, 7, 1), ordered=False, blank=False, most=3)
    assert found.label.tolist() == [2, 0, 2, 1, 2]


def test_a_blank_is_a_group_of_its_own() -> None:
    for ordered in (True, False):
        found = Binning.of(margin(3, 3, 3, 3, 0.1), ordered=ordered, blank=True, most=2)
        assert found.many == 3
        assert (found.label == 2).tolist() == [False] * 4 + [True]


def test_places_of_a_group_follow_the_margin() -> None:
    wide = Margin(np.array([0, 10, 11, 20]), np.array([0.5, 0.2, 0.3]))
    groups = Binning(wide, np.array([0, 1, 0]))
    assert groups.number(np.array([0, 9, 10, 11, 19])).tolist() == [0, 0, 1, 0, 0]
    numbers = np.arange(1600) % 2
    made = groups.drawn(numbers, Seeded(1))
    assert (groups.number(made) == numbers).all()
    assert abs((made[numbers == 0] < 10).sum() - 500) <= 1
    assert len(set(made[numbers == 0])) == 19


def test_budgets_sum_to_epsilon() -> None:
    for each_columns in (2, 3, 7):
        pairs = PairTables(each_columns, 1000, Fraction(3, 10))
        assert (pairs.choosing + pairs.counting) * (each_columns - 1) == Fraction(3, 10)
    assert PairTables(2, 1000, Fraction(1)).choosing == 0


def test_pair_tables_few_rows_mean_few_groups() -> None:
    assert [PairTables(2, n, Fraction(1)).groups for n in (10, 1300, 10**7)] == [2, 8, 32]


def cross(one: np.ndarray, other: np.ndarray, many: int, others: int) -> np.ndarray:
    """How many rows each pair of groups has."""
    return np.bincount(one * others + other, minlength=many * others).reshape(many, others)


TABLES = list(itertools.product(itertools.product(range(2), range(3)), repeat=3))


def moves(score: object) -> int:
    """The most that one record moves a score over all tables of three rows."""
    known = {}
    for rows in TABLES:
        one, other = np.array(rows).T
        known[rows] = score(cross(one, other, 2, 3))  # type: ignore[operator]
    return max(
        abs(known[a] - known[b])
        for a, b in itertools.product(TABLES, repeat=2)
        if sum(x != y for x, y in zip(a, b, strict=True)) == 1
    )


def test_a_record_moves_the_score_by_two() -> None:
    pairs = PairTables(3, 3, Fraction(1))
    released = np.outer([0.4, 0.6], [0.2, 0.5, 0.3]) * 3
    assert moves(lambda counts: pairs.score(counts, released)) == 2


def test_true_margins_in_the_score_are_seen() -> None:
    pairs = PairTables(3, 3, Fraction(1))

    def from_rows(counts: np.ndarray) -> int:
        return pairs.score(counts, np.outer(counts.sum(axis=1), counts.sum(axis=0)) / 3)

    assert moves(from_rows) > 2


def test_pairs_are_chosen_with_the_weights_of_their_scores() -> None:
    pairs = PairTables(3, 100, Fraction(40))  # choices have epsilon 2, weights e^(score / 2)
    scores = {(0, 1): 3, (0, 2): 1, (1, 2): 0}
    source = Seeded(7)
    first = Counter(pairs.spanned(scores, [False] * 3, source)[0] for _ in range(4000))
    weights = {pair: math.exp(score / 2) for pair, score in scores.items()}
    for pair, weight in weights.items():
        assert first[pair] / 4000 == pytest.approx(weight / sum(weights.values()), abs=0.03)


def test_a_score_far_behind_is_no_fault() -> None:
    pairs = PairTables(3, 10**7, Fraction(10))
    scores = {(0, 1): 10**7, (0, 2): 0, (1, 2): -(10**7)}
    assert pairs.spanned(scores, [False] * 3, Seeded(1)) == [(0, 1), (0, 2)]


def test_numbers_are_joined_to_each_other_first() -> None:
    pairs = PairTables(4, 10**7, Fraction(10))
    scores = dict.fromkeys(itertools.combinations(range(4), 2), 10**7) | {(1, 3): 0}
    found = pairs.spanned(scores, [False, True, False, True], Seeded(1))
    assert found[0] == (1, 3)
    assert len(found) == 3


def test_chosen_pairs_span_all_columns() -> None:
    pairs = PairTables(6, 100, Fraction(1))
    scores = dict.fromkeys(itertools.combinations(range(6), 2), 0)
    for seed in range(20):
        found = pairs.spanned(scores, [False] * 6, Seeded(seed))
        reached = {0}
        for _ in range(6):
            reached |= {c for pair in found for c in pair if reached & set(pair)}
        assert len(found) == 5
        assert reached == set(range(6))


def test_rows_follow_the_tables() -> None:
    groups = [every(margin(1, 1)), every(margin(1, 3)), every(margin(1, 1, 2))]
    tables = {
        (1, 2): np.array([[0.0, 0, 200], [200, 200, 200]]),
        (0, 1): np.array([[200.0, 200], [0, 400]]),
    }
    made = walked(tables, groups, 800, Seeded(1))
    assert cross(made[0], made[1], 2, 2).tolist() == [[200, 200], [0, 400]]
    assert cross(made[1], made[2], 2, 3).tolist() == [[0, 0, 200], [200, 200, 200]]
    # given the middle column the others are independent: the row of 600 is mixed at random
    mixed = cross(made[0][made[1] == 1], made[2][made[1] == 1], 2, 3)
    assert mixed[0] == pytest.approx([67, 67, 67], abs=25)


def test_rows_of_a_group_come_in_random_order() -> None:
    numbers = np.array([1, 0, 1, 1, 2, 0])
    seen = set()
    for seed in range(60):
        order, held = by_group(numbers, 3, Seeded(seed))
        assert held.tolist() == [2, 3, 1]
        assert numbers[order].tolist() == [0, 0, 1, 1, 1, 2]
        seen.add(tuple(order.tolist()))
    assert len(seen) == 12


# -- Tables of every two columns, and one of all columns that agrees with them ---------------------


def groups(*weights: float) -> Binning:
    margin = Margin(np.arange(len(weights) + 1), np.array(weights) / sum(weights))
    return Binning(margin, np.arange(len(weights)))


def test_the_budget_is_shared_by_all_pairs() -> None:
    for each_columns, many in ((2, 1), (3, 3), (4, 6)):
        pairs = AllPairs(each_columns, 1000, Fraction(3, 10))
        assert pairs.many == many
        assert pairs.many * pairs.counting == Fraction(3, 10)
        assert pairs.choosing == 0


def test_few_rows_mean_few_groups() -> None:
    assert [AllPairs(3, n, Fraction(3)).groups for n in (10, 2400, 10**7)] == [2, 10, 32]


def test_every_pair_is_counted_once_and_every_cell_has_noise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[Any] = []

    def seen(counts: Any, epsilon: Any, source: Any) -> Any:
        asked.append((counts.tolist(), epsilon))
        return counts + 1

    monkeypatch.setattr(pair_tables, "noisy", seen)
    numbers = InMemory(np.array([[0, 2, 0], [1, 0, 1], [1, 0, 0]]))
    three = [groups(1, 1), groups(1, 1, 1), groups(1, 1)]
    found = AllPairs(3, 3, Fraction(3, 2)).grids(numbers, three, Seeded(1))
    half = Fraction(1, 2)
    assert asked == [
        ([[0, 0, 1], [2, 0, 0]], half),
        ([[1, 0], [1, 1]], half),
        ([[1, 1], [0, 0], [1, 0]], half),
    ]
    assert [grid.columns for grid in found] == [(0, 1), (0, 2), (1, 2)]
    assert found[1].counts.tolist() == [[2, 1], [2, 2]]


def test_the_table_of_all_columns_has_the_tables_of_two() -> None:
    rng = np.random.default_rng(2)
    true = rng.uniform(1, 9, (3, 4, 2, 3))
    pairs = {}
    for i, j in itertools.combinations(range(4), 2):
        pairs[i, j] = true.sum(axis=tuple(k for k in range(4) if k not in (i, j)))
    found = agreeing(np.full(true.shape, true.mean()), pairs)
    for (i, j), wanted in pairs.items():
        held = found.sum(axis=tuple(k for k in range(4) if k not in (i, j)))
        assert np.abs(held - wanted).sum() < 2e-4 * true.sum()


def test_tables_that_contradict_each_other_are_no_fault() -> None:
    same, other = np.diag([50.0, 50.0]), np.fliplr(np.diag([50.0, 50.0]))
    found = agreeing(np.full((2, 2, 2), 12.5), {(0, 1): same, (1, 2): same, (0, 2): other})
    assert np.isfinite(found).all()
    assert (found >= 0).all()


def test_a_cycle_of_dependence_is_kept() -> None:
    """Each two of three columns are alike in 2 rows of 3. The mutant counts a spanning tree only:
    it leaves the last two columns alike in 5 rows of 9."""
    rows = np.array([r for r in itertools.product(range(2), repeat=3) if 0 < sum(r) < 3] * 100)
    rows = np.concatenate([rows, np.repeat([[0, 0, 0], [1, 1, 1]], 300, axis=0)])
    domain, source = categories(2, 2, 2), Seeded(1)
    way = Columns.planned(domain, len(rows), Fraction(100))
    measured = way.columns(InMemory(rows), source)

    def alike(way: Any) -> list[float]:
        made = way.release(domain, InMemory(rows), measured, source).block(range(9000), source)
        return sorted((made[:, i] == made[:, j]).mean() for i, j in ((0, 1), (0, 2), (1, 2)))

    shares = len(rows), Fraction(100)
    true = sorted((rows[:, i] == rows[:, j]).mean() for i, j in ((0, 1), (0, 2), (1, 2)))
    assert alike(AllPairs(3, *shares)) == pytest.approx(true, abs=0.01)
    assert alike(PairTables(3, *shares))[0] < true[0] - 0.05


def test_rows_follow_the_table_and_the_margins() -> None:
    three = [groups(1, 1), groups(1, 3), groups(1, 1, 2)]
    three = [
        replace(one, ordered=line) for one, line in zip(three, (True, False, True), strict=True)
    ]
    table = independent(three, 800)
    table[0, 0] = [0, 0, 100]
    table[1, 0] = [50, 50, 0]
    made = Gridded(table, range(3), three).block(range(800), Seeded(1))
    assert cross(made[:, 0], made[:, 1], 2, 2).tolist() == [[100, 300], [100, 300]]
    first = made[made[:, 1] == 0]
    assert cross(first[:, 0], first[:, 2], 2, 3).tolist() == [[0, 0, 100], [50, 50, 0]]
    assert not (np.diff(made[:, 0]) >= 0).all()


# -- A tree and a grid agree about coarse cells ----------------------------------------------------

HALVES = Binning(Margin(np.array([0, 5, 10]), np.array([0.5, 0.5])), np.array([0, 1]))
THIRDS = Binning(Margin(np.array([0, 5, 10]), np.array([0.75, 0.25])), np.array([0, 1]))
CELLS = Coarse([HALVES, THIRDS], 8)


def test_cells_are_intervals_of_ranks() -> None:
    ranks = np.array([[0, 0], [3, 5], [4, 5], [3, 6], [7, 7]])
    assert CELLS.cells(ranks).tolist() == [0, 0, 2, 1, 3]


@pytest.mark.parametrize("at_once", [1, 3, 4096])
def test_a_box_belongs_to_cells_by_the_part_that_lies_in_them(
    at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(two_stage, "_AT_ONCE", at_once)
    # the second box lies half below and half above the end of the first column's first group
    boxes = Boxes(
        np.array([[0, 0], [2, 0], [6, 0], [0, 6]]), np.array([[2, 6], [6, 6], [8, 6], [8, 8]])
    )
    weights = np.array([10.0, 60, 5, 25])
    # the boxes hold 40, 12.5, 35, 12.5: with a grid that knows nothing, only the margins count
    blind = Grid((0, 1), np.zeros((2, 2), np.int64), 1e12)
    factors = CELLS.factors(boxes, weights, 1.0, blind).reshape(2, 2)
    assert (factors * [[40, 12.5], [35, 12.5]]).sum(axis=1) == pytest.approx([50, 50])
    assert (factors * [[40, 12.5], [35, 12.5]]).sum(axis=0) == pytest.approx([75, 25])
    # and a grid without noise is followed
    exact = Grid((0, 1), np.array([[45, 5], [30, 20]]), 1e-12)
    factors = CELLS.factors(boxes, weights, 1.0, exact)
    assert factors * [40, 12.5, 35, 12.5] == pytest.approx([45, 5, 30, 20])


def test_tree_and_grid_are_weighed_by_their_variances() -> None:
    low = np.array([[0, 0], [0, 6], [4, 0], [4, 6]])
    boxes = Boxes(low, low + np.array([[4, 6], [4, 2], [4, 6], [4, 2]]))
    weights = np.array([40.0, 10, 35, 15])
    grid = Grid((0, 1), np.array([[30, 20], [45, 5]]), 3.0)
    factors = CELLS.factors(boxes, weights, 1.0, grid)
    assert factors * weights == pytest.approx([37.5, 12.5, 37.5, 12.5])


def test_a_cell_without_any_box_gets_no_row() -> None:
    boxes = Boxes(np.array([[0, 0], [4, 0]]), np.array([[4, 6], [8, 8]]))
    grid = Grid((0, 1), np.array([[30, 20], [45, 5]]), 1.0)
    factors = CELLS.factors(boxes, np.array([50.0, 50]), 1.0, grid)
    assert factors[1] == 0
    assert (factors[[0, 2, 3]] > 0).all()


# -- Columns first, then how they depend on each other ---------------------------------------------

SIZES = (2, 2)


@pytest.fixture
def few_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A scale of ranks whose trees can all be tried."""
    monkeypatch.setattr(two_stage, "_RANKS", 4)


@pytest.mark.usefixtures("few_ranks")
@pytest.mark.parametrize("sizes", [SIZES, (3, 2)])
def test_a_whole_release_by_ranks_keeps_within_epsilon(
    sizes: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    way = TwoStage.planned(numbers(*sizes), 2, Fraction(10), joint="tree")
    assert way.grid_epsilon + way.tree_epsilon + way.columns_epsilon == 10
    assert 9 < worst_loss(way, sizes, monkeypatch, ordered=True) <= 10 + ROUNDING


@pytest.mark.parametrize(("sizes", "rows"), [((2, 2), 4), ((4, 2), 3), ((3, 3), 2)])
def test_a_whole_release_by_a_grid_keeps_within_epsilon(
    sizes: tuple[int, ...], rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    way = TwoStage.planned(numbers(*sizes), rows, Fraction(10))
    assert way.joint == "grid"
    assert Decimal("9.8") < worst_loss(way, sizes, monkeypatch) <= 10 + ROUNDING


def test_a_grid_of_the_numbers_of_a_mixed_table_keeps_within_epsilon(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = {"type": "number", "bounds": [0, 1]}
    shape = domain(x=whole, c={"type": "category", "categories": ["a", "b"]}, y=whole)
    way = TwoStage.planned(shape, 2, Fraction(10))
    assert (way.joint, way.gridded) == ("grid", [0, 2])
    assert Decimal("9.8") < worst_loss(way, (2, 2, 2), monkeypatch) <= 10 + ROUNDING


@pytest.mark.parametrize(
    ("sizes", "rows", "least"),
    [((2, 2), 4, "9.9"), ((4, 2), 3, "9.9"), ((2, 2, 2), 2, "9.6")],
)
def test_a_whole_release_by_pairs_keeps_within_epsilon(
    sizes: tuple[int, ...], rows: int, least: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    way = TwoStage.planned(categories(*sizes), rows, Fraction(10))
    assert way.joint == "pair-tables"
    assert Decimal(least) < worst_loss(way, sizes, monkeypatch) <= 10 + ROUNDING


@pytest.mark.parametrize(("sizes", "rows"), [((2, 2), 4), ((3, 2), 3), ((2, 2, 2), 2)])
def test_a_whole_release_by_all_pairs_keeps_within_epsilon(
    sizes: tuple[int, ...], rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    way = TwoStage.planned(categories(*sizes), rows, Fraction(10), joint="all-pairs")
    assert Decimal("9.9") < worst_loss(way, sizes, monkeypatch) <= 10 + ROUNDING


MIXED_PAIR = domain(
    x={"type": "number", "bounds": [0, 1]}, c={"type": "category", "categories": ["a", "b"]}
)


@pytest.mark.parametrize("joint", ["pair-tables", "all-pairs"])
def test_numbers_may_have_what_categories_leave_them(
    joint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant gives numbers more, and takes nothing from categories."""
    way = TwoStage.planned(MIXED_PAIR, 3, Fraction(10), joint=joint)
    shares = budgets(MIXED_PAIR, way.columns_epsilon, again=True)
    assert shares[0] == pytest.approx(2 * shares[1], rel=1e-3)
    assert Decimal("9.9") < worst_loss(way, SIZES, monkeypatch) <= 10 + ROUNDING
    given = [shares[0], way.columns_epsilon / 2]
    monkeypatch.setattr(independent_columns, "budgets", lambda *_, **__: given)
    assert worst_loss(way, SIZES, monkeypatch) > Decimal("10.9")


def test_a_table_of_each_pair_for_the_price_of_a_spanning_tree_is_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counting = property(lambda pairs: pairs.epsilon / (pairs.columns - 1))
    monkeypatch.setattr(pair_tables.AllPairs, "counting", counting)
    way = TwoStage.planned(categories(2, 2, 2), 2, Fraction(10), joint="all-pairs")
    assert worst_loss(way, (2, 2, 2), monkeypatch) > Decimal("11.3")


@pytest.mark.usefixtures("few_ranks")
@pytest.mark.parametrize(
    ("joint", "module", "least"),
    [
        ("tree", privtree, "10.8"),
        ("tree", grid, "10.6"),
        ("grid", grid, "12.7"),
        ("pair-tables", pair_tables, "13.9"),
        ("all-pairs", pair_tables, "12.1"),
    ],
)
def test_wrong_noise_of_the_second_stage_is_seen(
    joint: str, module: Any, least: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    way = TwoStage.planned(numbers(*SIZES), 2, Fraction(10), joint=joint)
    with monkeypatch.context() as inner:
        inner.setattr(module, "noisy", for_one_cell)
        assert worst_loss(way, SIZES, monkeypatch, ordered=True) > Decimal(least)
    with monkeypatch.context() as inner:
        inner.setattr(module, "noisy", without_noise_where_empty)
        with pytest.raises(Exposed, match="without noise"):
            worst_loss(way, SIZES, monkeypatch, ordered=True)


@pytest.mark.usefixtures("few_ranks")
def test_a_second_stage_of_the_whole_budget_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TwoStage, "joint_epsilon", property(lambda way: way.epsilon))
    for joint in ("grid", "tree", "pair-tables", "all-pairs"):
        way = TwoStage.planned(numbers(*SIZES), 2, Fraction(10), joint=joint)
        assert worst_loss(way, SIZES, monkeypatch, ordered=True) > 12


@pytest.mark.usefixtures("few_ranks")
def test_a_coarse_grid_besides_a_tree_of_the_whole_second_stage_is_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(TwoStage, "tree_epsilon", property(lambda way: way.joint_epsilon))
    way = TwoStage.planned(numbers(*SIZES), 2, Fraction(10), joint="tree")
    assert worst_loss(way, SIZES, monkeypatch, ordered=True) > Decimal("10.4")


@pytest.mark.usefixtures("few_ranks")
@pytest.mark.parametrize("joint", ["grid", "tree", "pair-tables", "all-pairs"])
def test_ranks_and_groups_by_the_rows_themselves_are_seen(
    joint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = TwoStage.columns

    def of_the_rows(way: TwoStage, records: Any, source: Any) -> list[Measured]:
        right(way, records, source)  # paid for, and not used
        places = records.take(np.arange(records.rows))
        counts = [np.bincount(places[:, j], minlength=2) + 0.01 for j in range(2)]
        return [Measured(np.arange(3), held, 1.0, np.zeros(2, np.int64), 2) for held in counts]

    monkeypatch.setattr(TwoStage, "columns", of_the_rows)
    way = TwoStage.planned(numbers(*SIZES), 2, Fraction(10), joint=joint)
    with pytest.raises(Exposed, match="differ"):
        worst_loss(way, SIZES, monkeypatch, ordered=True)


def test_margins_made_better_by_the_rows_themselves_are_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The mutant weighs true counts of the grid with the columns, instead of noisy ones."""
    right = two_stage.private_grid

    def true_counts(records: Any, columns: Any, groups: Any, epsilon: Any, source: Any) -> Any:
        paid = right(records, columns, groups, epsilon, source)
        places = records.take(np.arange(records.rows))
        counts = np.zeros((2, 2), np.int64)
        np.add.at(counts, tuple(g.number(places[:, j]) for j, g in enumerate(groups)), 1)
        return grid.Grid(paid.columns, counts, paid.variance)

    monkeypatch.setattr(two_stage, "private_grid", true_counts)
    way = TwoStage.planned(numbers(*SIZES), 2, Fraction(10))
    with pytest.raises(Exposed, match="differ"):
        worst_loss(way, SIZES, monkeypatch)


def test_rows_that_lean_by_the_rows_themselves_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant draws from true counts, and so its rows lean as those of the original do."""
    right = two_stage.private_grid
    true: list[Any] = []

    def watched(records: Any, columns: Any, groups: Any, epsilon: Any, source: Any) -> Any:
        places = records.take(np.arange(records.rows))
        counts = np.zeros((2, 2), np.int64)
        np.add.at(counts, tuple(g.number(places[:, j]) for j, g in enumerate(groups)), 1)
        true.append(counts)
        return right(records, columns, groups, epsilon, source)

    monkeypatch.setattr(two_stage, "private_grid", watched)
    monkeypatch.setattr(grid, "dependent", lambda *_: true[-1] + 0.5)
    way = TwoStage.planned(numbers(*SIZES), 2, Fraction(10))
    with pytest.raises(Exposed, match="differ"):
        worst_loss(way, SIZES, monkeypatch)


MIXED = domain(
    x={"type": "number", "bounds": [0, 4999]},
    c={"type": "category", "categories": ["a", "b", "c"]},
    y={"type": "number", "bounds": [0, 9], "missing": ["NA"]},
)


def mixed_rows(rows: int) -> Any:
    x = np.arange(rows) % 3000
    return np.stack([x, x // 1000, np.where(x < 1000, 10, x // 500)], axis=1)


@pytest.mark.parametrize("joint", ["tree", "pair-tables", "all-pairs"])
def test_dependence_is_kept(joint: str) -> None:
    rows = mixed_rows(30_000)
    way = TwoStage.planned(MIXED, 30_000, Fraction(2), joint=joint)
    made = way.draw(rows, Seeded(3))
    assert made.shape == rows.shape
    assert np.abs(np.sort(made[:, 0]) - np.sort(rows[:, 0])).mean() < 30
    assert np.corrcoef(made[:, 0], made[:, 1])[0, 1] > 0.85
    blank = made[:, 2] == 10
    assert blank.mean() == pytest.approx(1 / 3, abs=0.01)
    assert (made[blank, 1] == 0).mean() > 0.9
    assert not (np.diff(made[:, 0]) >= 0).all()


def test_the_budgets_sum_to_epsilon() -> None:
    for shape in (numbers(9, 9), numbers(9, 9, 9), numbers(*[9] * 5), MIXED):
        for rows in (10, 5_000, 30_000, 10**6):
            way = TwoStage.planned(shape, rows, Fraction(1))
            assert way.columns_epsilon + way.joint_epsilon == 1
            assert way.joint.endswith(("tables", "pairs")) or way.grid_epsilon <= way.joint_epsilon
            assert 0 < way.least_epsilon <= way.columns_epsilon


def test_what_the_second_stage_is() -> None:
    mixed = domain(
        x={"type": "number", "bounds": [0, 9]},
        y={"type": "number", "bounds": [0, 9]},
        c={"type": "boolean"},
    )
    cases = (
        (numbers(9, 9), 100, "grid"),
        (numbers(9, 9, 9), 9_999, "tree"),
        (numbers(9, 9, 9), 10_000, "all-pairs"),
        (numbers(*[9] * 5), 10_000, "tree"),
        (mixed, 9_999, "grid"),
        (mixed, 10_000, "pair-tables"),
        (mixed, 99_999, "pair-tables"),
        (mixed, 100_000, "all-pairs"),
        (categories(2, 2), 100_000, "pair-tables"),
        (categories(*[2] * 5), 100_000, "pair-tables"),
        (categories(2, 2), 100, "pair-tables"),
    )
    for shape, rows, joint in cases:
        assert TwoStage.planned(shape, rows, Fraction(1)).joint == joint


def test_more_rows_mean_a_finer_grid() -> None:
    found = [TwoStage.planned(numbers(99, 99), n, Fraction(1)).groups for n in (10, 3_000, 10**9)]
    assert found == [2, 5, 128]
    counted = [TwoStage.planned(numbers(n, 999), 3_000, Fraction(1)).groups for n in (99, 999)]
    assert counted == [7, 7]
    coarse = [
        TwoStage.planned(numbers(*[99] * 3), n, Fraction(1), joint="tree").groups
        for n in (10, 10**9)
    ]
    assert coarse == [2, 12]
    many = TwoStage.planned(numbers(*[99] * 5), 10**6, Fraction(1))
    assert (many.gridded, many.grid_epsilon) == ([], 0)


def test_what_is_stated_is_public() -> None:
    by_pairs = TwoStage.planned(MIXED, 30_000, Fraction(1))
    assert by_pairs.parameters["pair tables"].startswith("2 noisy tables")
    assert by_pairs.parameters["pair tables"].endswith("epsilon 0.18 each.")
    assert by_pairs.parameters["choice of pairs"].endswith("epsilon 0.02 each.")
    assert "choice of pairs" not in TwoStage.planned(categories(2, 2), 10, Fraction(1)).parameters
    by_all = TwoStage.planned(MIXED, 200_000, Fraction(1))
    assert by_all.parameters["pair tables"] == (
        "3 noisy tables of two columns, for epsilon 0.0933333 each."
    )
    assert "choice of pairs" not in by_all.parameters
    by_ranks = TwoStage.planned(numbers(9, 9, 9), 30_000, Fraction(1), joint="tree")
    assert by_ranks.parameters["tree of ranks"].endswith("epsilon 0.18.")
    assert by_ranks.parameters["grid"].endswith("epsilon 0.12.")
    by_grid = TwoStage.planned(numbers(9, 9), 30_000, Fraction(1))
    assert by_grid.parameters["grid"].endswith("epsilon 0.22.")
    assert "tree of ranks" not in by_grid.parameters
    assert "grid" not in TwoStage.planned(numbers(*[9] * 5), 10, Fraction(1)).parameters
    assert len({by_pairs.limits, by_ranks.limits, by_grid.limits}) == 3
    assert len(TwoStage.planned(MIXED, 100, Fraction(1)).limits) == 2
    assert 0 < by_ranks.expected_error < 0.01


def test_one_column_is_refused() -> None:
    with pytest.raises(tn.Refused, match="two columns"):
        TwoStage.planned(numbers(9), 10, Fraction(1))


def test_another_second_stage_is_refused() -> None:
    with pytest.raises(tn.Refused, match="joint"):
        TwoStage.planned(numbers(9, 9), 10, Fraction(1), joint="both")
    with pytest.raises(tn.Refused, match="at most four columns"):
        TwoStage.planned(numbers(*[9] * 5), 10, Fraction(1), joint="all-pairs")


def test_an_empty_table_stays_empty() -> None:
    for joint in ("grid", "tree", "pair-tables", "all-pairs"):
        way = TwoStage.planned(numbers(9, 9), 0, Fraction(1), joint=joint)
        assert way.draw(np.zeros((0, 2), np.int64), Seeded(1)).shape == (0, 2)
