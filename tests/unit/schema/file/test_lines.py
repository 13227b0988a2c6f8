"""The scanner must name the right line whatever the holder's layout."""

from __future__ import annotations

import tomllib
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenue.schema.file.lines import Lines, find_lines
from tenue.schema.literal import same
from unit.schema.layout import layouts

WORDS = st.sampled_from(["a", "b", "b-c", "columns", "x y", "é", 'q"q', "k=v", "[h]", "#c", "1"])
STRINGS = st.sampled_from(
    ["", "[fake]", "k = 1 # c", "it's", 'say "hi"', "a\nb = 2\n[z]", "c:\\d", '"""', "'''", "]},"]
)
SCALARS = (
    st.integers(-5, 5)
    | st.booleans()
    | STRINGS
    | st.sampled_from([date(2020, 1, 2), datetime(2020, 1, 2, 3, 4), Decimal("1.5")])
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)


@given(st.data(), st.dictionaries(WORDS, VALUES, max_size=4))
@settings(max_examples=120, deadline=None)
def test_every_key_header_and_entry_is_found_in_any_layout(
    data: st.DataObject, tree: dict[str, Any]
) -> None:
    text, lines = data.draw(layouts(tree))
    assert same(tomllib.loads(text, parse_float=Decimal), tree, unordered=99)
    found = find_lines(text)
    assert {path: found.of(path) for path in lines} == lines


def test_a_key_in_a_string_or_a_comment_is_not_a_key() -> None:
    text = '''\
a = """
[columns.age]
b = 1
""" # c = 1
# b = 1
d = [ # b = 1
  "b = 1", {
b = 2 }]
b = 3
'''.replace("{\nb = 2 }", "{ b = 2 }")
    found = find_lines(text)
    assert [found.of((key,)) for key in "abd"] == [1, 8, 6]
    assert found.of(("d", 1, "b")) == 7
    assert found.of(("columns", "age")) == 1  # not known: the top


@pytest.mark.parametrize(
    "text",
    [
        'x = """a"""""\ny = 1\n',  # two quotes before the closing three
        "x = '''a'''''\ny = 1\n",
        'x = """\\"""\\""""\ny = 1\n',
        'x = ""\ny = 1\n',
        "x = ''''''\ny = 1\n",
        'x = "\\\\"\ny = 1\n',
        'x = "\\""\ny = 1\n',
        "x = 1979-05-27 07:32:00 # y = 2\ny = 1\n",
        "x = { a.b = 1, c = [ 1,\n2 ] }\ny = 1\n".replace("\n2", " 2"),
        "x = []\ny = 1\n",
        "x = {}\ny = 1\n",
    ],
)
def test_a_value_ends_where_toml_says(text: str) -> None:
    assert tomllib.loads(text)["y"] == 1
    assert find_lines(text).of(("y",)) == 2


def test_an_absent_key_is_on_the_line_of_its_section() -> None:
    found = find_lines("[table]\nname = 'x'\n\n[columns.age]\ntype = 1\n")
    assert found.of(("table", "unit")) == 1
    assert found.of(("columns", "age", "bounds", 0)) == 4
    assert found.of(("budget", "total")) == 1


def test_a_header_counts_more_than_an_earlier_mention_of_its_section() -> None:
    assert find_lines("[a.b]\nx = 1\n[a]\ny = 1\n").of(("a",)) == 3


def test_arrays_of_tables_are_numbered() -> None:
    found = find_lines("[[a]]\nx = 1\n[[a]]\nx = 2\n[a.b]\nc = 1\n")
    assert [found.of(("a", 0, "x")), found.of(("a", 1, "x")), found.of(("a", 1, "b", "c"))] == [
        2,
        4,
        6,
    ]


def test_quoted_keys_are_decoded() -> None:
    assert find_lines('\n"\\u0061.b"."c\\"d" = 1\n').of(("a.b", 'c"d')) == 2


def test_without_a_text_there_are_no_lines() -> None:
    assert Lines().of(("table",)) is None
