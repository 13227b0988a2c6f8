"""How columns and tables are distributed, before and after."""

from __future__ import annotations

import datetime
import datetime as dt
import json
import math

import numpy as np
import pyarrow as pa
import pytest

import tenue as tn
from tenue import Schema
from tenue.errors import InvalidArgument
from tenue.evaluate.column_types import Values, typed
from tenue.evaluate.two_tables import distribution as module
from tenue.evaluate.two_tables.distribution import (
    BINS,
    MISSING,
    MOST_WORDS,
    OTHERS,
    marginals,
    spread_of_intervals,
    spread_of_values,
    word_shares,
)
from tenue.evaluate.two_tables.distribution_similarity import _fitted as fitted
from tenue.evaluate.two_tables.distribution_similarity import likeness
from tenue.noise import Seeded
from tenue.schema import Bounded, Table
from unit.evaluate.stated import AGE
from unit.evaluate.stated import schema as distribution_schema

distributions = tn.evaluate.distributions


def test_swapping_moves_nothing() -> None:
    table = pa.table({"a": [1, 2, 2, 5], "b": ["x", "y", "y", None]})
    swapped = pa.table({"a": [2, 5, 1, 2], "b": ["y", None, "x", "y"]})
    number, word = distributions(table, swapped)
    assert (number.mean, number.variance, number.quantiles) == (0, 0, 0)
    assert (number.histogram, number.missing) == (0, 0)
    assert (word.mean, word.variance, word.quantiles) == (None, None, None)
    assert (word.histogram, word.missing) == (0, 0)


def test_means_and_variances_move_relatively() -> None:
    (found,) = distributions([[2.0], [4.0]], [[4.0], [8.0]])
    assert found.mean == 1
    assert found.variance == 3
    (found,) = distributions([[-1.0], [1.0]], [[1.0], [1.0]])
    assert (found.mean, found.variance) == (math.inf, 1)
    (found,) = distributions([[3.0], [3.0]], [[3.0], [3.0]])
    assert (found.mean, found.variance, found.quantiles, found.histogram) == (0, 0, 0, 0)


def test_quantiles_move_by_a_share_of_the_width() -> None:
    original, masked = np.arange(11.0)[:, None], np.arange(11.0)[::-1, None] + 1
    (found,) = distributions(original, masked)
    assert found.quantiles == pytest.approx(1 / 10)
    stated = distribution_schema({"a": AGE})
    tables = (pa.table({"a": t[:, 0]}) for t in (original, masked))
    (found,) = distributions(*tables, schema=stated)
    assert found.quantiles == pytest.approx(1 / 100)
    (found,) = distributions([[3.0], [3.0]], [[3.0], [4.0]])
    assert found.quantiles == math.inf


def test_histograms_count_shares_and_what_leaves_the_range() -> None:
    (found,) = distributions([[0.0], [10.0]], [[4.0], [11.0]], bins=2)
    assert found.histogram == 0.5
    (found,) = distributions([[0.0], [10.0]], [[1.0], [9.0]], bins=2)
    assert found.histogram == 0
    (found,) = distributions([[0.0], [10.0]], [[1.0], [9.0]], bins=20)
    assert found.histogram == 1
    words = pa.table({"a": ["x", "x", "y", "y"]}), pa.table({"a": ["x", "x", "x", "z"]})
    assert distributions(*words)[0].histogram == 0.5
    with pytest.raises(InvalidArgument):
        distributions([[1]], [[1]], bins=0)


def test_missing_values_are_counted_and_not_guessed() -> None:
    before = pa.table({"a": [1.0, 2.0, 3.0, 4.0]})
    after = pa.table({"a": [1.0, 2.0, None, None]})
    (found,) = distributions(before, after, bins=1)
    assert (found.missing, found.histogram) == (0.5, 0.5)
    assert found.mean == pytest.approx(0.4)
    assert found.quantiles == pytest.approx(1 / 3, abs=1e-3)
    gone = pa.table({"a": pa.array([None] * 4, pa.float64())})
    (found,) = distributions(before, gone)
    assert (found.mean, found.histogram, found.missing) == (None, 1, 1)
    (found,) = distributions(gone, gone)
    assert (found.histogram, found.missing) == (0, 0)


