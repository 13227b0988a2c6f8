"""Worst-case sensitivities of one number, and L2 beside L1."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any

import pytest

from tenue.errors import InvalidArgument, NotPromised
from tenue.sensitivity import local, worst_case
from tenue.sensitivity.norms import Sensitivity, histogram, one, pair, total, units
from unit.sensitivity import oracle
from unit.sensitivity.oracle import BOUNDS, small_tables

DOMAINS = [(-1, 2), (1, 3), (-3, -1), (0, 2), (-2, 0), (0, 0)]
OUT = None  # a row that the filter leaves out


def people(rows, limit):
    """Everything one person may hold: `limit` rows, some of them filtered out or absent."""
    return combinations_with_replacement([*rows, OUT], limit)


def widest(contribution, rows, limit, neighbours):
    """The largest L1 change of a vector of answers when a person comes, goes or is replaced."""
    vectors = {
        contribution([row for row in held if row is not OUT]) for held in people(rows, limit)
    }
    if neighbours == "add-or-remove":
        return max(sum(map(abs, vector)) for vector in vectors)
    return max(
        sum(abs(x - y) for x, y in zip(one, other, strict=True))
        for one, other in product(vectors, repeat=2)
    )


both = pytest.mark.parametrize("neighbours", worst_case.NEIGHBOURS)
limits = pytest.mark.parametrize("limit", [1, 2, 3])


@both
@limits
class TestEveryPerson:
    def test_one_count(self, neighbours, limit):
        tried = widest(lambda rows: (len(rows),), [0], limit, neighbours)
        assert worst_case.count(neighbours=neighbours, rows_per_unit=limit) == tried

    @pytest.mark.parametrize("cells", [1, 2, 4])
    def test_histogram(self, neighbours, limit, cells):
        def histogram(rows):
            return tuple(rows.count(cell) for cell in range(cells))

        tried = widest(histogram, range(cells), limit, neighbours)
        given = {"answers": cells, "answers_per_row": 1, "rows_per_unit": limit}
        assert worst_case.counts(neighbours=neighbours, **given) == tried

    @pytest.mark.parametrize("per_row", [1, 2, 3])
    def test_overlapping_counts(self, neighbours, limit, per_row):
        answers = range(3)
        sets = [
            frozenset(a for a, chosen in zip(answers, row, strict=True) if chosen)
            for row in product([0, 1], repeat=3)
            if sum(row) <= per_row
        ]

        def membership(rows):
            return tuple(sum(a in row for row in rows) for a in answers)

        tried = widest(membership, sets, limit, neighbours)
        given = {"answers": 3, "answers_per_row": per_row, "rows_per_unit": limit}
        assert worst_case.counts(neighbours=neighbours, **given) == tried

    @pytest.mark.parametrize("bounds", DOMAINS)
    def test_one_sum(self, neighbours, limit, bounds):
        values = range(bounds[0], bounds[1] + 1)
        tried = widest(lambda rows: (sum(rows),), values, limit, neighbours)
        given = {"bounds": bounds, "rows_per_unit": limit}
        assert worst_case.total(neighbours=neighbours, **given) == tried

    @pytest.mark.parametrize("bounds", [[(-1, 2), (0, 3)], [(1, 3), (-3, -1)], [(-2, 1)]])
    def test_sums_by_group(self, neighbours, limit, bounds):
        rows = [(g, x) for g, (low, high) in enumerate(bounds) for x in {low, high}]

        def by_group(held):
            return tuple(sum(x for g, x in held if g == group) for group in range(len(bounds)))

        tried = widest(by_group, rows, limit, neighbours)
        given = {"bounds": bounds, "together": False, "rows_per_unit": limit}
        assert worst_case.totals(neighbours=neighbours, **given) == tried

    @pytest.mark.parametrize("bounds", [[(-1, 2), (0, 3)], [(1, 3), (-3, -1)], [(2, 5), (-1, 5)]])
    def test_sums_of_columns(self, neighbours, limit, bounds):
        # each column may be missing on its own, which counts as 0 in that sum
        rows = list(product(*[sorted({low, high, 0}) for low, high in bounds]))

        def columns(held):
            return tuple(sum(row[c] for row in held) for c in range(len(bounds)))

        tried = widest(columns, rows, limit, neighbours)
        given = {"bounds": bounds, "together": True, "rows_per_unit": limit}
        assert worst_case.totals(neighbours=neighbours, **given) == tried


class TestPublicNumberOfRows:
    def test_a_sum_moves_by_the_range_and_a_filter_makes_it_worse(self):
        public = worst_case.total(bounds=(2, 10), neighbours="replace", rows_public=True)
        assert public == 8
        # the mutant that forgets the filter would say 8 here too; a row of 10 can leave
        assert worst_case.total(bounds=(2, 10), neighbours="replace") == 10

    @pytest.mark.parametrize("statistic", ["mean", "variance", "median"])
    def test_is_the_largest_local_sensitivity(self, statistic):
        for rows in range(1, 6):
            largest = max(local(statistic, table, bounds=BOUNDS) for table in oracle.tables(rows))
            worst = getattr(worst_case, statistic)
            assert worst(bounds=BOUNDS, rows=rows, neighbours="replace") == largest

    def test_an_order_statistic_moves_by_the_range(self):
        largest = max(local("max", table, bounds=BOUNDS) for table in small_tables())
        assert worst_case.order_statistic(bounds=BOUNDS) == largest

    @pytest.mark.parametrize("statistic", ["mean", "variance", "median"])
    def test_is_refused_where_the_number_is_secret(self, statistic):
        with pytest.raises(NotPromised):
            getattr(worst_case, statistic)(bounds=BOUNDS, rows=5, neighbours="add-or-remove")

    @pytest.mark.parametrize(
        "given", [{"neighbours": "add-or-remove"}, {"neighbours": "replace", "rows_per_unit": 2}]
    )
    def test_cannot_be_claimed_for_persons_or_under_add_or_remove(self, given):
        with pytest.raises(NotPromised):
            worst_case.total(bounds=BOUNDS, rows_public=True, **given)


class TestRefusals:
    @pytest.mark.parametrize(
        ("function", "given"),
        [
            (worst_case.count, {"neighbours": "swap"}),
            (worst_case.count, {}),
            (worst_case.count, {"neighbours": "replace", "rows_per_unit": 0}),
            (worst_case.counts, {"neighbours": "replace", "answers": 0, "answers_per_row": 1}),
            (worst_case.total, {"neighbours": "replace", "bounds": (3, 1)}),
            (worst_case.total, {"neighbours": "replace", "bounds": (0, float("inf"))}),
            (worst_case.totals, {"neighbours": "replace", "bounds": [], "together": True}),
            (worst_case.totals, {"neighbours": "replace", "bounds": (0, 1), "together": True}),
            (worst_case.mean, {"neighbours": "replace", "bounds": BOUNDS, "rows": 0}),
        ],
    )
    def test_bad_parameters(self, function, given):
        with pytest.raises(InvalidArgument):
            function(**given)

    def test_results_are_exact(self):
        moved = worst_case.mean(bounds=(0, 0.1), rows=3, neighbours="replace")
        assert moved == Fraction(1, 30)


# Both norms against every pair of neighbouring tables of small domains, and mutants of them.

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
