"""How one `[columns.x]` section becomes a column."""

from __future__ import annotations

from datetime import date, datetime
from fractions import Fraction
from pathlib import Path

import pytest

from tenue.schema import (
    Boolean,
    Bounded,
    Category,
    Column,
    Date,
    Datetime,
    Identifier,
    Number,
    Schema,
)
from tenue.schema.file.columns import KEYS
from unit.schema.wrong import mistakes, places, with_column


def interval_read(body: str) -> Column:
    return Schema.parse(with_column(body)).column("x")


def bounded(body: str) -> Bounded:
    column = interval_read(body)
    assert isinstance(column, Bounded)
    return column


def test_decimals_are_exact() -> None:
    column = bounded('type = "number"\nbounds = [-0.3, 0.7]\ngrid = 0.1')
    assert (column.low, column.high, column.grid) == (
        Fraction(-3, 10),
        Fraction(7, 10),
        Fraction(1, 10),
    )
    assert column.steps == 10
    assert [column.to_steps(value) for value in (-0.3, "0.1", Fraction(7, 10))] == [0, 4, 10]


def test_binary_floats_would_not_be_on_the_grid() -> None:
    assert (Fraction(0.3) / Fraction(0.1)).denominator != 1  # what a wrong build would divide
    assert bounded('type = "number"\nbounds = [0, 0.3]\ngrid = 0.1').steps == 3


@pytest.mark.parametrize("grid", ["0.125", "1E-3", "4", "0.00000095367431640625", "1e2"])
def test_grids_are_decimals_or_powers_of_two(grid: str) -> None:
    assert bounded(f'type = "number"\nbounds = [0, 1000]\ngrid = {grid}').grid == Fraction(grid)


def test_whole_bounds_need_no_grid() -> None:
    assert bounded('type = "number"\nbounds = [0, 5]').grid == 1
    assert bounded('type = "number"\nbounds = [0.0, 5.0]').grid == 1
    assert places(with_column('type = "number"\nbounds = [0, 0.5]')) == [(6, "columns.x.grid")]


NUMBERS = [
    ("bounds = 5", 8, "columns.x.bounds"),
    ("bounds = [1]", 8, "columns.x.bounds"),
    ("bounds = [1, 2, 3]", 8, "columns.x.bounds"),
    ("bounds = [5, 1]", 8, "columns.x.bounds"),
    ("bounds = [5, 5]", 8, "columns.x.bounds"),
    ('bounds = ["0", 5]', 8, "columns.x.bounds[0]"),
    ("bounds = [0,\ntrue]", 9, "columns.x.bounds[1]"),
    ("bounds = [0, inf]", 8, "columns.x.bounds[1]"),
    ("bounds = [nan, 1]", 8, "columns.x.bounds[0]"),
    ("bounds = [0, 1e99999999999999999999]", 8, "columns.x.bounds[1]"),
    ("bounds = [0, 1e300]", 8, "columns.x.bounds[1]"),
    ("bounds = [0, 1e-300]", 8, "columns.x.bounds[1]"),
    ("bounds = [0, 0x1" + "0" * 9999 + "]", 8, "columns.x.bounds[1]"),
    ("bounds = [0, 2020-01-01]", 8, "columns.x.bounds[1]"),
    ("bounds = [0, 9223372036854775807]", 8, "columns.x.bounds"),
    ("bounds = [-9223372036854775807, 0]", 8, "columns.x.bounds"),
    ("bounds = [0, 10]\ngrid = 3", 8, "columns.x.bounds"),
    ("bounds = [1, 10]\ngrid = 2", 8, "columns.x.bounds"),  # the low one is off the grid too
    ("bounds = [1, 11]\ngrid = 2", 8, "columns.x.bounds"),  # and steps of 2 from low would fit
    ("bounds = [0, 10]\ngrid = 0", 9, "columns.x.grid"),
    ("bounds = [0, 10]\ngrid = -1", 9, "columns.x.grid"),
    ('bounds = [0, 10]\ngrid = "1"', 9, "columns.x.grid"),
    ("bounds = [0, 10]\ngrid = [1]", 9, "columns.x.grid"),
    ("bounds = [0, 10]\nmissing = 11", 9, "columns.x.missing"),
    ("bounds = [0, 10]\nmissing = -1", 9, "columns.x.missing"),
    ("bounds = [0, 10]\nmissing = 0.5", 9, "columns.x.missing"),
    ('bounds = [0, 10]\nmissing = "5"', 9, "columns.x.missing"),
    ("bounds = [0, 10]\nmissing = true", 9, "columns.x.missing"),
    ('bounds = [0, 10]\nexpression = ""', 9, "columns.x.expression"),
    ("bounds = [0, 10]\nexpression = 5", 9, "columns.x.expression"),
    ('bounds = [0, 10]\nexpression = "a +"', 9, "columns.x.expression"),
    ('bounds = [0, 10]\nexpression = "1 + 1"', 9, "columns.x.expression"),
    ('bounds = [0, 10]\nexpression = "x"', 9, "columns.x.expression"),
    ('bounds = [0, 10]\nexpression = "unknown"', 9, "columns.x.expression"),
    ("", 6, "columns.x.bounds"),
]


