"""Numbers, pages of text and small tables, as people read them."""

from __future__ import annotations

import math
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from tenue.text import (
    WIDTH,
    escaped,
    exactly,
    facts,
    hanging,
    html_table,
    many,
    named,
    notes,
    percent,
    plain,
    readable,
    section,
    sentence,
    shortly,
    wrapped_facts,
)


@given(st.fractions())
def test_shown_numbers_are_exact(number: Fraction) -> None:
    assert Fraction(exactly(number)) == number


def test_numbers_are_short() -> None:
    assert [percent(x) for x in (0, 1, 0.25, 1e-6, 1 - 1e-6)] == [
        "0 %",
        "100 %",
        "25 %",
        "less than 0.1 %",
        "more than 99.9 %",
    ]
    assert shortly(float("inf"), 4) == "infinite"
    assert shortly(2 / 3, 4) == "0.6667"


def test_errors_have_three_digits_and_are_whole_from_a_thousand_on() -> None:
    assert [shortly(x) for x in (0.00123456, 999.4, 1000.4, -2345.6)] == [
        "0.00123",
        "999",
        "1,000",
        "-2,346",
    ]
    assert shortly(math.inf) == "infinite"


def test_values_keep_their_digits_below_a_hundred_thousand() -> None:
    assert readable(Fraction(99_999_999, 1000)) == "100,000"
    assert readable(12345.678) == "12,345.7"
    assert readable(True) == "True"
    assert readable(None) == "undefined"


def test_a_rational_becomes_an_int_or_the_nearest_double() -> None:
    assert plain(Fraction(4, 2)) == 2
    assert isinstance(plain(Fraction(4, 2)), int)
    assert plain(Fraction(1, 3)) == 1 / 3
    assert plain("flu") == "flu"


def test_nouns_and_names() -> None:
    assert many(1, "group") == "1 group"
    assert many(0, "group") == "0 groups"
    assert named(["a"]) == "`a`"
    assert named([]) == ""


# -- Text for a terminal keeps to its width and says which text belongs to which name --------------

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


# -- Tables for notebooks: escaped, and cut where they are long ------------------------------------


def test_everything_is_escaped() -> None:
    page = html_table([["<i>"], ['"&']], before=["<p>"], after=["<script>"])
    assert page == (
        "<p>&lt;p&gt;</p><table><thead><tr><th>&lt;i&gt;</th></tr></thead><tbody><tr>"
        "<td>&quot;&amp;</td></tr></tbody></table><p>&lt;script&gt;</p>"
    )


def test_long_tables_are_cut_and_say_so() -> None:
    page = html_table([["n"], *([str(n)] for n in range(1200))])
    assert page.count("<tr>") == 201
    assert "… and 1,000 rows more" in page


def test_signs_of_html_are_written_out() -> None:
    assert escaped("<b> & \"c\" 'd'") == "&lt;b&gt; &amp; &quot;c&quot; &#x27;d&#x27;"
