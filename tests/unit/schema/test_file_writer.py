"""Schemas are drafted and written; comments of the holder stay."""

from __future__ import annotations

import os
import stat
import tomllib
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import tomlkit
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tenue.errors import InvalidArgument, InvalidSchema
from tenue.schema import BLANK, DraftColumn, Schema, draft
from unit.schema.layout import layouts
from unit.schema.stated import schemas
from unit.schema.wrong import AGE, TABLE, mistakes, places

COLUMNS = [
    DraftColumn(name="id", type="identifier"),
    DraftColumn(name="age", type="number", grid=1),
    DraftColumn(name="rate", type="number"),
    DraftColumn(name="native-country", type="category"),
    DraftColumn(name="born", type="date"),
    DraftColumn(name="seen", type="datetime"),
    DraftColumn(name="well", type="boolean"),
]


def test_every_blank_and_nothing_else_is_wrong() -> None:
    text = draft(COLUMNS, name="people", source="people.csv")
    assert text.count(f'"{BLANK}"') == 1 + 13  # the first stands in a comment
    found = places(text)
    assert [where for _, where in found] == [
        "table.unit",
        "table.neighbours",
        "columns.age.bounds[0]",
        "columns.age.bounds[1]",
        "columns.rate.bounds[0]",
        "columns.rate.bounds[1]",
        "columns.rate.grid",
        "columns.native-country.categories[0]",
        "columns.born.bounds[0]",
        "columns.born.bounds[1]",
        "columns.seen.bounds[0]",
        "columns.seen.bounds[1]",
        "budget.total",
    ]
    lines = text.splitlines()
    assert all(BLANK in lines[line - 1] for line, _ in found if line is not None)
    assert all("Write" in mistake.fix or "List" in mistake.fix for mistake in mistakes(text))


def test_only_a_path_starts_at_a_folder() -> None:
    for source, said in (
        ("a/b.csv", True),
        ("duckdb://a/b.duckdb#t", True),
        ("spark://local#folder", True),
        ("postgresql://u@/db#t", False),
        ("spark://host:7077#db.t", False),
    ):
        text = draft(COLUMNS, name="people", source=source)
        assert ("starts at this file's folder" in text) is said


def test_a_filled_draft_loads() -> None:
    text = draft(COLUMNS, name="people", source="people.csv")
    fills = ['"record"', '"replace"', "0", "120", "0", "0.5", "0.1", '"Spain"', "1900-01-01"]
    fills += ["2020-01-01", "2020-01-01T00:00:00", "2020-01-02T00:00:00", "1.5"]
    head, _, rest = text.partition("[table]")
    for fill in fills:
        rest = rest.replace(f'"{BLANK}"', fill, 1)
    schema = Schema.parse(head + "[table]" + rest)
    assert (schema.name, schema.source) == ("people", "people.csv")
    assert [column.name for column in schema.columns.values()] == [c.name for c in COLUMNS]
    assert schema.private


def test_no_role_is_written_that_nobody_has_thought_about() -> None:
    """A draft with role = "other" everywhere would publish every column unprotected."""
    text = draft([*COLUMNS, DraftColumn(name="hiv", type="boolean", role="confidential")], name="t")
    roles = {name: column.get("role") for name, column in tomllib.loads(text)["columns"].items()}
    assert roles.pop("hiv") == "confidential"
    assert set(roles.values()) == {None}
    asked = (
        "# role = ...  # needed to publish: identifier | quasi-identifier | confidential | other"
    )
    assert text.count(asked) == len(COLUMNS) - 1  # an identifier needs none
    assert "postcodes" in text
    assert "sensitive = true" in text


def test_bounds_from_the_rows_are_marked() -> None:
    for column in [
        DraftColumn(name="age", type="number", grid=1, bounds=(17, 90)),
        DraftColumn(name="born", type="date", bounds=(date(1920, 1, 1), date(2001, 1, 1))),
        DraftColumn(name="sex", type="category", categories=["f", "m"]),
    ]:
        text = draft([column], name="people")
        assert "NOT PRIVATE" in text
        assert tomllib.loads(text)["table"]["bounds_from_data"] is True
        filled = text.replace(f'unit = "{BLANK}"', 'unit = "record"')
        filled = filled.replace(f'neighbours = "{BLANK}"', 'neighbours = "replace"')
        schema = Schema.parse(filled.replace(f'total = "{BLANK}"', "total = 1"))
        assert not schema.private


def test_float_bounds_are_written_as_their_decimals() -> None:
    text = draft([DraftColumn(name="x", type="number", bounds=(0.1, 0.3), grid=0.1)], name="t")
    assert "bounds = [0.1, 0.3]\n" in text
    assert "grid = 0.1  #" in text


def test_columns_that_sql_cannot_name_are_left_out_with_a_word() -> None:
    columns = [
        DraftColumn(name="age", type="boolean"),
        DraftColumn(name="AGE", type="boolean"),
        DraftColumn(name='evil"\n[table]', type="boolean"),
    ]
    text = draft(columns, name="my table")
    assert f'name = "{BLANK}"' in text
    assert list(tomllib.loads(text)["columns"]) == ["age"]
    assert '# left out: "AGE", to SQL the same name as another column\n' in text
    assert '# left out: "evil\\"\\n[table]", a name to change in a view\n' in text


