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
from tenue.microdata.private import tree
from tenue.microdata.private.column import Margin
from tenue.microdata.private.joint import pair_tables, two_stage
from tenue.microdata.private.joint.two_stage import TwoStage, forced
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
    way = TwoStage.planned(numbers(*sizes), 2, Fraction(10))
    assert way.joint == "tree"
    assert 9 < worst_loss(way, sizes, monkeypatch, ordered=True) <= 10 + ROUNDING


@pytest.mark.parametrize(("sizes", "rows"), [((2, 2), 4), ((4, 2), 3), ((2, 2, 2), 2)])
def test_a_whole_release_by_pairs_keeps_within_epsilon(
    sizes: tuple[int, ...], rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    way = TwoStage.planned(categories(*sizes), rows, Fraction(10))
    assert way.joint == "pair-tables"
    assert Decimal("9.8") < worst_loss(way, sizes, monkeypatch) <= 10 + ROUNDING


@pytest.mark.usefixtures("few_ranks")
@pytest.mark.parametrize(("joint", "module"), [("tree", tree), ("pair-tables", pair_tables)])
def test_wrong_noise_of_the_second_stage_is_seen(
    joint: str, module: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    way = TwoStage.planned(numbers(*SIZES), 2, Fraction(10), joint=joint)
    with monkeypatch.context() as inner:
        inner.setattr(module, "noisy", for_one_cell)
        assert worst_loss(way, SIZES, monkeypatch, ordered=True) > 11
    with monkeypatch.context() as inner:
        inner.setattr(module, "noisy", without_noise_where_empty)
        with pytest.raises(Exposed, match="without noise"):
            worst_loss(way, SIZES, monkeypatch, ordered=True)


@pytest.mark.usefixtures("few_ranks")
def test_a_second_stage_of_the_whole_budget_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TwoStage, "joint_epsilon", property(lambda way: way.epsilon))
    for joint in ("tree", "pair-tables"):
        way = TwoStage.planned(numbers(*SIZES), 2, Fraction(10), joint=joint)
        assert worst_loss(way, SIZES, monkeypatch, ordered=True) > 12


@pytest.mark.usefixtures("few_ranks")
@pytest.mark.parametrize("joint", ["tree", "pair-tables"])
def test_ranks_and_groups_by_the_rows_themselves_are_seen(
    joint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = two_stage.private_margins

    def of_the_rows(shape: Any, records: Any, epsilon: Any, source: Any) -> list[Margin]:
        right(shape, records, epsilon, source)  # paid for, and not used
        places = records.take(np.arange(records.rows))
        counts = [np.bincount(places[:, j], minlength=2) + 0.01 for j in range(2)]
        return [Margin(np.arange(3), held / held.sum()) for held in counts]

    monkeypatch.setattr(two_stage, "private_margins", of_the_rows)
    way = TwoStage.planned(numbers(*SIZES), 2, Fraction(10), joint=joint)
    with pytest.raises(Exposed, match="differ"):
        worst_loss(way, SIZES, monkeypatch, ordered=True)


MIXED = domain(
    x={"type": "number", "bounds": [0, 4999]},
    c={"type": "category", "categories": ["a", "b", "c"]},
    y={"type": "number", "bounds": [0, 9], "missing": ["NA"]},
)


def mixed_rows(rows: int) -> Any:
    x = np.arange(rows) % 3000
    return np.stack([x, x // 1000, np.where(x < 1000, 10, x // 500)], axis=1)


@pytest.mark.parametrize("joint", ["tree", "pair-tables"])
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


def test_places_take_the_order_of_ranks_and_the_margin() -> None:
    margin = Margin(np.array([0, 1, 2, 3]), np.array([0.5, 0.3, 0.2]))
    ranks = np.arange(1000)[::-1] // 2
    made = forced(ranks, margin, Seeded(1))
    assert np.bincount(made).tolist() == [500, 300, 200]
    assert (np.diff(made) <= 0).all()


def test_small_budgets_favour_columns() -> None:
    for rows, share in ((1999, Fraction(3, 4)), (2000, Fraction(1, 2))):
        way = TwoStage.planned(numbers(9, 9), rows, Fraction(1))
        assert way.margins_epsilon == share
        assert way.margins_epsilon + way.joint_epsilon == 1


def test_what_is_stated_is_public() -> None:
    by_pairs = TwoStage.planned(MIXED, 30_000, Fraction(1))
    assert by_pairs.parameters["pair tables"].startswith("2 noisy tables")
    assert by_pairs.parameters["pair tables"].endswith("epsilon 0.225 each.")
    assert by_pairs.parameters["choice of pairs"].endswith("epsilon 0.025 each.")
    by_ranks = TwoStage.planned(numbers(9, 9), 30_000, Fraction(1))
    assert by_ranks.parameters["tree of ranks"].endswith("epsilon 0.5.")
    assert by_pairs.limits != by_ranks.limits
    assert 0 < by_ranks.expected_error < 0.01


def test_one_column_is_refused() -> None:
    with pytest.raises(tn.Refused, match="two columns"):
        TwoStage.planned(numbers(9), 10, Fraction(1))


def test_another_second_stage_is_refused() -> None:
    with pytest.raises(tn.Refused, match="joint"):
        TwoStage.planned(numbers(9, 9), 10, Fraction(1), joint="both")


def test_an_empty_table_stays_empty() -> None:
    for joint in ("tree", "pair-tables"):
        way = TwoStage.planned(numbers(9, 9), 0, Fraction(1), joint=joint)
        assert way.draw(np.zeros((0, 2), np.int64), Seeded(1)).shape == (0, 2)
