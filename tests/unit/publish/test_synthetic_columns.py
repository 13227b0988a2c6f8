"""Columns of a private table by themselves."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

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
from tenue.publish.synthetic import independent_columns
from tenue.publish.synthetic.counts import apportioned, fitted, noisy, uniforms
from tenue.publish.synthetic.domain import Axis, Domain
from tenue.publish.synthetic.independent_columns import (
    Columns,
    Margin,
    Measured,
    budgets,
    has_counts,
    margin_error,
    private_column,
)
from tenue.publish.table.input_table import read_original
from tenue.schema import Schema


def test_empty_cells_get_noise_too() -> None:
    drawn = noisy(np.zeros(200, np.int64), Fraction(1, 2), Seeded(1))
    assert (drawn != 0).sum() > 150


def test_the_shape_is_kept() -> None:
    assert noisy(np.zeros((3, 4), np.int64), Fraction(1), Seeded(1)).shape == (3, 4)


def test_noise_is_for_a_record_that_moves_between_two_cells() -> None:
    # variance of discrete Laplace with rate 1/2 is 2a/(1-a)^2, a = e^-1/2; rate 1 would give 1.84
    drawn = noisy(np.zeros(40_000, np.int64), Fraction(1), Seeded(3))
    assert 7.2 < drawn.var() < 8.5


@given(st.lists(st.floats(-50, 50), min_size=1, max_size=8), st.floats(0.5, 100))
def test_fitted_is_the_nearest_point_of_the_simplex(values: list[float], total: float) -> None:
    found = fitted(np.array(values), total)
    assert (found >= 0).all()
    assert found.sum() == pytest.approx(total)
    # nearest: every coordinate that is kept was lowered by the same amount, others by less room
    gap = np.array(values) - found
    kept = found > 1e-9
    level = gap[kept].max()
    assert gap[kept] == pytest.approx(np.full(kept.sum(), level), abs=1e-7)
    assert (gap[~kept] <= level + 1e-7).all()


@given(st.lists(st.floats(0, 50), min_size=1, max_size=8), st.integers(1, 300), st.integers(0, 99))
def test_apportioned_sums_and_is_near(values: list[float], total: int, seed: int) -> None:
    weights = np.array(values) + 1e-3
    found = apportioned(weights, total, Seeded(seed))
    assert found.sum() == total
    assert (np.abs(found - weights / weights.sum() * total) <= 1 + 1e-6).all()
    assert (found >= 0).all()


def test_apportioned_is_right_on_average() -> None:
    source = Seeded(5)
    drawn = np.array([apportioned(np.array([1.0, 2.0, 5.0]), 4, source) for _ in range(4000)])
    assert drawn.mean(axis=0) == pytest.approx([0.5, 1.0, 2.5], abs=0.05)


def test_uniforms_lie_in_the_unit_interval() -> None:
    drawn = uniforms(1000, Seeded(1))
    assert 0 <= drawn.min() < 0.02
    assert 0.98 < drawn.max() < 1


# -- Values become places and places values, by the schema alone -----------------------------------

JOBS = {"any": {"desk": ["clerk", "judge"], "field": ["miner"]}}


def schema(**columns: dict[str, object]) -> Schema:
    return Schema.from_dict(
        {
            "table": {"name": "t", "unit": "record", "neighbours": "replace"},
            "columns": columns,
        }
    )


MIXED = schema(
    name={"type": "identifier"},
    age={"type": "number", "bounds": [10, 20], "grid": 0.5},
    born={"type": "date", "bounds": ["2000-01-01", "2000-01-31"]},
    job={"type": "category", "taxonomy": JOBS},
    sex={"type": "category", "categories": ["m", "f"]},
    ill={"type": "boolean"},
    twice={"type": "number", "bounds": [20, 40], "expression": "age * 2"},
)
ROWS = pa.table(
    {
        "name": ["a", "b", "c"],
        "age": [10.0, 20.0, 12.5],
        "born": pa.array([10957, 10958, 10987], pa.int32()).cast(pa.date32()),
        "job": ["judge", "miner", "clerk"],
        "sex": ["f", "m", "f"],
        "ill": [True, False, True],
    }
)


def test_identifiers_and_derived_columns_have_no_axis() -> None:
    assert [axis.name for axis in Domain.of(MIXED).axes] == ["age", "born", "job", "sex", "ill"]


def test_sizes_are_those_of_the_schema() -> None:
    assert Domain.of(MIXED).sizes == (22, 32, 4, 3, 3)


def test_places_and_back() -> None:
    domain = Domain.of(MIXED)
    read = read_original(ROWS, MIXED)
    places = domain.places(read.cells)
    assert places.tolist() == [[0, 0, 1, 1, 1], [20, 1, 2, 0, 0], [5, 30, 0, 1, 1]]
    assert domain.table(places).to_pylist() == ROWS.drop_columns(["name"]).to_pylist()


def test_a_missing_value_takes_what_is_declared_or_is_a_blank() -> None:
    given = schema(
        a={"type": "number", "bounds": [0, 3], "missing": 2},
        b={"type": "number", "bounds": [0, 3], "missing": ["NA"]},
        c={"type": "number", "bounds": [0, 3]},
    )
    rows = pa.table({name: pa.array([None] * 400 + [1], pa.int64()) for name in "abc"})
    domain = Domain.of(given)
    assert [axis.blank for axis in domain.axes] == [False, True, True]
    assert domain.sizes == (4, 5, 5)
    places = domain.places(read_original(rows, given).cells)
    assert set(places[:400, 0]) == {2}
    assert set(places[:400, 1]) == {4}
    assert set(places[:400, 2]) == {4}
    made = domain.cells(places)
    assert [made[name].to_arrow().null_count for name in "abc"] == [0, 400, 400]


def test_values_beyond_the_bounds_lie_at_the_ends() -> None:
    given = schema(a={"type": "number", "bounds": [0, 3]})
    rows = pa.table({"a": [-7, 99, 1]})
    assert Domain.of(given).places(read_original(rows, given).cells).tolist() == [
        [0],
        [3],
        [1],
    ]


def test_a_schema_of_identifiers_is_refused() -> None:
    with pytest.raises(tn.errors.InvalidSchema):
        Domain.of(schema(name={"type": "identifier"}))


def test_too_many_places_are_refused() -> None:
    wide = schema(a={"type": "number", "bounds": [0, 2**62]})
    with pytest.raises(tn.errors.InvalidSchema):
        Domain.of(wide)


def test_another_row_never_moves_a_place() -> None:
    domain = Domain.of(MIXED)
    whole = domain.places(read_original(ROWS, MIXED).cells)
    for i in range(3):
        alone = domain.places(read_original(ROWS.slice(i, 1), MIXED).cells)
        assert np.array_equal(alone[0], whole[i])


def test_an_axis_knows_its_order() -> None:
    assert [axis.ordered for axis in Domain.of(MIXED).axes] == [True, True, False, False, False]
    assert isinstance(Axis.of(MIXED.columns["age"]), Axis)


# -- The distribution of one column, and ranks on its scale ----------------------------------------


def axes(**columns: dict[str, object]) -> dict[str, Axis]:
    table = {"name": "t", "unit": "record", "neighbours": "replace"}
    domain = Domain.of(Schema.from_dict({"table": table, "columns": columns}))
    return {axis.name: axis for axis in domain.axes}


AXES = axes(
    ill={"type": "boolean", "missing": False},
    few={"type": "number", "bounds": [1, 20], "missing": 1},
    some={"type": "number", "bounds": [1, 100], "missing": 1},
    many={"type": "number", "bounds": [0, 9999], "missing": 0},
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
    drawn = margin.quantile(margin.rank(places, Seeded(seed)))
    assert (np.abs(drawn - places) <= 1).all()
    assert (drawn == places).mean() > 0.7  # an end may be rounded to its neighbour


@given(margins(), st.integers(0, 99))
def test_ranks_rise_with_places(margin: Margin, seed: int) -> None:
    ranks = margin.rank(np.arange(margin.edges[-1]), Seeded(seed))
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
    margin = private_column(axis, InMemory(places[:, None]), Fraction(1), Seeded(3)).margin
    drawn = margin.sample(places.size, Seeded(4))
    off = np.abs(np.sort(places) - np.sort(drawn)).mean()
    assert off < 0.01 * axis.size
    assert 0 <= drawn.min() <= drawn.max() < axis.size


def test_a_blank_is_apart_from_the_largest_number() -> None:
    axis = AXES["gap"]
    places = np.repeat([0, axis.size - 1], [3000, 1000])
    margin = private_column(axis, InMemory(places[:, None]), Fraction(1), Seeded(5)).margin
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
    found = budgets(Domain((AXES["ill"], AXES["few"], AXES["many"], AXES["job"])), Fraction(1))
    assert sum(found) == 1
    assert found[2] == found[3] > found[1] > found[0]
    assert float(found[2] / found[0]) == pytest.approx(32**0.5, rel=1e-3)


def test_categories_that_are_counted_again_have_half() -> None:
    pair = Domain((AXES["many"], AXES["job"]))
    found = budgets(pair, Fraction(1), again=True)
    assert sum(found) == 1
    assert found == [Fraction(2, 3), Fraction(1, 3)]
    assert budgets(pair, Fraction(1)) == [Fraction(1, 2), Fraction(1, 2)]


def test_more_budget_means_less_error() -> None:
    for name in ("few", "many"):
        found = [margin_error(AXES[name], 10_000, Fraction(e)) for e in (1, 3)]
        assert 0 < found[1] < found[0] < 0.1


# -- Columns that are drawn one by one -------------------------------------------------------------

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
    monkeypatch.setattr(independent_columns, "has_counts", lambda *_: False)
    monkeypatch.setattr(independent_columns, "_BLOCKS_FROM", blocks)
    way = Columns.planned(numbers(4, 2), 2, Fraction(10))
    assert 7 <= worst_loss(way, (4, 2), monkeypatch) <= 10 + ROUNDING


def test_blocks_and_leaves_of_a_budget_each_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    right = independent_columns.noisy
    monkeypatch.setattr(independent_columns, "has_counts", lambda *_: False)
    monkeypatch.setattr(independent_columns, "_BLOCKS_FROM", 2)
    monkeypatch.setattr(
        independent_columns, "noisy", lambda counts, e, source: right(counts, 2 * e, source)
    )
    way = Columns.planned(numbers(4), 2, Fraction(10))
    assert worst_loss(way, (4,), monkeypatch) > 13


def test_a_budget_for_each_column_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        independent_columns, "budgets", lambda domain, e, again: [e] * len(domain.axes)
    )
    way = Columns.planned(numbers(*SIZES), 3, Fraction(2))
    assert worst_loss(way, SIZES, monkeypatch) > 3


@pytest.mark.parametrize("wrong", [for_one_cell, without_noise_where_empty])
def test_wrong_noise_is_seen(wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(independent_columns, "noisy", wrong)
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
        released = independent_columns.noisy(counts, epsilon, source)
        block = np.zeros(counts.size, np.int64)
        return Measured(np.append(edges, axis.size), released + 0.0, 1.0, block, held.rows)

    monkeypatch.setattr(independent_columns, "private_column", only_what_occurs)
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
    errors = [margin_error(axis, 1000, budget) for axis, budget in way.spent]
    assert way.expected_error == np.mean(errors) > 0
    assert list(way.parameters) == ["column c0", "column c1"]
    assert way.parameters["column c1"].startswith("A noisy count of each value, for epsilon 0.83")
    assert way.limits
    assert not Columns.planned(numbers(9), 10, Fraction(1)).limits
