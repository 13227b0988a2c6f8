"""Categories: a list, a file, or nested tables; and what stands for a missing one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenue.schema import Category, Schema
from unit.schema.wrong import mistakes, places, with_column


def read(body: str, folder: Path | str = ".") -> Category:
    column = Schema.parse(with_column('type = "category"\n' + body), folder=folder).column("x")
    assert isinstance(column, Category)
    return column


def test_a_flat_list_keeps_its_order() -> None:
    column = read('categories = ["b", "?", "a "]\nmissing = "?"')
    assert column.categories == ("b", "?", "a ")
    assert column.stated == ("b", "?", "a ")
    assert column.missing == "?"


def test_a_file_is_found_beside_the_schema(tmp_path: Path) -> None:
    (tmp_path / "tree.json").write_text('{"root": {"left": ["a", "b"], "right": ["c"]}}')
    column = read('taxonomy = "tree.json"\nmissing = "c"', tmp_path)
    assert column.categories == ("a", "b", "c")
    assert column.stated == "tree.json"
    (tmp_path / "schema.toml").write_text(with_column('type = "category"\ntaxonomy = "tree.json"'))
    loaded = Schema.load(tmp_path / "schema.toml").column("x")
    assert isinstance(loaded, Category)
    assert loaded.taxonomy == column.taxonomy


def test_nested_tables_are_a_taxonomy_in_any_layout() -> None:
    inline = read('taxonomy = { root = { left = ["a", "b"], right = ["c"] } }')
    headers = read('[columns.x.taxonomy.root]\nleft = ["a", "b"]\nright = ["c"]')
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
