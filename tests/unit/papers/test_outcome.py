from __future__ import annotations

from tenue.papers.catalogue import CHAPTERS
from tenue.papers.cell import Verdict, beside, met
from tenue.papers.data import Data
from tenue.papers.exhibit import Shown, table
from tenue.papers.outcome import Outcome, apart, one_exhibit, tally, written

CELLS = (met("a", "b", "1.9", 1.92), met("a", "c", "1.9", 2.4), beside("a", "d", 1.0))


def outcome() -> Outcome:
    exhibit = table("x", "A table", "Table X", lambda _: list(CELLS), note="Read it so.")
    return Outcome((exhibit.shown(Data()), Shown(table("y", "t", "s", list), CELLS[:1], None)))


def test_verdicts_by_name_and_what_is_broken() -> None:
    found = outcome()
    assert found.verdicts == {"x": Verdict.DIFFERENT, "y": Verdict.EQUAL}
    assert found.broken == ("x",)
    assert found["y"].cells == CELLS[:1]
    assert list(found.chapters()) == []  # neither is of a paper


def test_cells_are_counted_by_verdict() -> None:
    assert tally(CELLS) == "1 equal, 1 not printed, 1 different"


def test_an_exhibit_for_a_terminal() -> None:
    text = one_exhibit(outcome()["x"])
    assert text.startswith("Table X: A table  [different]")
    assert text.endswith("Read it so.")


def test_our_numbers_have_two_digits_more() -> None:
    assert written(met("a", "b", "200.00", 200.0)) == "200.0000"
    assert written(met("a", "b", "3.07E+09", 3.0655e9)) == "3.066E+09"
    assert written(met("a", "b", "11", 11.0)) == "11"
    assert written(met("a", "b", "11", 11.25)) == "11.25"
    assert written(beside("a", "b", 1249080.4)) == "1,249,080"
    assert written(beside("a", "b", 0.0123456789)) == "0.0123457"
    assert apart(met("a", "b", "2.0", 1.5)) == "−0.5"
    assert apart(beside("a", "b", 1.0)) == ""


def test_the_screen_of_a_run_is_narrow_and_explains_its_signs() -> None:
    lines = str(outcome()).splitlines()
    assert lines[0].split() == ["x", "≠", "A", "table"]
    assert "= equal: 1   ≠ different: 1" in lines
    longest = Outcome(
        tuple(Shown(one, CELLS[:1], None) for chapter in CHAPTERS for one in chapter.exhibits)
    )
    assert max(map(len, str(longest).splitlines())) < 80


def test_what_is_missing_says_where_it_would_be_found() -> None:
    exhibit = table("x", "A table", "Table X", list, needs=("census.csv",))
    found = Outcome((exhibit.shown(Data(folder="")),))
    for text in (str(found), one_exhibit(found["x"])):
        assert "--data" in text
        assert "--stand-in" in text
    assert "Needs census.csv." in one_exhibit(found["x"])
    assert "made-up stand-in" in str(Outcome(found.shown, made_up=True))
