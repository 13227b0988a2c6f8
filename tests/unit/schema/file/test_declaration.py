"""What a column of any type states: type, role, sensitive; and only keys that exist."""

from __future__ import annotations

import pytest

from tenue.schema import Boolean, Column, Identifier, Schema
from tenue.schema.file.declaration import KEYS
from unit.schema.wrong import mistakes, places, with_column


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
