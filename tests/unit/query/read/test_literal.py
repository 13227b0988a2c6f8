"""Names, texts, numbers and moments are written so that they are read as the same again."""

# ruff: noqa: S608 - these texts are what is tested

from __future__ import annotations

from datetime import date, datetime
from fractions import Fraction

import pytest
import sqlglot
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB

from tenue.query.read.literal import is_plain_name, sql_name, sql_number, sql_text, sql_value
from tenue.query.read.parse import parse
from tenue.query.write.question import render
from tenue.schema import Bounded
from unit.query.asked import CENSUS, ask
from unit.query.generated import NAMES

WORDS = sorted(word for word in DuckDB.Tokenizer.KEYWORDS if word.isidentifier())


@pytest.mark.parametrize("word", [*NAMES, "connect_by_root", "prior", "ignore", "lambda"])
def test_a_name_may_be_any_word(word: str) -> None:
    name = sql_name(word)
    table = f"(SELECT sex, age AS {name} FROM census) AS {name}"
    sql = f"SELECT sex AS {name}, COUNT({name}) FROM {table}"
    question = ask(f"{sql} WHERE {name}.{name} > 3 GROUP BY 1 HAVING {name} = 'Male' ORDER BY 1")
    assert question.outputs[0].alias == word
    assert parse(render(question, CENSUS), CENSUS) == question


def test_words_of_sql_are_put_in_quotes() -> None:
    for word in [*WORDS, "if", "IF", "x y", "x-y", "x.y", "1x", ""]:
        assert sql_name(word) == f'"{word}"'
    for word in ("age", "Age", "_1", "año", "count", "bin", "nulls", "month"):
        assert is_plain_name(word)


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=9))
def test_texts_come_back(text: str) -> None:
    found = sqlglot.parse_one(sql_text(text), read="duckdb")
    assert isinstance(found, exp.Literal)
    assert found.this == text


@given(st.fractions().filter(lambda value: abs(value.numerator) < 10**9))
def test_numbers_come_back(value: Fraction) -> None:
    text = sql_number(value)
    assert eval(text, {}) == pytest.approx(float(value))  # noqa: S307
    if "/" not in text:
        assert Fraction(text) == value
    else:
        above, below = text.strip("()").split(" / ")
        assert Fraction(int(above), int(below)) == value


def test_values_are_written_in_the_type_of_their_column() -> None:
    def written(name: str, number: Fraction) -> str:
        column = CENSUS.column(name)
        assert isinstance(column, Bounded)
        return sql_value(column, number)

    assert written("rate", Fraction(-3, 10)) == "-0.3"
    assert (
        written("date", Fraction((date(2020, 2, 1) - date(1970, 1, 1)).days)) == "DATE '2020-02-01'"
    )
    seconds = Fraction((datetime(2020, 2, 1, 12) - datetime(1970, 1, 1)).total_seconds())
    assert written("seen", seconds) == "TIMESTAMP '2020-02-01 12:00:00'"
    assert written("seen", seconds + Fraction(1, 2)) == "TIMESTAMP '2020-02-01 12:00:00.500000'"
