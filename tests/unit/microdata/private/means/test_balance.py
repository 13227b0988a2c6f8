"""How many groups there are follows from public numbers, and is best for them."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tenue.microdata.private.means import balance
from tenue.microdata.private.means.balance import best_groups, share_error


def test_groups_are_chosen_without_rows() -> None:
    assert best_groups(2, 30_162, Fraction(1)) == 38
    for columns in range(1, 17):
        assert 1 <= best_groups(columns, 10, Fraction(1, 100)) <= 10


@pytest.mark.parametrize("columns", [1, 2, 3, 4])
def test_the_number_of_groups_balances_its_two_errors(columns: int) -> None:
    loss_, length = balance._SHAPE[columns]
    rows, best = 10**5, best_groups(columns, 10**5, Fraction(1))

    def error(n: float) -> float:
        links = length * n ** ((columns - 1) / columns)
        return loss_ * n ** (-2 / columns) + 2 * columns * (links * n / rows) ** 2

    assert error(best) <= min(error(best * 0.9), error(best * 1.1))


def test_more_noise_and_fewer_groups_are_expected_to_err_more() -> None:
    assert share_error(2, 100, 0.01) < share_error(2, 100, 0.1) < share_error(2, 100, 1.0)
    assert share_error(2, 400, 0.01) < share_error(2, 25, 0.01)
    assert share_error(1, 10**6, 0.0) < 1e-3
