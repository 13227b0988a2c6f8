"""A draft loads once its blanks are filled, and not before."""

from __future__ import annotations

import tomllib
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenue.errors import InvalidArgument
from tenue.schema import BLANK, DraftColumn, Schema, draft
from unit.schema.wrong import mistakes, places

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
