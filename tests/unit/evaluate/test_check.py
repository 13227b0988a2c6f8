"""k, l and t of any file."""

from __future__ import annotations

import dataclasses
import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import tenue as tn
from tenue.errors import InvalidArgument, InvalidSchema, InvalidTable
from tenue.evaluate.check_result import Reading
from unit.evaluate.stated import AGE, ILL, NAME, PAY, ROWS, people, schema


def test_json_has_every_fact_and_no_infinity() -> None:
    found = tn.evaluate.check(pa.table(ROWS), schema=people())
    facts = json.loads(found.to_json(), parse_constant=lambda word: pytest.fail(word))
    named = {part.name for part in dataclasses.fields(found)}
    worst = {"l", "l_entropy", "t", "t_ratio", "alpha", "beta"}
    assert set(facts) == (named | worst) - {"population"}
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
    assert "5 rows in 3 equivalence classes by zip" in text
    assert "k = 1 1 equivalence class of one row only." in text
    assert "20 % of the rows are in a class of one row" in text
    assert "2 equivalence classes (60 % of the rows) have a single value" in text
    assert "so the ratio is infinite" in text


def test_it_says_when_all_is_well() -> None:
    text = screen(zip=["x", "x", "y", "y"], ill=["a", "b", "b", "a"])
    assert "Every equivalence class has at least 2 rows; 2 classes have no more." in text
    assert "class of one" not in text
    assert "every equivalence class has at least 2 different values" in text
    assert "t = 0 (ratio 1)" in text
    assert "up to 1 times rarer" in text


def test_it_says_what_is_missing() -> None:
    assert "l and t were not measured" in screen(zip=[1, 1])
    found = tn.evaluate.check(pa.table({**ROWS, "name": ["?"] * 7}), schema=people())
    assert "WARNING: The file still names persons: `name`." in str(found)
    by_person = tn.evaluate.check(
        pa.table({"age": [1, 1], "who": ["a", "b"]}), quasi_identifiers=["age"], unit="who"
    )
    assert "class has at least 2 whos" in str(by_person)


def test_many_values_are_not_said_to_give_nothing_away() -> None:
    """Groups that grew to reach l can tell what they were before (the minimality attack)."""
    table = pa.table({"age": [30, 30, 40, 40], "ill": ["flu", "cold", "flu", "cold"]})
    found = tn.evaluate.check(table, quasi_identifiers=["age"], confidential=["ill"])
    text = " ".join(str(found).split())
    assert "none gives its value away" not in text
    assert "made larger to reach that may still reveal" in text


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
    assert "This holds for this table," in there
    assert " ".join(there.split("\n\n")[-1].split()) == (
        "Counted by PostgreSQL; this process read 1,497 counts, and 400 rows to compare columns, "
        "and all of `more`."
    )
    facts = json.loads(dataclasses.replace(found, reading=reading).to_json())["reading"]
    assert facts == {"by": "PostgreSQL", "counts": 1497, "rows": 400, "columns": ["more"]}
    assert "reading" not in dataclasses.replace(found, reading=None).to_dict()


# k, l and t of a table: roles, units, missing values, and wrong readings that are caught.

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


def test_notes_say_what_was_not_measured(tmp_path: Path) -> None:
    rows = {"name": ["x", "y"], "AGE": [1, 1], "pay": ["10-20", "20-30"], "extra": [1, 2]}
    found = check(pa.table(rows), schema=people())
    text = " ".join(found.notes)
    assert "still names persons: `name`" in found.warnings[0]
    assert "not in the table: `town`, `ill`" in text
    assert "Not declared, so not measured: `extra`" in text
    assert "`pay` is declared as a number, and some of its values are not" in text
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
    found = check(table, schema=declared)
    assert found.notes == (
        "Nothing protects `no`, `kind`: no role is declared, or the role is `other`.",
    )
    (warning,) = found.warnings
    assert "`no` has a different value in every row" in warning
    calm = check(table.set_column(0, "no", pa.array([1, 1, 3])), schema=declared)
    assert calm.warnings == ()
    chosen = check(table, schema=declared, quasi_identifiers=["no"], confidential=["kind"])
    assert not any("Nothing protects" in text for text in chosen.notes)
    assert check(table.select(["age"]), schema=declared).notes == ()


def test_one_duplicate_hides_nobody() -> None:
    declared = schema({"no": {"type": "number", "bounds": [0, 99], "role": "other"}, "age": AGE})
    table = pa.table({"no": [0, 0, *range(2, 40)], "age": [30] * 40})
    (warning,) = check(table, schema=declared).warnings
    assert "nearly every row" in warning
    assert "97.5 %" in warning


def test_a_file_that_names_persons_is_said_first() -> None:
    table = pa.table({"name": ["a", "b"], "age": [30, 30], "ill": ["flu", "cold"]})
    found = check(table, schema=schema({"name": NAME, "age": AGE, "ill": ILL}))
    assert (found.k, found.identifiers) == (2, ("name",))
    assert "names persons: `name`" in found.warnings[0]
    assert str(found).startswith("WARNING: The file still names persons: `name`.")
    assert found.to_dict()["identifiers"] == ["name"]
    assert not found.meets(k=2)
    assert found.unmet(k=2) == ("The file names persons: `name`.",)
    clean = check(table.drop_columns(["name"]), schema=schema({"age": AGE, "ill": ILL}))
    assert (clean.identifiers, clean.warnings, clean.meets(k=2)) == ((), (), True)