@pytest.mark.parametrize(("body", "line", "where"), NUMBERS)
def test_a_number_is_refused_with_its_line(body: str, line: int, where: str) -> None:
    assert places(with_column('type = "number"\n' + body)) == [(line, where)]


def test_a_refusal_says_how_to_fix_it() -> None:
    turned = mistakes(with_column('type = "number"\nbounds = [5, 1.5]\ngrid = 0.5'))[0]
    assert turned.what == "`bounds` is [5, 1.5]."
    assert turned.fix == "Write bounds = [1.5, 5]."
    off = mistakes(with_column('type = "number"\nbounds = [0, 10]\ngrid = 3'))[0]
    assert off.fix == "Use 9 or 12, or a finer grid."


def test_the_widest_bounds() -> None:
    assert bounded(f'type = "number"\nbounds = [{-(2**62)}, {2**62}]').steps == 2**63


def test_missing_has_the_type_of_the_column() -> None:
    assert interval_read(
        'type = "number"\nbounds = [0, 1]\ngrid = 0.1\nmissing = 0.3'
    ).missing == Fraction(3, 10)
    missing = interval_read('type = "number"\nbounds = [0, 9]\nmissing = 3.0').missing
    assert missing == 3
    assert isinstance(missing, int)


def test_an_expression_uses_other_numbers_in_any_case() -> None:
    text = with_column('type = "number"\nbounds = [0, 10]\nexpression = "PRICE * quantity"')
    text += '[columns.price]\ntype = "number"\nbounds = [0, 2]\n'
    text += '[columns.Quantity]\ntype = "number"\nbounds = [0, 5]\n'
    column = Schema.parse(text).column("x")
    assert isinstance(column, Number)
    assert column.expression is not None
    assert column.expression.names == ("PRICE", "quantity")


def test_an_expression_cannot_use_derived_or_other_columns() -> None:
    text = with_column('type = "number"\nbounds = [0, 10]\nexpression = "y + z + w"')
    text += '[columns.y]\ntype = "number"\nbounds = [0, 2]\nexpression = "x"\n'
    text += '[columns.z]\ntype = "boolean"\n'
    text += '[columns.w]\ntype = "number"\nbounds = [0, 2]\n'
    assert places(text) == [
        (9, "columns.x.expression"),
        (9, "columns.x.expression"),
        (13, "columns.y.expression"),
    ]


def test_dates_count_days() -> None:
    column = bounded('type = "date"\nbounds = [1969-12-25, "1970-01-08"]\ngrid = 7')
    assert isinstance(column, Date)
    assert (column.low, column.high, column.grid, column.steps) == (-7, 7, 7, 2)
    assert column.bounds == (date(1969, 12, 25), date(1970, 1, 8))
    assert bounded('type = "date"\nbounds = [2020-01-01, 2020-01-02]').grid == 1
    assert interval_read(
        'type = "date"\nbounds = [2020-01-01, 2020-01-09]\nmissing = "2020-01-02"'
    ).missing == date(2020, 1, 2)


