"""The hash of a schema: blind to how it is written, sensitive to what it means."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tenue.schema import Schema
from unit.schema.layout import layouts
from unit.schema.stated import schemas

BASE: dict[str, Any] = {
    "table": {
        "name": "visits",
        "unit": "patient",
        "neighbours": "replace",
        "rows": 10,
        "rows_per_unit": 3,
        "groups_per_unit": 2,
        "version": "1",
        "source": "a.csv",
    },
    "columns": {
        "patient": {"type": "identifier"},
        "house": {"type": "identifier"},
        "cost": {"type": "number", "bounds": [0, 10], "grid": 1, "missing": 0},
        "twice": {"type": "number", "bounds": [0, 20], "grid": 1, "expression": "cost * 2"},
        "born": {"type": "date", "bounds": ["2020-01-01", "2020-01-09"]},
        "seen": {"type": "datetime", "bounds": ["2020-01-01T00:00:00", "2020-01-01T01:00:00"]},
        "sex": {"type": "category", "categories": ["f", "m"], "role": "confidential"},
        "tree": {"type": "category", "taxonomy": {"a": {"b": ["c", "d"]}}},
        "well": {"type": "boolean", "missing": False},
    },
    "budget": {"total": 1},
}


def digest(**sections: Any) -> str:
    return Schema.from_dict(BASE).replace(**sections).digest


MEANINGFUL: list[dict[str, Any]] = [
    {"table": {"name": "visit"}},
    {"table": {"unit": "house"}},
    {"table": {"unit": "record", "rows_per_unit": None, "groups_per_unit": None}},
    {"table": {"neighbours": "add-or-remove"}},
    {"table": {"rows": 11}},
    {"table": {"rows": None}},
    {"table": {"rows_per_unit": 4}},
    {"table": {"groups_per_unit": 3}},
    {"table": {"groups_per_unit": None}},
    {"table": {"bounds_from_data": True}},
    {"columns": {"well": None}},
    {"columns": {"more": {"type": "boolean"}}},
    {"columns": {"cost": {"bounds": [-1, 10]}}},
    {"columns": {"cost": {"bounds": [0, 11]}}},
    {"columns": {"cost": {"grid": 0.5}}},
    {"columns": {"cost": {"missing": 1}}},
    {"columns": {"cost": {"missing": None}}},
    {"columns": {"cost": {"role": "confidential"}}},
    {"columns": {"sex": {"sensitive": True}}},
    {"columns": {"sex": {"missing": "f"}}},
    {"columns": {"sex": {"categories": ["f", "m", "x"]}}},
    {"columns": {"sex": {"role": "other"}}},
    {"columns": {"tree": {"taxonomy": {"a": ["c", "d"]}}}},
    {"columns": {"twice": {"expression": "cost + 2"}}},
    {"columns": {"twice": {"expression": "2 * cost"}}},
    {"columns": {"twice": {"expression": None}}},
    {"columns": {"born": {"bounds": ["2020-01-01", "2020-01-10"]}}},
    {"columns": {"born": {"grid": 2}}},
    {"columns": {"born": {"missing": "2020-01-03"}}},
    {"columns": {"seen": {"grid": 60}}},
    {"columns": {"seen": {"missing": "2020-01-01T00:30:00"}}},
    {"columns": {"well": {"missing": True}}},
    {"columns": {"well": {"missing": None}}},
    {"columns": {"house": {"type": "boolean"}}},
    {"columns": {"seen": {"type": "date", "bounds": ["1970-01-02", "1970-01-03"]}}},
]


def test_every_change_of_meaning_changes_the_hash() -> None:
    found = [digest(), *(digest(**change) for change in MEANINGFUL)]
    assert len(set(found)) == len(found)


@pytest.mark.parametrize(
    "change",
    [
        {"table": {"version": "2"}},
        {"table": {"version": None}},
        {"table": {"source": "b.csv"}},
        {"table": {"bounds_from_data": False}},
        {"table": {"name": "VISITS", "unit": "PATIENT"}},
        {"table": {"rows": 10.0}},
        {"budget": {"total": 2}},
        {"budget": None},
        {"questions": {"q": {"sql": "S", "promise": "pure"}}},
        {"columns": {"cost": {"grid": None}}},
        {"columns": {"cost": {"bounds": [0, 10.0]}}},
        {"columns": {"cost": {"role": "other", "sensitive": False}}},
        {"columns": {"born": {"grid": 1}}},
        {"columns": {"twice": {"expression": "(COST*2.0)"}}},
        {"columns": {"sex": {"sensitive": False}}},
    ],
)
def test_what_is_no_meaning_leaves_the_hash(change: dict[str, Any]) -> None:
    assert digest(**change) == digest()


@given(schemas(), st.data())
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_layout_and_order_leave_the_hash(stated: dict[str, Any], data: st.DataObject) -> None:
    columns = data.draw(st.permutations(list(stated["columns"].items())))
    shuffled = {
        name: dict(data.draw(st.permutations(list(section.items()))))
        for name, section in {**stated, "columns": dict(columns)}.items()
    }
    shuffled = dict(reversed(shuffled.items()))
    text, _ = data.draw(layouts(shuffled))
    assert Schema.parse(text).digest == Schema.from_dict(stated).digest


def test_a_taxonomy_counts_by_content_and_not_by_file(tmp_path: Path) -> None:
    for name in ("one.json", "two.json"):
        (tmp_path / name).write_text('{"a": {"b": ["c", "d"]}}')
    tree = {"type": "category", "taxonomy": "one.json"}
    stated = {**BASE, "columns": {**BASE["columns"], "tree": tree}}
    assert Schema.from_dict(stated, folder=tmp_path).digest == digest()
    tree["taxonomy"] = "two.json"
    assert Schema.from_dict(stated, folder=tmp_path).digest == digest()
    (tmp_path / "two.json").write_text('{"a": {"b": ["c", "e"]}}')
    assert Schema.from_dict(stated, folder=tmp_path).digest != digest()


def test_the_ends_of_a_persons_sum_count() -> None:
    def digest_of(**more: object) -> str:
        return Schema.from_dict(
            {
                "table": {
                    "name": "t",
                    "unit": "who",
                    "neighbours": "replace",
                    "rows_per_unit": 2,
                },
                "columns": {
                    "who": {"type": "identifier"},
                    "x": {"type": "number", "bounds": [0, 9], **more},
                },
            }
        ).digest

    found = {digest_of(), *(digest_of(bounds_per_unit=[0, high]) for high in (5, 6))}
    assert len(found) == 3
    assert digest_of(bounds_per_unit=[0, 5]) == digest_of(bounds_per_unit=[0, 5.0])


def test_the_hash_outlives_releases_of_tenue() -> None:
    columns = {"age": {"type": "number", "bounds": [0, 1], "grid": 0.1}}
    table = {"name": "t", "unit": "record", "neighbours": "replace"}
    pinned = "9d8a72b95460f6e5b0869d106c729ae6a909cfd177002963e9db7b710566ce58"
    assert Schema.from_dict({"table": table, "columns": columns}).digest == pinned
