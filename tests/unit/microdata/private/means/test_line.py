"""What microaggregation reads of a column."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from tenue.microdata.private.domain import Domain
from tenue.microdata.private.means.line import MeaningLine, NumberLine
from tenue.schema import Schema
from tenue.sensitivity import chain

GIVEN = Schema.from_dict(
    {
        "table": {"name": "t", "unit": "record", "neighbours": "replace"},
        "columns": {
            "a": {"type": "number", "bounds": [0, 10], "missing": ["NA"]},
            "b": {"type": "category", "categories": ["x", "y", "z"], "missing": ["NA"]},
            "c": {"type": "boolean"},
            "d": {"type": "number", "bounds": [0, 2**61]},
        },
    }
)
A, B, C, D = Domain.of(GIVEN).axes
PLACES = np.array([[0, 3, 1, 2**61], [10, 0, 0, 5], [11, 1, 1, 0]])


def test_a_missing_number_is_the_middle_of_its_line() -> None:
    line = NumberLine(A, 0)
    assert line.length == 10
    assert line.values(PLACES).tolist() == [0, 10, 5]


def test_a_missing_category_is_one_more() -> None:
    line = MeaningLine(B, 1)
    assert line.line.distances.shape == (4, 4)
    assert line.values(PLACES).tolist() == [3, 0, 1]


def test_a_truth_value_is_a_category() -> None:
    line = MeaningLine(C, 2)
    assert line.line.distances.shape == (2, 2)
    assert line.positions(line.values(PLACES)).tolist() == [line.length, 0, line.length]


def test_few_groups_make_short_chains_of_categories_unless_they_are_many() -> None:
    assert MeaningLine(B, 1).chain(2) == Fraction(2, 3)
    assert MeaningLine(B, 1).chain(9) == 1
    many = {"type": "category", "categories": [str(i) for i in range(chain.MOST_EXACT + 1)]}
    table = {"name": "t", "unit": "record", "neighbours": "replace"}
    (wide,) = Domain.of(Schema.from_dict({"table": table, "columns": {"e": many}})).axes
    assert MeaningLine(wide, 0).chain(2) == 1


def test_scores_are_sums_of_distances() -> None:
    line = MeaningLine(B, 1)
    far = int(line.line.distances[0, 1])
    assert line.scores(np.array([[2, 1, 0, 0]])).tolist() == [[far, 2 * far, 3 * far, 3 * far]]


def test_long_lines_are_made_shorter() -> None:
    line = NumberLine(D, 3).coarsened(1000)
    assert 500 < line.length <= 1000
    values = line.values(PLACES)
    assert values.max() == line.length
    assert NumberLine(A, 0).coarsened(1000).shift == 0


def test_shares_become_the_nearest_places() -> None:
    found = NumberLine(A, 0).places(np.array([-1, 0, 0.14, 0.16, 1, 7.0]))
    assert found.tolist() == [0, 0, 1, 2, 10, 10]
    assert NumberLine(D, 3).places(np.ones(1)).tolist() == [2**61]
