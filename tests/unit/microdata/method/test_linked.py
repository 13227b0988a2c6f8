"""Two linked tables: who is in a group, which values it has, and nothing of whose they are."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

import tenue as tn
from tenue.errors import InvalidSchema
from tenue.microdata.method.linked import numbered, standing_alone
from tenue.noise.source import SYSTEM
from unit.microdata.census import people, schema


def test_groups_are_numbered_from_1_in_an_order_that_says_nothing() -> None:
    labels = np.array([0, 1, 2, 0, 1, 2])
    seen = set()
    for _ in range(60):
        numbers = numbered(labels, SYSTEM).numbers
        assert numbers[:3].tolist() == numbers[3:].tolist()
        assert sorted(numbers[:3].tolist()) == [1, 2, 3]
        seen.add(tuple(numbers[:3].tolist()))
    assert len(seen) == 6


def test_one_table_has_a_row_for_each_row_the_other_one_for_each_person() -> None:
    table = people(60, name=[f"person {i % 30}" for i in range(60)])
    by_person = {f"person {i}": float(i) for i in range(30)}
    names = table.column("name").to_pylist()
    table = table.set_column(
        table.column_names.index("income"), "income", pa.array([by_person[name] for name in names])
    )
    release = tn.publish(table, schema=schema("name", ill=None), method="anatomy", k=3)
    who, values = release.tables["quasi_identifiers"], release.tables["confidential"]
    assert who.column_names == ["age", "job", "sex", "note", "group"]
    assert values.column_names == ["group", "income"]
    assert who.num_rows == 60
    assert sorted(values.column("income").to_pylist()) == sorted(by_person.values())
    # a person counts once in the group that all of his rows are in
    rows, units = (Counter(part.column("group").to_pylist()) for part in (who, values))
    assert {group: many // 2 for group, many in rows.items()} == units
    assert min(units.values()) >= 3


@pytest.mark.parametrize("method", ["anatomy", "t-close"])
def test_a_column_of_that_name_is_refused_before_a_row_is_read(method: str) -> None:
    declared = schema().to_dict()
    declared["columns"]["Group"] = {"type": "boolean", "role": "other"}
    options = {"k": 3, "t": 2} if method == "t-close" else {"k": 3}
    with pytest.raises(InvalidSchema, match="`Group` has the name by which"):
        tn.publish(people(), schema=declared, method=method, **options)


def test_hidden_groups_leave_the_name_free() -> None:
    declared = schema().to_dict()
    declared["columns"]["group"] = {"type": "boolean", "role": "other"}
    table = people().append_column("group", pa.array([True, False] * 30))
    release = tn.publish(table, schema=declared, method="t-close", k=3, t=2, groups="hidden")
    assert set(release.table.column("group").to_pylist()) == {True, False}


def test_rows_that_stand_alone_are_said() -> None:
    assert standing_alone(["age", "sex"], 0.25) == (
        "25 % of the rows share age, sex with nobody; that stays as it is."
    )
