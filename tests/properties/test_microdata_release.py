"""Whatever the table, a release keeps its promise or is refused; nothing else ever happens."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pyarrow as pa
import pytest

import tenue as tn

JOBS = {"any": {"desk": ["clerk", "writer"], "field": ["farmer"]}}
SCHEMA = tn.Schema.from_dict(
    {
        "table": {"name": "people", "unit": "record", "neighbours": "replace"},
        "columns": {
            "age": {"type": "number", "bounds": [0, 10], "grid": 0.5, "role": "quasi-identifier"},
            "job": {"type": "category", "taxonomy": JOBS, "role": "quasi-identifier"},
            "in": {"type": "boolean", "role": "quasi-identifier", "missing": True},
            "pay": {"type": "number", "bounds": [-5, 5], "role": "confidential"},
            "ill": {
                "type": "category",
                "categories": ["no", "yes"],
                "role": "confidential",
                "sensitive": True,
            },
        },
    }
)
TYPES = (pa.float64(), pa.string(), pa.bool_(), pa.int32(), pa.string())
WAYS: list[dict[str, Any]] = [
    {"method": "microaggregate", "by": "mdav"},
    {"method": "microaggregate", "by": "v-mdav"},
    {"method": "microaggregate", "by": "mdav", "l": 2},
    {"method": "microaggregate", "by": "mdav", "t": 0.2},
    {"method": "microaggregate", "by": "v-mdav", "l": 2, "t": 0},
    {"method": "swap", "by": "quasi-identifiers"},
    {"method": "swap", "by": "quasi-identifiers", "l": 2},
    {"method": "swap", "by": "each-confidential"},
    {"method": "swap", "by": "other-attributes"},
]
SEEDS = 15


def table_of(rng: random.Random) -> pa.Table:
    """From one row to forty, with many or few different values, and some or no blanks."""
    size = rng.choice([1, 4, 12, 25, 40])
    blank = rng.choice([0, 0, 0.1])
    values = rng.choice([[3.0, 5.2], [rng.uniform(-2, 12) for _ in range(30)]])
    draws = (
        lambda: rng.choice([*values, float("nan")]) if blank else rng.choice(values),
        lambda: rng.choice(["clerk", "writer", "farmer"]),
        lambda: rng.random() < 0.5,
        lambda: rng.randrange(-9, 9),
        lambda: rng.choice(["no", "yes", "yes"]),
    )
    columns = [
        pa.array([None if rng.random() < blank else draw() for _ in range(size)], kind)
        for draw, kind in zip(draws, TYPES, strict=True)
    ]
    return pa.table(columns, names=list(SCHEMA.columns))


@pytest.mark.parametrize("how", WAYS, ids=lambda how: "-".join(map(str, how.values())))
def test_a_release_keeps_its_promise_or_is_refused(how: dict[str, Any]) -> None:
    released = 0
    for seed in range(SEEDS):
        rng = random.Random(seed)
        table, k, insist = table_of(rng), rng.randrange(2, 7), rng.random() < 0.7
        override = "homogeneous-groups" if insist else ()
        try:
            release = tn.publish(table, schema=SCHEMA, k=k, override=override, **how)
        except tn.Refused:
            continue
        released += 1
        out = release.table
        assert out.schema.types == table.schema.types
        assert k <= out.num_rows <= table.num_rows
        if how["method"] == "microaggregate":
            _expect_groups(out, k, how, insist)
        else:
            before = Counter(table.column("ill").to_pylist())
            assert not Counter(out.column("ill").to_pylist()) - before
            assert out.column("pay").null_count == 0
            assert all(-5 <= pay <= 5 for pay in out.column("pay").to_pylist())
    assert released >= SEEDS // 3, "too few tables could be released for this to say much"


def _expect_groups(out: pa.Table, k: int, how: dict[str, Any], insist: bool) -> None:
    quasi = zip(*(out.column(name).to_pylist() for name in ("age", "job", "in")), strict=True)
    assert min(Counter(quasi).values()) >= k
    assert all(0 <= age <= 10 and age * 2 == int(age * 2) for age in out.column("age").to_pylist())
    found = tn.evaluate.check(out, SCHEMA, confidential=["ill"])
    assert found.l is not None
    assert found.t is not None
    assert found.l >= how.get("l", 1)
    assert found.t <= how.get("t", 1)
    if not insist and "t" not in how:
        assert found.l >= 2
