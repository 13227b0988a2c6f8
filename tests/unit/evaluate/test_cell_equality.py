"""When two cells are the same, and what recoded ones stand for."""

from __future__ import annotations

from datetime import date, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import tenue as tn
from tenue.errors import InvalidTable
from tenue.evaluate.column_types import typed
from tenue.evaluate.one_table.cell_equality import (
    MERGED,
    RENAMED,
    RESPELLED,
    meant,
    noted,
    shown,
    word_codes,
)
from tenue.evaluate.one_table.interval_values import Domain, anything, interval, one_of
from tenue.schema import Schema
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
    assert values.coded().count == 3
    assert len({float(text) for text in (str(BIG), str(BIG + 1), "0.5")}) == 2  # by a double


def test_a_blank_is_not_the_value_declared_for_it() -> None:
    declared = schema({"x": {**AGE, "missing": 7}})
    for rows in ([7, None, 7, None], [7.0, None, 7.0, None], ["7", None, "7", None]):
        found = tn.evaluate.check(pa.table({"x": rows}), declared)
        assert (found.k, found.groups) == (2, 2)
        assert "a missing value and the value declared for it" in found.notes[0]
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


def declared(**column: Any) -> Schema:
    columns = {
        "age": {"type": "number", "bounds": [0, 99], "role": "quasi-identifier"},
        "x": {"role": "confidential", **column},
    }
    table = {"name": "t", "unit": "record", "neighbours": "replace"}
    return Schema.from_dict({"table": table, "columns": columns})


BOOLEAN = declared(type="boolean")
SPELLING_NUMBER = declared(type="number", bounds=[0, 200])
DATE = declared(type="date", bounds=["2000-01-01", "2030-01-01"])
CODES = declared(type="category", categories=["7", "07", "flu"])

SAME = {
    "case and spaces": (["flu", "Flu", " flu", "FLU "], None),
    "composed letters": (["gr\u00fcn", "gru\u0308n"], None),
    "booleans": (["true", "TRUE", "1", "yes", " t", "Y"], BOOLEAN),
    "numbers beside a word": (["100", "1e2", "100.0", "+100", "0100.", "x"], SPELLING_NUMBER),
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
    assert found.respelled
    assert found.codes.count == 2
    codes = found.codes.codes.tolist()
    assert codes[1] == codes[3] == -1
    assert (codes[0], codes[2]) == (codes[5], codes[4])
    assert {codes[0], codes[2]} == {0, 1}
    nothing = meant(typed("x", pa.chunked_array([pa.array([None, None], pa.string())])))
    assert (nothing.codes.count, nothing.respelled) == (0, False)


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


@pytest.mark.parametrize("note", [RESPELLED, RENAMED, MERGED])
def test_a_note_names_its_columns(note: str) -> None:
    assert noted(note, []) == []
    (text,) = noted(note, ["age", "zip"])
    assert "`age`, `zip`" in text


def test_words_beside_large_numbers_do_not_make_them_one() -> None:
    """The mutant compares what doubles make of them, and finds one value where there are two."""
    words = [str(BIG + 1), str(BIG), "9007199254740993.0", "many", "1e3", "1000", "-0", "0"]
    assert float(words[0]) == float(words[1])
    codes = word_codes(pa.array(words), None).tolist()
    assert codes[0] == codes[2] != codes[1]
    assert codes[4] == codes[5]
    assert codes[6] == codes[7]


# What is written is read again: a share of the domain for every text, and a refusal for others.

TREE = {"any": {"water": ["sail", "surf"], "snow": ["ski", "sled"]}}
ODD = ["a, b", "{c}", 'say "d"', " e", "f … g", "h"]


def domain(**declared: Any) -> Domain:
    table = {"name": "t", "unit": "record", "neighbours": "replace"}
    schema = Schema.from_dict({"table": table, "columns": {"x": declared}})
    return Domain(schema.columns["x"])


NUMBER = domain(type="number", bounds=[-10, 30], grid=0.5)


def test_ends_are_exact() -> None:
    assert interval(Fraction(-1, 2), Fraction(3)) == "[-0.5, 3]"
    assert interval(date(2020, 1, 2), date(2020, 3, 4)) == "[2020-01-02, 2020-03-04]"
    assert interval(datetime(2020, 1, 2, 3), datetime(2020, 1, 2, 4)).startswith("[2020-01-02T03")


@pytest.mark.parametrize(
    ("text", "share"),
    [("[-10, 30]", 1), ("[0, 10]", Fraction(1, 4)), ("[-0.5, -0.5]", 0), ("7", 0), ("*", 1)],
)
def test_an_interval_is_its_width_over_the_bounds(text: str, share: Fraction) -> None:
    assert NUMBER.penalty(text) == share


def test_dates_and_datetimes() -> None:
    days = domain(type="date", bounds=["2020-01-01", "2020-01-11"])
    assert days.penalty("[2020-01-01, 2020-01-06]") == Fraction(1, 2)
    hours = domain(type="datetime", bounds=["2020-01-01T00:00:00", "2020-01-01T10:00:00"], grid=60)
    assert hours.penalty("[2020-01-01T01:00:00, 2020-01-01T02:00:00]") == Fraction(1, 10)


def test_a_concept_is_the_share_of_categories_that_it_covers() -> None:
    sport = domain(type="category", taxonomy=TREE)
    assert [sport.penalty(name) for name in ("ski", "snow", "any")] == [0, Fraction(1, 2), 1]


def test_a_set_is_the_share_of_its_members_whatever_their_names() -> None:
    odd = domain(type="category", categories=ODD)
    for first in range(6):
        for last in range(first + 1, 6):
            part = ODD[first : last + 1]
            assert odd.penalty(one_of(part)) == Fraction(len(part), 6)
    assert all(odd.penalty(one_of([name])) == 0 for name in ODD)


def test_a_long_set_is_written_by_its_ends() -> None:
    many = [f"town {i}, …" for i in range(20)]
    text = one_of(many[3:17])
    assert "town 9" not in text
    assert domain(type="category", categories=many).penalty(text) == Fraction(14, 20)


def test_a_category_that_is_a_star_is_not_anything() -> None:
    stars = domain(type="category", categories=["*", "a", "b"])
    assert anything(["*", "a", "b"]) == "**"
    assert [stars.penalty(text) for text in ("*", "**")] == [0, 1]


def test_booleans() -> None:
    yes = domain(type="boolean")
    assert [yes.penalty(text) for text in ("true", "false", "*")] == [0, 0, 1]


@pytest.mark.parametrize("text", ["[0, 10", "[0, 99]", "ten", "{1, 2}", "[0.3, 1]", ""])
def test_what_is_neither_is_refused(text: str) -> None:
    with pytest.raises(InvalidTable, match="neither a number as declared nor a generalised one"):
        NUMBER.penalty(text)
    with pytest.raises(InvalidTable):
        domain(type="category", taxonomy=TREE).penalty(text)
    with pytest.raises(InvalidTable):
        domain(type="category", categories=["a", "b"]).penalty(text)