def test_times_have_no_relative_mean() -> None:
    days = pa.table({"a": [dt.date(2020, 1, 1), dt.date(2020, 1, 3)]})
    later = pa.table({"a": [dt.date(2020, 1, 2), dt.date(2020, 1, 4)]})
    (found,) = distributions(days, later)
    assert found.mean is None
    assert found.quantiles == 0.5


# -- spread ----------------------------------------------------------------------------------------


def schema(**column: object) -> Table:
    table = {"name": "t", "unit": "record", "neighbours": "replace"}
    declared = {"type": "number", "bounds": [0, 99], "role": "quasi-identifier", **column}
    return Schema.from_dict({"table": table, "columns": {"age": declared}})


def bounded(of: Table) -> Bounded:
    column = of.columns["age"]
    assert isinstance(column, Bounded)
    return column


def read(cells: list[object], column: Bounded) -> Values:
    return typed("age", pa.chunked_array([pa.array(cells)]), column)


def test_rows_of_an_interval_are_spread_evenly_over_it() -> None:
    """A mutant that put them at its middle would show a peak that nobody measured."""
    column = bounded(schema())
    found = spread_of_intervals(read(["[10, 19]"] * 3 + ["20"], column), column)
    assert found is not None
    edges = np.array([9.5, 14.5, 19.5, 20.5, 30.5])
    assert found.shares(edges) == pytest.approx((0.375, 0.375, 0.25, 0))


def test_a_star_is_the_whole_domain_and_a_blank_is_no_part_of_it() -> None:
    column = bounded(schema())
    found = spread_of_intervals(read(["*", None, "*", "*"], column), column)
    assert found is not None
    assert (found.low[0], found.high[0], found.missing) == (-0.5, 99.5, 0.25)
    assert sum(found.shares(np.array([-0.5, 50, 99.5]))) == pytest.approx(0.75)


@pytest.mark.parametrize("text", ["[0, 999]", "old", "{a, b}", "[0, ]"])
def test_other_words_are_no_intervals(text: str) -> None:
    column = bounded(schema())
    words = read(["[1, 2]", text], column)
    assert spread_of_intervals(words, column) is None
    (found,) = marginals(None, pa.table({"age": ["[1, 2]", text]}), schema())
    assert found.edges == ()
    assert not found.spread


def test_a_value_is_spread_over_its_step() -> None:
    column = bounded(schema(grid=2, bounds=[0, 100]))
    found = spread_of_values(read([10, 10, None, 20], column), column)
    assert found is not None
    assert found.shares(np.array([9.0, 10, 11, 21])) == pytest.approx((0.25, 0.25, 0.25))
    assert found.missing == 0.25
    assert spread_of_values(read([None], column), column) is None


def test_a_generalised_number_is_drawn_beside_the_numbers() -> None:
    original = pa.table({"age": [10, 12, 14, 40]})
    released = pa.table({"age": ["[10, 14]"] * 3 + ["[40, 40]"]})
    (found,) = marginals(original, released, schema())
    assert found.spread
    assert found.before is not None
    assert len(found.edges) <= BINS + 1
    assert found.edges[0] == 9.5
    assert 40.5 <= found.edges[-1] < 42.5
    assert sum(found.after) == pytest.approx(1) == pytest.approx(sum(found.before))
    last = [place for place, edge in enumerate(found.edges) if edge <= 39.5][-1]
    assert sum(found.after[last:]) == pytest.approx(sum(found.before[last:])) == 0.25
    (alone,) = marginals(None, released, schema())
    assert alone.before is None
    assert alone.after == pytest.approx(found.after)


def test_days_are_drawn_as_times() -> None:
    days = schema(type="date", bounds=["1970-01-01", "1970-12-31"])
    released = pa.table({"age": ["[1970-01-11, 1970-01-20]"] * 2})
    (found,) = marginals(None, released, days)
    assert found.time
    assert (found.edges[0], found.edges[-1]) == (9.5 * 86_400, 19.5 * 86_400)
    assert found.words[0] == "1970-01-11"  # a day has a bin of its own
    assert found.words[-1] == "1970-01-20"


