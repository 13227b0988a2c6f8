"""A column in buckets: written without a gap, and no end is a person's value."""

from __future__ import annotations

import itertools
import re
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tenue.errors import Fault
from tenue.microdata.bucket import column as module
from tenue.microdata.bucket.column import Bucketed, bucketed
from tenue.microdata.table.original import Original, read_original
from tenue.schema import Schema

JOBS = {"any": {"desk": ["clerk", "writer"], "field": ["farmer", "miner"]}}


def table(declared: dict[str, Any], values: list[Any]) -> Original:
    columns = {"x": {**declared, "role": "confidential"}}
    facts = {"name": "t", "unit": "record", "neighbours": "replace"}
    return read_original(
        pa.table({"x": values}), Schema.from_dict({"table": facts, "columns": columns})
    )


def labels(declared: dict[str, Any], values: list[Any], t: int = 2) -> tuple[str, ...]:
    return bucketed(table(declared, values), "x", Fraction(t)).labels


NUMBER = {"type": "number", "bounds": [0, 100]}


def test_intervals_fill_the_declared_domain() -> None:
    assert labels(NUMBER, [10, 20, 30, 40, 50, 60]) == ("[0, 25]", "[26, 45]", "[46, 100]")
    fine = {"type": "number", "bounds": [-1, 1], "grid": 0.25}
    assert labels(fine, [-0.5, 0, 0.5]) == ("[-1, -0.25]", "[0, 0.25]", "[0.5, 1]")
    days = {"type": "date", "bounds": ["2020-01-01", "2020-12-31"]}
    given = ["2020-03-01", "2020-03-11", "2020-05-01"]
    found = labels(days, given, t=1)
    assert found[0].startswith("[2020-01-01, 2020-0")
    assert found[-1].endswith(", 2020-12-31]")


def test_values_lie_in_the_interval_that_is_written() -> None:
    values = np.random.default_rng(1).integers(0, 101, 200).tolist()
    original = table(NUMBER, values)
    found = bucketed(original, "x", Fraction(5))
    assert len(found.labels) == 6
    shown = found.cells().to_arrow().to_pylist()
    for value, text in zip(original.cells["x"].numbers.tolist(), shown, strict=True):
        low, high = map(int, re.findall(r"\d+", text))
        assert low <= value <= high
    ends = [tuple(map(int, re.findall(r"\d+", text))) for text in found.labels]
    assert ends[0][0] == 0
    assert ends[-1][1] == 100
    assert all(after[0] == before[1] + 1 for before, after in itertools.pairwise(ends))
    assert not found.torn


def test_inner_ends_are_nobodys_value_where_there_is_room() -> None:
    found = labels(NUMBER, [10, 20, 80, 90], t=1)
    assert found == ("[0, 50]", "[51, 100]")  # and not [10, 20], [80, 90]


def test_categories_are_cut_depth_first_and_blank_ones_join_the_one_before() -> None:
    job = {"type": "category", "taxonomy": JOBS}
    assert labels(job, ["clerk", "writer", "farmer", "miner"], t=1) == (
        "clerk | writer",
        "farmer | miner",
    )
    assert labels(job, ["clerk", "clerk", "miner", "miner"], t=1) == (
        "clerk | writer | farmer",
        "miner",
    )
    flat = {"type": "category", "categories": ["no", "flu", "cold"]}
    assert labels(flat, ["cold", "no", "flu"]) == ("no", "flu", "cold")


def test_yes_and_no() -> None:
    assert labels({"type": "boolean"}, [True, False, True]) == ("false", "true")
    assert labels({"type": "boolean"}, [True, True]) == ("false | true",)


def test_the_middle_value_stands_for_a_bucket_where_the_holder_compares() -> None:
    found = bucketed(table(NUMBER, [10, 90, 20, 80, 30, 70]), "x", Fraction(1))
    assert found.buckets.tolist() == [0, 1, 0, 1, 0, 1]
    assert found.middles(found.buckets).numbers.tolist() == [20, 80, 20, 80, 20, 80]


def test_a_value_in_two_buckets_is_seen() -> None:
    column = table(NUMBER, [1, 1, 2]).cells["x"]
    assert Bucketed(column, np.array([0, 1, 1]), ("a", "b")).torn
    assert not Bucketed(column, np.array([0, 0, 1]), ("a", "b")).torn


def test_two_buckets_that_are_written_alike_never_leave(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_intervals", lambda *_: ("[0, 1]", "[0, 1]"))
    with pytest.raises(Fault):
        labels(NUMBER, [1, 2])
