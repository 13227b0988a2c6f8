"""Refusals have a reason for programs and three sentences for people."""

from __future__ import annotations

import pytest
from sqlglot import parse_one

from tenue.errors import Refused, refuse
from tenue.query.explain import plan_select
from tenue.query.read.parse import parse
from tenue.query.read.unsupported import (
    INSTEAD,
    list_words,
    name_called,
    refuse_part,
    refuse_word,
    too_deep,
    unreadable,
)
from tenue.query.terms import Terms
from unit.query.workload.small import schema


def test_a_refusal_has_a_reason_beside_its_code() -> None:
    refusal = refuse("query.too-many-cells", count="7", most_cells=3)
    assert (refusal.code, refusal.reason) == ("too-many-cells", "cells")
    assert str(refusal) == f"{refusal.what} {refusal.allowed} {refusal.fix}"


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("JOIN", "join"),
        ("Union", "set-operation"),
        ("OVER", "window"),
        ("PARTITION BY", "window"),
        ("QUALIFY", "window"),
        ("DISTINCT", "distinct"),
        ("GROUPING SETS", "grouping-sets"),
        ("::", "cast"),
        ("?", "parameter"),
        ("frobnicate", "word"),
    ],
)
def test_words_outside_the_grammar_are_known(word: str, reason: str) -> None:
    assert refuse_word(word).reason == reason


def test_a_word_that_is_called_is_a_function() -> None:
    assert refuse_word("first", is_function=True).what == 'The function "FIRST" cannot be asked.'
    assert refuse_word("over", is_function=True).reason == "window"


def test_what_is_quoted_is_short_and_harmless() -> None:
    refusal = refuse_word("x" * 10_000 + "\x1b[31m")
    assert len(str(refusal)) < 400
    assert "\x1b" not in str(unreadable("\x1b[31m"))


def test_clauses_are_known_by_their_part() -> None:
    assert refuse_part("joins").reason == "join"
    assert refuse_part("no such part").reason == "clause"
    assert too_deep().reason == "too-deep"
    assert unreadable().reason == "syntax"


def test_lists_read_like_lists() -> None:
    assert list_words(("a",)) == "a"
    assert list_words(("a", "b")) == "a and b"


NEAREST = {
    "SELECT BIN(x, 2), SUM(COUNT(*)) OVER (ORDER BY BIN(x, 2)) FROM t GROUP BY 1": (
        "SELECT COUNT(*) FILTER (WHERE x <= 10), COUNT(*) FILTER (WHERE x <= 20) FROM t"
    ),
    "SELECT c, COUNT(*) / SUM(COUNT(*)) OVER () FROM t GROUP BY c": (
        "SELECT c, COUNT(*) FROM t GROUP BY ROLLUP (c)"
    ),
    "SELECT c, COUNT(*) FROM t GROUP BY c QUALIFY COUNT(*) > 10": (
        "SELECT c, COUNT(*) FROM t GROUP BY c HAVING COUNT(*) > 10"
    ),
    "SELECT SUM(ABS(y)) FROM t": "SELECT SUM(CASE WHEN y < 0 THEN -y ELSE y END) FROM t",
    "SELECT COUNT(*) FROM t WHERE ABS(y) < 1": (
        "SELECT COUNT(*) FROM t WHERE CASE WHEN y < 0 THEN -y ELSE y END < 1"
    ),
    "SELECT SIGN(y), COUNT(*) FROM t GROUP BY 1": (
        "SELECT CASE WHEN y < 0 THEN -1 WHEN y > 0 THEN 1 ELSE 0 END, COUNT(*) FROM t GROUP BY 1"
    ),
    "SELECT AVG(LEAST(x, 5)) FROM t": "SELECT AVG(CASE WHEN x > 5 THEN 5 ELSE x END) FROM t",
    "SELECT AVG(GREATEST(x, 5)) FROM t": "SELECT AVG(CASE WHEN x < 5 THEN 5 ELSE x END) FROM t",
    "SELECT AVG(NULLIF(x, 0)) FROM t": "SELECT AVG(CASE WHEN x <> 0 THEN x END) FROM t",
    "SELECT SUM(POWER(x, 2)) FROM t": "SELECT SUM(x * x) FROM t",
    "SELECT MOD(x, 2), COUNT(*) FROM t GROUP BY 1": (
        "SELECT x - 2 * FLOOR(x / 2), COUNT(*) FROM t GROUP BY 1"
    ),
    "SELECT SUM(MOD(x, 2)) FROM t": "SELECT SUM(x - 2 * FLOOR(x / 2)) FROM t",
    "SELECT APPROX_COUNT_DISTINCT(c) FROM t": "SELECT COUNT(DISTINCT c) FROM t",
    "SELECT HISTOGRAM(x) FROM t": "SELECT BIN(x, 2), COUNT(*) FROM t GROUP BY 1",
    "SELECT BOOL_OR(x > 3) FROM t": "SELECT COUNT(*) FILTER (WHERE x > 3) FROM t",
    "SELECT STRING_AGG(c, ',') FROM t": "SELECT MODE(c) FROM t",
    "SELECT UPPER(c), COUNT(*) FROM t GROUP BY 1": (
        "SELECT CASE WHEN c IN ('a', 'b') THEN 'both' ELSE 'other' END, COUNT(*) FROM t GROUP BY 1"
    ),
    "SELECT IIF(x > 3, 1, 0), COUNT(*) FROM t GROUP BY 1": (
        "SELECT CASE WHEN x > 3 THEN 1 ELSE 0 END, COUNT(*) FROM t GROUP BY 1"
    ),
    "SELECT ROUND(x, -1), COUNT(*) FROM t GROUP BY 1": (
        "SELECT FLOOR(x / 10) * 10, COUNT(*) FROM t GROUP BY 1"
    ),
    "SELECT c, COUNT(*) FROM t GROUP BY c UNION ALL SELECT 'all', COUNT(*) FROM t": (
        "SELECT c, COUNT(*) FROM t GROUP BY ROLLUP (c)"
    ),
    "SELECT COUNT(*) FROM t WHERE x > (SELECT AVG(x) FROM t)": (
        "SELECT COUNT(*) FROM t WHERE x > 19.5"
    ),
    "SELECT COUNT(DISTINCT (c, x)) FROM t": "SELECT COUNT(DISTINCT c) FROM t",
}
"""What people write, and what the refusal tells them to write."""


@pytest.mark.parametrize("refused", NEAREST)
def test_a_refusal_names_something_that_works(refused: str) -> None:
    works = NEAREST[refused]
    with pytest.raises(Refused) as caught:
        parse(refused, schema())
    plan_select(works, schema(), Terms(epsilon=1))
    words = {"CASE", "FILTER", "ROLLUP", "HAVING", "DISTINCT", "BIN", "MODE", "FLOOR", "*"}
    used = {word for word in words if word in works.replace("COUNT(*)", "")}
    used = used or {"constant"}  # the answer of an inner question
    assert any(word in caught.value.fix for word in used), caught.value.fix


def test_running_totals_are_a_declared_workload() -> None:
    assert "tn.workload.prefixes" in refuse_word("OVER").fix


def test_functions_have_the_name_of_the_text() -> None:
    node = parse_one("SELECT POWER(x, 2)").expressions[0]
    assert name_called(node, ["POWER"]) == "POWER"
    assert name_called(node, ["POW"]) == name_called(parse_one("x"), ["X"]) == ""
    assert all(name == name.upper() for name in INSTEAD)
