"""Boxes that cover the domain, and what a whole tree tells."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import tenue as tn
from private_laws import (
    ROUNDING,
    Exposed,
    domain,
    for_one_cell,
    numbers,
    without_noise_where_empty,
    worst_loss,
)
from tenue.engine.contract import Passes
from tenue.microdata.private import tree
from tenue.microdata.private.growth import Line, grown
from tenue.microdata.private.tree import Tree, interval_error
from tenue.microdata.private.tree_loss import SplitLaw
from tenue.noise.source import Seeded, Source

LINE = (5,)
TABLE = (4, 2)


def planned(sizes: tuple[int, ...], epsilon: int, rows: int = 3) -> Tree:
    return Tree.planned(numbers(*sizes), rows, Fraction(epsilon))


@pytest.mark.parametrize(
    ("sizes", "rows", "epsilon"),
    [(LINE, 4, 1), (LINE, 4, 10), (TABLE, 2, 10), ((8,), 2, 20), ((2, 2, 2), 3, 3)],
)
def test_a_whole_release_keeps_within_epsilon(
    sizes: tuple[int, ...], rows: int, epsilon: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = worst_loss(planned(sizes, epsilon, rows), sizes, monkeypatch)
    assert Decimal("0.69") * epsilon < found <= epsilon + ROUNDING


def test_a_blank_costs_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    way = Tree.planned(numbers(6, blank=True), 3, Fraction(10))
    assert 7 <= worst_loss(way, (6,), monkeypatch) <= 10 + ROUNDING


def forgotten_fan_out(budget: Fraction, fan_out: int) -> SplitLaw:
    return SplitLaw(budget / 2, math.ceil(math.log(fan_out) / float(budget / 2)))


def for_one_record_more(budget: Fraction, fan_out: int) -> SplitLaw:
    rate = budget * (fan_out - 1) / (2 * fan_out - 1)
    return SplitLaw(rate, math.ceil(math.log(fan_out) / float(rate)))


def test_a_forgotten_fan_out_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    way = planned((8,), 10, 2)
    monkeypatch.setattr(SplitLaw, "within", staticmethod(forgotten_fan_out))
    assert worst_loss(way, (8,), monkeypatch) > 10


def test_noise_for_one_record_more_or_less_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    way = planned(LINE, 10)
    monkeypatch.setattr(SplitLaw, "within", staticmethod(for_one_record_more))
    monkeypatch.setattr(tree, "noisy", for_one_cell)
    assert worst_loss(way, LINE, monkeypatch) > 15
    with pytest.raises(tn.Refused, match="decisions"):
        planned(LINE, 10)


def test_noise_for_one_leaf_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "noisy", for_one_cell)
    assert worst_loss(planned(LINE, 10), LINE, monkeypatch) > 13


def test_empty_leaves_without_noise_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "noisy", without_noise_where_empty)
    with pytest.raises(Exposed, match="without noise"):
        worst_loss(planned(LINE, 10), LINE, monkeypatch)


def test_cuts_at_the_median_of_rows_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def medians(records: Passes, lines: list[Line], law: SplitLaw, source: Source) -> Any:
        middle = int(np.median(records.take(np.arange(records.rows))[:, 0]))
        lines = [Line(line.size, line.size - max(middle, 1)) for line in lines]
        return grown(records, lines, law, source)

    monkeypatch.setattr(tree, "grown", medians)
    with pytest.raises(Exposed, match=r"differ|only"):
        worst_loss(planned(LINE, 10), LINE, monkeypatch)


def test_one_place_in_all() -> None:
    way = Tree.planned(domain(x={"type": "category", "categories": ["a"]}), 3, Fraction(1))
    assert way.draw(np.zeros((3, 1), np.int64), Seeded(1)).tolist() == [[0]] * 3


def test_a_tree_is_near_the_rows() -> None:
    rows = np.stack([np.arange(20_000) % 900, np.arange(20_000) % 900 // 2], axis=1)
    made = planned((1000, 1000), 1, 20_000).draw(rows, Seeded(2))
    assert made.shape == rows.shape
    for project in ([1, 0], [0, 1], [1, -2]):
        off = np.abs(np.sort(rows @ project) - np.sort(made @ project)).mean()
        assert off < 15
    assert not (np.diff(made[:, 0]) >= 0).all()


def test_the_expected_error_is_what_evenly_spread_rows_have() -> None:
    way = planned((4096,), 1, 20_000)
    rows = (np.arange(20_000) * 4096 // 20_000)[:, None]
    ends = np.sort(np.arange(1, 41).reshape(2, 20) * 97 % 4096, axis=0)
    errors = []
    for seed in range(20):
        made = way.draw(rows, Seeded(seed))
        for low, high in ends.T:
            errors.append(
                abs(((low <= made) & (made < high)).mean() - ((low <= rows) & (rows < high)).mean())
            )
    assert 0.5 < np.mean(errors) / way.expected_error < 2


def test_more_cells_and_more_noise_mean_more_error() -> None:
    assert interval_error(400, 2.0, 1000) == pytest.approx(2 * interval_error(100, 2.0, 1000))
    assert planned((100, 100), 2, 9000).expected_error < planned((100, 100), 1, 9000).expected_error


def test_parameters_are_public() -> None:
    way = planned((100, 100), 1, 9000)
    assert way.parameters == {
        "splits": "Whether a box is halved is decided with noise of scale "
        f"{float(1 / way.law.rate):.6g}, 15 records harder with every level, for epsilon 0.3.",
        "counts": "The number of records in a box has noise of scale 2.85714, for epsilon 0.7.",
    }
