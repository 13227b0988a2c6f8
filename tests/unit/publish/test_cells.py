"""Columns as whole numbers and as records."""

from __future__ import annotations

import datetime
import random
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tenue.errors import InvalidArgument, InvalidTable
from tenue.microdata import records
from tenue.publish.table.cells import Cells, Coding, table_of
from tenue.publish.table.input_table import read_original
from tenue.publish.table.records import MOST_CORNERS, classes_of
from tenue.schema import Schema
from tenue.taxonomy import Taxonomy
from unit.publish.stored import people
from unit.publish.stored import schema as coded_schema


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


# -- Values become whole numbers and come back as they were ----------------------------------------

SCHEMA = Schema.from_dict(coded_schema())


def test_numbers_stand_for_the_values() -> None:
    original = read_original(people(), SCHEMA)
    coding = Coding.of(SCHEMA)
    assert coding.names == tuple(original.cells)
    numbers = coding.numbers(original.cells)
    assert numbers.min() == 0  # what is missing
    assert (numbers.max(axis=0) < coding.sizes).all()
    typed = replace(coding, types={name: held.type for name, held in original.cells.items()})
    assert table_of(typed.cells(numbers), SCHEMA).equals(table_of(original.cells, SCHEMA))
    assert coding.places(("pay", "age")) == [3, 0]


def test_what_is_declared_takes_the_place_of_what_is_missing() -> None:
    declared = Schema.from_dict(
        coded_schema(age={"type": "number", "bounds": [0, 9], "missing": 7, "role": "other"})
    )
    coding = Coding.of(declared)
    empty = np.zeros((1, len(coding.columns)), np.int64)
    assert coding.filled(empty)[0].tolist() == [8, 0, 0, 0, 0, 0]


def test_names_of_persons_and_derived_columns_are_not_there() -> None:
    more = {"twice": {"type": "number", "expression": "note * 2", "bounds": [0, 18]}}
    declared = Schema.from_dict(coded_schema(**more))
    assert Coding.of(declared).names == ("age", "town", "born", "pay", "ill", "note")
    hidden = Schema.from_dict(
        coded_schema(age={"type": "number", "bounds": [0, 99], "role": "identifier"})
    )
    cells = Coding.of(hidden).cells(np.ones((2, 6), np.int64))
    assert table_of(cells, hidden).column_names == ["town", "born", "pay", "ill", "note"]
    assert isinstance(table_of(cells, hidden), pa.Table)


# -- From columns to records: domains, persons, lines, refusals ------------------------------------

TREE = {"any": {"hot": ["sun", "fire"], "cold": ["snow", "ice", "frost"]}}


def schema(unit: str = "record", **columns: dict[str, Any]) -> Schema:
    table: dict[str, Any] = {"name": "t", "unit": unit, "neighbours": "replace"}
    if unit != "record":
        table["rows_per_unit"] = 5
    return Schema.from_dict({"table": table, "columns": columns})


def test_numbers_are_divided_by_their_declared_domain_not_by_their_values() -> None:
    declared = schema(x={"type": "number", "bounds": [-10, 30]})
    got = records(pa.table({"x": [0, 10]}), declared, ["x"])
    assert got.coordinates.tolist() == [[0.25], [0.5]]


def test_long_flat_lists_are_compared_as_taxonomies() -> None:
    words = [f"w{i}" for i in range(MOST_CORNERS + 1)]
    declared = schema(c={"type": "category", "categories": words})
    got = records(pa.table({"c": words}), declared, ["c"])
    assert got.coordinates.shape == (len(words), 0)
    assert len(got.semantic) == 1
    squared = got.semantic[0].meaning.squared_from(int(got.semantic[0].meaning.occurring[0]))
    assert sorted(set(squared.round(12).tolist())) == [0.0, 1.0]


def test_a_person_is_the_centre_of_the_persons_rows() -> None:
    declared = schema(
        "who",
        who={"type": "identifier"},
        x={"type": "number", "bounds": [0, 8]},
        c={"type": "category", "taxonomy": TREE},
    )
    table = pa.table(
        {
            "who": ["b", "a", "b", "b"],
            "x": [1, 8, 2, 3],
            "c": ["snow", "fire", "snow", "sun"],
        }
    )
    got = records(table, declared, ["x", "c"])
    assert sorted(got.coordinates.reshape(-1).tolist()) == [0.25, 1.0]
    semantic = got.semantic[0]
    names = [
        semantic.meaning.taxonomy.concepts[semantic.meaning.occurring[code]]
        for code in semantic.codes
    ]
    assert dict(zip(got.coordinates[:, 0].tolist(), names, strict=True)) == {
        0.25: "snow",
        1.0: "fire",
    }


def test_the_line_keeps_the_distances_of_neighbours() -> None:
    declared = schema(c={"type": "category", "taxonomy": TREE})
    column = declared.column("c")
    tree = Taxonomy.from_nested(TREE)
    numbers = np.arange(5)
    found = classes_of(Cells(column, numbers, np.ones(5, bool), None))
    line = found.line[found.codes]
    steps = np.diff(line[[tree.categories.index(word) for word in tree.depth_first]])
    expected = [
        float(tree.rational_distance(a, b))
        for a, b in zip(tree.depth_first, tree.depth_first[1:], strict=False)
    ]
    assert steps.tolist() == pytest.approx(expected)
    assert max(expected) == expected[1]  # from hot to cold


def test_numbers_beyond_doubles_are_told_apart() -> None:
    declared = schema(x={"type": "number", "bounds": [0, 2**62]})
    numbers = np.array([2**60 + 1, 2**60, 2**60 + 1, 2**60 + 2])
    found = classes_of(Cells(declared.column("x"), numbers, np.ones(4, bool), None))
    assert found.codes.tolist() == [1, 0, 1, 2]
    assert found.line.tolist() == [0.0, 1.0, 2.0]


def test_categories_that_are_only_written_differently_are_one_value() -> None:
    declared = schema(c={"type": "category", "categories": ["flu", "none", "Flu "]})
    numbers = np.array([0, 1, 2, 0])
    found = classes_of(Cells(declared.column("c"), numbers, np.ones(4, bool), None))
    assert found.codes[0] == found.codes[2] == found.codes[3] != found.codes[1]


def test_what_cannot_be_compared_is_refused() -> None:
    declared = schema(x={"type": "number", "bounds": [0, 10]}, who={"type": "identifier"})
    table = pa.table({"x": [1, None], "who": ["a", "b"]})
    with pytest.raises(InvalidTable):
        records(table, declared, ["x"])
    for columns in (["who"], [], ["nobody"], None):
        with pytest.raises(InvalidArgument):
            records(table, declared, columns)
