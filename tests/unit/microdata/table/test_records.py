"""From columns to records: domains, persons, lines, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tenue.errors import InvalidArgument, InvalidTable
from tenue.microdata import records
from tenue.microdata.table.cells import Cells
from tenue.microdata.table.records import MOST_CORNERS, classes_of
from tenue.schema import Schema
from tenue.taxonomy import Taxonomy

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
