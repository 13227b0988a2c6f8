from __future__ import annotations

from exhibits import assert_as_expected, cell
from tenue.papers.swapping import errata as module

EXPECTED = {
    "err.columns": "corrected",
    "err.rematch": "corrected",
}


def test_every_exhibit_has_its_verdict() -> None:
    assert_as_expected(module.EXHIBITS, EXPECTED)


def test_two_columns_single_everybody_out() -> None:
    found = cell("err.columns", "(1, 1), (2, 3), (3, 2), (4, 4)", "linked by who knows the records")
    assert found.ours == 1.0
