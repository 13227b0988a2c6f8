"""Values that mean the same are one, however they are written; others stay apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import tenue as tn
from tenue.evaluate.group.meaning import meant, word_codes
from tenue.evaluate.value import typed
from tenue.schema import Schema


def declared(**column: Any) -> Schema:
    columns = {
        "age": {"type": "number", "bounds": [0, 99], "role": "quasi-identifier"},
        "x": {"role": "confidential", **column},
    }
    table = {"name": "t", "unit": "record", "neighbours": "replace"}
    return Schema.from_dict({"table": table, "columns": columns})


BOOLEAN = declared(type="boolean")
NUMBER = declared(type="number", bounds=[0, 200])
DATE = declared(type="date", bounds=["2000-01-01", "2030-01-01"])
CODES = declared(type="category", categories=["7", "07", "flu"])

SAME = {
    "case and spaces": (["flu", "Flu", " flu", "FLU "], None),
    "composed letters": (["gr\u00fcn", "gru\u0308n"], None),
    "booleans": (["true", "TRUE", "1", "yes", " t", "Y"], BOOLEAN),
    "numbers beside a word": (["100", "1e2", "100.0", "+100", "0100.", "x"], NUMBER),
    "numbers nobody declared": (["-0", "0.0", "0", "x"], None),
    "days beside a word": (["2020-01-01", "2020-01-01T00:00:00", "x"], DATE),
    "a blank word": (["flu", " "], None),
}


@pytest.mark.parametrize("case", SAME)
def test_one_meaning_is_one_value(tmp_path: Path, case: str) -> None:
    """Read byte by byte, each of these groups would look diverse."""
    words, schema = SAME[case]
    others = 2 if "x" in words else 1
    path = tmp_path / "a.csv"
    path.write_text("age,x\n" + "".join(f"1,{word}\n" for word in words), encoding="utf-8")
    names = {} if schema else {"quasi_identifiers": ["age"], "confidential": ["x"]}
    found = tn.evaluate.check(path, schema, **names)
    assert found.l == others
    assert found.confidential[0].t == 0
    assert (found.homogeneous_groups == 1) == (others == 1)
    assert any("written in more than one way" in note for note in found.notes)


def test_what_differs_stays_apart() -> None:
    assert word_codes(pa.array(["7", "07", "Flu"]), CODES.columns["x"]).tolist() == [0, 1, 2]
    assert word_codes(pa.array(["yes", "no", "ja"]), BOOLEAN.columns["x"]).tolist() == [0, 1, 2]
    table = pa.table({"age": [1, 1, 1], "x": ["flu", "cold", None]})
    found = tn.evaluate.check(table, quasi_identifiers=["age"], confidential=["x"])
    assert (found.l, found.notes) == (2, ())


@pytest.mark.parametrize("words", [["flu", "flu"], ["flu", None], ["flu", "Flu"]])
def test_a_dictionary_may_say_a_word_twice(words: list[str | None]) -> None:
    array = pa.DictionaryArray.from_arrays(pa.array([0, 1, None]), pa.array(words))
    table = pa.table({"age": [1, 1, 1], "x": array})
    found = tn.evaluate.check(table, quasi_identifiers=["age"], confidential=["x"])
    assert found.l == 1


def test_groups_by_a_dictionary_that_says_a_word_twice() -> None:
    array = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0, 1]), pa.array(["x", "x"]))
    table = pa.table({"age": array, "x": list("abab")})
    assert tn.evaluate.check(table, quasi_identifiers=["age"], confidential=["x"]).k == 4


def test_the_distance_goes_by_meaning_too() -> None:
    table = pa.table({"age": [1, 1, 2, 2], "x": ["flu", "cold", "Flu", "COLD"]})
    found = tn.evaluate.check(table, quasi_identifiers=["age"], confidential=["x"])
    assert found.confidential[0].exact_t == 0
    assert found.confidential[0].exact_t_ratio == 1


def test_codes_have_no_gaps_and_blanks_are_missing() -> None:
    column = pa.chunked_array([["b", None, "A", " ", "a", "B "]])
    found = meant(typed("x", column), written=True)
    assert found.merged
    assert found.codes.count == 2
    codes = found.codes.codes.tolist()
    assert codes[1] == codes[3] == -1
    assert (codes[0], codes[2]) == (codes[5], codes[4])
    assert {codes[0], codes[2]} == {0, 1}
    nothing = meant(typed("x", pa.chunked_array([pa.array([None, None], pa.string())])))
    assert (nothing.codes.count, nothing.merged) == (0, False)


def test_a_release_counts_values_as_check_does() -> None:
    """Groups grown for l = 2 by spellings alone would be refused by the check on its way out."""
    kinds = ["flu", "Flu", "cold"]
    schema = declared(type="category", categories=kinds)
    table = pa.table(
        {"age": [1, 1, 1, 50, 50, 50], "x": ["flu", "Flu", "Flu", "cold", "flu", "flu"]}
    )
    release = tn.publish(table, schema=schema, method="microaggregate", k=3, l=2)
    assert release.risk.check is not None
    assert (release.risk.check.k, release.risk.check.l) == (6, 2)
