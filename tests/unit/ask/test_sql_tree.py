"""From a text to a tree, and what lies outside the grammar."""

from __future__ import annotations

import subprocess
import sys

import pytest
import sqlglot
from sqlglot import exp, parse_one

from tenue.ask.explain import plan_select
from tenue.ask.paid_request import Terms
from tenue.ask.sql.parse import parse
from tenue.ask.sql.tree import DIALECT, NEEDS_QUOTES, Tree, read_tokens, read_tree
from tenue.ask.sql.unsupported import (
    INSTEAD,
    list_words,
    name_called,
    refuse_part,
    refuse_word,
    too_deep,
    unreadable,
)
from tenue.engine.computed_column import Among
from tenue.errors import InvalidQuestion, Refused, refuse
from tenue.schema import Schema
from unit.ask.asked import CENSUS, ask, refused, refused_where, where
from unit.ask.small import schema


def test_a_refusal_has_a_reason_beside_its_code() -> None:
    refusal = refuse("ask.too-many-cells", count="7", most_cells=3)
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
    assert refuse_word("first", is_function=True).what == 'The function "FIRST" is not available.'
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
    "SELECT c, COUNT(*) FROM t GROUP BY c QUALIFY COUNT(*) > 10": (
        "SELECT c, COUNT(*) FROM t GROUP BY c HAVING COUNT(*) > 10"
    ),
    "SELECT SIGN(y), COUNT(*) FROM t GROUP BY 1": (
        "SELECT CASE WHEN y < 0 THEN -1 WHEN y > 0 THEN 1 ELSE 0 END, COUNT(*) FROM t GROUP BY 1"
    ),
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


def test_functions_have_the_name_of_the_text() -> None:
    node = parse_one("SELECT POWER(x, 2)").expressions[0]
    assert name_called(node, ["POWER"]) == "POWER"
    assert name_called(node, ["POW"]) == name_called(parse_one("x"), ["X"]) == ""
    assert all(name == name.upper() for name in INSTEAD)


# -- No argument of a node, and no node, goes unseen -----------------------------------------------


def tree(sql: str) -> Tree:
    return Tree(sqlglot.parse_one(sql, read="duckdb"))


def test_an_argument_that_nobody_names_is_refused() -> None:
    found = tree("a BETWEEN SYMMETRIC 1 AND 2")
    with pytest.raises(InvalidQuestion):
        found.read(found.root, "this", "low", "high")
    assert found.read(found.root, "this", "low", "high", "symmetric")[3] is True


def test_an_absent_argument_is_none() -> None:
    found = tree("SELECT a")
    assert found.read(found.root, "expressions", "where")[1] is None


def test_parts_are_nodes() -> None:
    found = tree("a = 1")
    assert [type(part) for part in found.parts(found.root, "this", "expression")] == [
        exp.Column,
        exp.Literal,
    ]
    with pytest.raises(InvalidQuestion):
        found.parts(found.root, "this", "expression", "absent")


def test_a_list_has_nodes() -> None:
    found = tree("SELECT COUNT(*) FROM t GROUP BY a, b")
    group = found.root.args["group"]
    assert len(found.listed(group)) == 2
    group.set("expressions", [])
    with pytest.raises(InvalidQuestion):
        found.listed(group)


def test_parentheses_are_opened() -> None:
    found = tree("((a))")
    assert type(found.unwrap(found.root)) is exp.Column


def test_every_node_must_have_been_read() -> None:
    found = tree("a = 1")
    column, literal = found.parts(found.root, "this", "expression")
    found.read(literal, "this")
    (name,) = found.parts(column, "this")
    with pytest.raises(InvalidQuestion):
        found.refuse_unread()
    found.read(name, "this")
    found.refuse_unread()


# -- What the parser never gets to see: words, depth, length, numbers that run into words ----------

# ruff: noqa: S608 - these texts are what is tested


COUNT = "SELECT COUNT(*) FROM census"


def test_a_text_may_have_100_000_characters() -> None:
    text = COUNT + " WHERE age = 1"
    assert ask(text + " " * (100_000 - len(text)))
    refused(text + " " * (100_001 - len(text)), "too-long")


@pytest.mark.parametrize(
    "nested",
    [
        "WHERE {open}age = 1{close}",
        "WHERE {nots}employed",
        "WHERE age = {minus}1",
        "HAVING {open}COUNT(*) > 1{close}",
    ],
)
def test_a_question_may_be_nested_30_deep(nested: str) -> None:
    def at(depth: int) -> str:
        parts = {"open": "(" * depth, "close": ")" * depth, "nots": "NOT " * depth}
        return f"{COUNT} {nested.format(**parts, minus='- ' * depth)}"

    assert ask(at(30))
    refused(at(33), "too-deep")
    refused(at(5_000), "too-deep")


def test_depth_is_limited_by_selects_and_by_mixtures() -> None:
    tables = ", ".join(f"t{n} AS (SELECT * FROM census)" for n in range(100))
    refused(f"WITH {tables} SELECT COUNT(*) FROM t0", "too-deep")
    refused("SELECT COUNT(*) FROM " + "(SELECT * FROM " * 31 + "census" + ")" * 31, "too-deep")
    assert where("NOT (employed OR " * 15 + "age = 1" + ")" * 15)
    refused_where("NOT (employed OR " * 17 + "age = 1" + ")" * 17, "too-deep")


