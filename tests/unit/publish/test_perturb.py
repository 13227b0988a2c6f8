"""Perturbation: laws as stated, nothing promised, and the risk measured."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import tenue as tn
from tenue.errors import InvalidArgument, InvalidSchema, NotPromised
from tenue.noise.source import Seeded
from tenue.privacy import promise_from
from tenue.publish.methods.catalogue import chosen_method
from tenue.publish.methods.perturb import _by_matrix, _coins, _invariant, _variance
from tenue.publish.table.cells import Cells
from unit.publish.census import people, schema

SIZE = 20_000


def cells(name: str, numbers: Any, gaps: Any = ()) -> Cells:
    values = np.array(numbers, np.int64)
    present = np.ones(values.size, np.bool_)
    present[list(gaps)] = False
    return Cells(schema().columns[name], values, present, None)


def released(table: pa.Table, **options: Any) -> Any:
    return tn.publish(table, schema=schema(), method="perturb", **options)


def perturbed(columns: dict[str, Cells], seed: int = 1, **options: Any) -> dict[str, Any]:
    """The noise of some columns, in grid steps."""
    way = chosen_method(schema(), "perturb", **options)
    return way._noise(columns, Seeded(seed))  # type: ignore[attr-defined]


def near(found: float, expected: float, deviation: float) -> bool:
    """Within five standard deviations of a mean of `SIZE` draws."""
    return abs(found - expected) <= 5 * deviation / sqrt(SIZE)


def test_invariant_pram_keeps_expected_frequencies_and_keeps_values_as_stated() -> None:
    values = np.array([0] * 14_000 + [1] * 4_000 + [2] * 2_000)
    after = _invariant(cells("ill", values), Fraction(3, 5), Seeded(3))
    for value, share in ((0, 0.7), (1, 0.2), (2, 0.1)):
        assert near((after == value).mean(), share, 0.5)
        own = (after[values == value] == value).mean()
        stays = 0.6 + 0.4 * share  # kept, or the value of another row that is the same
        assert abs(own - stays) < 5 * 0.5 / sqrt((values == value).sum())


def test_invariant_pram_draws_from_present_values_only() -> None:
    after = _invariant(cells("ill", [0, 1, 1, 2], gaps=[3]), Fraction(0), Seeded(1))
    assert 2 not in after


def test_a_stated_matrix_is_the_law() -> None:
    matrix = ((Fraction(9, 10), Fraction(1, 10)), (Fraction(1, 4), Fraction(3, 4)))
    values = np.array([0, 1] * (SIZE // 2))
    after = _by_matrix(values, matrix, Seeded(5))
    for value, row in enumerate(matrix):
        found = np.bincount(after[values == value], minlength=2) / (SIZE // 2)
        assert np.allclose(found, [float(p) for p in row], atol=5 * 0.5 / sqrt(SIZE // 2))
    sure = ((Fraction(0), Fraction(1)), (Fraction(1), Fraction(0)))
    assert _by_matrix(np.array([0, 1, 1]), sure, Seeded(1)).tolist() == [1, 0, 0]


def test_the_variance_is_exact() -> None:
    assert _variance(np.array([1, 2, 2, 7])) == Fraction(11, 2)


def test_independent_noise_has_the_stated_deviation_and_no_correlation() -> None:
    rng = np.random.default_rng(1)
    age = rng.integers(0, 121, SIZE)
    columns = {"age": cells("age", age), "income": cells("income", age * 800)}
    found = perturbed(columns, noise={"age": 2, "income": 2})
    for name, one in columns.items():
        deviation = 2 * one.numbers.std()
        assert near(found[name].mean(), 0, deviation)
        assert abs(found[name].std() / deviation - 1) < 0.03
        normal = (np.abs(found[name]) < deviation).mean()
        assert 0.66 < normal < 0.71  # 68.3 %
    assert abs(np.corrcoef(found["age"], found["income"])[0, 1]) < 0.04


def test_correlated_noise_has_the_covariance_of_the_table() -> None:
    rng = np.random.default_rng(1)
    age = rng.integers(20, 100, SIZE)
    income = age * 500 + rng.integers(0, 40_000, SIZE)
    columns = {"age": cells("age", age), "income": cells("income", income, gaps=[0, 1])}
    found = perturbed(columns, noise={"age": "0.5", "income": 1}, correlated=True)
    truth = np.cov(age[2:], income[2:])
    expected = np.array([[0.25, 0.5], [0.5, 1]]) * truth
    assert np.allclose(np.cov(found["age"], found["income"]) / expected, 1, atol=0.05)
    assert near(found["age"].mean(), 0, 0.5 * age.std())


def test_noise_beyond_64_bits_is_exact() -> None:
    column = tn.Schema.from_dict(
        {
            "table": {"name": "x", "unit": "record", "neighbours": "replace"},
            "columns": {"x": {"type": "number", "bounds": [0, 2**52], "grid": 0.001}},
        }
    ).columns["x"]
    large = Cells(column, np.array([0, 2**61] * 50), np.ones(100, np.bool_), None)
    noise = _coins(large, Fraction(10), Seeded(1))
    assert max(map(abs, noise.tolist())) > 2**62
    assert float(np.std(noise.astype(float))) == pytest.approx(10 * 2**60, rel=0.3)


def test_a_release_is_perturbed_in_the_stated_columns_only() -> None:
    table = people(300)
    release = released(table, retain={"SEX": 0.5}, noise={"income": 0.2})
    assert release.rows == 300
    for name in ("age", "job", "ill", "note"):
        assert Counter(release.table.column(name).to_pylist()) == Counter(
            table.column(name).to_pylist()
        )
    incomes = release.table.column("income").to_pylist()
    assert 0 <= min(incomes) <= max(incomes) <= 1000
    assert set(incomes) != set(table.column("income").to_pylist())
    stated = release.certificate.parameters
    assert stated["perturbed"] == "sex, income"
    assert stated["PRAM of sex"].startswith("kept with probability 0.5")
    assert stated["noise of income"].startswith("0.2 times")
    assert any("`age`" in limit for limit in release.certificate.does_not_promise)


def test_missing_values_stay_missing_and_no_row_is_left_out() -> None:
    table = people(100, age=[None, 30, 40, 50] * 25, ill=["flu", None, "no", "cold"] * 25)
    release = released(table, retain=0, noise=3)
    assert (release.table.column("age").null_count, release.rows) == (25, 100)
    assert release.table.column("ill").null_count == 25


def test_nothing_is_promised_and_the_certificate_says_so() -> None:
    release = released(people(100), retain=0.8, noise=0.1)
    promise = release.certificate.promise
    assert promise == tn.NoFormalPromise()
    assert not promise.is_differential_privacy
    assert promise_from(json.loads(json.dumps(promise.to_dict()))) == promise
    text = release.report()
    assert "Nothing is promised about what an intruder can learn" in " ".join(text.split())
    assert "no formal promise" in repr(release)
    assert "no formal promise" in release.page()
    from tenue.privacy import Certificate

    written = release.certificate.to_json()
    assert Certificate.from_json(written) == release.certificate


def test_the_risk_of_the_draw_is_measured() -> None:
    table = people(150)
    weak = released(table, retain=1, noise={"income": "0.000001"}).risk
    strong = released(table, retain=0, noise=3).risk
    assert weak.linkage_by_quasi_identifiers > 0.5
    assert strong.linkage_by_quasi_identifiers < 0.2
    assert weak.own_values["ill"] == 1
    assert strong.own_values["ill"] < 0.7
    assert "changed at random" in " ".join(strong.check.notes)


def test_values_beyond_the_bounds_are_clipped_and_counted() -> None:
    release = released(people(200, age=[0, 120] * 100), noise={"age": 5})
    ages = release.table.column("age").to_pylist()
    assert {0, 120} <= set(ages)
    assert min(ages) == 0
    assert max(ages) == 120
    (step,) = [one for one in release.history if one.name == "perturbed"]
    assert "clipped" in step.text


def test_the_certificate_does_not_depend_on_rows() -> None:
    asked: dict[str, Any] = {"retain": 0.7, "noise": 0.3, "correlated": True}
    one, other = (released(people(100, seed=seed), **asked).certificate for seed in (1, 2))
    assert one == other


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({}, "nothing to do"),
        ({"retain": 1.5}, "0 to 1"),
        ({"retain": {"age": 0.5}}, "names `age`"),
        ({"retain": {"note": 0.5}}, "names `note`"),
        ({"noise": {"sex": 0.5}}, "names `sex`"),
        ({"noise": 0}, "above 0"),
        ({"noise": 11}, "at most 10"),
        ({"noise": {"age": 1}, "correlated": True}, "fewer than two"),
        ({"retain": "0.12345678"}, "denominator"),
        ({"transition": {"sex": [[1, 0]]}}, "2 rows of 2"),
        ({"transition": {"sex": [[1, 0], [0.5, 0.4]]}}, "sum 1"),
        ({"transition": {"sex": "identity"}}, "2 rows of 2"),
        ({"transition": [[1, 0], [0, 1]]}, "list"),
        ({"transition": {"sex": [[1, 0], [0, 1]]}, "retain": {"sex": 1}}, "named once"),
    ],
)
def test_options_that_mean_nothing_are_refused(options: dict[str, Any], word: str) -> None:
    with pytest.raises(InvalidArgument, match=word):
        released(people(), **options)


def test_what_no_perturbation_suits_is_refused_before_a_row_is_read() -> None:
    with pytest.raises(NotPromised, match="averag"):
        tn.publish("nowhere.csv", schema=schema("name"), method="perturb", noise=1)
    bare = schema(age=None, job=None, sex=None, income=None, ill=None)
    with pytest.raises(InvalidSchema):
        tn.publish("nowhere.csv", schema=bare, method="perturb", noise=1)


def test_a_second_release_is_refused() -> None:
    from tenue.errors import Refused

    ledger = tn.ledger.Memory()
    table = people(60)
    asked: dict[str, Any] = {"schema": schema(), "method": "perturb", "retain": 0.8}
    assert tn.publish(table, ledger=ledger, **asked).table.num_rows == 60
    with pytest.raises(Refused, match="released"):
        tn.publish(table, ledger=ledger, **asked)