@pytest.mark.parametrize(
    ("body", "line", "where"),
    [
        ("bounds = [2020-01-02, 2020-01-01]", 8, "columns.x.bounds"),
        ("bounds = [2020-01-01, 5]", 8, "columns.x.bounds[1]"),
        ('bounds = ["yesterday", 2020-01-01]', 8, "columns.x.bounds[0]"),
        ("bounds = [2020-01-01, 2020-01-02T00:00:00]", 8, "columns.x.bounds[1]"),
        ("bounds = [2020-01-01, 2020-01-09]\ngrid = 7", 8, "columns.x.bounds"),
        ("bounds = [2020-01-01, 2020-01-09]\ngrid = 700", 8, "columns.x.bounds"),
        ("bounds = [2020-01-01, 2020-01-09]\ngrid = 0.5", 9, "columns.x.grid"),
        ("bounds = [2020-01-01, 2020-01-09]\ngrid = 0", 9, "columns.x.grid"),
        ("bounds = [2020-01-01, 2020-01-09]\nmissing = 2021-01-01", 9, "columns.x.missing"),
        ("bounds = [2020-01-01, 2020-01-09]\nmissing = 3", 9, "columns.x.missing"),
        ("bounds = [2020-01-01, 2020-01-09]\nexpression = 'a'", 9, "columns.x.expression"),
        ("", 6, "columns.x.bounds"),
    ],
)
def test_a_date_is_refused_with_its_line(body: str, line: int, where: str) -> None:
    assert places(with_column('type = "date"\n' + body)) == [(line, where)]


PERSONS = """[table]
name = "t"
unit = "who"
neighbours = "replace"
rows_per_unit = 3

[columns.who]
type = "identifier"

[columns.x]
type = "number"
bounds = [0, 10]
grid = 0.5
bounds_per_unit = {ends}
"""


def test_the_sum_of_one_person_has_ends_of_its_own() -> None:
    column = Schema.parse(PERSONS.format(ends="[-2.5, 40]")).column("x")
    assert isinstance(column, Number)
    assert column.bounds_per_unit == (Fraction(-5, 2), 40)
    assert "a person's sum -2.5 to 40" in str(Schema.parse(PERSONS.format(ends="[-2.5, 40]")))


@pytest.mark.parametrize("ends", ["[5, 5]", "[5, 1]", "[0.25, 5]", "40", "[0, 1e30]", '[0, "x"]'])
def test_ends_of_a_sum_that_are_none_are_refused(ends: str) -> None:
    (found,) = places(PERSONS.format(ends=ends))
    assert found[0] == 14
    assert found[1].startswith("columns.x.bounds_per_unit")


def test_a_record_has_no_sum_of_its_own() -> None:
    text = with_column('type = "number"\nbounds = [0, 10]\nbounds_per_unit = [0, 5]')
    (mistake,) = mistakes(text)
    assert "every record is a unit" in mistake.what


def test_a_date_off_the_grid_is_told_the_last_that_fits() -> None:
    text = with_column('type = "date"\nbounds = [2020-01-01, 2020-01-09]\ngrid = 7')
    assert mistakes(text)[0].fix == "End at 2020-01-08, or choose a finer grid."


def test_datetimes_count_seconds() -> None:
    text = 'type = "datetime"\nbounds = [1970-01-01 00:00:01, "1970-01-01T00:00:02.5"]\ngrid = 0.5'
    column = bounded(text)
    assert isinstance(column, Datetime)
    assert (column.low, column.high, column.steps) == (1, Fraction(5, 2), 3)
    assert column.from_steps(1) == datetime(1970, 1, 1, 0, 0, 1, 500000)


@pytest.mark.parametrize(
    ("body", "line", "where"),
    [
        ("bounds = [2020-01-01T00:00:00, 2020-01-01T00:00:00]", 8, "columns.x.bounds"),
        ("bounds = [2020-01-01, 2020-01-02T00:00:00]", 8, "columns.x.bounds[0]"),
        ('bounds = ["2020-01-01", 2020-01-02T00:00:00]', 8, "columns.x.bounds[0]"),
        ("bounds = [2020-01-01T00:00:00Z, 2020-01-02T00:00:00]", 8, "columns.x.bounds[0]"),
        ('bounds = [2020-01-01T00:00:00, "2020-01-02T00:00:00+02:00"]', 8, "columns.x.bounds[1]"),
        ("bounds = [00:00:00, 2020-01-02T00:00:00]", 8, "columns.x.bounds[0]"),
        ("bounds = [2020-01-01T00:00:00, 2020-01-01T00:00:09]\ngrid = 2", 8, "columns.x.bounds"),
        ("bounds = [2020-01-01T00:00:00, 2020-01-01T00:00:09]\ngrid = 1e-7", 9, "columns.x.grid"),
        ("bounds = [2020-01-01T00:00:00, 2020-01-01T00:00:09]\ngrid = 0", 9, "columns.x.grid"),
    ],
)
def test_a_datetime_is_refused_with_its_line(body: str, line: int, where: str) -> None:
    assert places(with_column('type = "datetime"\n' + body)) == [(line, where)]


