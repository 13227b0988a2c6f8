"""Whole numbers become values of the type that was stored, the nearest that it can hold."""

from __future__ import annotations

import datetime
import random
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tenue.microdata.table.cells import Cells
from tenue.schema import Schema
from tenue.taxonomy import Taxonomy


def cells(declared: dict[str, Any], numbers: list[int | None], kind: Any = None) -> Cells:
    schema = Schema.from_dict(
        {
            "table": {"name": "t", "unit": "record", "neighbours": "replace"},
            "columns": {"x": declared},
        }
    )
    present = np.array([number is not None for number in numbers])
    values = np.array([number or 0 for number in numbers], np.int64)
    return Cells(schema.column("x"), values, present, kind)


TENTHS = {"type": "number", "bounds": [-100, 100], "grid": 0.1}
WHOLE = {"type": "number", "bounds": [-100, 100]}
HALVES = {"type": "number", "bounds": [-100, 100], "grid": 0.5}


@pytest.mark.parametrize(
    ("declared", "kind", "values"),
    [
        (TENTHS, pa.float64(), [0.3, -0.7, None]),
        (TENTHS, None, [0.3, -0.7, None]),
        (TENTHS, pa.decimal128(9, 2), [Decimal("0.30"), Decimal("-0.70"), None]),
        (TENTHS, pa.decimal128(9, 0), [Decimal("0"), Decimal("-1"), None]),
        (WHOLE, pa.int16(), [3, -7, None]),
        (WHOLE, None, [3, -7, None]),
        (WHOLE, pa.float64(), [3.0, -7.0, None]),
        (HALVES, pa.int32(), [2, -3, None]),  # 1.5 and -3.5: halves go up
    ],
)
def test_numbers(declared: dict[str, Any], kind: Any, values: list[Any]) -> None:
    made = cells(declared, [3, -7, None], kind).to_arrow()
    assert made.to_pylist() == values
    if kind is not None:
        assert made.type == kind


def test_single_precision_is_the_nearest_single() -> None:
    made = cells(TENTHS, [3], pa.float32()).to_arrow()
    assert made.type == pa.float32()
    assert made.to_pylist() == [float(np.float32(0.3))]


def test_every_double_is_the_nearest_to_its_multiple_of_the_grid() -> None:
    """Steps times 0.1, the obvious way, often is not."""
    rng = random.Random(2)
    steps = [rng.randrange(-1000, 1000) for _ in range(500)]
    made = cells(TENTHS, steps, pa.float64()).to_arrow().to_pylist()
    assert made == [float(Fraction(step, 10)) for step in steps]
    assert made != [step * 0.1 for step in steps]


def test_numbers_beyond_doubles_stay_exact() -> None:
    huge = {"type": "number", "bounds": [0, 4 * 10**18]}
    assert cells(huge, [2**61 + 1], pa.int64()).to_arrow().to_pylist() == [2**61 + 1]
    third = {"type": "number", "bounds": [0, 3 * 10**18], "grid": 3}
    assert cells(third, [10**18 - 1], pa.uint64()).to_arrow().to_pylist() == [3 * 10**18 - 3]
    fine = {"type": "number", "bounds": [0, 10**4], "grid": Fraction(1, 10**9)}
    assert cells(fine, [10**13 - 1], None).to_arrow().to_pylist() == [
        float(Fraction(10**13 - 1, 10**9))
    ]


def test_days_and_moments() -> None:
    day = {"type": "date", "bounds": ["2020-01-01", "2020-12-31"]}
    assert cells(day, [31, None]).to_arrow().to_pylist() == [datetime.date(2020, 2, 1), None]
    midnight = cells(day, [31], pa.timestamp("ns")).to_arrow()
    assert midnight.type == pa.timestamp("ns")
    assert midnight.cast(pa.timestamp("s")).to_pylist() == [datetime.datetime(2020, 2, 1)]
    moment = {"type": "datetime", "bounds": ["2020-01-01T00:00:00", "2020-01-02T00:00:00"]}
    noon = cells(moment, [43_200]).to_arrow()
    assert noon.to_pylist() == [datetime.datetime(2020, 1, 1, 12)]
    zoned = cells(moment, [43_200], pa.timestamp("ms", "UTC")).to_arrow()
    assert zoned.type == pa.timestamp("ms", "UTC")
    assert zoned.to_pylist()[0].hour == 12


