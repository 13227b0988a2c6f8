"""A schema there and back, and files that try to break the reader."""

from __future__ import annotations

import copy
import pickle
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tenue.errors import InvalidArgument, InvalidSchema, Refused
from tenue.schema import Number, Schema
from tenue.schema.schema import given_schema
from unit.schema.layout import layouts
from unit.schema.stated import schemas
from unit.schema.test_file_text import VALUES
from unit.schema.wrong import AGE, TABLE

GOOD = TABLE + AGE
SLOW = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@SLOW
@given(schemas(), st.data())
def test_any_schema_is_the_same_after_saving(stated: dict[str, Any], data: st.DataObject) -> None:
    schema = Schema.from_dict(stated)
    assert Schema.parse(schema.to_toml()) == schema
    assert Schema.from_dict(schema.to_dict()) == schema
    text, _ = data.draw(layouts(stated))
    read = Schema.parse(text)
    assert read == schema
    assert read.digest == schema.digest
    assert read.to_toml() == text
    assert hash(read) == hash(schema)
    assert str(Schema.parse(schema.to_toml())) == str(schema)


def test_saving_and_loading(tmp_path: Path) -> None:
    schema = Schema.parse(GOOD)
    schema.save(tmp_path / "s.toml")
    assert (tmp_path / "s.toml").read_text() == GOOD
    assert Schema.load(tmp_path / "s.toml") == schema
    assert Schema.load(tmp_path / "s.toml").folder == tmp_path


def test_the_source_starts_at_the_folder_of_the_schema(tmp_path: Path) -> None:
    def located(source: str) -> str | None:
        (tmp_path / "s.toml").write_text(GOOD.replace("\n", f'\nsource = "{source}"\n', 1))
        return Schema.load(tmp_path / "s.toml").location

    assert located("data/*.csv") == str(tmp_path / "data/*.csv")
    assert located("/abs.csv") == "/abs.csv"
    assert located("postgresql://host/db") == "postgresql://host/db"
    assert Schema.parse(GOOD).location is None


def test_python_values_mean_what_toml_means() -> None:
    columns = {
        "x": {"type": "number", "bounds": (np.int64(0), Fraction(7, 10)), "grid": np.float32(0.1)},
        "y": {"type": "number", "bounds": [0, Decimal("0.3")], "grid": 0.1, "role": None},
    }
    table = {"name": "t", "unit": "record", "neighbours": "replace", "rows": None}
    column = Schema.from_dict({"table": table, "columns": columns}).column("x")
    assert isinstance(column, Number)
    assert (column.high, column.grid, column.steps) == (Fraction(7, 10), Fraction(1, 10), 7)


def test_a_mapping_has_no_lines() -> None:
    with pytest.raises(InvalidSchema) as refused:
        Schema.from_dict({"table": {"name": "t", "unit": "record"}, "columns": {"a": {}}})
    found = refused.value.mistakes
    assert [(mistake.line, mistake.where) for mistake in found] == [  # type: ignore[attr-defined]
        (None, "columns.a.type"),
        (None, "table.neighbours"),
    ]
    assert "line" not in str(refused.value).replace("each line", "")


def test_one_third_is_no_grid() -> None:
    schema = Schema.parse(GOOD)
    with pytest.raises(InvalidSchema, match="1/3"):
        schema.replace(columns={"age": {"grid": Fraction(1, 3)}})


def test_replace_gives_a_new_schema_and_leaves_the_old() -> None:
    schema = Schema.parse(GOOD)
    changed = schema.replace(
        table={"rows": 9, "version": "b"},
        columns={"age": {"bounds": (0, 0.5), "grid": 0.1}, "sex": {"type": "boolean"}},
        budget={"total": 0.3},
    )
    assert schema == Schema.parse(GOOD)
    assert (changed.rows, list(changed.columns)) == (9, ["age", "sex"])
    assert changed.columns["age"] != schema.columns["age"]
    assert changed.budget is not None
    assert changed.budget.total == Fraction(3, 10)
    back = changed.replace(
        table={"rows": None, "version": None},
        columns={"age": {"bounds": [0, 120], "grid": None}, "sex": None},
        budget=None,
    )
    assert back == schema


def test_replace_keeps_every_rule() -> None:
    schema = Schema.parse(GOOD)
    wrong: list[dict[str, Any]] = [
        {"table": {"neighbours": "none"}},
        {"table": {"neighbours": None}},
        {"table": 5},
        {"columns": {"age": None}},
        {"columns": {"AGE": {"type": "boolean"}}},
        {"colums": {"age": {}}},
        {"budget": {}},
    ]
    for sections in wrong:
        with pytest.raises(InvalidSchema):
            schema.replace(**sections)


def test_a_taxonomy_is_replaced_whole() -> None:
    body = '[columns.x]\ntype = "category"\ntaxonomy = { a = ["b", "c"] }\n'
    schema = Schema.parse(TABLE + body)
    changed = schema.replace(columns={"x": {"taxonomy": {"d": ["e"]}}})
    assert changed.to_dict()["columns"]["x"]["taxonomy"] == {"d": ["e"]}
    assert Schema.parse(changed.to_toml()) == changed