def test_shares_of_words_count_blanks() -> None:
    column = bounded(schema())
    assert word_shares(read(["*", None, "*", "x"], column)) == {
        "*": 0.5,
        None: 0.25,
        "x": 0.25,
    }


# -- marginal --------------------------------------------------------------------------------------


def test_shares_of_numbers_are_counted_in_the_same_bins() -> None:
    (found,) = marginals([[0.0], [0.5], [10.0]], [[5.0], [5.0], [10.0]])
    assert found.before is not None
    assert len(found.edges) == len(found.after) + 1 <= BINS + 1
    assert (found.edges[0], found.edges[-1]) == (0, 10)
    assert sum(found.after) == pytest.approx(1)
    assert sum(found.before) == pytest.approx(1)
    assert found.before[0] == pytest.approx(1 / 3)
    assert found.after[0] == 0


def test_few_whole_numbers_have_a_bin_each() -> None:
    (found,) = marginals(None, [[1], [2], [2], [4]])
    assert found.words == ("1", "2", "3", "4")
    assert found.after == (0.25, 0.5, 0, 0.25)
    (halves,) = marginals(None, [[1.0], [1.5], [2.0]])
    assert halves.words[:2] == ("1 to 1.05", "1.05 to 1.1")


def test_what_is_said_of_a_release_follows_from_it_alone() -> None:
    """A mutant that took bins or words from the original would tell its range or a rare value."""
    original = pa.table({"x": [0.0, 1.5, 99.0], "w": ["rare", "a", "b"]})
    released = pa.table({"x": [1.5, 2.0, 3.0], "w": ["a", "a", "b"]})
    alone = marginals(None, released)
    assert all(one.before is None for one in alone)
    assert (alone[0].edges[0], alone[0].edges[-1]) == (1.5, 3)
    assert alone[1].words == ("a", "b")
    beside = marginals(original, released)
    assert "rare" in beside[1].words
    assert beside[0].edges[-1] == 100


def test_rare_words_and_blanks_are_put_together() -> None:
    words = ["common"] * 50 + [f"w{i}" for i in range(40)] + [None] * 10
    (found,) = marginals(None, pa.table({"w": words}))
    assert found.words[0] == "common"
    assert len(found.words) == MOST_WORDS + 1
    assert found.words[-2:] == (OTHERS, MISSING)
    assert found.after[0] == 0.5
    assert found.after[-1] == pytest.approx(0.1)
    assert sum(found.after) == pytest.approx(1)


def test_blanks_of_numbers_are_told_apart() -> None:
    (found,) = marginals(pa.table({"x": [1.0, 2.5, 3.0, 4.0]}), pa.table({"x": [1.0, None, 3, 4]}))
    assert found.missing == (0.25, 0.0)
    assert sum(found.after) == pytest.approx(0.75)
    (empty,) = marginals(None, pa.table({"x": pa.array([None, None], pa.float64())}))
    assert empty.missing == (1.0, None)


def test_intervals_instead_of_numbers_are_shown_alone() -> None:
    (found,) = marginals(
        pa.table({"x": [1, 2, 3]}), pa.table({"x": ["[1, 2]", "[1, 2]", "[3, 4]"]})
    )
    assert found.before is None
    assert found.words == ("[1, 2]", "[3, 4]")


def test_days_and_constants_have_bins_too() -> None:
    days = [datetime.date(2020, 1, day) for day in (1, 2, 3)]
    (found,) = marginals(None, pa.table({"day": days}))
    assert found.time
    assert len(found.after) == 3
    (same,) = marginals(None, pa.table({"x": [3.25, 3.25]}))
    assert sum(same.after) == 1


def described(**columns: object) -> tn.Schema:
    table = {"name": "t", "unit": "record", "neighbours": "replace"}
    return tn.Schema.from_dict({"table": table, "columns": columns})