def test_what_cannot_be_drafted_is_refused() -> None:
    with pytest.raises(InvalidArgument):
        draft([], name="t")
    with pytest.raises(InvalidArgument, match="needs `name`"):
        draft([])  # type: ignore[call-arg]
    with pytest.raises(InvalidArgument):
        draft([DraftColumn(name="1", type="boolean")], name="t")
    with pytest.raises(InvalidArgument):
        draft([DraftColumn(name="a", type="float64")], name="t")


@given(
    st.lists(
        st.builds(
            DraftColumn,
            name=st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
            type=st.sampled_from(["number", "category", "boolean", "date", "identifier"]),
            categories=st.none() | st.lists(st.text("a\"'\n\\#", min_size=1), min_size=1),
        )
    ),
    st.text(st.characters(exclude_categories=["Cs"])),
    st.text(st.characters(exclude_categories=["Cs"])),
)
def test_any_header_of_a_file_gives_toml(
    columns: list[DraftColumn], name: str, source: str
) -> None:
    try:
        text = draft(columns, name=name, source=source)
    except InvalidArgument:
        return
    values = tomllib.loads(text)
    assert values["table"]["source"] == source
    assert set(values["columns"]) <= {column.name for column in columns}


def test_a_draft_for_publishing_has_no_budget_and_asks_for_roles() -> None:
    text = draft(COLUMNS, name="people", purpose="publish")
    assert "budget" not in tomllib.loads(text)
    assert [where for _, where in places(text) if where.endswith("role")] == [
        f"columns.{column.name}.role" for column in COLUMNS[1:]
    ]
    asked = draft(COLUMNS, name="people", purpose="ask")
    assert "role" not in asked
    assert "budget" in tomllib.loads(asked)
    with pytest.raises(InvalidArgument, match="purpose"):
        draft(COLUMNS, name="people", purpose="sell")


def test_marks_are_written_and_read() -> None:
    column = DraftColumn(name="well", type="boolean", marks=["?", "NA"])
    assert tomllib.loads(draft([column], name="t"))["columns"]["well"]["missing"] == ["?", "NA"]


def test_what_a_grid_rounds_is_said() -> None:
    text = draft([DraftColumn(name="age", type="number", grid=1)], name="t")
    assert "grid = 1  # values are rounded to multiples of 1" in text


# -- Saving keeps what the holder wrote, and writes the file whole or not at all -------------------

COMMENTED = """\
# Census of 2020, agreed with the board.

[table]
name = "census"      # as in the press release
unit = 'record'
neighbours = "replace"
rows = 1_080         # public since 1995

# What people earn.
[columns.income]
type = "number"
bounds = [0, 200_000]   # by law
grid = 1
role = "confidential"

[budget]
total = 5.0             # the board, 3 May

# end of file
"""


def test_an_unchanged_schema_is_written_byte_for_byte() -> None:
    assert Schema.parse(COMMENTED).to_toml() == COMMENTED
    windows = COMMENTED.replace("\n", "\r\n")
    assert Schema.parse(windows).to_toml() == windows


def test_a_changed_value_changes_its_line_only() -> None:
    schema = Schema.parse(COMMENTED)
    changed = schema.replace(
        table={"rows": 2000}, columns={"income": {"bounds": [0, 0.5], "grid": 0.1}}
    )
    expected = COMMENTED.replace("1_080  ", "2000  ").replace("grid = 1\n", "grid = 0.1\n")
    expected = expected.replace("[0, 200_000] ", "[0, 0.5] ")
    assert changed.to_toml() == expected


def test_a_new_key_and_a_new_section_leave_the_rest() -> None:
    changed = Schema.parse(COMMENTED).replace(
        table={"version": "2"},
        columns={"sex": {"type": "category", "categories": ["f", "m"]}},
        questions={"q": {"sql": "SELECT", "promise": "pure"}},
    )
    text = changed.to_toml()
    assert Schema.parse(text) == changed
    assert set(COMMENTED.splitlines()) <= set(text.splitlines())
    assert '[columns.sex]\ntype = "category"\ncategories = ["f", "m"]\n' in text


def test_what_is_removed_is_gone() -> None:
    changed = Schema.parse(COMMENTED).replace(table={"rows": None}, budget=None)
    text = changed.to_toml()
    assert "rows" not in text
    assert "[budget]" not in text
    assert "# What people earn." in text
    assert "# as in the press release" in text


