"""Reading keys one by one, going on after a mistake."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest

from tenue.number import whole
from tenue.schema.file.mistake import Mistakes
from tenue.schema.file.section import Section, is_text


def section(**values: object) -> Section:
    return Section(values, ("s",), Mistakes())


def test_reading_goes_on_after_a_mistake() -> None:
    read = section(a=1, b="x", c="maybe", d="y")
    assert read.text("a", "Text", "Quote it") is None
    assert read.text("b", "Text", "Quote it") == "x"
    assert read.flag("c") is None
    assert read.choice("d", ["x", "z"]) is None
    assert read.text("e", "Text", "Quote it") is None
    assert read.text("f", "Text", "Quote it", required=True) is None
    assert [mistake.where for mistake in read.mistakes.found] == ["s.a", "s.c", "s.d", "s.f"]


@pytest.mark.parametrize("value", ["", " \n", "a\0", "\ud800", 5, None, ["a"]])
def test_what_is_no_text(value: object) -> None:
    assert not is_text(value)


@pytest.mark.parametrize(
    "value", [True, "3", None, [], Fraction(1, 3), 1.5, 2**300, Decimal("1e101"), Decimal("1e-101")]
)
def test_what_is_no_number_of_a_file(value: object) -> None:
    read = section(a=value)
    assert read.checked(("a",), value, lambda given: given, "A number", "Write one") is None
    assert len(read.mistakes.found) == 1


def test_numbers_are_checked_by_the_room_of_numbers() -> None:
    read = section(a=3, b=Decimal("2.0"), c=0)
    for key in "abc":
        read.number(key, lambda value: whole(value, "n", least=1), "", "", required=False)
    assert [mistake.where for mistake in read.mistakes.found] == ["s.c"]
    assert read.mistakes.found[0].allowed == "`n` must be a whole number, at least 1."


def test_a_section_must_be_one() -> None:
    mistakes = Mistakes()
    assert Section.read({}, ("a",), mistakes) is not None
    assert Section.read([1], ("a", "b"), mistakes) is None
    assert mistakes.found[0].fix == "Write [a.b]."


def test_unknown_keys_are_compared_with_the_known() -> None:
    read = section(bounds=1, bonds=2)
    read.known(["bounds", "grid"], "a column")
    assert [mistake.fix for mistake in read.mistakes.found] == ["Did you mean `bounds`?"]
