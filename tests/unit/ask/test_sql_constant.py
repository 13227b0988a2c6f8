"""Constants and names."""

from __future__ import annotations

from datetime import date, datetime
from fractions import Fraction

import pytest
import sqlglot
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB

from tenue.ask.sql.constant import (
    Constant,
    instant,
    is_plain_name,
    limited,
    number,
    read_constant,
    sql_name,
    sql_number,
    sql_text,
    sql_value,
)
from tenue.ask.sql.logic import Absent, several
from tenue.ask.sql.parse import parse
from tenue.ask.sql.scope import start
from tenue.ask.sql.tree import Tree
from tenue.ask.sql.write import render
from tenue.errors import InvalidQuestion
from tenue.schema import Bounded
from unit.ask.asked import CENSUS, ask, refused, refused_where
from unit.ask.generated import NAMES

# ruff: noqa: S608 - these texts are what is tested


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


# -- Constants are exact, and of the type of the column they stand beside --------------------------


def constant(text: str) -> Constant | None:
    root = sqlglot.parse_one(text, read="duckdb")
    return read_constant(Tree(root), root)


def column(name: str) -> Bounded:
    found = CENSUS.column(name)
    assert isinstance(found, Bounded)
    return found


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", Fraction(3)),
        ("-0.1", Fraction(-1, 10)),
        ("- - 2", Fraction(2)),
        ("((1e3))", Fraction(1000)),
        ("'it''s'", "it's"),
        ("TRUE", True),
        ("DATE '2020-02-29'", date(2020, 2, 29)),
        ("TIMESTAMP '2020-02-29 12:30'", datetime(2020, 2, 29, 12, 30)),
        ("age", None),
        ("age + 1", None),
        ("-age", None),
        ("-'x'", None),
        ("-TRUE", None),
        ("(1, 2)", None),
    ],
)
def test_constants_are_read_and_nothing_else(text: str, value: object) -> None:
    found = constant(text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    "text",
    [
        "NULL",
        "DATE '2021-02-29'",
        "DATE 'now'",
        "TIMESTAMP '2020-01-01 00:00:00Z'",
        "CAST('3' AS INT)",
        "CAST(7 AS DATE)",
    ],
)
def test_what_is_almost_a_constant_is_refused(text: str) -> None:
    with pytest.raises(InvalidQuestion):
        constant(text)


def test_a_number_has_300_digits_at_most() -> None:
    assert number("9" * 300) == 10**300 - 1
    assert number("1e-299") == Fraction(1, 10**299)
    for text in ("1" + "0" * 300, "1e300", "1e-300", "1e400", "1e999999999", "9" * 5000):
        with pytest.raises(InvalidQuestion):
            number(text)
    with pytest.raises(InvalidQuestion):
        limited(Fraction(1, 10**300))


@pytest.mark.parametrize(
    ("name", "value", "place"),
    [
        ("age", Fraction(1, 3), Fraction(1, 3)),
        ("date", "1970-01-03", Fraction(2)),
        ("date", date(1969, 12, 31), Fraction(-1)),
        ("seen", "1970-01-02", Fraction(86400)),
        ("seen", date(1970, 1, 2), Fraction(86400)),
        ("seen", "1970-01-01T00:00:00.5", Fraction(1, 2)),
        ("seen", datetime(1970, 1, 1, 0, 1), Fraction(60)),
    ],
)
def test_a_constant_has_a_place_on_the_scale_of_its_column(
    name: str, value: Constant, place: Fraction
) -> None:
    assert instant(column(name), value) == place


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("age", "3"),
        ("age", True),
        ("age", date(2020, 1, 1)),
        ("date", Fraction(3)),
        ("date", datetime(2020, 1, 1)),
        ("date", "2020-01-01T00:00:00"),
        ("date", "2020-13-01"),
        ("date", False),
        ("seen", Fraction(3)),
        ("seen", "2020-01-01T00:00:00+01:00"),
        ("seen", "noon"),
    ],
)
def test_a_constant_of_another_type_has_none(name: str, value: Constant) -> None:
    with pytest.raises(InvalidQuestion):
        instant(column(name), value)


def test_the_refusal_shows_how_to_write_it() -> None:
    fixes = {
        "age = 'x'": "Write a number, such as 0.",
        "date = 'x'": "Write DATE '2020-01-15'.",
        "seen = 'x'": "Write TIMESTAMP '2020-01-01 00:00:30'.",
        "sex = 3": "Write a declared category in quotes, such as 'Female'.",
        "employed = 3": "Write TRUE or FALSE.",
    }
    for condition, fix in fixes.items():
        assert refused_where(condition, "type").fix.startswith(fix)


# -- Names lead to declared columns, and none to what names a person -------------------------------


def test_the_table_starts_with_all_its_columns_and_rows() -> None:
    scope = start(CENSUS)
    assert list(scope.columns) == list(CENSUS.columns)
    assert scope.rows is None
    assert scope.named("c").title == "c"


def test_rows_only_become_fewer() -> None:
    scope = start(CENSUS).among(None)
    assert scope.rows is None
    fewer = scope.among(Absent("age")).among(Absent("sex"))
    assert fewer.rows == several(True, [Absent("sex"), Absent("age")])


def test_a_misspelled_column_gets_a_hint_from_the_schema() -> None:
    refusal = refused_where("incme > 3", "unknown-column")
    assert refusal.what == 'There is no column "incme" here.'
    assert refusal.fix.startswith("Did you mean `income`?")


def test_identifiers_are_refused_and_say_why() -> None:
    assert "the unit that is protected" in refused_where("PERSON = 17", "identifier").what
    assert "an identifier" in refused_where("zip = '08001'", "identifier").what
    refused("SELECT COUNT(census.person) FROM census", "identifier")


@pytest.mark.parametrize("name", ["Mean income", "año", "a.b-c", "_", "x1"])
def test_a_name_may_be_made_up(name: str) -> None:
    assert ask(f'SELECT COUNT(*) AS "{name}" FROM census').outputs[0].alias == name


@pytest.mark.parametrize(
    "name", ["=cmd()", "<b>", "a,b", "a\tb", "a\nb", "1x", "x" * 129, "@x", "-x", "x ", "É"]
)
def test_a_name_that_could_do_harm_elsewhere_is_refused(name: str) -> None:
    refused(f'SELECT COUNT(*) AS "{name}" FROM census', "alias")


def test_the_name_before_the_point_must_be_the_table() -> None:
    refusal = refused_where("other.age > 3", "unknown-table")
    assert refusal.allowed == "Columns belong to `census`."
    refused_where("main.census.age > 3", "qualified-table")
