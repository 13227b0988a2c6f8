"""Mistakes as a person and a program read them."""

from __future__ import annotations

import pytest

from tenue.errors import InvalidArgument, InvalidSchema
from tenue.schema.file.lines import find_lines
from tenue.schema.file.mistake import Mistake, Mistakes, refusal


def test_a_mistake_reads_as_one_line() -> None:
    mistake = Mistake(4, "columns.x.bounds", "It is 5.", "Two numbers.", "Write [0, 1].")
    assert str(mistake) == "line 4, columns.x.bounds: It is 5. Two numbers. Write [0, 1]."
    assert Mistake(None, "table.name", "", "", "").place == "table.name"
    assert Mistake(3, "", "", "", "").place == "line 3"
    assert str(Mistake(None, "", "a.", "b.", "c.")) == "a. b. c."


def test_one_mistake_is_the_whole_refusal() -> None:
    found = refusal([Mistake(4, "table.rows", "It is 0.", "At least 1.", "Write 1.")], "s.toml")
    assert isinstance(found, InvalidSchema)
    assert found.what == "s.toml, line 4, table.rows: It is 0."
    assert (found.allowed, found.fix) == ("At least 1.", "Write 1.")
    assert found.to_dict()["code"] == "schema-mistakes"


def test_several_are_sorted_by_line_and_keep_their_order_within_one() -> None:
    lines = (7, 2, None, 2)
    given = [Mistake(line, f"k{place}", "a.", "b.", "c.") for place, line in enumerate(lines)]
    found = refusal(given, "s.toml").mistakes
    assert [mistake.where for mistake in found] == ["k2", "k1", "k3", "k0"]  # type: ignore[attr-defined]


def test_the_collector_names_places_and_stops() -> None:
    mistakes = Mistakes(find_lines("[columns.x]\nbounds = [\n1,\n2]\n"))
    mistakes.stop("nothing is wrong")
    mistakes.add(("columns", "x", "bounds", 1), "a", "b", "c")
    mistakes.add(("columns", "x", "grid"), "a", "b", "c", at=("columns", "x"))
    mistakes.add_refusal(("table",), InvalidArgument("x", "y", "z"))
    assert [(mistake.line, mistake.where, mistake.what) for mistake in mistakes.found] == [
        (4, "columns.x.bounds[1]", "a."),
        (1, "columns.x.grid", "a."),
        (1, "table", "x."),
    ]
    with pytest.raises(InvalidSchema):
        mistakes.stop("s.toml")


def test_many_mistakes_fit_on_a_screen_and_say_once_what_holds_of_all() -> None:
    blank = ["It is blank.", "Every blank is filled.", "Write what you know, " * 9]
    many = [Mistake(line, f"columns.x{line}", *blank) for line in range(1, 4)]
    refused = refusal(many, "t.toml")
    assert refused.allowed == "Every blank is filled."
    assert str(refused).count("Every blank is filled.") == 1
    assert max(map(len, refused.fix.splitlines())) < 80
    assert refused.fix.count("\n  * line") == 3
    other = Mistake(9, "table", "It is wrong.", "It is right.", "Correct it.")
    refused = refusal([*many, other], "t.toml")
    assert refused.allowed == "A schema loads only without mistakes."
    assert str(refused).count("Every blank is filled.") == 3