def test_a_schema_is_a_value() -> None:
    schema = Schema.parse(GOOD)
    with pytest.raises(AttributeError):
        schema.rows = 5  # type: ignore[misc]
    schema.to_dict()["table"]["name"] = "other"
    assert schema.name == "census"
    assert schema.to_toml() == GOOD
    assert pickle.loads(pickle.dumps(schema)) == schema  # noqa: S301
    assert copy.deepcopy(schema) == schema
    assert schema != Schema.parse(GOOD.replace("120", "121"))
    assert len({schema, Schema.parse(GOOD + "# comment")}) == 1


def read(text: str) -> None:
    try:
        Schema.parse(text).to_toml()
    except Refused as refused:
        str(refused).encode("utf-8")


@given(st.binary(max_size=200))
@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_any_bytes_are_read_or_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "s.toml").write_bytes(content)
    with pytest.raises(Refused):
        Schema.load(tmp_path / "s.toml")


@given(st.data(), st.dictionaries(st.sampled_from(["table", "columns", "budget", "x"]), VALUES))
@settings(max_examples=80, deadline=None)
def test_any_toml_is_read_or_refused(data: st.DataObject, tree: dict[str, Any]) -> None:
    read(data.draw(layouts(tree))[0])


@SLOW
@given(schemas(), st.data())
def test_any_damage_to_a_schema_is_read_or_refused(
    stated: dict[str, Any], data: st.DataObject
) -> None:
    text = Schema.from_dict(stated).to_toml()
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = min(len(text), start + data.draw(st.integers(0, 6)))
        inserts = ["", "[", "]", '"', "'''", "\n", "=", "-", "9" * 30, "?", ".", "nan", "{", "\\"]
        text = text[:start] + data.draw(st.sampled_from(inserts)) + text[end:]
    read(text)


@SLOW
@given(schemas(), st.data(), VALUES)
def test_any_value_in_any_key_is_read_or_refused(
    stated: dict[str, Any], data: st.DataObject, value: Any
) -> None:
    section = data.draw(st.sampled_from(sorted(stated)))
    keys = stated[section]
    while True:
        name = data.draw(st.sampled_from(sorted(keys)))
        if not isinstance(keys[name], dict) or data.draw(st.booleans()):
            break
        keys = keys[name]
    keys[name] = value
    read(data.draw(layouts(stated))[0])


@pytest.mark.parametrize("value", [None, 5, "x", [], object])
def test_what_is_no_mapping_is_refused(value: Any) -> None:
    with pytest.raises(InvalidArgument):
        Schema.from_dict(value)


def test_strange_python_values_are_refused() -> None:
    endless: dict[str, Any] = {}
    endless["table"] = endless
    strange: list[Any] = [endless, {"table": {1: 2}}, {"table": {"name": object()}}]
    strange += [{"table": {"name": "\ud800"}}, {"columns": {"\ud800": {}}}, {3: 4}]
    strange += [{"columns": {"x": {"type": "number", "bounds": [0, 10**5000]}}}]
    strange += [{"columns": {"x": {"type": "number", "bounds": [0, Fraction(1, 10**5000)]}}}]
    strange += [{"columns": {"x": {"type": "number", "bounds": [0, float("nan")]}}}]
    strange += [{"columns": {"x": {"type": {}, "role": []}}}]
    for mapping in strange:
        with pytest.raises(Refused) as refused:
            Schema.from_dict(mapping)
        str(refused.value).encode("utf-8")


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


PARTS = {
    "table": {"name": "t", "unit": "record", "neighbours": "replace"},
    "columns": {"age": {"type": "number", "bounds": [0, 120]}},
}


def test_only_a_file_is_a_file(tmp_path: Path) -> None:
    schema = Schema.from_dict(PARTS)
    schema.save(tmp_path / "t.toml")
    assert given_schema(schema) == (schema, None)
    assert given_schema(PARTS) == (schema, None)
    for stated in (tmp_path / "t.toml", str(tmp_path / "t.toml")):
        found, file = given_schema(stated)
        assert found.digest == schema.digest
        assert file == tmp_path / "t.toml"


@pytest.mark.parametrize("given", [3, None, ["t.toml"], b"t.toml"])
def test_anything_else_is_refused(given: object) -> None:
    with pytest.raises(InvalidArgument, match=f"`schema` is of type {type(given).__name__}"):
        given_schema(given)


def test_a_ledger_starts_at_the_schemas_folder_and_changes_no_meaning(tmp_path: Path) -> None:
    stated = {
        "table": {"name": "t", "unit": "record", "neighbours": "replace"},
        "columns": {"age": {"type": "number", "bounds": [0, 120]}},
    }
    plain = Schema.from_dict(stated, folder=tmp_path)
    assert plain.ledger_location is None
    named = plain.replace(table={"ledger": "books/a.ledger"})
    assert named.ledger_location == tmp_path / "books" / "a.ledger"
    assert Schema.parse(named.to_toml()).ledger == "books/a.ledger"
    assert named.digest == plain.digest
    elsewhere = plain.replace(table={"ledger": "/safe/a.ledger"})
    assert elsewhere.ledger_location == Path("/safe/a.ledger")
