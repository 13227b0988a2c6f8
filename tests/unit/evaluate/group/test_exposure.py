"""Who is found by a column, and what names a person."""

from __future__ import annotations

import datetime

import pyarrow as pa
import pytest

from tenue.evaluate.group.dependence import Determined
from tenue.evaluate.group.exposure import (
    NEARLY,
    following,
    found_by,
    leaving,
    names_rows,
    persons_named,
    telling,
    told_apart,
    unprotected,
)


def column(values: list[object]) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(values)])


@pytest.mark.parametrize(
    ("values", "share"),
    [([1, 2, 3, 4], 1), ([1, 1, 2, 2], 0.5), ([1, None, 2, None], 0.5), ([7], 0), ([[1], [2]], 0)],
)
def test_the_share_of_rows_that_are_found(values: list[object], share: float) -> None:
    assert found_by(column(values)) == share


def test_one_duplicate_changes_little() -> None:
    """The mutant wants every value to differ, and is silent about 999 of 1000 persons."""
    values = [0, *range(999)]
    assert len(set(values)) < len(values)
    assert telling({"x": column(values), "y": column([1, 1, 2])}) == {"x": 0.999}
    at_limit = [*range(90), *([0] * 10)]
    assert telling({"x": column(at_limit)}) == {"x": NEARLY}
    assert telling({"x": column([*range(89), *([0] * 11)])}) == {}


def test_every_row_and_nearly_every_row_are_told_apart_in_words() -> None:
    every, nearly = told_apart({"a": 1.0, "b": 0.95})
    assert "`a` has another value in every row: whoever" in every
    assert "`b` has another value in nearly every row" in nearly
    assert "with probability 95 %, whatever k is." in nearly
    assert "`a`, `c` have another value in every row" in told_apart({"a": 1, "c": 1})[0]
    assert len(told_apart({"a": 1, "c": 1})) == 1
    (advice,) = leaving({"a": 1.0})
    assert advice == (
        "`a` has another value in every row and leaves as it is: whoever knows it of a person "
        "finds the row. Give it another role, or remove its section from the schema."
    )


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("patient_id", [7, 7], True),
        ("email", ["a", "b"], True),
        ("paid", [7, 7], False),
        ("weight_id", [0.5, 0.7], False),
        ("x", [f"name {i}" for i in range(100)], True),
        ("x", [f"name {i}" for i in range(99)], False),
        ("x", [f"name {i // 2}" for i in range(200)], False),
        ("x", list(range(1000, 1100)), True),
        ("x", [str(i) for i in range(1000, 1100)], True),
        ("x", [10_000_000 + i * i * 977 for i in range(100)], True),
        ("x", [i**4 for i in range(100)], False),
        ("x", [f"{i / 8}" for i in range(100)], False),
        ("x", [f"{datetime.date(2000, 1, 1) + datetime.timedelta(i)}" for i in range(100)], False),
    ],
)
def test_what_looks_like_names(name: str, values: list[object], expected: bool) -> None:
    assert names_rows(name, column(values)) is expected


def test_nothing_is_said_of_nothing() -> None:
    assert unprotected([]) == persons_named([], []) == following([], []) == told_apart({}) == []
    assert len(persons_named(["a"], ["b", "c"])) == 2
    assert "`b`, `c` look like names" in persons_named([], ["b", "c"])[0]


def test_what_follows_is_said_by_its_role() -> None:
    one = Determined(name="town", by=("code",), measure="groups", score=1.0)
    known, wanted = following([one], [one])
    assert "has a quasi-identifier more" in known
    assert "knows it, whatever k, l and t are" in wanted


def test_every_kind_of_text_is_read_alike() -> None:
    names, amounts = [f"name {i}" for i in range(100)], [str(i**4) for i in range(100)]
    for values, expected in ((names, True), (amounts, False)):
        plain = pa.array(values)
        for array in (plain.dictionary_encode(), plain.cast(pa.string_view()), plain):
            assert names_rows("x", pa.chunked_array([array])) is expected
