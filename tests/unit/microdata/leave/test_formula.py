"""No cell of a CSV file runs in a spreadsheet, and what was changed is noted."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tenue.microdata.leave.formula import defused


@pytest.mark.parametrize(
    "text",
    [
        *("=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\r=1", "\n=1", "＝1", '=HYPERLINK("http://a")'),
        *(" =1+1", "   -2", "\N{NO-BREAK SPACE}=1", "\N{ZERO WIDTH SPACE}=1", "\ufeff@a", "\x00=1"),
        *(
            "\N{IDEOGRAPHIC SPACE}＝1",
            " \t+1",
            "\x0b=1",
            "\N{FULLWIDTH PLUS SIGN}1",
            "﹦1",
            "\u202e=1",
        ),
    ],
)
def test_text_that_would_run_gets_an_apostrophe(text: str) -> None:
    table, changed = defused(pa.table({"a": [text, "fine", None, "a=1"]}))
    assert table.column("a").to_pylist() == ["'" + text, "fine", None, "a=1"]
    assert changed == {"a": 1}


def test_numbers_below_zero_keep_their_sign() -> None:
    table, changed = defused(pa.table({"a": [-1, 2], "b": [-0.5, None], "c": [True, False]}))
    assert table.to_pydict() == {"a": [-1, 2], "b": [-0.5, None], "c": [True, False]}
    assert changed == {}


def test_dictionaries_large_text_and_headers_are_looked_at() -> None:
    words = pa.array(["=a", "b", "=a"])
    given = pa.table({"d": words.dictionary_encode(), "l": words.cast(pa.large_string())})
    table, changed = defused(given.rename_columns(["=d", "l"]))
    assert table.column_names == ["'=d", "l"]
    assert table.column("'=d").to_pylist() == ["'=a", "b", "'=a"]
    assert table.column("l").to_pylist() == ["'=a", "b", "'=a"]
    assert changed == {"=d": 2, "l": 2}


def test_an_empty_table_stays_empty() -> None:
    assert defused(pa.table({"a": pa.array([], pa.string())}))[1] == {}


@pytest.mark.parametrize("text", [" plain", "a =1", "", " ", "1-2", "(=1)", "\N{NO-BREAK SPACE}x"])
def test_text_that_runs_nowhere_is_left_alone(text: str) -> None:
    assert defused(pa.table({"a": [text]}))[1] == {}


def test_a_name_with_a_space_before_its_sign_is_a_formula_too() -> None:
    assert defused(pa.table({" =a": ["b"]}))[0].column_names == ["' =a"]