def test_bins_lie_on_the_grid_so_that_even_columns_have_even_bars() -> None:
    """72 ages in 24 equal bins had three values in some bars and four in others."""
    ages = pa.table({"age": list(range(18, 91)) * 4})
    (found,) = marginals(None, ages, described(age={"type": "number", "bounds": [18, 90]}))
    assert found.words[:2] == ("18 to 22", "23 to 27")
    assert found.after[:-1] == pytest.approx([5 / 73] * 14)
    prices = pa.table({"p": [i / 100 for i in range(1, 5001)]})
    column = {"type": "number", "bounds": [0, 50], "grid": 0.01}
    (found,) = marginals(None, prices, described(p=column))
    assert np.ptp(found.after[1:-1]) == pytest.approx(0)


def test_two_releases_of_a_table_have_the_same_bars() -> None:
    schema = described(
        age={"type": "number", "bounds": [18, 90]},
        pay={"type": "number", "bounds": [0, 1_000_000]},
        born={"type": "date", "bounds": ["1930-01-01", "2010-01-01"]},
    )

    def released(shift: int) -> tuple[module.Marginal, ...]:
        start = datetime.date(1932, 1, 1)
        return marginals(
            None,
            pa.table(
                {
                    "age": [20 + shift, *range(25, 83 - shift), *[50] * shift],
                    "pay": [20_000 + 999 * shift, *range(21_000, 79_000, 1000)],
                    "born": [start + datetime.timedelta(days=i) for i in range(shift, 28_000, 475)][
                        :59
                    ],
                }
            ),
            schema,
        )

    for one, other in zip(released(0), released(2), strict=True):
        common = set(one.edges) & set(other.edges)
        assert len(common) >= min(len(one.edges), len(other.edges)) - 2
    assert released(0)[0].edges == released(2)[0].edges  # where values fill half the domain


def test_generalised_and_swapped_numbers_have_the_same_bars() -> None:
    schema = described(age={"type": "number", "bounds": [0, 100]})
    numbers = marginals(None, pa.table({"age": list(range(100))}), schema)
    intervals = marginals(None, pa.table({"age": ["[0, 49]", "[50, 99]"]}), schema)
    assert numbers[0].edges == intervals[0].edges


def test_categories_are_in_their_declared_order() -> None:
    words = ["none", "primary", "secondary", "college"]
    schema = described(school={"type": "category", "categories": words})
    shown = ["college"] * 5 + ["none"] * 2 + ["secondary"] * 3 + ["primary", None]
    (found,) = marginals(None, pa.table({"school": shown}), schema)
    assert found.words == (*words, MISSING)
    assert found.after[:2] == pytest.approx((2 / 12, 1 / 12))
    (free,) = marginals(None, pa.table({"school": shown}))
    assert free.words == ("college", "secondary", "none", "primary", MISSING)
    many = [f"w{i:02}" for i in range(40)]
    schema = described(w={"type": "category", "categories": many})
    counted = [word for i, word in enumerate(many) for _ in range(i + 1)]
    (found,) = marginals(None, pa.table({"w": counted}), schema)
    assert found.words == (*many[-(MOST_WORDS - 1) :], OTHERS)


def test_only_declared_columns_are_shown() -> None:
    from unit.publish.census import people, schema

    table = people()
    names = [one.name for one in marginals(None, table, schema())]
    identifiers = {column.name for column in schema().identifiers}
    assert identifiers
    assert not identifiers & set(names)
    assert set(names) <= set(schema().columns)