def test_categories_keep_the_type_that_all_labels_fit() -> None:
    words = {"type": "category", "categories": ["1", "2"]}
    assert cells(words, [1, None]).to_arrow().to_pylist() == ["2", None]
    assert cells(words, [1, None], pa.int8()).to_arrow().to_pylist() == [2, None]
    held = cells(words, [1], pa.dictionary(pa.int8(), pa.string())).to_arrow()
    assert pa.types.is_dictionary(held.type)
    assert held.dictionary.to_pylist() == ["1", "2"]


def test_the_type_of_a_column_does_not_depend_on_its_rows() -> None:
    """If it did, text would say that some group has a concept for its centre."""
    tree = Taxonomy.from_nested({"any": {"few": ["1", "2"], "3": []}})
    column = cells({"type": "category", "taxonomy": {"any": {"few": ["1", "2"]}}}, [0])
    both = [
        Cells(column.column, np.array([n]), np.array([True]), pa.int64(), tree.concepts).to_arrow()
        for n in range(len(tree.concepts))
    ]
    assert {made.type for made in both} == {pa.string()}


def test_booleans() -> None:
    flag = {"type": "boolean"}
    assert cells(flag, [1, 0, None]).to_arrow().to_pylist() == [True, False, None]
    assert cells(flag, [1, 0, None], pa.int32()).to_arrow().to_pylist() == [1, 0, None]
    assert cells(flag, [1, 0], pa.string()).to_arrow().to_pylist() == [True, False]


@pytest.mark.parametrize(
    ("declared", "filled"),
    [
        ({**WHOLE, "missing": -5}, [3, -5]),
        ({**TENTHS, "missing": 0.2}, [0.3, 0.2]),
        ({"type": "category", "categories": list("abcde"), "missing": "c"}, ["d", "c"]),
        ({"type": "boolean", "missing": True}, [True, True]),
        (
            {"type": "date", "bounds": ["2020-01-01", "2020-12-31"], "missing": "2020-02-01"},
            [datetime.date(2020, 1, 4), datetime.date(2020, 2, 1)],
        ),
    ],
)
def test_what_the_schema_declares_stands_for_what_is_missing(
    declared: dict[str, Any], filled: list[Any]
) -> None:
    column = cells(declared, [3, None])
    assert not column.complete
    assert column.filled().complete
    assert column.filled().to_arrow().to_pylist() == filled


def test_without_a_declaration_nothing_is_filled_in() -> None:
    column = cells(WHOLE, [3, None])
    assert column.filled() is column
    assert column.take(np.array([1, 0])).to_arrow().to_pylist() == [None, 3]


@pytest.mark.parametrize(
    ("declared", "kind", "number", "held", "value"),
    [
        ({"bounds": [0, 999], "missing": 999}, pa.int8(), 999, pa.int64(), 999),
        ({"bounds": [0, 999], "missing": 9}, pa.int8(), 9, pa.int8(), 9),
        ({"bounds": [0, 999]}, pa.int8(), 100, pa.int8(), 100),  # 999 is in no row
        ({"bounds": [200, 300]}, pa.int8(), 200, pa.int64(), 200),  # each value becomes 200
        ({"bounds": [-5, -1]}, pa.uint8(), -1, pa.int64(), -1),
        ({"bounds": [0, 200], "grid": 10}, pa.int8(), 13, pa.int64(), 130),  # 127 becomes 130
        ({"bounds": [0, 120], "grid": 10}, pa.int8(), 12, pa.int8(), 120),
        (
            {"bounds": [0, 1000], "missing": 1000},
            pa.decimal128(4, 2),
            1000,
            pa.decimal128(38, 2),
            Decimal("1000.00"),
        ),
    ],
)
def test_a_type_that_cannot_hold_what_the_schema_says_is_widened(
    declared: dict[str, Any], kind: Any, number: int, held: Any, value: object
) -> None:
    """And by the schema alone: were it by rows, the type would tell of them."""
    made = cells({"type": "number", **declared}, [number, None], kind).to_arrow()
    assert made.type == held
    assert made.to_pylist() == [value, None]
    nothing = cells({"type": "number", **declared}, [None], kind).to_arrow()
    assert nothing.type == held
