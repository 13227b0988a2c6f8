"""What a bucket is called must not say two things: no value may be read in two of them."""

from __future__ import annotations

import json
import re
from collections import Counter
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest

import tenue as tn

_ITEM = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[^|"]+?)\s*(?:\||$)')
KNOWN = {"age": {"type": "number", "bounds": [0, 200], "role": "quasi-identifier"}}


def published(values: list[Any], t: object = 3, **declared: Any) -> tuple[pa.Table, tn.Schema]:
    schema = tn.Schema.from_dict(
        {
            "table": {"name": "t", "unit": "record", "neighbours": "replace"},
            "columns": {**KNOWN, "secret": {**declared, "role": "confidential"}},
        }
    )
    rows = pa.table({"age": list(range(len(values))), "secret": values})
    release = tn.publish(rows, schema=schema, method="t-close", k=2, t=t, ledger=False)
    return release.tables["confidential"], schema


def read(text: str) -> list[str]:
    """The categories that a bucket's text names."""
    found = _ITEM.findall(text)
    return [json.loads(one) if one.startswith('"') else one for one in found]


@pytest.mark.parametrize(
    "names",
    [
        ["w | x", "w", "x", "y"],  # two buckets were written alike, or `w` stood in two
        ["w", "x", "w | x", "y"],
        ["a|b", '"a"', "a", "b"],
        ['x" | "y', "x", "y", "z |"],
    ],
)
@pytest.mark.parametrize("t", ["1.5", 2, 3])
def test_every_category_is_read_in_one_bucket(names: list[str], t: object) -> None:
    table, _ = published(names * 6, t, type="category", categories=names)
    buckets = [read(text) for text in set(table.column("secret").to_pylist())]
    assert sorted(name for bucket in buckets for name in bucket) == sorted(names)
    shares = Counter(table.column("secret").to_pylist())
    for text, units in shares.items():
        assert units == 6 * len(read(text))


def test_a_spelling_that_nobody_uses_is_in_the_bucket_of_the_others() -> None:
    names = ["cold", "Flu", "cough", "flu", "none"]  # nobody writes Flu
    table, _ = published(["cold", "cough", "flu", "none"] * 6, 3, type="category", categories=names)
    buckets = [set(read(text)) for text in set(table.column("secret").to_pylist())]
    assert len(buckets) == 4
    assert {"Flu", "flu"} in buckets


NOON = datetime(2024, 2, 28, 23, 59, 58)
LINES: list[tuple[list[Any], dict[str, Any]]] = [
    ([2**59 + i for i in range(24)], {"type": "number", "bounds": [0, 2**60], "grid": 1}),
    (
        [10**15 - i * 0.125 for i in range(24)],
        {"type": "number", "bounds": [0, 10**15], "grid": 0.001},
    ),
    ([i / 1000 for i in range(24)], {"type": "number", "bounds": [-1, 1], "grid": 0.001}),
    (
        [NOON + timedelta(seconds=i) for i in range(24)],
        {"type": "datetime", "bounds": ["2024-01-01T00:00:00", "2024-12-31T00:00:00"]},
    ),
    (
        [(NOON + timedelta(days=i)).date() for i in range(24)],
        {"type": "date", "bounds": ["2024-02-28", "2024-03-22"]},
    ),
]


@pytest.mark.parametrize(("values", "declared"), LINES, ids=["2^59", "1e15", "0.001", "s", "days"])
def test_every_value_lies_in_one_interval(values: list[Any], declared: dict[str, Any]) -> None:
    """Ends beyond what doubles hold would meet or overlap once they are written."""
    table, _ = published(values, 3, **declared)
    shares = Counter(table.column("secret").to_pylist())
    ends = [tuple(text[1:-1].split(", ")) for text in shares]
    assert len(ends) == 4
    for value in values:
        there = Fraction(str(value)) if isinstance(value, int | float) else value.isoformat()
        as_read: Any = Fraction if isinstance(value, int | float) else str
        assert sum(as_read(low) <= there <= as_read(high) for low, high in ends) == 1
