"""Text for a terminal keeps to its width and says which text belongs to which name."""

from __future__ import annotations

from tenue.screen.page import WIDTH, facts, hanging, notes, section, sentence, wrapped_facts

LONG = "word " * 40


def test_notes_come_after_a_blank_line_and_end_in_time() -> None:
    lines = notes([LONG, "short"])
    assert lines[0] == ""
    assert lines[-2:] == ["", "short"]
    assert max(map(len, lines)) <= 96


def test_facts_stand_beside_their_names() -> None:
    assert facts([("a", "x"), ("long", "y")]) == ["a     x", "long  y"]


def test_long_facts_go_on_below_their_first_word() -> None:
    (first, second) = wrapped_facts([("a", LONG), ("long", "y")])
    head, *rest = first.split("\n")
    assert head.startswith("  a     word")
    assert rest
    assert all(line.startswith(" " * 8 + "word") for line in rest)
    assert max(map(len, first.split("\n"))) <= WIDTH
    assert second == "  long  y"


def test_a_section_leaves_lines_of_a_table_as_they_are() -> None:
    table = "a      b" + " " * 100 + "c"
    text = section("Title", [table, LONG], "* ")
    lines = text.split("\n")
    assert lines[:2] == ["Title", "  " + table]
    assert lines[2].startswith("  * word")
    assert lines[3].startswith("    word")


def test_a_percent_sign_stays_with_its_number() -> None:
    for words in range(1, 40):
        text = "x " * words + "at least 95 %."
        assert " ".join(hanging(text).split()) == " ".join(text.split())
        for lines in (hanging(text).split("\n"), notes([text])):
            assert sum("95 %." in line for line in lines) == 1
            assert max(map(len, lines)) <= WIDTH


def test_sentences_begin_with_a_capital_letter() -> None:
    assert sentence("eE") == "EE"
    assert hanging("x") == "x"
