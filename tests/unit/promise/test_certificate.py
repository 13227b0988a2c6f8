"""One builder makes every certificate."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tenue.errors import InvalidArgument
from tenue.promise import Certificate, ProbabilisticKAnonymity, Pure
from tenue.promise.certificate import About, certify
from tenue.version import VERSION


def made(neighbours: str = "replace") -> Certificate:
    return certify(
        Pure(1),
        About(neighbours, "record"),
        "noise",
        {"k": "3", "gamma": ""},
        ["A 2006", "B 2007", "A 2006"],
        ["One.", "One."],
        ["Two.", "Three.", "Two."],
        "hmac-sha256:0123456789abcdef0123",
    )


def test_what_has_no_value_is_left_out_and_nothing_is_said_twice() -> None:
    found = made()
    assert dict(found.parameters) == {"k": "3"}
    assert found.source == "A 2006; B 2007"
    assert found.assumptions == ("One.",)
    assert found.does_not_promise == ("Two.", "Three.")


def test_it_names_the_schema_and_the_version() -> None:
    found = made()
    assert (found.schema_hash, found.version) == ("hmac-sha256:0123456789abcdef0123", VERSION)
    assert "sealed 0123456789abcdef\n" in str(found)


def test_what_0_1_0_wrote_is_read_and_nothing_is_shown_where_nothing_is_said() -> None:
    old = replace(made(), schema_hash="ab" * 32)
    assert Certificate.from_json(old.to_json()) == old
    assert f"{'ab' * 8}\n" in str(old)
    assert "sealed" not in str(old)
    assert "Schema" not in str(replace(made(), schema_hash=""))


def test_neighbours_are_checked() -> None:
    with pytest.raises(InvalidArgument):
        made("friends")


def test_it_survives_json() -> None:
    assert Certificate.from_json(made().to_json()) == made()


def test_words_of_an_earlier_version_are_no_forgery_and_others_are() -> None:
    """What 0.1.0 promised is read, and said in the words of today."""
    swap = replace(made(), promise=ProbabilisticKAnonymity(5))
    old = json.loads(swap.to_json())
    old["sentence"] = (
        "Whoever finds a unit's row by its quasi-identifiers sees confidential values in it, each "
        "of which came from that unit's record with probability at most 1/5. The value itself may "
        "be the same for all of its group, as it often is with yes and no or few categories, and "
        "is then known all the same."
    )
    assert Certificate.from_json(json.dumps(old)) == swap
    for wrong in ("In other words.", old["sentence"].replace("1/5", "1/6")):
        with pytest.raises(InvalidArgument):
            Certificate.from_json(json.dumps(old | {"sentence": wrong}))


def test_on_a_screen_its_lists_are_lists_and_fit() -> None:
    long = "word " * 30
    shown = str(replace(made(), assumptions=(long, "Short."))).splitlines()
    assert max(map(len, shown)) < 80
    assert len([line for line in shown if "* word" in line or "* Short." in line]) == 2
    first = next(line for line in shown if line.startswith("Assumes"))
    after = shown[shown.index(first) + 1]
    assert after.index("word") == first.index("word")  # further lines hang below the first word
