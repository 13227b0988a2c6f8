"""What is wrong with a schema, as the tests ask it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenue.errors import InvalidSchema
from tenue.schema import Mistake, Schema

TABLE = """\
[table]
name = "census"
unit = "record"
neighbours = "replace"

"""
AGE = """\
[columns.age]
type = "number"
bounds = [0, 120]
"""


def in_one_line(text: str) -> str:
    return " ".join(text.split())


def mistakes(text: str, folder: Path | str = ".") -> list[Mistake]:
    """Every mistake in the text, which must have some."""
    with pytest.raises(InvalidSchema) as refused:
        Schema.parse(text, folder=folder)
    found = refused.value.mistakes
    assert isinstance(found, tuple)
    said = in_one_line(str(refused.value))
    for mistake in found[:20]:
        assert in_one_line(f"{mistake.place}: {mistake.what}") in said
        assert in_one_line(mistake.allowed) in said
        assert in_one_line(mistake.fix) in said
    return list(found)


def places(text: str, folder: Path | str = ".") -> list[tuple[int | None, str]]:
    """Where the mistakes are."""
    return [(mistake.line, mistake.where) for mistake in mistakes(text, folder)]


def with_column(body: str) -> str:
    """A schema whose column `x` has its header in line 6 and its keys from line 7."""
    return f"{TABLE}[columns.x]\n{body}\n"