def test_an_offset_is_refused_clearly() -> None:
    text = with_column('type = "datetime"\nbounds = [2020-01-01T00:00:00Z, 2020-01-02T00:00:00]')
    mistake = mistakes(text)[0]
    assert mistake.what == "2020-01-01T00:00:00+00:00 has an offset."
    assert "without offset" in mistake.allowed


# -- Categories: a list, a file, or nested tables; and what stands for a missing one ---------------


def categories_read(body: str, folder: Path | str = ".") -> Category:
    column = Schema.parse(with_column('type = "category"\n' + body), folder=folder).column("x")
    assert isinstance(column, Category)
    return column


def test_a_flat_list_keeps_its_order() -> None:
    column = categories_read('categories = ["b", "?", "a "]\nmissing = "?"')
    assert column.categories == ("b", "?", "a ")
    assert column.stated == ("b", "?", "a ")
    assert column.missing == "?"


def test_a_file_is_found_beside_the_schema(tmp_path: Path) -> None:
    (tmp_path / "tree.json").write_text('{"root": {"left": ["a", "b"], "right": ["c"]}}')
    column = categories_read('taxonomy = "tree.json"\nmissing = "c"', tmp_path)
    assert column.categories == ("a", "b", "c")
    assert column.stated == "tree.json"
    (tmp_path / "schema.toml").write_text(with_column('type = "category"\ntaxonomy = "tree.json"'))
    loaded = Schema.load(tmp_path / "schema.toml").column("x")
    assert isinstance(loaded, Category)
    assert loaded.taxonomy == column.taxonomy


def test_nested_tables_are_a_taxonomy_in_any_layout() -> None:
    inline = categories_read('taxonomy = { root = { left = ["a", "b"], right = ["c"] } }')
    headers = categories_read('[columns.x.taxonomy.root]\nleft = ["a", "b"]\nright = ["c"]')
    assert inline == headers
    assert inline.taxonomy.ancestors("a") == {"a", "left", "root"}


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("", [(6, "columns.x.categories")]),
        ("categories = []", [(8, "columns.x.categories")]),
        ('categories = "a"', [(8, "columns.x.categories")]),
        ('categories = ["a",\n"a"]', [(9, "columns.x.categories[1]")]),
        (
            'categories = ["",\n 1,\n"a", " "]',
            [
                (8, "columns.x.categories[0]"),
                (9, "columns.x.categories[1]"),
                (10, "columns.x.categories[3]"),
            ],
        ),
        ('categories = ["a\\u0000"]', [(8, "columns.x.categories[0]")]),
        ('categories = ["a"]\nmissing = "b"', [(9, "columns.x.missing")]),
        ('categories = ["a"]\nmissing = 3', [(9, "columns.x.missing")]),
        ('categories = ["a"]\ntaxonomy = "a.json"', [(9, "columns.x.taxonomy")]),
        ('categories = ["a"]\nbounds = [0, 1]', [(9, "columns.x.bounds")]),
        ('taxonomy = "absent.json"', [(8, "columns.x.taxonomy")]),
        ("taxonomy = 5", [(8, "columns.x.taxonomy")]),
        ('taxonomy = ["a"]', [(8, "columns.x.taxonomy")]),
        ('taxonomy = ""', [(8, "columns.x.taxonomy")]),
        ("taxonomy = {}", [(8, "columns.x.taxonomy")]),
        ('taxonomy = { a = ["b"], c = ["d"] }', [(8, "columns.x.taxonomy")]),
        ('taxonomy = { a = [" "] }', [(8, "columns.x.taxonomy")]),
        ('taxonomy = { a = ["b"] }\nmissing = "a"', [(9, "columns.x.missing")]),
    ],
)
def test_a_category_is_refused_with_its_line(
    body: str, found: list[tuple[int, str]], tmp_path: Path
) -> None:
    assert places(with_column('type = "category"\n' + body), tmp_path) == found


