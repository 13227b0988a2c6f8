"""A column is read as what it is; blanks, NaN and declared missing values are told apart."""

from __future__ import annotations

import datetime as dt
import random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tenue.errors import InvalidTable
from tenue.evaluate.group.spelling import shown
from tenue.evaluate.value import domain, telling, typed
from unit.evaluate.stated import AGE, ILL, schema

DAYS = {"type": "date", "bounds": ["2000-01-01", "2000-12-31"]}
TIMES = {"type": "datetime", "bounds": ["2000-01-01T00:00:00", "2000-01-02T00:00:00"]}


def declared(**column: Any) -> Any:
    return schema({"x": column, "other": AGE}).columns["x"]


def read(values: Any, column: Any = None, **how: bool) -> Any:
    return typed("x", pa.chunked_array([values]), column, **how)


def test_nan_is_missing_and_negative_zero_is_zero() -> None:
    found = read(pa.array([0.0, -0.0, float("nan"), None, 1.0])).coded()
    assert found.codes.tolist() == [0, 0, -1, -1, 1]
    words = read(pa.array([0.0, -0.0]), declared(type="category", categories=["0", "1"]))
    assert words.coded().count == 1
    narrow = read(pa.array(np.array([0.5, np.nan], np.float32)))
    assert narrow.coded().codes.tolist() == [0, -1]


@pytest.mark.parametrize(
    ("words", "kind", "codes"),
    [
        (["10", " 9", "10", None], "number", [1, 0, 1, -1]),
        (["1.5", "1.50", "-2e3", None], "number", [1, 1, 0, -1]),
        (["2020-01-02", "2019-12-31", None], "time", [1, 0, -1]),
        (["2020-01-02T10:00:00", "2020-01-02 09:00:00"], "time", [1, 0]),
        (["10", "9", "ten"], "category", [0, 1, 2]),
        ([None, None], "category", [-1, -1]),
    ],
)
def test_written_text_is_read_as_what_all_of_it_is(
    words: list[Any], kind: str, codes: list[int]
) -> None:
    found = read(pa.array(words, pa.string()), written=True)
    assert found.kind == kind
    assert found.coded().codes.tolist() == codes


def test_text_stays_text_unless_guessed_or_declared() -> None:
    words = pa.array(["07", "7"])
    assert read(words, written=True).coded().count == 1
    assert read(words, written=True, guess=False).coded().count == 2
    assert read(words).coded().count == 2  # a data frame's text is text
    assert read(words, declared(**AGE), written=True, guess=False).coded().count == 1
    category = declared(type="category", categories=["07", "7"])
    assert read(words, category, written=True).coded().count == 2


def test_a_declared_category_has_no_order() -> None:
    column = declared(type="category", categories=["1", "2"])
    assert read(pa.array([2, 1, 2]), column).kind == "category"
    assert read(pa.array([2, 1, 2]), column).words() == ["2", "1", "2"]
    assert read(pa.array([2, 1, 2])).kind == "number"
    assert read(pa.array(["b", "a"]).dictionary_encode()).words() == ["b", "a"]


def test_a_declared_missing_value_stands_for_blanks() -> None:
    number = declared(type="number", bounds=[0, 9], missing=5)
    assert read(pa.array([5, None, 7]), number).coded().codes.tolist() == [0, 0, 1]
    assert read(pa.array([5.0, float("nan")]), number).coded().codes.tolist() == [0, 0]
    assert read(pa.nulls(2), number).coded().codes.tolist() == [0, 0]
    tenth = declared(type="number", bounds=[0, 9], grid=0.5, missing=0.5)
    assert read(pa.array([1, None]), tenth).numbers().tolist() == [1.0, 0.5]
    category = declared(**{**ILL, "missing": "none"})
    assert read(pa.array(["flu", None]), category).words() == ["flu", "none"]
    encoded = pa.array(["flu", None]).dictionary_encode()
    assert read(encoded, category).words() == ["flu", "none"]
    day = declared(**DAYS, missing="2000-02-01")
    found = read(pa.array([dt.date(2000, 2, 1), None]), day)
    assert found.coded().count == 1
    with pytest.raises(InvalidTable, match="not stored as what the schema declares"):
        read(pa.array([True, None]), day)


