"""Which way is taken, by public facts alone."""

from __future__ import annotations

from fractions import Fraction

import pytest

from private_laws import domain
from tenue.microdata.private.regime import chosen_way

FINE = {"type": "number", "bounds": [0, 10**6]}
WHOLE = {"type": "number", "bounds": [0, 99]}
FLAT = {"type": "category", "categories": ["a", "b", "c"]}


@pytest.mark.parametrize(
    ("columns", "rows", "by"),
    [
        ([FINE], 1_000, "tree"),
        ([FLAT], 1_000, "columns"),
        ([FINE, FINE], 1_000, "copula"),
        ([FINE, FINE], 5_000, "copula"),
        ([FINE, FINE], 5_001, "two-stage"),
        ([FINE, FINE], 49_999, "two-stage"),
        ([FINE, FINE], 50_000, "tree"),
        ([FINE, WHOLE], 5_000, "copula"),
        ([WHOLE, WHOLE], 5_000, "two-stage"),
        ([WHOLE, WHOLE], 10_000, "two-stage"),
        ([FINE, FINE], 999, "tree"),
        ([FINE] * 3, 999, "columns"),
        ([FINE] * 3, 120, "columns"),
        ([FINE] * 3, 119, "tree"),
        ([FINE, WHOLE, WHOLE, FINE], 159, "tree"),
        ([FINE] * 4, 10_000, "copula"),
        ([FINE] * 4, 10_001, "two-stage"),
        ([FINE, FINE, FLAT], 999, "columns"),
        ([FINE, FINE, FLAT], 1_000, "two-stage"),
        ([FINE, FLAT], 9_999, "columns"),
        ([FINE, FLAT], 10_000, "two-stage"),
        ([FINE] * 5, 249, "columns"),
        ([FINE] * 5, 250, "copula"),
        ([FINE] * 5, 375_000, "copula"),
        ([FINE] * 5, 375_001, "network"),
        ([FINE, *[FLAT] * 4], 2_999, "columns"),
        ([FINE, *[FLAT] * 4], 3_000, "network"),
        ([FINE, WHOLE, *[FLAT] * 3], 999, "columns"),
        ([FINE, WHOLE, *[FLAT] * 3], 1_000, "two-stage"),
        ([FINE, WHOLE, *[FLAT] * 3], 10**6, "two-stage"),
        ([FINE, WHOLE, *[FLAT] * 4], 1_499, "columns"),
        ([FINE, WHOLE, *[FLAT] * 4], 1_500, "two-stage"),
        ([FINE, WHOLE, *[FLAT] * 4], 11_999, "two-stage"),
        ([FINE, WHOLE, *[FLAT] * 4], 12_000, "network"),
    ],
)
def test_the_rule(columns: list[dict[str, object]], rows: int, by: str) -> None:
    made = domain(**{f"c{j}": column for j, column in enumerate(columns)})
    found, reason = chosen_way(made, rows, Fraction(1))
    assert found == by
    assert reason[0].isupper()
    assert reason.endswith(".")
    # twice the rows at half the price are as good
    assert chosen_way(made, 2 * rows, Fraction(1, 2))[0] == by