def test_a_broken_file_is_refused_on_the_line_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text("[[")
    text = with_column('type = "category"\ntaxonomy = "bad.json"')
    assert places(text, tmp_path) == [(8, "columns.x.taxonomy")]


def test_a_hundred_thousand_categories_at_most() -> None:
    many = [str(number) for number in range(100_001)]
    stated = {
        "table": {"name": "t", "unit": "record", "neighbours": "replace"},
        "columns": {"x": {"type": "category", "categories": many[:99_999]}},
    }
    assert Schema.from_dict(stated).column("x")
    with pytest.raises(ValueError):
        Schema.from_dict({**stated, "columns": {"x": {"type": "category", "categories": many}}})


def test_both_ways_at_once_is_one_mistake() -> None:
    text = with_column('type = "category"\ncategories = ["a"]\ntaxonomy = "absent.json"')
    assert mistakes(text)[0].what == "Both `categories` and `taxonomy` are stated."


# -- What a column of any type states: type, role, sensitive; and only keys that exist -------------


def read(body: str) -> Column:
    return Schema.parse(with_column(body)).column("x")


BODIES = {
    "number": "bounds = [0, 1]",
    "category": 'categories = ["a"]',
    "boolean": "",
    "date": "bounds = [2020-01-01, 2020-01-02]",
    "datetime": "bounds = [2020-01-01T00:00:00, 2020-01-02T00:00:00]",
    "identifier": "",
}


@pytest.mark.parametrize("kind", KEYS)
def test_every_type_is_read(kind: str) -> None:
    column = read(f'type = "{kind}"\n{BODIES[kind]}')
    assert column.type == kind
    assert column.role == ("identifier" if kind == "identifier" else "other")
    assert column.missing is None
    assert not column.sensitive


@pytest.mark.parametrize("kind", KEYS)
def test_every_type_refuses_the_keys_of_others(kind: str) -> None:
    examples = {"bounds": "[0, 1]", "grid": "1", "categories": '["a"]', "taxonomy": '"a"'}
    examples |= {"expression": '"a"', "missing": "true", "sensitive": "true", "scale": '"log"'}
    for key in sorted(examples.keys() - KEYS[kind]):
        text = with_column(f'{key} = {examples[key]}\ntype = "{kind}"\n{BODIES[kind]}')
        found = mistakes(text)
        assert [(mistake.line, mistake.where) for mistake in found] == [(7, f"columns.x.{key}")]
        assert f"is not a key of a {kind} column" in found[0].what


@pytest.mark.parametrize(
    ("body", "line", "where"),
    [
        ("", 6, "columns.x.type"),
        ("type = 5", 7, "columns.x.type"),
        ('type = "numbr"', 7, "columns.x.type"),
        ('type = "boolean"\nrole = "secret"', 8, "columns.x.role"),
        ('type = "boolean"\nrole = 1', 8, "columns.x.role"),
        ('type = "boolean"\nsensitive = true', 8, "columns.x.sensitive"),
        ('type = "boolean"\nsensitive = 1\nrole = "confidential"', 8, "columns.x.sensitive"),
        ('type = "boolean"\nsensitive = true\nrole = "other"', 8, "columns.x.sensitive"),
        ('type = "boolean"\nmissing = "no"', 8, "columns.x.missing"),
        ('type = "boolean"\nmissing = 1', 8, "columns.x.missing"),
        ('type = "identifier"\nrole = "other"', 8, "columns.x.role"),
    ],
)
def test_a_mistake_has_its_line(body: str, line: int, where: str) -> None:
    assert places(with_column(body)) == [(line, where)]


def test_a_wrong_type_still_shows_unknown_keys() -> None:
    text = with_column('type = "numbr"\nbounds = [0, 1]\nbonds = 3')
    assert places(text) == [(7, "columns.x.type"), (9, "columns.x.bonds")]
    assert [mistake.fix for mistake in mistakes(text)] == [
        "Did you mean `number`?",
        "Did you mean `bounds`?",
    ]


def test_roles_and_sensitivity() -> None:
    column = read('type = "boolean"\nrole = "confidential"\nsensitive = true\nmissing = false')
    assert isinstance(column, Boolean)
    assert (column.role, column.sensitive, column.missing) == ("confidential", True, False)
    assert isinstance(read('type = "identifier"\nrole = "identifier"'), Identifier)
    assert read('type = "boolean"\nrole = "quasi-identifier"\nsensitive = false').sensitive is False
