"""Scores of ranks: right on ties, and moved by one row as far as stated and no farther."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from fractions import Fraction

import pytest

from tenue.mechanism.choose.rank_score import (
    RankScore,
    above_quantile,
    below_quantile,
    maximum,
    minimum,
    quantile,
)

DOMAIN = range(4)
QUANTILES = [Fraction(1, 2), Fraction(1, 4), Fraction(9, 10), Fraction(1, 3)]


def tables(most: int) -> Iterator[tuple[int, ...]]:
    for n in range(most + 1):
        yield from itertools.combinations_with_replacement(DOMAIN, n)


def score(kind: RankScore, table: tuple[int, ...], v: int) -> int:
    spared = DOMAIN[0] if kind.spared == "low" else DOMAIN[-1]
    if v == spared and kind.spares(len(table)):
        return 0
    return kind.of(len(table), sum(x < v for x in table), sum(x <= v for x in table))


def moves(kind: RankScore, neighbours: str) -> int:
    """The largest change of any score between neighbouring tables, by exhaustion."""
    largest = 0
    for table in tables(4):
        if neighbours == "replace":
            others = {
                (*table[:i], x, *table[i + 1 :]) for i in range(len(table)) for x in DOMAIN
            } | {(*table[:i], *table[i + 1 :]) for i in range(len(table))}
        else:
            others = {(*table, x) for x in DOMAIN}
        for other in others:
            for v in DOMAIN:
                largest = max(largest, abs(score(kind, table, v) - score(kind, other, v)))
    return largest


@pytest.mark.parametrize("p", QUANTILES)
@pytest.mark.parametrize("neighbours", ["add-or-remove", "replace"])
def test_one_row_moves_a_quantiles_score_by_its_sensitivity(p: Fraction, neighbours: str) -> None:
    kind = quantile(p, neighbours)
    assert moves(kind, neighbours) == kind.sensitivity


def test_the_sensitivity_of_adding_would_be_too_small_for_replacing() -> None:
    kind = quantile(Fraction(1, 2), "add-or-remove")
    assert moves(kind, "replace") > kind.sensitivity


@pytest.mark.parametrize("make", [minimum, maximum])
@pytest.mark.parametrize("neighbours", ["add-or-remove", "replace"])
def test_one_row_moves_the_ends_by_one(make: object, neighbours: str) -> None:
    for epsilon in (Fraction(1), Fraction(5), Fraction(20)):
        kind = make(epsilon, 4)  # type: ignore[operator]
        assert moves(kind, neighbours) <= kind.sensitivity == 1


def test_a_rank_that_depends_on_the_rows_would_move_more() -> None:
    """Mutant: aiming at a rank read from the table (half of its rows, as a whole number)."""

    def wrong(table: tuple[int, ...], v: int) -> int:
        rank = 3 * (len(table) // 2)
        return max(sum(x < v for x in table) - rank, rank - sum(x <= v for x in table), 0)

    largest = max(
        abs(wrong(table, v) - wrong((*table, x), v))
        for table in tables(4)
        for x in DOMAIN
        for v in DOMAIN
    )
    assert largest > 1


def test_a_constant_column_is_right_where_its_value_is() -> None:
    table = (2,) * 1000
    scores = [score(quantile(Fraction(1, 2), "replace"), table, v) for v in DOMAIN]
    assert scores == [1000, 1000, 0, 1000]
    # the obvious score, −|#{x ≤ v} − n/2|, cannot tell the values apart
    assert len({abs(2 * sum(x <= v for x in table) - 1000) for v in DOMAIN}) == 1


def test_maximum_mirrors_minimum() -> None:
    low, high = minimum(Fraction(1), 4), maximum(Fraction(1), 4)
    for table in tables(4):
        mirrored = tuple(sorted(3 - x for x in table))
        assert [score(low, table, v) for v in DOMAIN] == [
            score(high, mirrored, 3 - v) for v in DOMAIN
        ]


@pytest.mark.parametrize("p", QUANTILES)
@pytest.mark.parametrize("end", [below_quantile, above_quantile])
@pytest.mark.parametrize("neighbours", ["add-or-remove", "replace"])
def test_one_row_moves_the_ends_of_an_interval_no_farther(
    p: Fraction, end: Callable[..., RankScore], neighbours: str
) -> None:
    for epsilon in (Fraction(2), Fraction(50)):  # an aim beyond all rows, and one among them
        kind = end(p, neighbours, epsilon, 4, Fraction(1, 20))
        assert moves(kind, neighbours) <= kind.sensitivity


@pytest.mark.parametrize("make", [minimum, maximum])
@pytest.mark.parametrize("neighbours", ["add-or-remove", "replace"])
def test_one_row_moves_spared_extremes_by_one(
    make: Callable[..., RankScore], neighbours: str
) -> None:
    for epsilon in (Fraction(1), Fraction(5), Fraction(20)):
        kind = make(epsilon, 4, Fraction(1, 20))
        assert moves(kind, neighbours) <= kind.sensitivity == 1