def test_without_a_schema_what_looks_like_a_name_is_said() -> None:
    table = pa.table({"patient_id": [7, 7], "age": [30, 30], "ill": ["flu", "cold"]})
    found = check(table, quasi_identifiers=["age"], confidential=["ill"])
    assert found.apparent_identifiers == ("patient_id",)
    assert "`patient_id` seems to name" in found.warnings[0]
    assert not found.meets(k=1)  # it may be something else, but nobody declared that
    asked = check(table, quasi_identifiers=["patient_id"], confidential=["ill"])
    assert asked.apparent_identifiers == ()
    person = check(table, quasi_identifiers=["age"], unit="patient_id")
    assert person.identifiers == ("patient_id",)
    assert not person.meets(k=1)


def undeclared(**columns: object) -> tn.Schema:
    """A table of records by age, with more columns if they are given."""
    age = {"type": "number", "bounds": [0, 120], "role": "quasi-identifier"}
    head = {"name": "t", "unit": "record", "neighbours": "replace"}
    return tn.Schema.from_dict({"table": head, "columns": {"age": age, **columns}})


def test_an_undeclared_column_that_looks_like_names_meets_nothing() -> None:
    """The mutant looks at declared columns only; the way out is to declare what it is."""
    names = {"full_name": [f"Ann {i}" for i in range(5)], "code": [f"x{i}" for i in range(5)]}
    table = pa.table({"age": [30] * 5, **names})
    found = check(table, schema=undeclared())
    assert found.apparent_identifiers == ("full_name",)  # five codes may be anything
    assert found.unmet(k=5)[0].startswith("`full_name` seems to name")
    assert "`full_name` seems to name" in found.warnings[0]
    assert check(table.drop_columns("full_name"), schema=undeclared()).meets(k=5)
    told = undeclared(full_name={"type": "category", "categories": names["full_name"]})
    declared = check(table, schema=told)
    assert (declared.apparent_identifiers, declared.meets(k=5)) == ((), True)
    many = pa.table({"age": [30] * 100, "code": [f"x{i}" for i in range(100)]})
    assert check(many, schema=undeclared()).apparent_identifiers == ("code",)


@pytest.mark.parametrize("most", [1, 2])
def test_rows_are_no_persons(most: int) -> None:
    """The mutant takes `rows_per_unit`, which is how many rows of a person questions count, for how
    many there are: five rows of one patient are five patients."""
    age = {"type": "number", "bounds": [0, 120], "role": "quasi-identifier"}
    head = {"name": "t", "unit": "who", "neighbours": "replace", "rows_per_unit": most}
    stated = {"table": head, "columns": {"who": {"type": "identifier"}, "age": age}}
    schema, table = tn.Schema.from_dict(stated), pa.table({"age": [30] * 6})
    found = check(table, schema=schema)
    assert (found.k, found.k_from) == (6 // most, "rows")
    assert len(found.notes) == 1
    assert "no column `who`" in found.notes[0]
    assert "among at least" not in str(found)
    assert "persons were not counted" in " ".join(str(found).split())
    assert found.unmet(k=1)[0].startswith("Persons cannot be counted: no column `who`")
    by_rows = check(table, schema=schema, unit="record")
    assert (by_rows.k, by_rows.k_from, by_rows.meets(k=6)) == (6, "units", True)


def test_columns_that_follow_from_others_are_said() -> None:
    """A total of quasi-identifiers tells them, and a town is told by its postcode."""
    n = 60
    parts = [[i * i % 17 for i in range(n)], [i * 7 % 13 for i in range(n)]]
    whole = [a + b for a, b in zip(*parts, strict=True)]
    table = pa.table({"a": parts[0], "b": parts[1], "whole": whole})
    found = check(table, quasi_identifiers=["a", "b"], confidential=["whole"])
    assert any("`whole` follows from `a`, `b` (R² = 1)" in text for text in found.warnings)
    assert "`whole` follows" in str(found).partition("k = ")[0]
    towns = pa.table(
        {
            "postcode": [f"p{i % 12}" for i in range(n)],
            "town": [f"t{i % 12 // 4}" for i in range(n)],
            "ill": [f"i{i * i % 5}" for i in range(n)],
        }
    )
    (warning,) = check(towns, quasi_identifiers=["town"], confidential=["ill"]).warnings
    assert "`town` follows from `postcode` (100 % fewer errors" in warning
    assert check(towns.drop_columns(["postcode"]), quasi_identifiers=["town"]).warnings == ()


def test_columns_that_cannot_be_compared_are_no_obstacle() -> None:
    table = pa.table({"age": [1, 1], "far": [float("inf"), 1.0], "list": [[1], [2]]})
    found = check(table, quasi_identifiers=["age"])
    assert (found.k, found.apparent_identifiers) == (2, ())


@pytest.mark.parametrize("names", [["17", "017", "17.0"], ["Ann", "ann", "ANN "], ["a", "b", "c"]])
def test_spellings_of_one_person_are_remarked(tmp_path: Path, names: list[str]) -> None:
    path = tmp_path / "a.csv"
    path.write_text("age,who\n" + "".join(f"1,{name}\n" for name in names))
    found = check(path, quasi_identifiers=["age"], unit="who")
    assert found.k == 3
    assert any("two spellings of one person" in note for note in found.notes) == (names[0] != "a")
