"""Beliefs are held against columns and statistics without a row."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from tenue.errors import InvalidPrior, NotPromised
from tenue.prior import (
    Binomial,
    Categorical,
    Independent,
    Normal,
    Ordinal,
    Points,
    Table,
    Uniform,
)
from tenue.query.belief.fit import fit_columns, fit_statistics
from tenue.schema import Schema

SCHEMA = Schema.from_dict(
    {
        "table": {"name": "t", "unit": "record", "neighbours": "replace"},
        "columns": {
            "age": {"type": "number", "bounds": [0, 10], "grid": 0.5},
            "big": {"type": "number", "bounds": [0, 1_000_000]},
            "job": {"type": "category", "categories": ["a", "b"]},
            "sick": {"type": "boolean"},
            "born": {"type": "date", "bounds": ["1900-01-01", "2020-01-01"]},
        },
    }
)


def fit(prior: Any, *names: str) -> Any:
    return fit_columns(prior, [SCHEMA.column(name) for name in names])


def test_numbers_are_put_on_the_columns_grid() -> None:
    fitted = fit(Uniform(1, 3), "age")
    assert fitted.values == tuple(Fraction(k, 2) for k in range(2, 7))
    assert fit(Binomial(10, 0.5), "age").values[-1] == 10


@pytest.mark.parametrize(
    ("prior", "names"),
    [
        (0.5, ["job"]),
        (Uniform(0, 11), ["age"]),
        (Uniform(0, 2_000_000), ["big"]),
        (Points({"0.25": 1}), ["age"]),
        (Binomial(11, 0.5), ["age"]),
        (Categorical({"a": 0.5, "z": 0.5}), ["job"]),
        (Categorical({True: 1}), ["job"]),
        (Points({0: 0.5, 1: 0.5}), ["sick"]),
        (Categorical({0: 0.5, 1: 0.5}), ["sick"]),
        (Categorical({"a": 1}), ["age"]),
        (Uniform(0, 1), ["job"]),
        (Table({("a", True): 1}), ["job"]),
        (Categorical({"a": 1}), ["job", "sick"]),
        (Table({("a", True, 1): 1}), ["job", "sick"]),
        (Table({("a", "yes"): 1}), ["job", "sick"]),
        (Table({("a", "0.25"): 1}), ["job", "age"]),
        (Table({("a", Fraction(1, 4)): 1}), ["job", "age"]),
        (Table({("a", 11): 1}), ["job", "age"]),
        (Table({("z", 1): 1}), ["job", "age"]),
        (Independent([Categorical({"a": 1}), Categorical({1: 1})]), ["job", "age"]),
    ],
    ids=repr,
)
def test_a_belief_in_what_cannot_be_is_refused(prior: Any, names: list[str]) -> None:
    with pytest.raises(InvalidPrior):
        fit(prior, *names)


def test_what_fits_is_kept() -> None:
    for prior, names in (
        (Categorical({"a": 1}), ["job"]),
        (Ordinal(["a", "b"], [0.5, 0.5]), ["job"]),
        (Categorical({True: 0.5, False: 0.5}), ["sick"]),
        (Table({("a", True): 0.5, ("b", False): 0.5}), ["job", "sick"]),
        (Independent([Categorical({"a": 1}), Points({1: 1})]), ["job", "age"]),
    ):
        assert fit(prior, *names) is prior


def test_days_are_not_refined() -> None:
    with pytest.raises(NotPromised):
        fit(Uniform(0, 1), "born")


def test_statistics() -> None:
    one, half = Fraction(1), Fraction(1, 2)
    big = Binomial(10**6, 0.5)
    assert fit_statistics(big, ["n"], [one]) is big
    assert fit_statistics(Uniform(0, 2), ["n"], [half]).values[1] == half
    bell = Normal(5, 1, 0, 10)
    assert fit_statistics(bell, ["mean"], [None]) is bell
    joint = Table({(1, Fraction(1, 2)): 1})
    assert fit_statistics(joint, ["n", "s"], [one, half]) is joint
    for prior, names, grids in (
        (Categorical({"a": 1}), ["n"], [one]),
        (Points({half: 1}), ["n"], [one]),
        (Binomial(5, 0.5), ["s"], [Fraction(3, 7)]),
        (joint, ["n", "s"], [one, one]),
        (joint, ["n"], [one]),
        (Table({("a", 1): 1}), ["n", "s"], [one, one]),
        (None, ["n"], [one]),
    ):
        with pytest.raises(InvalidPrior):
            fit_statistics(prior, names, grids)
