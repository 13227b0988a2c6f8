"""Prepare, partition, publish: groups of units, in random order, beside the original."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tenue.errors import InvalidTable, Unreachable
from tenue.microdata.method.method import Method, chosen_method
from tenue.microdata.protect import prepared, protected
from tenue.microdata.table.original import read_original
from tenue.noise import Seeded
from unit.microdata.census import people, schema


def chosen(method: str = "swap", k: object = 5, declared: Any = None, **changes: Any) -> Method:
    settings = {"by": None, "l": None, "t": None, "gamma": None, "override": (), **changes}
    return chosen_method(declared or schema(), method, k, **settings)


@pytest.mark.parametrize("k", [2, 3, 7, 20, 60])
@pytest.mark.parametrize("by", ["quasi-identifiers", "each-confidential", "other-attributes"])
def test_every_group_has_k_to_2k_minus_1_units(k: int, by: str) -> None:
    method = chosen(k=k, by=by, override="homogeneous-groups")
    original, left_out = prepared(read_original(people(), schema()), method, Seeded(k))
    assert left_out == 0
    done = protected(original, method, Seeded(k))
    for labels in done.groups.values():
        sizes = np.bincount(labels)
        assert k <= sizes.min() <= sizes.max() < 2 * k
    for name, labels in done.groups.items():
        for group in range(labels.max() + 1):
            before = original.cells[name].numbers[labels == group]
            after = done.cells[name].numbers[labels == group]
            assert sorted(before.tolist()) == sorted(after.tolist())


def test_rows_are_shuffled_before_anything_is_compared() -> None:
    table = people(80, age=[20 + i for i in range(80)])
    original, _ = prepared(read_original(table, schema()), chosen(), Seeded(3))
    ages = original.cells["age"].numbers.tolist()
    assert sorted(ages) == list(range(20, 100))
    assert ages != sorted(ages)


def test_only_values_that_the_method_reads_must_be_there() -> None:
    table = people(age=[None] * 7 + list(range(30, 83)), note=["plain"] * 59 + [None])
    by_value = chosen(by="each-confidential", override="homogeneous-groups")
    assert prepared(read_original(table, schema()), by_value, Seeded(1))[1] == 0
    by_group = chosen(by="quasi-identifiers")
    original, left_out = prepared(read_original(table, schema()), by_group, Seeded(1))
    assert left_out == 7
    assert original.size == 53
    assert original.cells["age"].complete


def test_rows_that_each_miss_something_leave_nothing_to_publish() -> None:
    table = people(
        age=[None if i % 2 else 30 + i for i in range(60)],
        sex=["f" if i % 2 else None for i in range(60)],
    )
    with pytest.raises(InvalidTable):
        prepared(read_original(table, schema()), chosen(), Seeded(1))


def test_k_is_compared_with_what_is_left() -> None:
    table = people(age=[None] * 50 + list(range(30, 40)))
    with pytest.raises(Unreachable) as refused:
        prepared(read_original(table, schema()), chosen(k=11), Seeded(1))
    assert "k = 10 at most" in refused.value.fix


def test_a_microaggregation_has_one_grouping_and_leaves_other_columns_alone() -> None:
    method = chosen("microaggregate", 4)
    original, _ = prepared(read_original(people(), schema()), method, Seeded(2))
    done = protected(original, method, Seeded(2))
    (labels,) = done.groups.values()
    for name in ("age", "job", "sex"):
        values = done.cells[name].numbers
        assert all(np.unique(values[labels == g]).size == 1 for g in range(labels.max() + 1))
    for name in ("income", "ill", "note"):
        assert done.cells[name] is original.cells[name]
