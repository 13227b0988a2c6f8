"""Refusals have a reason for programs and three sentences for people."""

from __future__ import annotations

import pytest

from tenue.errors import refuse
from tenue.query.read.unsupported import (
    list_words,
    refuse_part,
    refuse_word,
    too_deep,
    unreadable,
)


def test_a_refusal_has_a_reason_beside_its_code() -> None:
    refusal = refuse("query.question-has-cells", count="7", most_cells=3)
    assert (refusal.code, refusal.reason) == ("invalid-question", "cells")
    assert str(refusal) == f"{refusal.what} {refusal.allowed} {refusal.fix}"


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("JOIN", "join"),
        ("Union", "set-operation"),
        ("OVER", "window"),
        ("PARTITION BY", "window"),
        ("DISTINCT", "distinct"),
        ("GROUPING SETS", "grouping-sets"),
        ("::", "cast"),
        ("?", "parameter"),
        ("frobnicate", "word"),
    ],
)
def test_words_outside_the_grammar_are_known(word: str, reason: str) -> None:
    assert refuse_word(word).reason == reason


def test_a_word_that_is_called_is_a_function() -> None:
    assert refuse_word("first", is_function=True).what == 'The function "FIRST" cannot be asked.'
    assert refuse_word("over", is_function=True).reason == "window"


def test_what_is_quoted_is_short_and_harmless() -> None:
    refusal = refuse_word("x" * 10_000 + "\x1b[31m")
    assert len(str(refusal)) < 400
    assert "\x1b" not in str(unreadable("\x1b[31m"))


def test_clauses_are_known_by_their_part() -> None:
    assert refuse_part("joins").reason == "join"
    assert refuse_part("no such part").reason == "clause"
    assert too_deep().reason == "too-deep"
    assert unreadable().reason == "syntax"


def test_lists_read_like_lists() -> None:
    assert list_words(("a",)) == "a"
    assert list_words(("a", "b")) == "a and b"