def test_a_change_saved_and_loaded_can_be_changed_back(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(COMMENTED)
    schema = Schema.load(tmp_path / "s.toml")
    schema.replace(table={"rows": 7}).save(tmp_path / "s.toml")
    again = Schema.load(tmp_path / "s.toml").replace(table={"rows": 1080})
    assert again == schema
    assert again.to_toml() == COMMENTED.replace("1_080", "1080")


def test_siblings_of_a_taxonomy_may_change_places() -> None:
    body = '[columns.x]  # c1\ntype = "category"\n'
    for tree in (
        'taxonomy = { a = { b = ["c"], d = ["e"] } }\n',
        '[columns.x.taxonomy.a]\nb = ["c"]\nd = ["e"]\n',
    ):
        schema = Schema.parse(TABLE + body + tree)
        turned = schema.replace(columns={"x": {"taxonomy": {"a": {"d": ["e"], "b": ["c"]}}}})
        assert turned != schema
        assert Schema.parse(turned.to_toml()) == turned
        assert "# c1" in turned.to_toml()


CHANGES: list[dict[str, Any]] = [
    {"table": {"rows": 77}},
    {"table": {"version": None, "rows": None}},
    {"table": {"version": 'n"ew\n'}},
    {"budget": {"total": 9}},
    {"budget": None},
    {"questions": {"q2": {"sql": "SELECT", "promise": "pure"}}},
    {"columns": {"brand_new": {"type": "boolean"}}},
    {"columns": {"brand_new": {"type": "category", "taxonomy": {"a": ["b", "c"]}}}},
    {"columns": {"twice": None}},
]


@given(schemas(), st.data(), st.sampled_from(CHANGES))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_an_edit_in_any_layout_is_right_or_refused(
    stated: dict[str, Any], data: st.DataObject, change: dict[str, Any]
) -> None:
    text, _ = data.draw(layouts(stated))
    changed = Schema.parse(text).replace(**change)
    try:
        result = changed.to_toml()
    except InvalidArgument:
        return
    assert Schema.parse(result) == changed


@pytest.mark.parametrize("order", [["table", "columns"], ["columns", "table"]])
@pytest.mark.parametrize("change", CHANGES)
def test_an_edit_of_an_ordinary_layout_keeps_every_comment(
    order: list[str], change: dict[str, Any]
) -> None:
    parts = {
        "table": TABLE.replace("\n", "  # c1\n", 2) + "rows = 5  # c2\n",
        "columns": "# c3\n" + AGE + '# c4\n[columns."b-c"]\ntype = "boolean"  # c5\n',
    }
    text = "".join(parts[name] for name in order) + "# c6\n"
    changed = Schema.parse(text).replace(**change)
    result = changed.to_toml()
    assert Schema.parse(result) == changed
    for comment in ["# c1", "# c3", "# c4", "# c5", "# c6"]:
        assert result.count(comment) == text.count(comment)


def test_an_edit_that_went_wrong_is_never_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    changed = Schema.parse(COMMENTED).replace(table={"rows": 7})
    monkeypatch.setattr(tomlkit, "dumps", lambda document: COMMENTED)
    with pytest.raises(InvalidArgument):
        changed.save(tmp_path / "s.toml")
    assert list(tmp_path.iterdir()) == []


def test_long_lists_are_broken_into_lines() -> None:
    names = [f"category number {number}" for number in range(30)]
    schema = Schema.parse(TABLE + AGE).replace(
        columns={"x": {"type": "category", "categories": names}}
    )
    for text in (schema.to_toml(), Schema.from_dict(schema.to_dict()).to_toml()):
        assert Schema.parse(text) == schema
        assert max(map(len, text.splitlines())) < 80


def test_a_failed_save_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "s.toml"
    file.write_text("old")

    def fail(*_: object) -> None:
        raise OSError

    for name in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, name, fail)
            with pytest.raises(InvalidArgument):
                Schema.parse(COMMENTED).save(file)
        assert file.read_text() == "old"
        assert list(tmp_path.iterdir()) == [file]


def test_the_text_is_on_disk_before_the_name_points_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    fsync, replace = os.fsync, os.replace

    def synced(file: int) -> None:
        done.append("folder" if stat.S_ISDIR(os.fstat(file).st_mode) else "file")
        fsync(file)

    def replaced(source: str, target: str) -> None:
        done.append("rename")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", replaced)
    Schema.parse(COMMENTED).save(tmp_path / "s.toml")
    assert done == ["file", "rename", "folder"]


def test_saving_keeps_the_mode_and_follows_a_link(tmp_path: Path) -> None:
    file, link = tmp_path / "s.toml", tmp_path / "link.toml"
    file.write_text("old")
    file.chmod(0o640)
    link.symlink_to(file)
    Schema.parse(COMMENTED).save(link)
    assert link.is_symlink()
    assert file.read_text() == COMMENTED
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_a_file_too_large_to_load_again_is_not_written(tmp_path: Path) -> None:
    names = [f"{number:020d}" for number in range(50_000)]
    table = {"name": "t", "unit": "record", "neighbours": "replace"}
    columns = {"x": {"type": "category", "categories": names}}
    schema = Schema.from_dict({"table": table, "columns": columns})
    with pytest.raises(InvalidSchema):
        schema.save(tmp_path / "s.toml")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("path", ["absent/s.toml", "a\0b", "."])
def test_where_no_file_can_be_written(tmp_path: Path, path: str) -> None:
    with pytest.raises(InvalidArgument):
        Schema.parse(COMMENTED).save(tmp_path / path)
    assert list(tmp_path.iterdir()) == []
