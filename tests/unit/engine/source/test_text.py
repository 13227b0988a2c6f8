"""Each Python object becomes text by its own type, and the quick way writes the same."""

from __future__ import annotations

import enum
import math
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import pytest

from tenue.engine.source.text import text, texts


class Colour(enum.StrEnum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


class Failing:
    @property
    def year(self) -> int:
        raise RuntimeError


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("a\0b", "a\0b"),
        (-(2**70), "-1180591620717411303424"),
        (0.1, "0.1"),
        (-math.inf, "-inf"),
        (math.nan, None),
        (True, "true"),
        (np.False_, "false"),
        (np.uint64(2**64 - 1), "18446744073709551615"),
        (np.float32(0.5), "0.5"),
        (np.longdouble(0.5), "0.5"),
        (np.str_("x"), "x"),
        (Decimal("1E+3"), "1E+3"),
        (Decimal("-Infinity"), "-Infinity"),
        (Decimal("sNaN"), None),
        (date(5, 1, 2), "0005-01-02"),
        (datetime(5, 1, 2), "0005-01-02 00:00:00.000000"),
        (datetime(2020, 1, 1, tzinfo=timezone(timedelta(hours=2))), "2019-12-31 22:00:00.000000"),
        (datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=2))), "0001-01-01 00:00:00.000000"),
        (pd.Timestamp("2020-01-01 00:00:00.000000009"), "2020-01-01 00:00:00.000000"),
        (pd.Timestamp(np.datetime64(10**12, "s")), "infinity"),
        (np.datetime64("2020-01-01"), "2020-01-01 00:00:00.000000"),
        (np.datetime64(-(10**13), "s"), "-infinity"),
        (np.datetime64("NaT"), None),
        (pd.NaT, None),
        (pd.NA, None),
        (None, None),
        (Colour.RED, "red"),
        (Level.HIGH, "3"),
        (UUID(int=7), "00000000-0000-0000-0000-000000000007"),
    ],
)
def test_a_value_is_written_by_its_own_type(value: Any, written: str | None) -> None:
    assert text(value) == written
    column, lost = texts([value])
    assert column.to_pylist() == [written]
    assert lost == 0


@pytest.mark.parametrize(
    "value", [b"4", [4], {}, object(), 1j, np.arange(2), np.void(b"x"), "\ud800", Failing()]
)
def test_what_has_no_text_is_missing_and_counted(value: Any) -> None:
    column, lost = texts(["a", value, None])
    assert column.to_pylist() == ["a", None, None]
    assert lost == 1


@pytest.mark.parametrize(
    "values",
    [
        ["a", "", "ä\0"],
        [0, -(2**63), 2**63 - 1],
        [datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999999), datetime(1969, 1, 1, 1)],
        [
            datetime(2020, 1, 1, tzinfo=UTC),
            datetime(2020, 7, 1, tzinfo=timezone(timedelta(1 / 48))),
        ],
        [
            pd.Timestamp("1700-01-01 01:02:03.4"),
            pd.NaT,
            pd.Timestamp("2020-07-01", tz="Asia/Tokyo"),
        ],
    ],
)
def test_values_of_one_type_are_written_as_they_are_among_others(values: list[Any]) -> None:
    quick, _ = texts([*values, None])
    among, _ = texts([*values, None, object()])
    assert quick.to_pylist() == among.to_pylist()[:-1]


def test_one_value_beyond_its_type_does_not_change_how_the_others_are_written() -> None:
    pairs: list[tuple[list[Any], Any]] = [
        ([1, 2], 2**70),
        (["a", "b"], "\ud800"),
        ([datetime(2020, 1, 1)] * 2, datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=9)))),
        ([pd.Timestamp(2020, 1, 1)] * 2, pd.Timestamp(np.datetime64(10**12, "s"))),
    ]
    for usual, odd in pairs:
        assert texts([*usual, odd])[0].to_pylist()[:2] == texts(usual)[0].to_pylist()


def test_numbers_too_long_to_be_written_are_beyond_every_bound() -> None:
    assert texts([10**5000, -(10**5000)])[0].to_pylist() == ["inf", "-inf"]


def test_a_column_of_nothing_is_a_column_of_text() -> None:
    column, lost = texts([])
    assert (str(column.type), len(column), lost) == ("large_string", 0, 0)