def test_times_count_days_or_seconds() -> None:
    days = read(pa.array([dt.date(1970, 1, 3), None]))
    assert days.days
    assert days.numbers(days=True)[0] == 2
    assert days.numbers()[0] == 2 * 86400
    for unit in ("s", "ms", "us", "ns"):
        moment = read(pa.array([dt.datetime(1970, 1, 1, 0, 1), None], pa.timestamp(unit)))
        assert moment.numbers()[0] == 60
        assert np.isnan(moment.numbers()[1])
    assert domain(declared(**DAYS)) == 365
    assert domain(declared(**TIMES)) == 86400
    assert domain(declared(**ILL)) is None


def test_what_cannot_be_measured_is_refused() -> None:
    with pytest.raises(InvalidTable, match="neither numbers"):
        read(pa.array([[1], [2]]))
    for wrong in (float("inf"), -1e200):
        with pytest.raises(InvalidTable, match="infinite"):
            read(pa.array([1.0, wrong])).numbers()
    assert read(pa.array([1.0, float("inf")])).coded().count == 2


def test_marks_are_missing() -> None:
    number = declared(type="number", bounds=[0, 999], missing=["?", 999])
    assert read(pa.array(["?", " 5", "999"]), number).array.to_pylist() == [None, 5, None]
    assert read(pa.array([999, 5]), number).array.to_pylist() == [None, 5]
    assert read(pa.array([999.0, 5]), number).array.to_pylist() == [None, 5]
    word = declared(type="category", categories=["a"], missing=["?"])
    for words in (pa.array(["a", " ? "]), pa.array(["a", "?"]).dictionary_encode()):
        assert read(words, word).array.to_pylist() == ["a", None]


def test_quasi_identifiers_are_compared_as_written_whatever_marks_say() -> None:
    quasi = declared(type="number", bounds=[0, 9], missing=["?"])
    column = pa.chunked_array([pa.array(["?", None, "?"])])
    assert shown("x", column, quasi).codes.codes.tolist() in ([0, -1, 0], [0, 1, 0])


BIG = 2**53


def test_long_numbers_are_read_digit_by_digit() -> None:
    for words in (
        [str(10**20), str(10**20 + 1), "3"],
        [f"{BIG}.25", f"{BIG}.5", "3"],
        [f"0.{BIG}", f"0.{BIG + 1}", "3"],
    ):
        assert read(words, written=True).coded().codes.tolist()[:2] in ([1, 2], [0, 1])
    beyond = ["1" * 39, "2", "3"]
    assert pa.types.is_floating(read(beyond, written=True).array.type)


def test_large_numbers_are_counted_from_the_least() -> None:
    values = read(pa.array([BIG + 1, None, BIG + 2, BIG + 4]))
    assert values.least_of_large == int(float(BIG + 1)) == BIG
    counted = values.numbers(origin=BIG)
    assert counted[[0, 2, 3]].tolist() == [1, 2, 4]
    assert np.isnan(counted[1])
    assert values.numbers()[0] == values.numbers()[2] - 2  # the mutant: 1 became 0
    assert read(pa.array([BIG, -BIG])).least_of_large == 0
    assert read(pa.array([BIG, -BIG - 2])).least_of_large == -BIG - 2
    assert read(pa.array([1e300])).least_of_large == 0
    assert read(pa.array([None], pa.int64())).least_of_large == 0


WORDS = [
    "7",
    " 7",
    "7.5",
    "1e3",
    "2020-01-02",
    "2020-01-02 03:04",
    "x",
    "",
    "9" * 17,
    "0.1" + "2" * 20,
]
WORDS += ["9" * 30 + ".5", "-0", "nan", None]


@pytest.mark.parametrize("number", range(200))
def test_a_few_texts_tell_how_all_of_them_are_read(number: int) -> None:
    """The mutant looks at the sample alone: it reads numbers where a text is none."""
    draw = random.Random(number)
    pool = draw.sample(WORDS, draw.randint(1, 4))
    many = [draw.choice(pool) for _ in range(draw.choice([1, 3, 50]))]
    some = draw.sample(many, min(3, len(many)))
    few = telling([pa.array(many[:20], pa.string()), pa.array(many[20:], pa.string())])
    assert len(few) <= 9
    for column in (None, declared(type="number", bounds=[0, 9]), declared(**DAYS)):
        whole = read(pa.array(many + some, pa.string()), column, written=True)
        found = read(pa.array(few.to_pylist() + some, pa.string()), column, written=True)
        assert found.array.type == whole.array.type
        assert found.kind == whole.kind
        last = found.array.slice(len(few)).to_pylist()
        assert repr(last) == repr(whole.array.slice(len(many)).to_pylist())
