from __future__ import annotations

import pytest

from tenue.papers.cell import (
    Verdict,
    amended,
    beside,
    claimed,
    drawn,
    half_digit,
    met,
    missing,
    overall,
    refuted,
    unmet,
)


@pytest.mark.parametrize(
    ("printed", "half"), [("1.92", 0.005), ("200.00", 0.005), ("11", 0.5), ("3.07E+09", 5e6)]
)
def test_half_a_digit_is_that_of_the_print(printed: str, half: float) -> None:
    assert half_digit(printed) == pytest.approx(half)


@pytest.mark.parametrize(
    ("ours", "right", "verdict"),
    [
        (1.9181035312355, "1.9181035312355", Verdict.EQUAL),
        (1.91810353122, "1.9181035312355", Verdict.EQUAL),
        (1.9182, "1.9181035312355", Verdict.DIFFERENT),  # rounds to the print, but is wrong
        (1.926, None, Verdict.DIFFERENT),
        (float("nan"), None, Verdict.DIFFERENT),
    ],
)
def test_the_print_is_met_only_by_the_right_value(
    ours: float, right: str | None, verdict: Verdict
) -> None:
    assert met("a", "b", "1.92", ours, right=right).verdict is verdict


@pytest.mark.parametrize(
    ("ours", "verdict"),
    [(5.9865258847122, Verdict.CORRECTED), (5.98, Verdict.DIFFERENT), (5.99, Verdict.DIFFERENT)],
)
def test_a_correction_needs_the_right_value(ours: float, verdict: Verdict) -> None:
    made = amended("a", "b", "5.98", ours, right="5.9865258847122", because="cut off")
    assert made.verdict is verdict
    assert made.remark == "cut off"


def test_a_correction_that_rounds_to_the_print_is_none() -> None:
    assert amended("a", "b", "1.92", 1.9181, right=1.9181, because="").verdict is Verdict.DIFFERENT


def test_claims_are_as_good_as_their_check() -> None:
    assert claimed("a", "b", "so", 1, holds=True).verdict is Verdict.EQUAL
    assert claimed("a", "b", "so", 1, holds=False).verdict is Verdict.DIFFERENT
    assert refuted("a", "b", "so", 1, fails=True, because="no").verdict is Verdict.CORRECTED
    assert refuted("a", "b", "so", 1, fails=False, because="no").verdict is Verdict.DIFFERENT
    for right, good in (("1", True), ("1.001", False)):
        one = claimed("a", "b", "so", 1.0, holds=True, right=right)
        other = refuted("a", "b", "so", 1.0, fails=True, because="no", right=right)
        assert (one.verdict is Verdict.EQUAL, other.verdict is Verdict.CORRECTED) == (good, good)


def test_what_is_not_printed_must_still_be_right() -> None:
    assert beside("a", "b", 8.0, right="8").verdict is Verdict.BESIDE
    assert beside("a", "b", 8.01, right="8").verdict is Verdict.DIFFERENT
    assert unmet("a", "b", "1.0", 2.0, because="no", right=2).verdict is Verdict.IRREPRODUCIBLE
    assert unmet("a", "b", "1.0", 2.0, because="no", right=3).verdict is Verdict.DIFFERENT


@pytest.mark.parametrize(
    ("possible", "same", "verdict"),
    [
        (True, True, Verdict.EQUAL),
        (True, False, Verdict.IRREPRODUCIBLE),
        (False, True, Verdict.DIFFERENT),  # as printed, but not as it should be
        (False, False, Verdict.DIFFERENT),
    ],
)
def test_a_drawn_number_is_first_of_all_right(possible: bool, same: bool, verdict: Verdict) -> None:
    given = {"right": 0.6, "possible": possible, "same": same, "because": "other runs"}
    made = drawn("a", "b", "0.50", 0.5, **given)  # type: ignore[arg-type]
    assert made.verdict is verdict
    assert drawn("a", "b", "0.50", float("inf"), **given).verdict is Verdict.DIFFERENT  # type: ignore[arg-type]
    remarks = {Verdict.DIFFERENT: "Expected 0.6.", Verdict.IRREPRODUCIBLE: "other runs"}
    assert made.remark == remarks.get(verdict, "")


def test_the_gravest_verdict_counts_and_what_is_not_printed_does_not() -> None:
    assert overall([Verdict.BESIDE]) is Verdict.BESIDE
    assert overall([Verdict.EQUAL, Verdict.BESIDE]) is Verdict.EQUAL
    assert overall([Verdict.IRREPRODUCIBLE, Verdict.EQUAL]) is Verdict.IRREPRODUCIBLE
    assert overall([Verdict.DIFFERENT, Verdict.MISSING]) is Verdict.DIFFERENT


def test_missing_data_is_named() -> None:
    assert missing(("census.csv",)).remark == "Needs census.csv."
    assert met("a", "b", "1.0", 1.04).to_dict()["difference"] == pytest.approx(0.04)
