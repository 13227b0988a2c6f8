"""The cells of an answer: their names, and which are shown in which order."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime
from fractions import Fraction

import pytest

from tenue.engine.request import Bin, Calendar, Group
from tenue.query.cells import Row, arranged, cell_labels, in_64_bits, key_labels
from tenue.query.question import Comparison, Order, Output
from unit.query.stated import BY_AGE, BY_REGION, COUNT, asked, schema


@pytest.mark.parametrize(
    ("part", "first", "expected"),
    [
        ("year", 2020, date(2020, 1, 1)),
        ("quarter", 2020 * 4 + 1, date(2020, 4, 1)),
        ("month", 2020 * 12 + 1, date(2020, 2, 1)),
        ("week", 2610, date(2020, 1, 6)),
        ("day", 18262, date(2020, 1, 1)),
    ],
)
def test_calendar_cells_are_called_by_their_first_day(
    part: str, first: int, expected: date
) -> None:
    assert key_labels(Calendar("born", part, first, 1), schema()) == [expected]  # type: ignore[arg-type]
    assert part != "week" or expected.weekday() == 0


def test_bins_are_called_by_their_start() -> None:
    assert key_labels(BY_AGE.keys[0], schema()) == [10, 20, 30, 40, 50, 60, 70, 80, 90]
    assert key_labels(Bin("income", 25, 0, 3), schema()) == [0, 250, 500]
    assert key_labels(Group("well", 2), schema()) == [False, True]


def test_the_last_key_runs_fastest() -> None:
    both = replace(asked(Output("n", COUNT)), keys=(BY_REGION.keys[0], Group("well", 2)))
    labels = cell_labels(both, schema())
    assert [label[1] for label in labels[:4]] == [False, True, False, True]
    assert labels[0][0] == labels[1][0] != labels[2][0]
    assert cell_labels(asked(Output("n", COUNT)), schema()) == [()]


def test_what_is_not_defined_holds_for_nothing_and_comes_last() -> None:
    rows: list[Row] = [(0, {"n": None}), (1, {"n": Fraction(3)}), (2, {"n": Fraction(7)})]
    question = asked(Output("n", COUNT))
    ordered = replace(question, order=(Order("n", descending=True),))
    assert [cell for cell, _ in arranged(rows, ordered)] == [2, 1, 0]
    assert [cell for cell, _ in arranged(rows, replace(ordered, limit=1))] == [2]
    few = replace(question, having=(Comparison("n", "<=", Fraction(3)),))
    assert [cell for cell, _ in arranged(rows, few)] == [1]


def test_days_and_hours_are_compared_as_numbers() -> None:
    rows: list[Row] = [(0, {"d": date(1970, 1, 3)}), (1, {"d": datetime(1970, 1, 1, 1)})]
    for value, kept in ((Fraction(2), [0]), (Fraction(3600), [1])):
        having = (Comparison("d", "=", value),)
        question = replace(asked(Output("n", COUNT)), having=having)
        assert [cell for cell, _ in arranged(rows, question)] == kept


def test_whole_numbers_beyond_64_bits_become_doubles_with_their_column() -> None:
    table = {"a": [1, 2**63, None], "b": [1, -(2**63), 2**63 - 1], "c": [True, "x", 0.5]}
    assert in_64_bits(table) == {**table, "a": [1.0, 2.0**63, None]}
    assert [type(v) for v in in_64_bits(table)["b"]] == [int] * 3
