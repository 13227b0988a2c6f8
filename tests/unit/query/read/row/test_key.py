"""Keys that are computed, and the cells they have."""

# ruff: noqa: S608 - these texts are what is tested

from __future__ import annotations

from fractions import Fraction

import pytest

from tenue.engine.formula import Choice, Sum
from tenue.engine.predicate import Within
from tenue.engine.request import Bin, Group, Key
from tenue.query.cells import cell_labels
from unit.query.asked import CENSUS, ask, refused

BINS = "CASE WHEN age < 18 THEN 'minor' WHEN age < 65 THEN 'adult' ELSE 'old' END"


def key(text: str) -> Key:
    (found,) = ask(f"SELECT {text} AS k, COUNT(*) FROM census GROUP BY k").keys
    return found


def labels(text: str) -> list[object]:
    question = ask(f"SELECT {text} AS k, COUNT(*) FROM census GROUP BY ALL")
    return [label for (label,) in cell_labels(question, CENSUS)]


def test_a_floor_times_its_divisor_is_a_bin() -> None:
    assert key("FLOOR(age / 10) * 10") == key("BIN(age, 10)") == Bin("age", 10, 0, 13)
    assert key("FLOOR(rate / 0.5) * 0.5") == key("BIN(rate, 0.5)")
    assert labels("FLOOR(age / 50)") == [0, 1, 2]


def test_case_makes_groups_with_uneven_edges() -> None:
    assert key(BINS) == Group(f"[{BINS.replace('< 18', '<= 17').replace('< 65', '<= 64')}]", 3)
    assert labels(BINS) == ["minor", "adult", "old"]
    (computed,) = ask(f"SELECT {BINS}, COUNT(*) FROM census GROUP BY 1").computed
    cases = ((Within("age", None, 17), Sum(0)), (Within("age", None, 64), Sum(1)))
    assert computed.formula == Choice(cases, Sum(2))


def test_equal_names_are_one_group() -> None:
    assert labels("CASE WHEN age < 9 THEN 'x' WHEN age < 99 THEN 'y' ELSE 'x' END") == ["x", "y"]


def test_numbers_and_booleans_name_groups_too() -> None:
    assert labels("CASE WHEN age < 18 THEN 0 ELSE 18.5 END") == [0, Fraction(37, 2)]
    assert labels("CASE WHEN age < 18 THEN TRUE ELSE FALSE END") == [True, False]
    refused("SELECT CASE WHEN age < 18 THEN 0 ELSE 'x' END, COUNT(*) FROM census GROUP BY 1", "key")
    refused("SELECT CASE WHEN age < 18 THEN '' END, COUNT(*) FROM census GROUP BY 1", "key")


def test_fields_of_dates_and_buckets_have_declared_cells() -> None:
    assert labels("YEAR(date)") == [2020, 2021, 2022, 2023, 2024]
    assert labels("EXTRACT(quarter FROM date)") == [1, 2, 3, 4]
    assert len(labels("EXTRACT(hour FROM seen)")) == 24


def test_having_and_order_know_computed_keys() -> None:
    text = f"SELECT {BINS} AS k, COUNT(*) AS n FROM census GROUP BY k"
    assert ask(f"{text} HAVING k = 'old' ORDER BY k").having[0].value == "old"
    assert ask(f"{text} HAVING {BINS} <> 'old'").having[0].alias == "k"
    refused(f"{text} HAVING k > 'old'", "type")
    refused(f"{text} HAVING k = 3", "type")
    year = "SELECT YEAR(date) AS y, COUNT(*) FROM census GROUP BY y"
    assert ask(f"{year} HAVING y >= 2022").having[0].value == 2022


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("income * 2", "cells"),
        ("age * 1", "key"),
        ("SQRT(age)", "function"),
        ("CASE WHEN COUNT(*) > 3 THEN 1 END", "case"),
        ("FLOOR(SUM(age))", "function"),
    ],
)
def test_other_expressions_are_no_keys(text: str, reason: str) -> None:
    sql = f"SELECT {text} AS k, COUNT(*) FROM census GROUP BY k"
    refused(sql, reason)
