"""What looks different is different: k is never overstated by reading values as what they mean."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import tenue as tn
from tenue.errors import InvalidTable
from tenue.evaluate.group.appearance import shown
from tenue.evaluate.value import typed
from unit.evaluate.stated import AGE, schema

BIG = 2**53
SPELLINGS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "decimals": (AGE, ["30", "30.0"]),
    "leading zeros": (AGE, ["30", "030"]),
    "a sign": (AGE, ["30", "+30"]),
    "spaces": (AGE, ["30", " 30"]),
    "minus zero": (AGE, ["0", "-0"]),
    "no zero before the point": (AGE, ["0.5", ".50"]),
    "a time": ({"type": "date", "bounds": [date(2000, 1, 1), date(2030, 1, 1)]}, []),
}
SPELLINGS["a time"] = (
    {**SPELLINGS["a time"][0], "role": "quasi-identifier"},
    ["2001-02-03", "2001-02-03 00:00:00"],
)


@pytest.mark.parametrize("case", SPELLINGS)
def test_spellings_of_one_value_are_two_and_a_note_says_so(case: str, tmp_path: Path) -> None:
    column, spelled = SPELLINGS[case]
    path = tmp_path / "t.csv"
    path.write_text("x\n" + "".join(f"{text}\n" for text in spelled * 3))
    found = tn.evaluate.check(path, schema({"x": column}))
    assert (found.k, found.groups) == (3, 2)
    assert "`x` are written in more than one way" in found.notes[0]
    # the mutant reads them as what the schema declares
    values = typed("x", pa.chunked_array([spelled]), schema({"x": column}).column("x"))
    assert values.coded().count == 1
    alike = tmp_path / "alike.csv"
    alike.write_text("x\n" + f"{spelled[0]}\n" * 6)
    assert tn.evaluate.check(alike, schema({"x": column})).notes == ()


def test_whole_numbers_beyond_a_double_are_told_apart_beside_a_fraction(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    wide = {**AGE, "bounds": [0, 2**60], "grid": 0.5}
    path.write_text(f"x\n{BIG}\n{BIG + 1}\n0.5\n0.5\n")
    found = tn.evaluate.check(path, schema({"x": wide}))
    assert (found.k, found.groups, found.notes) == (1, 3, ())
    values = typed("x", pa.chunked_array([[str(BIG), str(BIG + 1), "0.5"]]), written=True)
    assert values.coded().count == 2  # what a double makes of them


def test_a_blank_is_not_the_value_declared_for_it() -> None:
    declared = schema({"x": {**AGE, "missing": 7}})
    for rows in ([7, None, 7, None], [7.0, None, 7.0, None], ["7", None, "7", None]):
        found = tn.evaluate.check(pa.table({"x": rows}), declared)
        assert (found.k, found.groups) == (2, 2)
        assert "a blank and what is declared for it" in found.notes[0]
    assert tn.evaluate.check(pa.table({"x": [8, None]}), declared).notes == ()


def test_zeros_and_blanks_of_doubles_look_different() -> None:
    for kind in (pa.float64(), pa.float32()):
        zeros = shown("x", pa.chunked_array([pa.array([0.0, -0.0, 1.0, 0.0], kind)]))
        assert zeros.codes.count == 3
        assert zeros.respelled
        blanks = shown("x", pa.chunked_array([pa.array([None, np.nan, 1.0, np.nan], kind)]))
        assert len(set(blanks.codes.codes.tolist())) == 3
        assert blanks.codes.codes[1] == blanks.codes.codes[3]
        assert blanks.respelled
        plain = shown("x", pa.chunked_array([pa.array([1.0, None, 2.5, 1.0], kind)]))
        assert not plain.respelled
        assert plain.codes.codes[0] == plain.codes.codes[3]


def test_upper_and_lower_case_differ_and_unused_words_do_not_count() -> None:
    assert shown("x", pa.chunked_array([["a", "A"]])).respelled
    encoded = pa.DictionaryArray.from_arrays(pa.array([0, 0, 2]), pa.array(["a", "A", "b"]))
    found = shown("x", pa.chunked_array([encoded]))
    assert (found.codes.count, found.respelled) == (2, False)
    assert not shown("x", pa.chunked_array([["7", "70", "0.7", "x7", "7x"]])).respelled


def test_what_is_no_column_of_values_is_refused() -> None:
    with pytest.raises(InvalidTable):
        shown("x", pa.chunked_array([[[1], [2]]]))
