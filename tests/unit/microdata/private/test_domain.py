"""Values become places and places values, by the schema alone."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import tenue as tn
from tenue.microdata.private.domain import Axis, Domain
from tenue.microdata.table.original import read_original
from tenue.noise.source import Seeded
from tenue.schema import Schema

JOBS = {"any": {"desk": ["clerk", "judge"], "field": ["miner"]}}


def schema(**columns: dict[str, object]) -> Schema:
    return Schema.from_dict(
        {
            "table": {"name": "t", "unit": "record", "neighbours": "replace"},
            "columns": columns,
        }
    )


MIXED = schema(
    name={"type": "identifier"},
    age={"type": "number", "bounds": [10, 20], "grid": 0.5},
    born={"type": "date", "bounds": ["2000-01-01", "2000-01-31"]},
    job={"type": "category", "taxonomy": JOBS},
    sex={"type": "category", "categories": ["m", "f"]},
    ill={"type": "boolean"},
    twice={"type": "number", "bounds": [20, 40], "expression": "age * 2"},
)
ROWS = pa.table(
    {
        "name": ["a", "b", "c"],
        "age": [10.0, 20.0, 12.5],
        "born": pa.array([10957, 10958, 10987], pa.int32()).cast(pa.date32()),
        "job": ["judge", "miner", "clerk"],
        "sex": ["f", "m", "f"],
        "ill": [True, False, True],
    }
)


def test_identifiers_and_derived_columns_have_no_axis() -> None:
    assert [axis.name for axis in Domain.of(MIXED).axes] == ["age", "born", "job", "sex", "ill"]


def test_sizes_are_those_of_the_schema() -> None:
    assert Domain.of(MIXED).sizes == (21, 31, 3, 2, 2)


def test_places_and_back() -> None:
    domain = Domain.of(MIXED)
    read = read_original(ROWS, MIXED)
    places = domain.places(read.cells, Seeded(1))
    assert places.tolist() == [[0, 0, 1, 1, 1], [20, 1, 2, 0, 0], [5, 30, 0, 1, 1]]
    assert domain.table(places).to_pylist() == ROWS.drop_columns(["name"]).to_pylist()


def test_a_missing_value_takes_what_is_declared_a_blank_or_any_place() -> None:
    given = schema(
        a={"type": "number", "bounds": [0, 3], "missing": 2},
        b={"type": "number", "bounds": [0, 3], "missing": ["NA"]},
        c={"type": "number", "bounds": [0, 3]},
    )
    rows = pa.table({name: pa.array([None] * 400 + [1], pa.int64()) for name in "abc"})
    domain = Domain.of(given)
    assert [axis.blank for axis in domain.axes] == [False, True, False]
    assert domain.sizes == (4, 5, 4)
    places = domain.places(read_original(rows, given).cells, Seeded(2))
    assert set(places[:400, 0]) == {2}
    assert set(places[:400, 1]) == {4}
    assert set(places[:400, 2]) == {0, 1, 2, 3}
    made = domain.cells(places)
    assert made["b"].to_arrow().null_count == 400
    assert made["c"].to_arrow().null_count == 0


def test_values_beyond_the_bounds_lie_at_the_ends() -> None:
    given = schema(a={"type": "number", "bounds": [0, 3]})
    rows = pa.table({"a": [-7, 99, 1]})
    assert Domain.of(given).places(read_original(rows, given).cells, Seeded(1)).tolist() == [
        [0],
        [3],
        [1],
    ]


def test_neighbouring_categories_are_as_far_apart_as_in_the_taxonomy() -> None:
    axis = next(axis for axis in Domain.of(MIXED).axes if axis.name == "job")
    near, far = axis.distances
    assert 0 < near < far


def test_a_schema_of_identifiers_is_refused() -> None:
    with pytest.raises(tn.errors.InvalidSchema):
        Domain.of(schema(name={"type": "identifier"}))


def test_too_many_places_are_refused() -> None:
    wide = schema(a={"type": "number", "bounds": [0, 2**62]})
    with pytest.raises(tn.errors.InvalidSchema):
        Domain.of(wide)


def test_another_row_never_moves_a_place() -> None:
    domain = Domain.of(MIXED)
    whole = domain.places(read_original(ROWS, MIXED).cells, Seeded(1))
    for i in range(3):
        alone = domain.places(read_original(ROWS.slice(i, 1), MIXED).cells, Seeded(1))
        assert np.array_equal(alone[0], whole[i])


def test_an_axis_knows_its_order() -> None:
    assert [axis.ordered for axis in Domain.of(MIXED).axes] == [True, True, False, False, False]
    assert isinstance(Axis.of(MIXED.columns["age"]), Axis)
