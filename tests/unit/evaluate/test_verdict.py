"""What was found is read by programs and people, and repeats no value of a row."""

from __future__ import annotations

import dataclasses
import json
import math
from fractions import Fraction

import pyarrow as pa
import pytest

import tenue as tn
from tenue.evaluate.verdict import Reading
from unit.evaluate.stated import ROWS, people


def test_json_has_every_fact_and_no_infinity() -> None:
    found = tn.evaluate.check(pa.table(ROWS), schema=people())
    facts = json.loads(found.to_json(), parse_constant=lambda word: pytest.fail(word))
    named = {part.name for part in dataclasses.fields(found)}
    assert set(facts) == named | {"l", "l_entropy", "t", "t_ratio"}
    assert facts["k"] == found.k
    assert (facts["t_ratio"], facts["confidential"][0]["t_ratio"]) == ("inf", "inf")
    assert Fraction(facts["confidential"][0]["exact_t"]) == found.confidential[0].exact_t
    assert float(facts["t_ratio"]) == math.inf
    assert facts["quasi_identifiers"] == ["age", "town"]
    only_k = tn.evaluate.check(pa.table(ROWS), quasi_identifiers=["age"])
    assert json.loads(only_k.to_json())["t"] is None


def test_the_worst_column_speaks_for_all() -> None:
    rows = pa.table({"a": [1, 1, 2, 2], "good": [1, 2, 1, 2], "bad": [1, 1, 2, 2]})
    found = tn.evaluate.check(rows, quasi_identifiers=["a"], confidential=["good", "bad"])
    good, bad = found.confidential
    assert (good.l, good.t, good.t_ratio) == (2, 0, 1)
    assert (found.l, found.l_entropy) == (bad.l, bad.l_entropy) == (1, 1)
    assert (found.t, found.t_ratio) == (bad.t, bad.t_ratio) == (0.5, math.inf)
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.k = 9  # type: ignore[misc]


def screen(**rows: list[object]) -> str:
    table = pa.table(rows)
    names = list(rows)
    found = tn.evaluate.check(table, quasi_identifiers=names[:1], confidential=names[1:])
    return " ".join(str(found).split())


def test_no_value_of_a_row_is_shown() -> None:
    text = str(tn.evaluate.check(pa.table(ROWS), schema=people()))
    for value in ("flu", "cold", "north", "south", "100", "200", "30 "):
        assert value not in text
    assert max(map(len, text.splitlines())) <= 88


def test_it_says_what_an_intruder_can_do() -> None:
    text = screen(zip=["x", "x", "y", "y", "z"], ill=["a", "b", "b", "b", "c"])
    assert "5 rows in 3 groups that share zip" in text
    assert "k = 1 1 group of one row only. 20 % of the rows stand alone" in text
    assert "2 groups (60 % of the rows) have one value only" in text
    assert "so the ratio is infinite" in text


def test_it_says_when_all_is_well() -> None:
    text = screen(zip=["x", "x", "y", "y"], ill=["a", "b", "b", "a"])
    assert "Everybody is among at least 2 rows that look alike; 2 groups are no larger." in text
    assert "Nobody stands alone." in text
    assert "every group has at least 2 different values" in text
    assert "t = 0 (ratio 1)" in text
    assert "up to 1 times rarer" in text


def test_it_says_what_is_missing() -> None:
    assert "l and t were not measured" in screen(zip=[1, 1])
    found = tn.evaluate.check(pa.table({**ROWS, "name": ["?"] * 7}), schema=people())
    assert "WARNING: The file still has what names a person: `name`." in str(found)
    by_person = tn.evaluate.check(
        pa.table({"age": [1, 1], "who": ["a", "b"]}), quasi_identifiers=["age"], unit="who"
    )
    assert "among at least 2 whos that look alike" in str(by_person)


def test_many_values_are_not_said_to_give_nothing_away() -> None:
    """Groups that grew to reach l can tell what they were before (the minimality attack)."""
    table = pa.table({"age": [30, 30, 40, 40], "ill": ["flu", "cold", "flu", "cold"]})
    found = tn.evaluate.check(table, quasi_identifiers=["age"], confidential=["ill"])
    text = " ".join(str(found).split())
    assert "none gives its value away" not in text
    assert "made larger to reach that may still give away" in text


def test_the_prompt_shows_the_screen() -> None:
    table = {"age": [30, 30, 40], "ill": ["flu", "cold", "flu"]}
    found = tn.evaluate.check(pa.table(table), quasi_identifiers=["age"], confidential=["ill"])
    assert repr(found) == str(found)
    assert "k = 1" in repr(found)


def test_the_last_line_says_who_counted_and_what_was_read() -> None:
    found = tn.evaluate.check(pa.table(ROWS), schema=people())
    assert str(found).endswith("\n\nCounted in this process, which read 7 rows.")
    reading = Reading("PostgreSQL", counts=1497, rows=400, columns=("more",))
    there = str(dataclasses.replace(found, reading=reading))
    assert "This is about this table," in there
    assert " ".join(there.split("\n\n")[-1].split()) == (
        "Counted by PostgreSQL; this process read 1,497 counts, and 400 rows to compare columns, "
        "and all of `more`."
    )
    facts = json.loads(dataclasses.replace(found, reading=reading).to_json())["reading"]
    assert facts == {"by": "PostgreSQL", "counts": 1497, "rows": 400, "columns": ["more"]}
    assert "reading" not in dataclasses.replace(found, reading=None).to_dict()
