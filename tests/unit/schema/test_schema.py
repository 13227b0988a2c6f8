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
from unit.schema.file.test_lines import VALUES
from unit.schema.layout import layouts
from unit.schema.stated import schemas
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
