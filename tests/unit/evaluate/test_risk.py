"""All about risk in one value, for the holder."""

from __future__ import annotations

import dataclasses
import json

import pandas as pd
import pytest

import tenue as tn
from tenue.errors import InvalidArgument
from unit.evaluate.stated import AGE, NAME, ROWS, people, schema

ORIGINAL = pd.DataFrame({**ROWS, "name": list("abcdefg")})
MASKED = ORIGINAL.drop(columns=["name"]).assign(pay=[101, 200, 290, 140, 200, 300, 400])


def test_every_figure_is_the_one_measured_alone() -> None:
    found = tn.evaluate.risk(ORIGINAL, MASKED, people())
    alone = tn.evaluate.check(MASKED, schema=people())
    assert found.check == dataclasses.replace(alone, reading=None)
    widths = {"age": 100, "town": 0.7369655941662062, "ill": 0.7369655941662062, "pay": 1000}
    assert found.record_linkage == tn.evaluate.record_linkage(
        ORIGINAL, MASKED, columns=list(widths), scale=widths
    )
    assert found.linkage_by_quasi_identifiers == pytest.approx(2 / 7)
    assert found.within_1_percent == pytest.approx(5 / 7)
    assert found.within_5_percent == pytest.approx(6 / 7)
    assert found.unchanged == pytest.approx((7 + 4) / 14)
    assert dict(found.own_values) == pytest.approx({"ill": 1.0, "pay": 4 / 7})
    assert found.to_dict()["own_values"] == dict(found.own_values)


def test_names_do_not_link() -> None:
    """An identifier that is left in both tables would link everybody."""
    kept = MASKED.assign(name=ORIGINAL["name"])
    assert tn.evaluate.record_linkage(ORIGINAL, kept, columns=["name"]) == 1
    found = tn.evaluate.risk(ORIGINAL, kept, people())
    assert found.record_linkage == tn.evaluate.risk(ORIGINAL, MASKED, people()).record_linkage


def test_it_can_be_read_by_people_and_programs() -> None:
    found = tn.evaluate.risk(ORIGINAL, MASKED, people())
    facts = json.loads(found.to_json())
    assert set(facts) == {part.name for part in dataclasses.fields(found)}
    assert facts["check"]["k"] == 3
    text = str(found)
    assert "links" in text
    assert "71.4 % lie within 1 % of the truth" in text
    assert "k = 3" in text
    for value in ("flu", "north", "290"):
        assert value not in text


def test_what_is_not_there_is_none() -> None:
    other = schema({"age": {**AGE, "role": "other"}, "name": NAME})
    found = tn.evaluate.risk(ORIGINAL, MASKED, other)
    assert (found.check, found.linkage_by_quasi_identifiers, found.unchanged) == (None,) * 3
    assert (found.within_1_percent, found.within_5_percent) == (None, None)
    assert str(found).count("\n") == 0
    assert json.loads(found.to_json())["check"] is None
    with pytest.raises(InvalidArgument, match="There is no schema"):
        tn.evaluate.risk(ORIGINAL, MASKED, None)
    with pytest.raises(InvalidArgument):
        tn.evaluate.risk(ORIGINAL, MASKED)  # type: ignore[call-arg]


def test_blanks_are_not_unchanged() -> None:
    blank = ORIGINAL.assign(ill=[None] * 7, pay=[None] * 7)
    found = tn.evaluate.risk(blank, blank.drop(columns=["name"]), people())
    assert (found.unchanged, found.within_1_percent) == (0, 0)
