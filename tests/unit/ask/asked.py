"""The table that questions of these tests are asked of, and how to see what becomes of them."""

# ruff: noqa: S608 - these texts are what is tested

from __future__ import annotations

from pathlib import Path

import pytest

from tenue.ask.question import Question
from tenue.ask.sql.parse import parse
from tenue.errors import InvalidQuestion
from tenue.schema import Schema

CENSUS = Schema.load(Path(__file__).parents[2] / "plans" / "census.toml")


def ask(sql: str) -> Question:
    return parse(sql, CENSUS)


def where(condition: str) -> object:
    return ask(f"SELECT COUNT(*) FROM census WHERE {condition}").where


def refused(sql: str, reason: str) -> InvalidQuestion:
    """The refusal of a question, which must have that reason and all three sentences."""
    with pytest.raises(InvalidQuestion) as caught:
        ask(sql)
    refusal = caught.value
    assert refusal.reason == reason, refusal
    assert refusal.to_dict()["kind"] == "invalid-question"
    assert len(refusal.what) > 5
    assert len(refusal.allowed) > 5
    assert len(refusal.fix) > 5
    return refusal


def refused_where(condition: str, reason: str) -> InvalidQuestion:
    return refused(f"SELECT COUNT(*) FROM census WHERE {condition}", reason)
