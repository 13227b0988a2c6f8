"""Conditions become whole grid steps and declared categories."""

from __future__ import annotations

import re
from datetime import date, timedelta
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenue.engine.request import Among, Within
from tenue.query.read.predicate import is_like
from unit.query.asked import refused_where, where


@pytest.mark.parametrize("operator", ["=", "<>", "<", "<=", ">", ">="])
@given(value=st.fractions(-3, 3, max_denominator=20).map(lambda f: Fraction(round(f * 100), 100)))
def test_steps_keep_exactly_the_values_that_compare(operator: str, value: Fraction) -> None:
    compare = {"=": "__eq__", "<>": "__ne__", "<": "__lt__", "<=": "__le__", ">": "__gt__"}
    text = f"rate {operator} {float(value)}"
    found = str(where(text))
    steps = range(-10, 11)
    wanted = [s for s in steps if getattr(Fraction(s, 10), compare.get(operator, "__ge__"))(value)]
    other = " OR ".join(f"rate = {s / 10}" for s in wanted) or "rate > 1"
    assert found == str(where(other))


@given(st.integers(-40, 60), st.sampled_from(["<", "<=", ">", ">=", "="]))
def test_days_off_the_grid_fall_between_its_steps(days: int, operator: str) -> None:
    day = date(1900, 1, 1) + timedelta(days=days)
    kept = [
        step
        for step in range(20)
        if {
            "<": 7 * step < days,
            "<=": 7 * step <= days,
            ">": 7 * step > days,
            ">=": 7 * step >= days,
            "=": 7 * step == days,
        }[operator]
    ]
    found = where(f"born {operator} '{day}'")
    assert isinstance(found, Within)
    first = 0 if found.first is None else found.first
    last = 19 if found.last is None else found.last
    assert [step for step in range(20) if first <= step <= last] == kept


@given(st.text("ab%_", max_size=7), st.text("ab", max_size=7))
def test_like_means_what_a_pattern_means(pattern: str, text: str) -> None:
    expression = "".join({"%": ".*", "_": "."}.get(c, re.escape(c)) for c in pattern)
    assert is_like(text, pattern) == bool(re.fullmatch(expression, text, re.DOTALL))


def test_like_is_not_slow_on_patterns_that_break_regular_expressions() -> None:
    assert not is_like("a" * 2_000, "%a" * 300 + "b")
    assert is_like("a\nb", "a_b")


def test_like_is_resolved_among_the_declared_categories() -> None:
    assert where("occupation LIKE '%-%'") == Among(
        "occupation", ("Tech-support", "Farming-fishing")
    )
    assert where("occupation LIKE 'nobody'") == Among("occupation", ())
    assert where("NOT occupation LIKE 'nobody'") == where("occupation LIKE '%'")
    refused_where("occupation LIKE 'x!%' ESCAPE '!'", "pattern")
    refused_where("occupation ILIKE 'sales'", "pattern")


def test_a_category_is_declared_or_refused_with_the_nearest() -> None:
    refusal = refused_where("occupation = 'Tech support'", "unknown-category")
    assert refusal.fix == "Did you mean `Tech-support`?"


def test_there_are_1_000_parts_at_most() -> None:
    values = ", ".join(str(n % 121) for n in range(1_000))
    assert where(f"age IN ({values})") == Within("age", None, None)
    refused_where(f"age IN ({values}, 1)", "too-many-parts")
    assert where(" OR ".join(["age = 3"] * 1_000)) == Within("age", 3, 3)
    refused_where(" OR ".join(["age = 3"] * 1_001), "too-many-parts")
    refused_where(f"age IN ({values}) AND employed", "too-many-parts")


def test_a_list_of_categories_may_be_long() -> None:
    listed = ", ".join(["'Sales'"] * 5_000)
    assert where(f"occupation IN ({listed})") == Among("occupation", ("Sales",))


def test_refusals_say_what_stands_in_the_way() -> None:
    what = {
        "age > income": "A condition compares two columns.",
        "ABS(age) > 3": "A condition has a function.",
        "1 + 1 > 3": "A condition computes something.",
        "3 > 2": "A condition is about constants only.",
        "(age > 3) = TRUE": "A condition stands inside another comparison.",
        "age": "`age` stands alone as a condition.",
        "age IS TRUE": "`age` stands alone as a condition.",
    }
    for condition, sentence in what.items():
        assert refused_where(condition, "condition").what == sentence
    refused_where("age > (SELECT 3)", "subquery")
    refused_where("age IN (SELECT 3)", "subquery")
    refused_where("employed IS UNKNOWN", "is-true")
