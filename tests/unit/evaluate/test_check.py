"""k, l and t of a table: roles, units, missing values, and wrong readings that are caught."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import tenue as tn
from tenue.errors import InvalidArgument, InvalidSchema, InvalidTable
from tenue.evaluate.check import open_columns
from unit.evaluate.stated import AGE, NAME, PAY, ROWS, people, schema

check = tn.evaluate.check


def test_a_small_table_by_hand() -> None:
    found = check(pa.table(ROWS), schema=people())
    assert (found.rows, found.groups, found.k, found.smallest_groups) == (7, 2, 3, 1)
    assert found.quasi_identifiers == ("age", "town")
    assert found.unique_share == 0
    ill, pay = found.confidential
    assert (ill.name, ill.distance, ill.l, ill.homogeneous_groups) == ("ill", "equal", 1, 1)
    assert ill.homogeneous_share == pytest.approx(4 / 7)
    assert ill.exact_t == Fraction(4, 7)
    assert (ill.t_ratio, ill.exact_t_ratio) == (math.inf, None)
    assert (pay.distance, pay.l) == ("ordered", 3)
    assert pay.l_entropy == pytest.approx(3)
    assert (found.l, found.l_entropy) == (1, 1)
    assert found.t == ill.t == float(Fraction(4, 7))
    assert found.t_ratio == math.inf
    assert (found.homogeneous_groups, found.homogeneous_share) == (1, pytest.approx(4 / 7))
    assert "Declared, but not in the table" not in " ".join(found.notes)


def test_columns_given_by_hand_need_no_schema(tmp_path: Path) -> None:
    by_hand = check(pd.DataFrame(ROWS), quasi_identifiers=["AGE"], confidential="pay")
    assert (by_hand.k, by_hand.groups, by_hand.l) == (3, 2, 3)
    assert by_hand.quasi_identifiers == ("age",)
    only_k = check(pa.table(ROWS), quasi_identifiers=["age", "age"])
    assert (only_k.k, only_k.l, only_k.l_entropy, only_k.t, only_k.t_ratio) == (3, *[None] * 4)
    assert only_k.homogeneous_groups == 0
    path = tmp_path / "people.toml"
    people().save(path)
    assert check(pa.table(ROWS), schema=str(path)) == check(pa.table(ROWS), schema=people())
    assert check(pa.table(ROWS), schema=people(), confidential=["pay"]).l == 3


def test_k_rows_of_one_person_are_one_person() -> None:
    rows = {"who": ["a", "a", "a", "b", "c", None, None], "age": [1, 1, 1, 2, 2, 2, 2]}
    by_rows = check(pa.table(rows), quasi_identifiers=["age"])
    by_person = check(pa.table(rows), quasi_identifiers=["age"], unit="who")
    assert (by_rows.k, by_rows.unique_share) == (3, 0)  # the wrong way to count
    assert (by_person.k, by_person.unit) == (1, "who")
    assert by_person.unique_share == pytest.approx(3 / 7)
    several = schema(
        {"who": NAME, "age": AGE}, unit="who", neighbours="add-or-remove", rows_per_unit=3
    )
    assert check(pa.table(rows), schema=several).k == 1
    assert check(pa.table(rows), schema=several, unit="record").k == 3
    # where the column is gone, three rows may be one person
    released = check(pa.table({"age": [1] * 7 + [2] * 8}), schema=several)
    assert (released.k, released.unit) == (3, "who")
    assert "divided" in released.notes[0]


def test_a_blank_is_seen_by_an_intruder() -> None:
    rows = {"age": [1, 1, None, 2, 2], "pay": [1.0, 2.0, 3.0, float("nan"), float("nan")]}
    found = check(pa.table(rows), quasi_identifiers=["age"], confidential=["pay"])
    assert (found.groups, found.k) == (3, 1)
    dropping_blanks = check(
        pa.table({"age": [1, 1, 2, 2], "pay": [1.0, 2.0, 3.0, 3.0]}), quasi_identifiers=["age"]
    )
    assert dropping_blanks.k == 2
    # nothing is known of the last group: that is one value, and no distribution
    assert found.confidential[0].homogeneous_groups == 2
    assert found.confidential[0].exact_t == Fraction(1, 2)
    stated = schema({"age": AGE, "pay": {**PAY, "missing": 3}})
    assert check(pa.table(rows), schema=stated).confidential[0].exact_t == Fraction(9, 20)


def test_constant_and_empty_columns_and_one_row() -> None:
    one = check(pa.table({"a": [1], "b": ["x"]}), quasi_identifiers=["a"], confidential=["b"])
    assert (one.k, one.l, one.t, one.t_ratio, one.unique_share) == (1, 1, 0, 1, 1)
    same = check(
        pa.table({"a": [1, 1], "b": [2, 2], "c": [None, None]}),
        quasi_identifiers=["a"],
        confidential=["b", "c"],
    )
    assert (same.k, same.l, same.l_entropy, same.t, same.t_ratio) == (2, 1, 1, 0, 1)


def test_notes_say_what_was_not_looked_at(tmp_path: Path) -> None:
    rows = {"name": ["x", "y"], "AGE": [1, 1], "pay": ["10-20", "20-30"], "extra": [1, 2]}
    found = check(pa.table(rows), schema=people())
    text = " ".join(found.notes)
    assert "still has what names a person: `name`" in text
    assert "not in the table: `town`, `ill`" in text
    assert "not looked at: `extra`" in text
    assert "`pay` is declared a number, and some of it is something else" in text
    assert found.confidential[0].distance == "equal"


def test_a_csv_is_the_table_it_holds(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    pd.DataFrame(ROWS).to_csv(path, index=False)
    assert check(path, schema=people()) == check(pa.table(ROWS), schema=people())
    by_hand = check(path, quasi_identifiers=["age", "town"], confidential=["ill", "pay"])
    assert by_hand.confidential == check(pa.table(ROWS), schema=people()).confidential


def test_zip_codes_of_a_csv_are_not_numbers(tmp_path: Path) -> None:
    """07 and 7 look different to an intruder; as numbers they would share a group."""
    path = tmp_path / "t.csv"
    path.write_text("zip\n07\n7\n")
    assert check(path, quasi_identifiers=["zip"]).k == 1


@pytest.mark.parametrize(
    ("how", "refusal"),
    [
        ({}, InvalidArgument),
        ({"quasi_identifiers": []}, InvalidArgument),
        ({"quasi_identifiers": ["nope"]}, InvalidArgument),
        ({"quasi_identifiers": ["age"], "confidential": ["age"]}, InvalidArgument),
        ({"quasi_identifiers": ["age"], "unit": "nope"}, InvalidArgument),
        ({"schema": schema({"other": AGE})}, InvalidArgument),
        ({"schema": 7}, InvalidArgument),
        ({"schema": "none.toml"}, (InvalidSchema, InvalidArgument)),
        ({"quasi_identifier": ["age"]}, InvalidArgument),
    ],
)
def test_what_cannot_be_checked_is_refused(how: dict[str, Any], refusal: Any) -> None:
    with pytest.raises(refusal):
        check(pa.table(ROWS), **how)


def test_an_empty_table_is_refused() -> None:
    with pytest.raises(InvalidTable, match="no rows"):
        check(pa.table(ROWS).slice(0, 0), schema=people())
    with pytest.raises(InvalidTable, match="neither numbers"):
        check(pa.table({"a": [[1], [2]]}), quasi_identifiers=["a"])


def test_declared_types_rule() -> None:
    """A category that is stored as numbers has no order, whatever its numbers say."""
    rows = pa.table({"age": [1, 1, 2, 2], "code": [1, 2, 3, 4]})
    category = {"type": "category", "categories": list("1234"), "role": "confidential"}
    assert check(rows, schema=schema({"age": AGE, "code": category})).t == 0.5
    number = {"type": "number", "bounds": [0, 9], "role": "confidential"}
    assert check(rows, schema=schema({"age": AGE, "code": number})).t == pytest.approx(1 / 3)


def test_columns_that_nothing_protects_are_named_and_unique_ones_said_so() -> None:
    number = {"type": "number", "bounds": [0, 99]}
    declared = schema({"no": number, "kind": {**number, "role": "other"}, "age": AGE})
    table = pa.table({"no": [1, 2, 3], "kind": [5, 5, 6], "age": [30, 30, 30]})
    (note,) = check(table, schema=declared).notes
    assert "Nothing protects `no`, `kind`" in note
    assert "`no` has another value in every row" in note
    (calm,) = check(table.set_column(0, "no", pa.array([1, 1, 3])), schema=declared).notes
    assert "another value" not in calm
    chosen = check(table, schema=declared, quasi_identifiers=["no"], confidential=["kind"])
    assert not any("Nothing protects" in text for text in chosen.notes)
    assert check(table.select(["age"]), schema=declared).notes == ()


@pytest.mark.parametrize("names", [["17", "017", "17.0"], ["Ann", "ann", "ANN "], ["a", "b", "c"]])
def test_spellings_of_one_person_are_remarked(tmp_path: Path, names: list[str]) -> None:
    path = tmp_path / "a.csv"
    path.write_text("age,who\n" + "".join(f"1,{name}\n" for name in names))
    found = check(path, quasi_identifiers=["age"], unit="who")
    assert found.k == 3
    assert any("two spellings of one person" in note for note in found.notes) == (names[0] != "a")


def test_what_tells_apart_is_said_only_of_what_does() -> None:
    assert open_columns([], []) == []
    (calm,) = open_columns(["a", "b"], [])
    assert "every row" not in calm
    (one,) = open_columns(["a", "b"], ["b"])
    assert "`b` has another value in every row" in one
    (two,) = open_columns(["a", "b"], ["a", "b"])
    assert "`a`, `b` have another value in every row" in two