def test_a_question_can_be_read_on_a_stack_that_is_half_full() -> None:
    def deeper(frames: int) -> object:
        if frames:
            return deeper(frames - 1)
        return [
            where("(" * 30 + "age = 1" + ")" * 30),
            where("NOT (" * 15 + "employed" + ")" * 15),
            ask("SELECT " + "-(" * 14 + "COUNT(*)" + ")" * 14 + " FROM census"),
            ask("SELECT COUNT(*) FROM " + "(SELECT * FROM " * 25 + "census" + ")" * 25),
        ]

    assert deeper(150)


def test_long_chains_are_refused_before_they_are_read() -> None:
    refused_where("age = 1" + " AND age = 1" * 7_000, "too-long")
    refused_where("age" + " = age" * 9_000, "condition")
    refused("SELECT COUNT(*)" + " + 1" * 200 + " FROM census", "too-deep")


KILLERS = ["SELECT " + "FROM " * 19_000, "SELECT COUNT(*) FROM " + "(" * 90_000]
"""Texts that overflow the stack of a compiled sqlglot, and end the process."""


@pytest.mark.parametrize("sql", KILLERS, ids=["from", "parentheses"])
def test_what_would_end_the_process_is_refused(sql: str) -> None:
    refused(sql, "too-deep")


@pytest.mark.any_draw("draws nothing")
def test_the_killers_are_not_harmless() -> None:
    code = (
        "import sys, sqlglot\n"
        "try: sqlglot.parse(sys.stdin.read(), read='duckdb')\n"
        "except (RecursionError, sqlglot.errors.ParseError) as error: print(type(error).__name__)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], input=KILLERS[0], text=True, capture_output=True
    )
    assert ended.returncode < 0 or "RecursionError" in ended.stdout


@pytest.mark.parametrize(
    "text",
    [
        "WHERE date > " + "DATE (" * 30 + "'2020-01-01'" + ")" * 30,
        "WHERE age > " + "- if " * 60,
        "WHERE age > " + "CASE WHEN " * 25,
        "JOIN census " * 30,
    ],
)
def test_what_sqlglot_reads_in_exponential_time_is_refused(text: str) -> None:
    sql = f"{COUNT} {text}"
    with pytest.raises(InvalidQuestion):
        ask(sql)
    with pytest.raises(InvalidQuestion):  # the parser's own net; without it this would not end
        read_tree(DIALECT.tokenize(sql), sql)


@pytest.mark.parametrize(
    "text", ["0x1F", "1__0", "12abc", "1.5.2", "10K", "1'x'", '1"x"', "1e", "0b1", "1_000x"]
)
def test_numbers_end_where_words_begin(text: str) -> None:
    refused(f"SELECT COUNT(*) * {text} FROM census", "number")


@pytest.mark.parametrize(
    ("text", "value"), [("1_000", 1000), ("1e2", 100), ("2.", 2), ("0.5e1", 5), ("1E2", 100)]
)
def test_numbers_are_read_exactly(text: str, value: int) -> None:
    assert where(f"age < {text}") == where(f"age < {value}")


@pytest.mark.parametrize("text", ["", " ", ";", ";;", "-- nothing", "/* nothing */"])
def test_an_empty_text_is_no_question(text: str) -> None:
    refused(text, "empty")


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        (f"{COUNT}; {COUNT}", "statements"),
        (f"; {COUNT}", "statement"),
        (f"EXPLAIN {COUNT}", "statement"),
        (f"({COUNT})", "statement"),
        ("FROM census SELECT COUNT(*)", "statement"),
        (f"/*+ x */ {COUNT}", "hint"),
        (f"{COUNT} /*+ x */;", "hint"),
        (f"{COUNT}; /*+ x */", "hint"),
        (f"{COUNT} WHERE age = 'x", "syntax"),
        (f"{COUNT} /* never closed", "syntax"),
        (f"{COUNT} WHERE age = = 3", "syntax"),
        (f"{COUNT} WHERE (age = 3", "syntax"),
        (f"{COUNT} WHERE age = 3)", "syntax"),
        (f"{COUNT} WHERE age = \ud800", "character"),
        (f"{COUNT} WHERE sex = $$Male$$", "word"),
        (f"{COUNT} WHERE sex = E'Male'", "word"),
        (f"{COUNT} WHERE age = ?", "parameter"),
        (f"{COUNT} WHERE age::INT = 3", "cast"),
        (f"{COUNT} WHERE age[1] = 3", "nested-value"),
        (f"{COUNT} LEFT JOIN other ON TRUE", "join"),
    ],
)
def test_what_is_not_one_select_is_refused(sql: str, reason: str) -> None:
    refused(sql, reason)


def test_a_declared_name_may_be_a_word_of_sql() -> None:
    assert where("date > DATE '2020-02-01'") == where("\"date\" > '2020-02-01'")
    refused_where("time > 3", "word")


def test_tokens_become_one_tree() -> None:
    tokens = read_tokens(COUNT + ";", CENSUS)
    assert [token.text for token in tokens[:3]] == ["SELECT", "COUNT", "("]
    assert read_tree(tokens, COUNT).key == "select"


def test_the_text_near_a_mistake_is_quoted_and_the_parser_is_not() -> None:
    refusal = refused(f"{COUNT} WHERE age > AND", "syntax")
    assert "near" in refusal.what
    assert "sqlglot" not in str(refusal)
    assert "class" not in str(refusal)


@pytest.mark.parametrize("word", sorted(NEEDS_QUOTES))
def test_a_category_may_have_the_name_of_any_word(word: str) -> None:
    schema = Schema.from_dict(
        {
            "table": {"name": "t", "unit": "record", "neighbours": "replace"},
            "columns": {"kind": {"type": "category", "categories": [word, "other"]}},
        }
    )
    asked = parse(f"SELECT COUNT(*) FROM t WHERE kind = '{word}'", schema)
    assert asked.where == Among("kind", (word,))
