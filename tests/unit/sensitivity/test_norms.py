"""Both norms against every pair of neighbouring tables of small domains, and mutants of them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import pytest

from tenue.errors import InvalidArgument
from tenue.sensitivity.norms import Sensitivity, histogram, one, pair, total, units

NEIGHBOURS = ("replace", "add-or-remove")
Unit = tuple[Any, ...]
"""The rows of one unit; None for a row that the filter leaves out."""


def neighbouring(
    people: Sequence[Unit], neighbours: str
) -> Iterator[tuple[list[Unit], list[Unit]]]:
    """Every table of one or two units beside each of its neighbours."""
    for others in [[], *([person] for person in people)]:
        for person in people:
            if neighbours == "add-or-remove":
                yield [*others, person], list(others)
            else:
                for instead in people:
                    yield [*others, person], [*others, instead]


def found(
    people: Sequence[Unit], answer: Callable[[list[Unit]], Sequence[int]], neighbours: str
) -> Sensitivity:
    l1 = l2 = 0
    for table, other in neighbouring(people, neighbours):
        moved = [a - b for a, b in zip(answer(table), answer(other), strict=True)]
        l1 = max(l1, sum(map(abs, moved)))
        l2 = max(l2, sum(change**2 for change in moved))
    return Sensitivity(Fraction(l1), Fraction(l2))


def persons(values: Sequence[Any], most: int) -> list[Unit]:
    return [
        rows
        for size in range(1, most + 1)
        for rows in itertools.combinations_with_replacement(values, size)
    ]


@pytest.mark.parametrize("neighbours", NEIGHBOURS)
@pytest.mark.parametrize("rows", [1, 2, 3])
def test_a_count(neighbours: str, rows: int) -> None:
    def answer(table: list[Unit]) -> list[int]:
        return [sum(row is not None for person in table for row in person)]

    assert found(persons([None, 1], rows), answer, neighbours) == one(rows)


@pytest.mark.parametrize("neighbours", NEIGHBOURS)
@pytest.mark.parametrize("bounds", [(0, 3), (-2, 1), (1, 3), (-3, -1)])
@pytest.mark.parametrize("rows", [1, 2])
def test_a_sum(neighbours: str, bounds: tuple[int, int], rows: int) -> None:
    low, high = bounds
    people = persons([None, *range(low, high + 1)], rows)

    def answer(table: list[Unit]) -> list[int]:
        return [sum(row or 0 for person in table for row in person)]

    stated = total(low=low, high=high, neighbours=neighbours, rows_per_unit=rows)
    assert found(people, answer, neighbours) == stated


def test_a_sum_over_a_public_number_of_rows() -> None:
    people = persons(range(5, 8), 1)
    stated = total(low=5, high=7, neighbours="replace", rows_public=True)
    assert found(people, lambda t: [sum(row for (row,) in t)], "replace") == stated == one(2)


@pytest.mark.parametrize("neighbours", NEIGHBOURS)
@pytest.mark.parametrize(("cells", "rows"), [(1, 1), (2, 1), (3, 1), (1, 2), (2, 2), (3, 2)])
def test_a_histogram(neighbours: str, cells: int, rows: int) -> None:
    """Add or remove 1/1, replace 2/√2; mutants: √2 is left out, L1 in place of L2."""

    def answer(table: list[Unit]) -> list[int]:
        return [sum(row == cell for person in table for row in person) for cell in range(cells)]

    true = found(persons([None, *range(cells)], rows), answer, neighbours)
    assert true == histogram(cells=cells, neighbours=neighbours, rows_per_unit=rows)
    if neighbours == "replace" and cells > 1:
        assert true == Sensitivity(Fraction(2 * rows), Fraction(2 * rows**2))
        assert rows**2 < true.l2_squared < true.l1**2


@pytest.mark.parametrize("neighbours", NEIGHBOURS)
@pytest.mark.parametrize(("cells", "kept"), [(1, 1), (3, 1), (3, 2), (4, 2), (5, 2), (3, 3)])
def test_units_in_cells(neighbours: str, cells: int, kept: int) -> None:
    """c/√c; mutant: one cell of each unit."""
    people = [
        some for size in range(kept + 1) for some in itertools.combinations(range(cells), size)
    ]

    def answer(table: list[Unit]) -> list[int]:
        return [sum(cell in person for person in table) for cell in range(cells)]

    true = found(people, answer, neighbours)
    assert true == units(cells=cells, kept=kept, neighbours=neighbours)
    if kept > 1:
        assert true.l2_squared > 1


@pytest.mark.parametrize("neighbours", NEIGHBOURS)
@pytest.mark.parametrize("width", [1, 2, 5])
def test_the_pair_of_a_mean(neighbours: str, width: int) -> None:
    """M/M, replace 2M/√2·M; mutant: a row that moves both sums by the whole width."""

    def answer(table: list[Unit]) -> list[int]:
        values = [row for person in table for row in person if row is not None]
        return [sum(width - value for value in values), sum(values)]

    true = found(persons([None, *range(width + 1)], 1), answer, neighbours)
    assert true == pair(width=width, neighbours=neighbours)
    assert (true.l2_squared == 2 * width**2) == (neighbours == "replace")


def test_what_is_no_relation_of_neighbours_is_refused() -> None:
    with pytest.raises(InvalidArgument):
        histogram(cells=2, neighbours="both")
