"""What an aggregate takes: one column that fits, with or without FILTER."""

# ruff: noqa: S608 - these texts are what is tested

from __future__ import annotations

import pytest

from tenue.query.question import Aggregate
from unit.query.asked import ask, refused


def test_a_column_stays_itself_until_something_is_computed() -> None:
    assert ask("SELECT SUM((age)) FROM census").aggregates() == (Aggregate("sum", "age"),)
    assert ask("SELECT SUM(age * 1) FROM census").aggregates() == (Aggregate("sum", "age"),)
    assert ask("SELECT SUM(age * 1) FROM census").computed == ()
    assert ask("SELECT SUM(age * 2) FROM census").aggregates() == (Aggregate("sum", "(2 * age)"),)


def test_booleans_have_means_and_counts() -> None:
    (mean,) = ask("SELECT AVG(employed) FROM census").aggregates()
    assert (mean.kind, mean.column) == (
        "avg",
        "(CASE WHEN employed = TRUE THEN 1 WHEN employed = FALSE THEN 0 END)",
    )
    assert ask("SELECT COUNT(employed) FROM census").aggregates() == (
        Aggregate("count", "employed"),
    )


@pytest.mark.parametrize("function", ["MEDIAN", "MIN", "VARIANCE", "STDDEV", "AVG"])
def test_every_aggregate_of_numbers_takes_an_expression(function: str) -> None:
    (asked,) = ask(f"SELECT {function}(age + 1) FILTER (WHERE employed) FROM census").aggregates()
    assert asked.column == "(CASE WHEN employed = TRUE THEN age + 1 END)"


def test_what_has_no_numbers_takes_no_filter() -> None:
    refused("SELECT MODE(sex) FILTER (WHERE employed) FROM census", "filter")
    refused("SELECT MAX(date) FILTER (WHERE employed) FROM census", "filter")
    refused("SELECT COUNT(DISTINCT person) FILTER (WHERE employed) FROM census", "filter")
    refused("SELECT MODE(age + 1) FROM census", "type")
    refused("SELECT AVG(2 - 1) FROM census", "aggregate")
