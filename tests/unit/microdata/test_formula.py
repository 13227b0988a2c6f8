"""No cell of a CSV file runs in a spreadsheet, and what was changed is noted."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tenue.microdata.formula import defused


@pytest.mark.parametrize(
    "text",
    ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\r=1", "\n=1", "＝1", '=HYPERLINK("http://a")'],
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