def test_bins_are_written_only_when_somebody_reads_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant formats every bin of every column as it counts."""
    written: list[float] = []
    real = module.shortly
    monkeypatch.setattr(module, "shortly", lambda *given: written.append(given[0]) or real(*given))
    (found,) = marginals(None, np.linspace(0, 1, 100)[:, None])
    assert not written
    bins = len(found.words)
    assert len(written) == 2 * bins > 2


# -- The propensity score: 0 for what cannot be told apart, a quarter for what always can ----------

propensity = tn.evaluate.propensity


def draws(count: int, seed: int) -> np.ndarray:
    law = tn.noise.DiscreteLaplace(sensitivity=1, epsilon="0.05")
    return np.array(law.sample(count, source=Seeded(seed)), np.float64)


def standard(columns: np.ndarray) -> np.ndarray:
    return (columns - columns.mean(axis=0)) / columns.std(axis=0)


def linear_score(original: np.ndarray, masked: np.ndarray) -> float:
    """The mutant: every column by itself, linearly, as the measure was before."""
    both = np.concatenate([original, masked])
    design = np.column_stack([np.ones(len(both)), standard(both)])
    chances = fitted(design, np.repeat([0.0, 1.0], len(original)))
    return float(((chances - 0.5) ** 2).mean())


def test_one_group_of_all_is_told_apart_though_its_means_are_right() -> None:
    """k = n: every row is the mean of all. A model of means alone cannot tell."""
    original = np.column_stack([draws(200, 7), draws(200, 8)])
    masked = np.repeat(original.mean(axis=0)[None], 200, axis=0)
    assert linear_score(original, masked) == pytest.approx(0, abs=1e-12)
    assert propensity(original, masked).score > 0.2


def test_lost_correlations_are_told_apart_though_columns_are_the_same() -> None:
    one = draws(200, 7)
    original, masked = np.column_stack([one, one]), np.column_stack([one, one[::-1]])
    assert linear_score(original, masked) == pytest.approx(0, abs=1e-12)
    assert propensity(original, masked).score > 0.1
    words = np.where(one > 0, "high", "low")
    mixed = pa.table({"number": one, "word": words})
    swapped = pa.table({"number": one, "word": words[::-1]})
    assert propensity(mixed, swapped).score > 0.01


def test_a_swapped_table_cannot_be_told_apart_column_by_column() -> None:
    column = draws(200, 7)[:, None]
    assert propensity(column, column[::-1]).score == pytest.approx(0, abs=1e-20)


def test_what_is_always_told_apart_scores_a_quarter() -> None:
    found = propensity([[1.0], [2.0], [3.0]], [[11.0], [12.0], [13.0]])
    assert found.score == pytest.approx(0.25, abs=1e-3)
    words = propensity(pa.table({"a": ["x"] * 9}), pa.table({"a": ["y"] * 9}))
    assert words.score == pytest.approx(0.25, abs=1e-3)
    blanks = propensity(pa.table({"a": [1.0] * 9}), pa.table({"a": [None] * 9}))
    assert blanks.score == pytest.approx(0.25, abs=1e-3)


def test_two_groups_by_hand() -> None:
    """Half of the originals and all of the masked are y: of y two thirds are masked, of x none."""
    found = propensity(pa.table({"a": ["x", "y"] * 50}), pa.table({"a": ["y"] * 100}))
    by_hand = (50 * 0.25 + 150 * (2 / 3 - 1 / 2) ** 2) / 200
    assert found.score == pytest.approx(by_hand, rel=1e-3)
    assert found.ratio == pytest.approx(found.score * 4 * 200, rel=1e-9)


def test_it_is_the_maximum_of_the_likelihood() -> None:
    """The slope of the likelihood is zero: residuals are orthogonal to every feature."""
    original = np.column_stack([draws(300, 1), draws(300, 2)])
    masked = np.column_stack([draws(300, 3) + 20, draws(300, 4) * 2])
    z = standard(np.concatenate([original, masked]))
    products = standard(np.column_stack([z**2, z[:, 0] * z[:, 1]]))
    design = np.column_stack([np.ones(600), z, products])
    target = np.repeat([0.0, 1.0], 300)
    chances = fitted(design, target)
    assert np.abs(design.T @ (target - chances)).max() < 1e-2
    assert propensity(original, masked).score == pytest.approx(((chances - 0.5) ** 2).mean())


def test_a_fresh_sample_has_ratio_about_one() -> None:
    found = [
        propensity(
            np.column_stack([draws(400, 10 * i + j) for j in range(4)]),
            np.column_stack([draws(400, 10 * i + j + 5) for j in range(4)]),
        ).ratio
        for i in range(20)
    ]
    # the mean of 20 ratios has a standard deviation of about 0.16; half or twice would be seen
    assert 0.6 < np.mean(found) < 1.5


def test_long_tables_are_thinned_and_constant_ones_are_alike() -> None:
    long = np.tile([[0.0], [1.0]], (150_000, 1))
    assert propensity(long, long).score == pytest.approx(0, abs=1e-20)
    same = propensity([[1.0], [1.0]], [[1.0], [1.0]])
    assert (same.score, same.ratio) == (0, 0)


# -- Two tables whose rows have nothing to do with each other, compared as wholes ------------------


def table(n: int, seed: int, tie: float = 0.0) -> pa.Table:
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 1, n)
    y = tie * x + (1 - tie) * rng.uniform(0, 1, n)
    return pa.table({"x": x, "y": y, "c": rng.choice(["a", "b", "c"], n)})


def test_the_order_of_rows_does_not_count() -> None:
    one = table(500, 1)
    mixed = one.take(np.random.default_rng(2).permutation(500))
    found = likeness(one, mixed)
    assert found.pairs == found.boxes == found.sliced == 0
    assert all(far == 0 for _, far in found.kolmogorov)
    assert found.correlation is not None
    assert found.correlation.mean == pytest.approx(0, abs=1e-12)


def test_columns_that_are_each_right_and_not_together_are_seen() -> None:
    tied, loose = table(20_000, 1, tie=1.0), table(20_000, 1)
    broken = pa.table({"x": tied["x"], "y": loose["x"].take(list(range(19_999, -1, -1)))})
    found = likeness(tied.select(["x", "y"]), broken)
    assert all(column.histogram < 0.01 for column in found.columns)
    assert found.pairs is not None
    assert found.pairs > 0.8
    assert found.sliced is not None
    assert found.sliced > 0.05


def test_sliced_distance_of_a_shift_is_the_mean_of_its_projections() -> None:
    points = np.random.default_rng(1).uniform(0, 1, (4000, 2))
    points[0], points[1] = (0, 0), (1, 1)
    shifted = points + np.array([0.1, 0.0])
    found = likeness(points, shifted).sliced
    # both columns have reach 1.1 and 1; the mean of |cos| over directions is 2/pi
    assert found == pytest.approx(0.1 / 1.1 * 2 / np.pi, rel=0.05)


@pytest.mark.parametrize(("before", "after"), [(7, 3), (5, 10), (4, 6)])
def test_distance_of_tables_of_different_length_is_that_of_their_common_multiples(
    before: int, after: int
) -> None:
    rng = np.random.default_rng(1)
    one, other = rng.uniform(0, 1, (before, 2)), rng.uniform(0, 1, (after, 2))
    found = likeness(one, other)
    equal = likeness(np.repeat(one, after, axis=0), np.repeat(other, before, axis=0))
    assert found.sliced == pytest.approx(equal.sliced, rel=1e-9)
    repeated = likeness(one, np.repeat(other, 3, axis=0))
    assert found.boxes == pytest.approx(repeated.boxes, rel=1e-9)
    assert dict(found.kolmogorov) == pytest.approx(dict(equal.kolmogorov))


def test_blanks_are_shares_of_their_own_table() -> None:
    """The mutant divides both by the rows of the original, and finds more blanks than rows."""
    one = pa.table({"x": [1.0, None, 3.0, None]})
    found = likeness(one, pa.table({"x": [1.0, None]}))
    assert [column.missing for column in found.columns] == [0.0]


def test_one_column_has_no_pairs() -> None:
    found = likeness([[0.0], [1.0]], [[0.0], [0.0]])
    assert found.pairs is None
    assert found.correlation is None
    assert found.sliced == 0.5
    assert found.kolmogorov == (("0", 0.5),)


def test_missing_values_are_a_cell_of_their_own() -> None:
    one = pa.table({"x": [1.0, 2.0, None, None], "c": ["a", "a", "b", "b"]})
    other = pa.table({"x": [1.0, 2.0, 1.0, 2.0], "c": ["a", "a", "b", "b"]})
    found = likeness(one, other)
    assert found.pairs == 0.5
    assert found.sliced is None


def test_boxes_are_off_where_rows_moved() -> None:
    assert likeness(table(3000, 1), table(3000, 2)).boxes < 0.02
    far = pa.table({"x": np.zeros(3000), "y": np.zeros(3000), "c": ["a"] * 3000})
    assert likeness(table(3000, 1), far).boxes > 0.1


def test_the_facts_are_marked_for_the_holder() -> None:
    found = likeness(table(50, 1), table(50, 2))
    assert json.loads(found.to_json())["for"] == "the holder alone"
    assert "total variation" in str(found)
