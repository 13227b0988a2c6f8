"""Marks of missing values: stated for a column or for all, as texts or as numbers."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tenue.schema import Column, Schema
from unit.schema.wrong import mistakes

TABLE = '[table]\nname = "t"\nunit = "record"\nneighbours = "replace"\n'
NUMBER = '[columns.x]\ntype = "number"\nbounds = [0, 9]\n'
WORDS = '[columns.x]\ntype = "category"\ncategories = ["a", "NA"]\n'


def read(text: str) -> Column:
    return Schema.parse(text).column("x")


def test_texts_and_numbers_mark_and_a_value_stands_for_what_is_missing() -> None:
    assert read(TABLE + NUMBER).marks == ()
    assert read(TABLE + NUMBER + 'missing = [" ? ", -9, 0.5]').marks == (
        "?",
        Fraction(-9),
        Fraction(1, 2),
    )
    value = read(TABLE + 'missing = ["?"]\n' + NUMBER + "missing = 3")
    assert (value.missing, value.marks) == (3, ("?",))


def test_a_list_of_a_column_takes_the_place_of_the_table_s() -> None:
    everywhere = TABLE + 'missing = ["?", -9]\n'
    assert read(everywhere + NUMBER).marks == ("?", Fraction(-9))
    assert read(everywhere + NUMBER + 'missing = ["NA"]').marks == ("NA",)
    assert read(everywhere + NUMBER + "missing = []").marks == ()
    for kind in ('type = "boolean"', 'type = "identifier"'):
        assert read(f"{everywhere}[columns.x]\n{kind}\n").marks == ("?",)
    derived = '[columns.x]\ntype = "number"\nbounds = [0, 9]\nexpression = "y"\n'
    assert read(everywhere + derived + NUMBER.replace("x", "y", 1)).marks == ()


@pytest.mark.parametrize(
    ("text", "where", "said"),
    [
        (TABLE + NUMBER + 'missing = ["?", "? "]', "columns.x.missing", "twice"),
        (TABLE + NUMBER + "missing = [true]", "columns.x.missing", "true"),
        (TABLE + NUMBER + "missing = [[1]]", "columns.x.missing", "[1]"),
        (TABLE + NUMBER + 'missing = ["FILL IN"]', "columns.x.missing", "blank"),
        (TABLE + 'missing = "?"\n' + NUMBER, "table.missing", '"?"'),
        (TABLE + WORDS + "missing = [9]", "columns.x.missing", "9"),
        (TABLE + WORDS + 'missing = ["NA"]', "columns.x.missing", "is a category"),
        (TABLE + 'missing = ["NA"]\n' + WORDS, "columns.x.missing", "is a category"),
        (TABLE + '[columns.x]\ntype = "identifier"\nmissing = "a"', "columns.x.missing", '"a"'),
        (
            TABLE + NUMBER + 'missing = ["?"]\nexpression = "y"\n' + NUMBER.replace("x", "y", 1),
            "columns.x.missing",
            "missing",
        ),
    ],
)
def test_what_cannot_be_a_mark_is_told(text: str, where: str, said: str) -> None:
    (mistake,) = mistakes(text)
    assert mistake.where.startswith(where)
    assert said in mistake.what


def test_a_mark_that_is_a_category_is_told_with_what_to_do() -> None:
    (mistake,) = mistakes(TABLE + 'missing = ["NA"]\n' + WORDS)
    assert "missing = []" in mistake.fix
    assert read(TABLE + 'missing = ["NA"]\n' + WORDS + "missing = []").marks == ()


def test_marks_are_part_of_what_a_schema_means() -> None:
    def digest(more: str, table: str = "") -> str:
        return Schema.parse(TABLE + table + NUMBER + more).digest

    assert digest('missing = ["?"]') != digest("")
    assert digest('missing = ["9"]') != digest("missing = [9]")
    assert digest('missing = ["?", 9]') == digest("missing = [9.0, '?']")
    assert digest('missing = ["?"]') == digest("", 'missing = ["?"]\n')
    assert digest("missing = []") == digest("")


def test_a_schema_shows_its_marks_and_is_written_back() -> None:
    schema = Schema.parse(TABLE + NUMBER + 'missing = ["?", -9]\n')
    assert 'missing where "?", -9' in str(schema)
    assert Schema.parse(schema.to_toml()) == schema
    assert schema.replace(columns={"x": {"missing": None}}).column("x").marks == ()
