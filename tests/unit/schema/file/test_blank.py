"""A schema with a blank does not load, and every blank says what to write."""

from __future__ import annotations

import pytest

from tenue.schema import BLANK, Schema
from unit.schema.wrong import AGE, TABLE, mistakes, places, with_column


def test_each_blank_is_a_mistake_of_its_own() -> None:
    text = with_column('type = "number"\nbounds = ["?",\n "?"]\ngrid = "FILL IN"')
    found = mistakes(text)
    assert [(mistake.line, mistake.where) for mistake in found] == [
        (8, "columns.x.bounds[0]"),
        (9, "columns.x.bounds[1]"),
        (10, "columns.x.grid"),
    ]
    assert "without looking at the rows" in found[0].fix
    assert "still holds the blank" in found[0].what
    assert "step between values" in found[2].fix


@pytest.mark.parametrize("blank", ["?", BLANK])
@pytest.mark.parametrize("key", ["name", "unit", "neighbours", "rows", "version", "source"])
def test_blanks_in_the_table(blank: str, key: str) -> None:
    lines = [line for line in TABLE.splitlines() if not line.startswith(key)]
    text = "\n".join([*lines, f'{key} = "{blank}"', AGE])
    found = places(text)
    assert found == [(len(lines) + 1, f"table.{key}")]


def test_a_blank_list_is_one_blank() -> None:
    assert places(with_column(f'type = "number"\nbounds = "{BLANK}"')) == [(8, "columns.x.bounds")]
    assert places(with_column(f'type = "category"\ncategories = ["{BLANK}"]')) == [
        (8, "columns.x.categories[0]")
    ]


def test_a_question_mark_may_be_a_category() -> None:
    text = with_column('type = "category"\ncategories = ["?", "a"]\nmissing = "?"')
    assert Schema.parse(text).column("x").missing == "?"


def test_a_blank_budget_and_question() -> None:
    text = f'{TABLE}{AGE}[budget]\ntotal = "?"\n[questions.q]\nsql = "?"\npromise = "{BLANK}"\n'
    assert places(text) == [
        (10, "budget.total"),
        (12, "questions.q.sql"),
        (13, "questions.q.promise"),
    ]
