"""The distribution of one column, and ranks on its scale."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenue.engine.held import Held
from tenue.microdata.private.column import (
    Margin,
    Measured,
    has_counts,
    margin_error,
    private_column,
    shares,
)
from tenue.microdata.private.domain import Axis, Domain
from tenue.noise.source import Seeded
from tenue.schema import Schema


def axes(**columns: dict[str, object]) -> dict[str, Axis]:
    table = {"name": "t", "unit": "record", "neighbours": "replace"}
    domain = Domain.of(Schema.from_dict({"table": table, "columns": columns}))
    return {axis.name: axis for axis in domain.axes}


AXES = axes(
    ill={"type": "boolean"},
    few={"type": "number", "bounds": [1, 20]},
    some={"type": "number", "bounds": [1, 100]},
    many={"type": "number", "bounds": [0, 9999]},
    gap={"type": "number", "bounds": [0, 9998], "missing": ["NA"]},
    job={"type": "category", "categories": [f"job{i}" for i in range(150)]},
)


@st.composite
def margins(draw: st.DrawFn) -> Margin:
    widths = draw(st.lists(st.integers(1, 9), min_size=1, max_size=6))
    weights = np.array([draw(st.floats(0.01, 1)) for _ in widths])
    return Margin(np.concatenate([[0], np.cumsum(widths)]), weights / weights.sum())


@given(margins(), st.integers(0, 99))
def test_a_rank_leads_back_to_its_place(margin: Margin, seed: int) -> None:
    places = np.arange(margin.edges[-1])
    assert margin.quantile(margin.rank(places)).tolist() == places.tolist()
    drawn = margin.quantile(margin.rank(places, Seeded(seed)))
    assert (np.abs(drawn - places) <= 1).all()
    assert (drawn == places).mean() > 0.7  # an end may be rounded to its neighbour


@given(margins())
def test_ranks_rise_with_places(margin: Margin) -> None:
    ranks = margin.rank(np.arange(margin.edges[-1]))
    assert (np.diff(ranks) > 0).all()
    assert 0 <= ranks[0] <= ranks[-1] < 1


def test_a_cell_of_no_weight_is_never_drawn() -> None:
    margin = Margin(np.array([0, 2, 5, 6]), np.array([0.0, 1.0, 0.0]))
    u = np.array([0.0, 0.3, 0.5, 0.99, np.nextafter(1.0, 0.0)])
    assert margin.quantile(u).tolist() == [2, 2, 3, 4, 4]
    assert set(margin.sample(300, Seeded(1))) == {2, 3, 4}


def test_a_sample_is_spread_evenly_in_random_order() -> None:
    margin = Margin(np.array([0, 1, 3]), np.array([0.25, 0.75]))
    drawn = margin.sample(4000, Seeded(2))
    assert (drawn == 0).sum() == 1000
    assert abs((drawn == 1).sum() - 1500) < 5
    assert not (np.diff(drawn) >= 0).all()


@pytest.mark.parametrize(
    ("name", "rows", "epsilon", "counts"),
    [
        ("ill", 10, 1, True),
        ("few", 10, 1, True),
        ("some", 500, 1, True),
        ("some", 499, 1, False),
        ("many", 10**9, 1, False),
        ("job", 10, 1, True),
    ],
)
def test_a_count_for_each_place_or_a_tree(name: str, rows: int, epsilon: int, counts: bool) -> None:
    assert has_counts(AXES[name], rows, Fraction(epsilon)) is counts


@pytest.mark.parametrize("name", ["ill", "some", "many", "job"])
def test_a_margin_is_near_the_rows(name: str) -> None:
    axis = AXES[name]
    places = np.minimum(np.arange(20_000) % 1000, axis.size - 1) * 7 % axis.size
    margin = private_column(axis, Held(places[:, None]), Fraction(1), Seeded(3)).margin
    drawn = margin.sample(places.size, Seeded(4))
    off = np.abs(np.sort(places) - np.sort(drawn)).mean()
    assert off < 0.01 * axis.size
    assert 0 <= drawn.min() <= drawn.max() < axis.size


def test_a_blank_is_apart_from_the_largest_number() -> None:
    axis = AXES["gap"]
    places = np.repeat([0, axis.size - 1], [3000, 1000])
    margin = private_column(axis, Held(places[:, None]), Fraction(1), Seeded(5)).margin
    assert margin.edges[-2] == axis.size - 1
    assert margin.weights[-1] == pytest.approx(0.25, abs=0.01)


def measured(counts: list[float], variance: float = 1.0) -> Measured:
    cells = np.arange(len(counts) + 1)
    return Measured(cells, np.array(counts), variance, np.zeros(len(counts), np.int64), 100)


def test_totals_of_groups_are_weighed_with_the_cells_by_their_variances() -> None:
    column, group = measured([20.0, 30, 25, 25]), np.array([0, 0, 1, 1])
    # the cells of a group say 50, with a variance of 2
    for variance, total in ((2.0, 55), (6.0, 52.5), (1e-9, 60), (1e9, 50)):
        found = column.refined(group, np.array([60.0, 40]), variance)
        assert found.weights[:2].sum() * 100 == pytest.approx(total)
        assert found.weights[1] - found.weights[0] == pytest.approx(0.1)
        assert found.weights.sum() == pytest.approx(1)


def test_totals_need_not_sum_to_the_rows() -> None:
    column, group = measured([20.0, 30, 25, 25]), np.array([1, 0, 0, 1])
    found = column.refined(group, np.array([70.0, 50]), 2.0)
    assert found.weights * 100 == pytest.approx([18.75, 31.25, 26.25, 23.75])


def test_few_totals_make_a_long_interval_surer() -> None:
    """A mutant that trusts cells and totals alike, or either alone, is worse."""
    rng = np.random.default_rng(4)
    true, group = np.full(64, 100.0), np.arange(64) // 16

    def off(trusted: float | None) -> float:
        found = []
        for _ in range(300):
            cells = true + rng.normal(0, 4, 64)
            column = Measured(np.arange(65), cells, 16.0, np.zeros(64, np.int64), 6400)
            totals = np.bincount(group, weights=true) + rng.normal(0, 8, 4)
            margin = column.margin if trusted is None else column.refined(group, totals, trusted)
            found.append(abs(margin.ends[32] - 0.5))
        return float(np.mean(found))

    right = off(64.0)
    assert right < 0.95 * off(1e-9)
    assert right < 0.6 * off(None)
    assert right < 0.9 * off(1024.0)


def test_columns_share_by_roots_exactly() -> None:
    found = shares([AXES["ill"], AXES["few"], AXES["many"], AXES["job"]])
    assert sum(found) == 1
    assert found[2] == found[3] > found[1] > found[0]
    assert float(found[2] / found[0]) == pytest.approx(32**0.5, rel=1e-3)


def test_categories_that_are_counted_again_have_half() -> None:
    axes = [AXES["many"], AXES["job"]]
    found = shares(axes, again=True)
    assert sum(found) == 1
    assert found == (Fraction(2, 3), Fraction(1, 3))
    assert shares(axes) == (Fraction(1, 2), Fraction(1, 2))


def test_more_budget_means_less_error() -> None:
    for name in ("few", "many"):
        found = [margin_error(AXES[name], 10_000, Fraction(e)) for e in (1, 3)]
        assert 0 < found[1] < found[0] < 0.1
