"""Worst cases are what trying every person finds: not less, and not more."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement, product

import pytest

from tenue.errors import InvalidArgument, NotPromised
from tenue.sensitivity import local, worst_case
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
