"""One builder makes every certificate."""

from __future__ import annotations

import pytest

from tenue.errors import InvalidArgument
from tenue.promise import Certificate, Pure
from tenue.promise.certificate import About, certify
from tenue.version import VERSION


def made(neighbours: str = "replace") -> Certificate:
    return certify(
        Pure(1),
        About(neighbours, "record", "abc"),
        "noise",
        {"k": "3", "gamma": ""},
        ["A 2006", "B 2007", "A 2006"],
        ["One.", "One."],
        ["Two.", "Three.", "Two."],
    )


def test_what_has_no_value_is_left_out_and_nothing_is_said_twice() -> None:
    found = made()
    assert dict(found.parameters) == {"k": "3"}
    assert found.source == "A 2006; B 2007"
    assert found.assumptions == ("One.",)
    assert found.does_not_promise == ("Two.", "Three.")


def test_it_names_the_schema_and_the_version() -> None:
    assert (made().schema_hash, made().version) == ("abc", VERSION)


def test_neighbours_are_checked() -> None:
    with pytest.raises(InvalidArgument):
        made("friends")


def test_it_survives_json() -> None:
    assert Certificate.from_json(made().to_json()) == made()
