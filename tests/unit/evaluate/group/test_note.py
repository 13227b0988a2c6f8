"""Every note names its columns, and nothing to say is no note."""

from __future__ import annotations

import pytest

from tenue.evaluate.group import note


@pytest.mark.parametrize("say", [note.respelled, note.renamed, note.merged_values])
def test_a_note_names_its_columns(say: type[list[str]]) -> None:
    assert say([]) == []
    (text,) = say(["age", "zip"])
    assert "`age`, `zip`" in text


def test_what_tells_apart_is_said_only_of_what_does() -> None:
    assert note.unprotected([], []) == []
    (calm,) = note.unprotected(["a", "b"], [])
    assert "every row" not in calm
    (one,) = note.unprotected(["a", "b"], ["b"])
    assert "`b` has another value in every row" in one
    (two,) = note.unprotected(["a", "b"], ["a", "b"])
    assert "`a`, `b` have another value in every row" in two
