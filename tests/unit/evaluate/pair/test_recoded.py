from __future__ import annotations

import datetime

import pyarrow as pa
import pytest

from tenue.evaluate.pair.recoded import as_single_values
from tenue.evaluate.rows import open_rows
from unit.microdata.census import schema


def single(values: list[str | None], name: str = "x") -> tuple[list[object], tuple[str, ...]]:
    rows, changed = as_single_values(open_rows(pa.table({name: values})), schema())
    return rows.read([name])[name].to_pylist(), changed


@pytest.mark.parametrize(
    ("text", "middle"),
    [
        ("[30, 39]", 34.5),
        ("[30, 40[", 35),
        ("(30,40]", 35),
        ("]30; 40]", 35),
        ("[-10, -5]", -7.5),
        ("[0.5, 1.5]", 1.0),
    ],
)
def test_an_interval_is_its_middle(text: str, middle: float) -> None:
    assert single([text, "7", "*", "**", None, " "]) == (
        [middle, 7.0, None, None, None, None],
        ("x",),
    )


def test_dates_have_middles_too() -> None:
    found, changed = single(["[2020-01-01, 2020-01-03]", "2020-05-01"])
    assert found == [datetime.datetime(2020, 1, 2), datetime.datetime(2020, 5, 1)]
    assert changed == ("x",)


@pytest.mark.parametrize(
    "other", ["flu", "[a, b]", "2020-01-01", "[2020-01-01T00:00Z, 2021-01-01]"]
)
def test_a_column_that_has_something_else_stays_as_it_is(other: str) -> None:
    assert single(["[30, 39]", other]) == (["[30, 39]", other], ())


def test_plain_columns_and_declared_categories_stay_as_they_are() -> None:
    assert single(["30", "*"]) == (["30", "*"], ())
    assert single(["[1, 2]", "no"], "ill") == (["[1, 2]", "no"], ())
    rows, changed = as_single_values(open_rows(pa.table({"x": [1, 2]})), None)
    assert (rows.read(["x"])["x"].to_pylist(), changed) == ([1, 2], ())
