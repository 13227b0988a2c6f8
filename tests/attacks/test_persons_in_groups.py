"""k counts persons in what leaves: found again by a number in every row, on random small tables.

Persons have several rows, quasi-identifiers have blanks and spellings, rows may be left out; the
person may be named by an identifier or by a category column. Nothing here is counted by Tenue.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest

import tenue as tn

TREE = {"any": {"sick": {"flu": ["flu a", "flu b"], "cold": []}, "well": ["fine", "Fine"]}}
LEAVES = ["flu a", "flu b", "cold", "fine", "Fine"]
KNOWN: dict[str, dict[str, Any]] = {
    "age": {"type": "number", "bounds": [-5, 20], "grid": 0.5},
    "married": {"type": "boolean"},
    "town": {"type": "category", "categories": ["x", "X", "y |", "=z"]},
    "state": {"type": "category", "taxonomy": TREE},
}
SECRET = {"type": "category", "taxonomy": TREE, "role": "confidential"}
VALUES: dict[str, list[Any]] = {
    "age": [-5, -4.5, 0, 1, 2, 19.5, 20, None],
    "married": [True, False, True, False, None],
    "town": ["x", "X", "y |", "=z", "x", None],
    "state": LEAVES,
}
ROWS = 30


def town(draw: random.Random, names: list[str], unit: str) -> tuple[pa.Table, tn.Schema, list[int]]:
    persons = [draw.randrange(ROWS // 2) for _ in range(ROWS)]
    ills = [draw.choice(LEAVES) for _ in range(ROWS)]
    rows: dict[str, list[Any]] = {n: [draw.choice(VALUES[n]) for _ in range(ROWS)] for n in names}
    rows["ill"] = [ills[person] for person in persons]
    rows["number"] = [f"r{i}" for i in range(ROWS)]
    rows["home"] = [f"h{person}" for person in persons]
    homes = {"type": "category", "categories": [f"h{i}" for i in range(ROWS)], "role": "other"}
    columns = {name: {**KNOWN[name], "role": "quasi-identifier"} for name in names}
    columns |= {
        "ill": SECRET,
        "number": {"type": "category", "categories": rows["number"], "role": "other"},
        "home": {"type": "identifier"} if unit == "identifier" else homes,
    }
    head = {"name": "t", "unit": "home", "neighbours": "replace", "rows_per_unit": ROWS}
    types = {"age": pa.float64()}
    table = pa.table({name: pa.array(some, types.get(name)) for name, some in rows.items()})
    return table, tn.Schema.from_dict({"table": head, "columns": columns}), persons


def persons_in(rows: Iterable[dict[str, Any]], by: list[str], persons: list[int]) -> list[set[int]]:
    groups: dict[tuple[Any, ...], set[int]] = defaultdict(set)
    for row in rows:
        groups[tuple(row[name] for name in by)].add(persons[int(row["number"][1:])])
    return list(groups.values())


ONE_TABLE = ("generalise", "local-suppression")
METHODS: list[dict[str, Any]] = [
    {"method": "generalise", "suppress": 0.2},
    {"method": "generalise", "by": "full-domain", "suppress": 0.2, "l": 2},
    {"method": "generalise", "t": 0.4},
    {"method": "local-suppression"},
    {"method": "anatomy"},
    {"method": "anatomy", "by": "confidential"},
    {"method": "t-close", "t": "1.5"},
    {"method": "t-close", "t": 3},
]


@pytest.mark.parametrize("unit", ["identifier", "category"])
@pytest.mark.parametrize("asked", METHODS, ids=lambda asked: "-".join(map(str, asked.values())))
def test_every_group_has_k_persons(asked: dict[str, Any], unit: str) -> None:
    published = fooled = 0
    for seed in range(8):
        draw = random.Random(seed)
        names = draw.sample(list(KNOWN), draw.randint(1, 2))
        table, schema, persons = town(draw, names, unit)
        k = draw.choice([2, 3])
        word = () if asked["method"] == "t-close" else ("homogeneous-groups",)
        try:
            made = tn.publish(table, schema=schema, k=k, override=word, ledger=False, **asked)
        except tn.Refused:
            continue
        published += 1
        if asked["method"] not in ONE_TABLE:
            with pytest.raises(tn.Refused, match="two linked tables"):
                made.table  # noqa: B018 - side by side, rows of a person would have the same values
            assert not made.left
        for one in made.tables.values():
            assert "home" not in one.column_names
        if asked["method"] in ONE_TABLE:
            groups = persons_in(made.table.to_pylist(), names, persons)
            assert min(map(len, groups)) >= k
            continue
        people = made.tables["quasi_identifiers"].to_pylist()
        groups = persons_in(people, ["group"], persons)
        assert min(map(len, groups)) >= k
        assert sum(map(len, groups)) == len(set().union(*groups))  # nobody is in two
        values = made.tables["confidential"].to_pylist()
        sizes = Counter(row["group"] for row in values)
        assert sorted(sizes.values()) == sorted(map(len, groups))  # a record for each person
        rows = Counter(row["group"] for row in people)
        fooled += any(rows[group] > sizes[group] for group in sizes)
        if asked["method"] == "t-close":
            assert farthest(values, sizes) <= Fraction(asked["t"])
    # on most tables there is something to find: whoever counts rows finds more
    assert published >= 2
    assert asked["method"] in ONE_TABLE or fooled


def farthest(values: list[dict[str, Any]], sizes: Counter[int]) -> Fraction:
    """The largest ratio of a bucket's shares in a group and in the table, either way round."""
    whole = Counter(row["ill"] for row in values)
    inside = Counter((row["group"], row["ill"]) for row in values)
    ratios = [
        Fraction(inside[group, bucket] * len(values), sizes[group] * whole[bucket])
        for group in sizes
        for bucket in whole
    ]
    assert min(ratios) > 0
    return max(max(ratio, 1 / ratio) for ratio in ratios)
