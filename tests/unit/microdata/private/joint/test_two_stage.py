"""Columns first, then how they depend on each other."""

from __future__ import annotations

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
from tenue.microdata.private import columns, tree
from tenue.microdata.private.column import Measured
from tenue.microdata.private.columns import budgets
from tenue.microdata.private.joint import all_pairs, grid, pair_tables, two_stage
from tenue.microdata.private.joint.two_stage import TwoStage
from tenue.noise.source import Seeded

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
    assert way.grid_epsilon + way.tree_epsilon + way.margins_epsilon == 10
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
    shares = budgets(MIXED_PAIR, way.margins_epsilon, again=True)
    assert shares[0] == pytest.approx(2 * shares[1], rel=1e-3)
    assert Decimal("9.9") < worst_loss(way, SIZES, monkeypatch) <= 10 + ROUNDING
    given = [shares[0], way.margins_epsilon / 2]
    monkeypatch.setattr(columns, "budgets", lambda *_, **__: given)
    assert worst_loss(way, SIZES, monkeypatch) > Decimal("10.9")


def test_a_table_of_each_pair_for_the_price_of_a_spanning_tree_is_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counting = property(lambda pairs: pairs.epsilon / (pairs.columns - 1))
    monkeypatch.setattr(all_pairs.AllPairs, "counting", counting)
    way = TwoStage.planned(categories(2, 2, 2), 2, Fraction(10), joint="all-pairs")
    assert worst_loss(way, (2, 2, 2), monkeypatch) > Decimal("11.3")


@pytest.mark.usefixtures("few_ranks")
@pytest.mark.parametrize(
    ("joint", "module", "least"),
    [
        ("tree", tree, "10.8"),
        ("tree", grid, "10.6"),
        ("grid", grid, "12.7"),
        ("pair-tables", pair_tables, "13.9"),
        ("all-pairs", all_pairs, "12.1"),
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
    right = two_stage.private_columns

    def of_the_rows(
        shape: Any, records: Any, epsilon: Any, source: Any, *, again: bool
    ) -> list[Measured]:
        right(shape, records, epsilon, source, again=again)  # paid for, and not used
        places = records.take(np.arange(records.rows))
        counts = [np.bincount(places[:, j], minlength=2) + 0.01 for j in range(2)]
        return [Measured(np.arange(3), held, 1.0, np.zeros(2, np.int64), 2) for held in counts]

    monkeypatch.setattr(two_stage, "private_columns", of_the_rows)
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
    monkeypatch.setattr(two_stage, "dependent", lambda *_: true[-1] + 0.5)
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
            assert way.margins_epsilon + way.joint_epsilon == 1
            assert way.joint.endswith(("tables", "pairs")) or way.grid_epsilon <= way.joint_epsilon
            assert 0 < way.least_epsilon <= way.margins_epsilon


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
