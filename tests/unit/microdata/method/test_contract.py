"""What all methods share: roles, rows in random order, and the steps that a history tells."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import tenue as tn
from tenue.errors import InvalidArgument, InvalidSchema, InvalidTable, Unreachable
from tenue.microdata.method.catalogue import chosen_method
from tenue.microdata.method.contract import Method, Published
from tenue.microdata.table.original import Original, read_original
from tenue.noise import Seeded
from tenue.schema import Schema
from unit.microdata.census import people, schema


def chosen(method: str = "swap", k: object = 5, **changes: Any) -> Method:
    return chosen_method(schema(), method, k=k, **changes)


def prepared(table: pa.Table, method: Method, seed: int) -> tuple[Original, int]:
    """The rows that are published, and how many were left out."""
    read = read_original(table, schema())
    original = method.prepare(read, Seeded(seed))
    return original, read.size - original.size


# -- rows ------------------------------------------------------------------------------------------


def test_rows_are_shuffled_before_anything_is_compared() -> None:
    table = people(80, age=[20 + i for i in range(80)])
    original, _ = prepared(table, chosen(), 3)
    ages = original.cells["age"].numbers.tolist()
    assert sorted(ages) == list(range(20, 100))
    assert ages != sorted(ages)


def test_only_values_that_the_method_reads_must_be_there() -> None:
    table = people(age=[None] * 7 + list(range(30, 83)), note=["plain"] * 59 + [None])
    by_value = chosen(by="each-confidential", override="homogeneous-groups")
    assert prepared(table, by_value, 1)[1] == 0
    by_group = chosen(by="quasi-identifiers")
    original, left_out = prepared(table, by_group, 1)
    assert left_out == 7
    assert original.size == 53
    assert original.cells["age"].complete


def test_rows_that_each_miss_something_leave_nothing_to_publish() -> None:
    table = people(
        age=[None if i % 2 else 30 + i for i in range(60)],
        sex=["f" if i % 2 else None for i in range(60)],
    )
    with pytest.raises(InvalidTable):
        prepared(table, chosen(), 1)


def test_k_is_compared_with_what_is_left() -> None:
    table = people(age=[None] * 50 + list(range(30, 40)))
    with pytest.raises(Unreachable) as refused:
        prepared(table, chosen(k=11), 1)
    assert "k = 10 at most" in refused.value.fix


# -- history ---------------------------------------------------------------------------------------


def test_every_step_is_told_with_its_numbers() -> None:
    table = people(age=[None] * 10 + list(range(30, 80)))
    release = tn.publish(table, schema=schema(), method="swap", k=10, override="homogeneous-groups")
    assert [str(step) for step in release.history if step.name != "homogeneous"] == [
        "read: 60 rows, 6 columns besides identifiers",
        "left out: 10 rows with a missing value in age, job, sex, income, ill",
        "partition: 5 groups, 10 units in each",
        "publish: swap by quasi-identifiers: income, ill",
        "insisted on: homogeneous-groups",
    ]


def test_groups_are_counted_in_persons() -> None:
    take = [i for i in range(12) for _ in range(3)]
    release = tn.publish(people(12).take(take), schema=schema("name"), method="swap", k=4)
    (step,) = [step for step in release.history if step.name == "partition"]
    assert step.text == "3 groups, 4 units in each"


def test_one_valued_groups_are_counted_for_each_column() -> None:
    """Sorted by income, 50 times "no" and 10 times "flu": by value, all groups of five are pure."""
    table = people(ill=["no"] * 50 + ["flu"] * 10)
    release = tn.publish(
        table,
        schema=schema(),
        method="swap",
        k=5,
        by="each-confidential",
        override="homogeneous-groups",
    )
    told = {step.text for step in release.history if step.name == "homogeneous"}
    assert told == {"0 of 11 groups have one `income` only", "2 of 2 groups have one `ill` only"}


def test_values_beyond_their_bounds_are_counted() -> None:
    table = people(age=[-5, 121, 130] + [40] * 57, income=[1000.5] + [float(i) for i in range(59)])
    release = tn.publish(table, schema=schema(), method="microaggregate", k=4)
    told = [step.text for step in release.history if step.name == "clamped"]
    assert told == [
        "3 values of `age` beyond the declared bounds became the nearest bound",
        "1 value of `income` beyond the declared bounds became the nearest bound",
    ]
    inside = tn.publish(people(), schema=schema(), method="microaggregate", k=4)
    assert not any(step.name == "clamped" for step in inside.history)


# -- schema ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("override", ["second", ["second-release", "x"], 7, {"a": 1}])
def test_an_override_has_a_known_name(override: object) -> None:
    with pytest.raises(InvalidArgument):
        chosen(override=override)
    both = chosen(override=["second-release", "homogeneous-groups"]).override
    assert both == {"second-release", "homogeneous-groups"}


@pytest.mark.parametrize("role", ["quasi-identifier", "confidential"])
def test_the_column_that_names_a_person_is_no_other_column(role: str) -> None:
    named = schema("name", name={"type": "category", "categories": ["a", "b"], "role": role})
    found = chosen_method(named, "swap", k=5)
    assert "name" not in found.quasi + found.confidential


def test_every_column_needs_a_stated_role_and_all_that_lack_one_are_named() -> None:
    """What a draft left open must not leave unprotected as if somebody had said "other"."""
    open_ = schema(
        name={"type": "identifier"}, age={"role": "other"}, ill={"role": "confidential"}
    ).to_dict()
    del open_["columns"]["sex"]["role"], open_["columns"]["note"]["role"]
    with pytest.raises(InvalidSchema) as refused:
        chosen_method(Schema.from_dict(open_), "swap", k=5)
    assert refused.value.facts["columns"] == ("sex", "note")
    assert "`sex`, `note`" in refused.value.what
    assert "[columns.sex]" in refused.value.fix
    assert chosen_method(schema(sex={"role": "other"}), "swap", k=5).unprotected == ("sex", "note")


def test_names_of_persons_and_derived_columns_need_no_role() -> None:
    named = schema("name", name={"type": "category", "categories": ["a", "b"]}).to_dict()
    named["columns"]["twice"] = {"type": "number", "bounds": [0, 240], "expression": "age * 2"}
    assert Schema.from_dict(named).without_role == ()
    chosen_method(Schema.from_dict(named), "swap", k=5)


def test_a_release_of_fewer_rows_knows_which_of_the_original_they_are() -> None:
    read = read_original(people(10), schema())
    assert Published(read.cells).of(read) is read
    some = Published(read.cells, rows=np.array([7, 2])).of(read)
    assert some.size == 2
    assert some.cells["age"].numbers.tolist() == read.cells["age"].numbers[[7, 2]].tolist()
