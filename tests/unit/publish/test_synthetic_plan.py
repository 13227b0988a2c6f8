"""What a private release will do."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import tenue as tn
from private_laws import domain, numbers
from tenue.noise.source import Seeded
from tenue.publish.synthetic.domain import Domain
from tenue.publish.synthetic.plan import WAYS, ReleasePlan, chosen_way, plan_release, planned
from tenue.report.picture import Curve, Dots

SENTENCE = re.compile(r"[A-Z0-9][^\n]* [^\n]*[^.]\.")


def test_ways_go_by_their_names() -> None:
    assert all(way.name == name for name, way in WAYS.items())


@pytest.mark.parametrize("by", WAYS)
def test_a_way_draws_as_many_rows_within_the_domain(by: str) -> None:
    sizes = (7, 300, 3)
    domain = numbers(*sizes, blank=True)
    way = WAYS[by].planned(domain, 500, Fraction(1))
    rng = np.random.default_rng(1)
    places = np.stack([rng.integers(0, size, 500) for size in domain.sizes], axis=1)
    made = way.draw(places, Seeded(2))
    assert made.shape == places.shape
    assert made.dtype == np.int64
    assert ((made >= 0) & (made < np.array(domain.sizes))).all()
    assert way.expected_error > 0


@pytest.mark.parametrize("by", WAYS)
def test_what_a_way_says_are_sentences(by: str) -> None:
    way = WAYS[by].planned(numbers(7, 300, 3, blank=True), 500, Fraction(1))
    for said in (*way.limits, *way.parameters.values()):
        assert SENTENCE.fullmatch(said), said
    assert not SENTENCE.fullmatch(way.mechanism), "a few words, for others to make a sentence of"


@pytest.mark.parametrize("wrong", ["epsilon 0.5", "Epsilon 0.5", "5, epsilon 0.1 each", "No.."])
def test_what_is_no_sentence_is_seen(wrong: str) -> None:
    assert not SENTENCE.fullmatch(wrong)


@pytest.mark.parametrize("by", WAYS)
def test_the_same_bits_draw_the_same_table(by: str) -> None:
    domain = numbers(5, 5)
    way = WAYS[by].planned(domain, 200, Fraction(1))
    places = np.random.default_rng(3).integers(0, 5, (200, 2))
    assert np.array_equal(way.draw(places, Seeded(4)), way.draw(places, Seeded(4)))


# -- Which way is taken, by public facts alone -----------------------------------------------------

FINE = {"type": "number", "bounds": [0, 10**6]}
WHOLE = {"type": "number", "bounds": [0, 99]}
FLAT = {"type": "category", "categories": ["a", "b", "c"]}


@pytest.mark.parametrize(
    ("columns", "rows", "by"),
    [
        ([FINE], 1_000, "tree"),
        ([FLAT], 1_000, "columns"),
        ([FINE, FINE], 1_000, "copula"),
        ([FINE, FINE], 5_000, "copula"),
        ([FINE, FINE], 5_001, "two-stage"),
        ([FINE, FINE], 49_999, "two-stage"),
        ([FINE, FINE], 50_000, "tree"),
        ([FINE, WHOLE], 5_000, "copula"),
        ([WHOLE, WHOLE], 5_000, "two-stage"),
        ([WHOLE, WHOLE], 10_000, "two-stage"),
        ([FINE, FINE], 999, "tree"),
        ([FINE] * 3, 999, "columns"),
        ([FINE] * 3, 120, "columns"),
        ([FINE] * 3, 119, "tree"),
        ([FINE, WHOLE, WHOLE, FINE], 159, "tree"),
        ([FINE] * 4, 10_000, "copula"),
        ([FINE] * 4, 10_001, "two-stage"),
        ([FINE, FINE, FLAT], 999, "columns"),
        ([FINE, FINE, FLAT], 1_000, "two-stage"),
        ([FINE, FLAT], 9_999, "columns"),
        ([FINE, FLAT], 10_000, "two-stage"),
        ([FINE] * 5, 249, "columns"),
        ([FINE] * 5, 250, "copula"),
        ([FINE] * 5, 375_000, "copula"),
        ([FINE] * 5, 375_001, "network"),
        ([FINE, *[FLAT] * 4], 2_999, "columns"),
        ([FINE, *[FLAT] * 4], 3_000, "network"),
        ([FINE, WHOLE, *[FLAT] * 3], 999, "columns"),
        ([FINE, WHOLE, *[FLAT] * 3], 1_000, "two-stage"),
        ([FINE, WHOLE, *[FLAT] * 3], 10**6, "two-stage"),
        ([FINE, WHOLE, *[FLAT] * 4], 1_499, "columns"),
        ([FINE, WHOLE, *[FLAT] * 4], 1_500, "two-stage"),
        ([FINE, WHOLE, *[FLAT] * 4], 11_999, "two-stage"),
        ([FINE, WHOLE, *[FLAT] * 4], 12_000, "network"),
    ],
)
def test_the_rule(columns: list[dict[str, object]], rows: int, by: str) -> None:
    made = domain(**{f"c{j}": column for j, column in enumerate(columns)})
    found, reason = chosen_way(made, rows, Fraction(1))
    assert found == by
    assert reason[0].isupper()
    assert reason.endswith(".")
    # twice the rows at half the price are as good
    assert chosen_way(made, 2 * rows, Fraction(1, 2))[0] == by


# -- What a private release will do, from public facts alone ---------------------------------------


def schema(columns: int = 2, size: int = 100_001, **changes: Any) -> dict[str, Any]:
    declared = {f"x{j}": {"type": "number", "bounds": [0, size - 1]} for j in range(columns)}
    table = {"name": "t", "unit": "record", "neighbours": "replace"} | changes
    return {"table": table, "columns": declared}


@pytest.mark.parametrize(
    ("columns", "n", "k", "most"),
    [(2, 30_162, 300, 0.0955), (2, 30_162, 1_000, 0.0155), (4, 1_080, 100, 0.281)],
)
def test_sensitivities_of_the_chain(columns: int, n: int, k: int, most: float) -> None:
    plan = plan_release(schema(columns), n, 1, k=k)
    assert plan.by == "microaggregation"
    assert plan.k == k
    assert plan.clusters == n // k
    assert plan.sensitivity is not None
    assert plan.sensitivity <= most


def test_one_column_moves_by_its_range_over_k() -> None:
    plan = plan_release(schema(1), 10_000, "0.5", k=50)
    assert plan.sensitivity == pytest.approx(1 / 50)
    assert plan.scale is not None
    # a missing value lies half the range beyond the last
    assert plan.scale["x0"] == pytest.approx(1.5 * 100_000 / 50 / 0.5)


@pytest.mark.parametrize("by", ["auto", *WAYS])
def test_no_row_and_no_ledger_is_needed_and_the_facts_are_json(by: str) -> None:
    plan = plan_release(schema(), 5_000, 1, by)
    told = json.loads(plan.to_json())
    assert (told["by"], told["sensitivity"]) == (plan.by, plan.sensitivity)
    assert plan.by in str(plan)
    assert all(text[0].isalnum() and text.endswith(".") for _, text in plan._facts()), plan
    assert max(map(len, str(plan).splitlines())) < 80
    assert "<table" in plan._repr_html_()
    assert 0 < plan.expected_error < 0.1


def test_the_number_of_rows_may_be_stated_by_the_schema() -> None:
    assert plan_release(schema(rows=700), epsilon=1).rows == 700
    with pytest.raises(tn.Refused, match="not known"):
        plan_release(schema(), epsilon=1)


@pytest.mark.parametrize(
    "given",
    [{}, {"epsilon": 1, "k": 9, "by": "tree"}, {"epsilon": 1, "by": "oak"}, {"epsilon": -1}],
)
def test_what_does_not_suit_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(tn.Refused):
        plan_release(schema(), 1_000, **given)


def test_whoever_asks_for_a_way_is_told_which_one_suits_the_table() -> None:
    assert plan_release(schema(), 50_000, 1).by == "tree"
    assert "suits" in plan_release(schema(), 50_000, 1, "tree").reason
    assert "instead of tree" in plan_release(schema(), 50_000, 1, "columns").reason


def test_few_rows_are_warned_of() -> None:
    assert plan_release(schema(), 500, 1).warnings
    assert not plan_release(schema(), 5_000, 1).warnings


def test_noise_as_wide_as_the_domain_is_warned_of() -> None:
    few, many = (plan_release(schema(4), 5_000, 1, k=k) for k in (20, 300))
    assert few.sensitivity is not None
    assert f"{100 * few.sensitivity:.3g} % of the width" in few.warnings[0]
    assert not many.warnings
    assert plan_release(schema(4), 5_000, "0.25", k=300).warnings, "less epsilon, wider noise"


def test_more_rows_mean_less_error_for_every_way() -> None:
    domain = Domain.of(tn.Schema.from_dict(schema(3)))
    for by in ("tree", "two-stage", "columns", "copula", "network", "microaggregation"):
        few, many = (planned(domain, n, Fraction(1), by).expected_error for n in (2_000, 200_000))
        assert many < few, by


@pytest.mark.parametrize("by", ["auto", "columns", "two-stage", "network", "copula"])
def test_what_epsilon_cannot_be_shared_by_is_refused_before_it_is_paid(by: str) -> None:
    """The least epsilon that is not refused is one that all noise can be drawn for."""
    columns = 60 if by == "network" else 120  # all pairs of them are chosen among
    wide = {
        "table": {"name": "t", "unit": "record", "neighbours": "replace", "rows": 20},
        "columns": {f"x{i}": {"type": "number", "bounds": [0, 9_999]} for i in range(columns)},
        "budget": {"total": 1},
    }
    books = tn.ledger.Memory()
    rows = pa.table({name: [7] * 20 for name in wide["columns"]})
    with pytest.raises(tn.Refused, match="share") as refused:
        tn.publish(rows, schema=wide, method="private", epsilon="1e-9", by=by, ledger=books)
    assert list(books.datasets()) == []
    needed = refused.value.fix.partition("epsilon=")[2].split()[0]
    assert "e" not in needed
    plan = plan_release(wide, epsilon=needed, by=by)
    assert plan.epsilon < Fraction(1, 10**6)
    made = plan.way.draw(np.zeros((20, columns), np.int64), Seeded(1))
    assert made.shape == (20, columns)


@pytest.mark.parametrize("by", ["auto", *WAYS])
def test_its_chart_shows_what_other_prices_would_buy(by: str) -> None:
    """A mutant that drew the error of this price for all of them would be a level line."""
    plan = plan_release(schema(2), 20_000, 1, by=by)
    (panel,) = plan.picture().panels
    (curve,) = [mark for mark in panel.marks if isinstance(mark, Curve)]
    (dots,) = [mark for mark in panel.marks if isinstance(mark, Dots)]
    assert list(dots.points) == [(1.0, plan.expected_error)]
    assert dots.points[0] in curve.points
    errors = [error for _, error in curve.points]
    assert errors == sorted(errors, reverse=True)
    assert errors[0] > errors[-1]
    assert "epsilon 1: " in tn.report.plot(plan).svg()


def test_prices_that_are_too_small_are_not_drawn() -> None:
    """Shared by 1,500 columns, an eighth of four billionths would be less than any law is for."""
    plan = plan_release(schema(1500, size=10), 10_000, "4e-9", by="columns")
    (panel,) = plan.picture().panels
    (curve,) = [mark for mark in panel.marks if isinstance(mark, Curve)]
    assert min(price for price, _ in curve.points) == 2e-9


# -- A rough figure, and how rough -----------------------------------------------------------------


def measured(plan: ReleasePlan, releases: int) -> float:
    """The mean error of the share of rows in a random interval, for values spread evenly."""
    rng, off = np.random.default_rng(5), []
    for seed in range(releases):
        sizes = plan.way.domain.sizes
        places = np.stack([rng.integers(0, size, plan.rows) for size in sizes], axis=1)
        made = plan.way.draw(places, Seeded(seed))
        for j, size in enumerate(sizes):
            true, found = (
                np.cumsum(np.append(0, np.bincount(table[:, j], minlength=size)))
                for table in (places, made)
            )
            low, high = np.sort(rng.integers(0, size + 1, (2, 500)), axis=0)
            off.append(np.abs((true[high] - true[low]) - (found[high] - found[low])).mean())
    return float(np.mean(off)) / plan.rows


@pytest.mark.parametrize("by", ["tree", "two-stage", "columns", "copula", "network"])
@pytest.mark.parametrize("sizes", [(1000, 50, 200), (300, 300)])
@pytest.mark.parametrize("rows", [2_000, pytest.param(20_000, marks=pytest.mark.slow)])
def test_the_expected_error_is_a_rough_figure(by: str, sizes: tuple[int, ...], rows: int) -> None:
    plan = planned(numbers(*sizes, blank=True), rows, Fraction(1), by)
    assert 0.45 < measured(plan, 4) / plan.expected_error < 2.1


def test_a_rough_figure_is_called_one_wherever_it_is_printed() -> None:
    plan = plan_release(schema(), 5_000, 1)
    for text in (str(plan), plan._repr_html_()):
        assert "rough figure" in " ".join(text.split())
    picture = plan.picture()
    assert "rough" in picture.panels[0].title
    assert "rough" in picture.subtitle
