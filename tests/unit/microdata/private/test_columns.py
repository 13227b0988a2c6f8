"""Columns that are drawn one by one."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

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
from tenue.microdata.private import column, columns
from tenue.microdata.private.column import Measured
from tenue.microdata.private.columns import Columns, budgets, margins_error
from tenue.noise.source import Seeded

SIZES = (3, 2)


@pytest.mark.parametrize("sizes", [SIZES, (8,), (2, 2, 2)])
def test_a_whole_release_costs_epsilon(
    sizes: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    way = Columns.planned(numbers(*sizes), 3, Fraction(2))
    # a record that is replaced by one with no equal value uses up the budget exactly
    assert abs(worst_loss(way, sizes, monkeypatch) - 2) <= ROUNDING


@pytest.mark.parametrize("blocks", [600, 2])
def test_trees_of_one_column_keep_within_epsilon(
    blocks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(column, "has_counts", lambda *_: False)
    monkeypatch.setattr(column, "_BLOCKS_FROM", blocks)
    way = Columns.planned(numbers(4, 2), 2, Fraction(10))
    assert 7 <= worst_loss(way, (4, 2), monkeypatch) <= 10 + ROUNDING


def test_blocks_and_leaves_of_a_budget_each_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    right = column.noisy
    monkeypatch.setattr(column, "has_counts", lambda *_: False)
    monkeypatch.setattr(column, "_BLOCKS_FROM", 2)
    monkeypatch.setattr(column, "noisy", lambda counts, e, source: right(counts, 2 * e, source))
    way = Columns.planned(numbers(4), 2, Fraction(10))
    assert worst_loss(way, (4,), monkeypatch) > 13


def test_a_budget_for_each_column_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "budgets", lambda domain, e, again: [e] * len(domain.axes))
    way = Columns.planned(numbers(*SIZES), 3, Fraction(2))
    assert worst_loss(way, SIZES, monkeypatch) > 3


@pytest.mark.parametrize("wrong", [for_one_cell, without_noise_where_empty])
def test_wrong_noise_is_seen(wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(column, "noisy", wrong)
    way = Columns.planned(numbers(*SIZES), 3, Fraction(2))
    if wrong is for_one_cell:
        assert worst_loss(way, SIZES, monkeypatch) > 3
    else:
        with pytest.raises(Exposed, match="without noise"):
            worst_loss(way, SIZES, monkeypatch)


def test_cells_read_from_rows_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def only_what_occurs(axis: Any, held: Any, epsilon: Any, source: Any) -> Measured:
        places = held.take(np.arange(held.rows))
        edges, counts = np.unique(places, return_counts=True)
        released = column.noisy(counts, epsilon, source)
        block = np.zeros(counts.size, np.int64)
        return Measured(np.append(edges, axis.size), released + 0.0, 1.0, block, held.rows)

    monkeypatch.setattr(columns, "private_column", only_what_occurs)
    way = Columns.planned(numbers(*SIZES), 3, Fraction(2))
    with pytest.raises(Exposed):
        worst_loss(way, SIZES, monkeypatch)


def test_columns_are_near_and_independent() -> None:
    shape = domain(
        x={"type": "number", "bounds": [0, 4999]},
        c={"type": "category", "categories": ["a", "b", "c"]},
    )
    rows = np.stack([np.arange(30_000) % 3000, np.arange(30_000) % 3000 // 1000], axis=1)
    way = Columns.planned(shape, 30_000, Fraction(1))
    made = way.draw(rows, Seeded(1))
    assert np.abs(np.sort(made[:, 0]) - np.sort(rows[:, 0])).mean() < 30
    assert np.abs(np.bincount(made[:, 1]) - 10_000).max() < 60
    assert abs(np.corrcoef(made.T)[0, 1]) < 0.03


def test_budgets_sum_to_epsilon_and_errors_are_said() -> None:
    shape = categories(2, 50)
    assert sum(budgets(shape, Fraction(7, 10))) == Fraction(7, 10)
    way = Columns.planned(shape, 1000, Fraction(1))
    assert way.expected_error == margins_error(shape, 1000, Fraction(1)) > 0
    assert list(way.parameters) == ["column c0", "column c1"]
    assert way.parameters["column c1"].startswith("A noisy count of each value, for epsilon 0.83")
    assert way.limits
    assert not Columns.planned(numbers(9), 10, Fraction(1)).limits
