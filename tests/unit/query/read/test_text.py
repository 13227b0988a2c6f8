"""What the parser never gets to see: words, depth, length, numbers that run into words."""

# ruff: noqa: S608 - these texts are what is tested

from __future__ import annotations

import subprocess
import sys

import pytest

from tenue.engine.request import Among
from tenue.errors import InvalidQuestion
from tenue.query.read.parse import parse
from tenue.query.read.text import DIALECT, NEEDS_QUOTES, read_tokens, read_tree
from tenue.schema import Schema
from unit.query.asked import CENSUS, ask, refused, refused_where, where

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
