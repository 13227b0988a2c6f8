"""Groups that are diverse, or like the whole table."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from tenue.errors import Unreachable
from tenue.evaluate.factorize import Codes
from tenue.evaluate.one_table.closeness import farthest as farthest_groups
from tenue.evaluate.one_table.count import Groups, counted
from tenue.evaluate.one_table.diversity import distinct_values
from tenue.publish.partition.grow import (
    Wanted,
    close_groups,
    grown,
    one_of_each,
    strata_for,
    stratified,
)
from tenue.publish.partition.mdav_reference import Euclidean, mdav


def case(units: int, seed: int) -> tuple[Euclidean, np.ndarray]:
    """Points, and a confidential column that rises with the first of their coordinates."""
    rng = random.Random(seed)
    points = np.array([[rng.random(), rng.random()] for _ in range(units)])
    codes = np.argsort(np.argsort(points[:, 0] + 0.1 * points[:, 1]))
    return Euclidean(points), codes.astype(np.int64)


def farthest(codes: np.ndarray, labels: np.ndarray) -> Fraction:
    wanted = Wanted("x", codes, True, None, None)
    return max(wanted.distance(codes[labels == g]) for g in range(labels.max() + 1))


@pytest.mark.parametrize(("units", "t"), [(1080, "0.1"), (1080, "0.05"), (60, "0.2"), (7, "0.5")])
def test_the_number_of_strata_is_the_least_that_keeps_the_bound(units: int, t: str) -> None:
    limit = Fraction(t)
    k = strata_for(limit, units)
    assert Fraction(units - k, 2 * (units - 1) * k) <= limit
    assert k == 1 or Fraction(units - k + 1, 2 * (units - 1) * (k - 1)) > limit


def test_census_of_1080_needs_five_strata_for_a_tenth_and_no_t_needs_all() -> None:
    assert strata_for(Fraction("0.1"), 1080) == 5
    assert strata_for(Fraction(0), 1080) == 1080
    assert strata_for(Fraction(1), 1080) == 1


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("k", [2, 3, 5, 12])
def test_groups_are_as_close_to_the_table_as_proved(k: int, seed: int) -> None:
    space, codes = case(60, seed)
    bound = Fraction(60 - k, 2 * 59 * k)
    labels = one_of_each(space, stratified([codes.astype(float)], [k]))
    assert np.bincount(labels).tolist() == [k] * (60 // k)
    assert farthest(codes, labels) <= bound
    # the mutant divides units in the order of the file, and keeps no bound
    mutant = one_of_each(space, stratified([np.arange(60.0)], [k]))
    assert farthest(codes, mutant) > bound


def test_the_nearest_of_each_stratum_are_taken() -> None:
    space = Euclidean(np.array([[0.0], [1.0], [0.1], [0.9], [0.2], [0.8]]))
    strata = [np.array([0, 1]), np.array([2, 3]), np.array([4, 5])]
    labels = one_of_each(space, strata)
    assert labels[[0, 2, 4]].tolist() == [labels[0]] * 3
    assert labels[[1, 3, 5]].tolist() == [labels[1]] * 3


def test_whoever_is_left_over_comes_from_the_middle_and_is_free() -> None:
    space, codes = case(62, 1)
    strata = stratified([codes.astype(float)], [5])
    assert [part.size for part in strata] == [12, 13, 13, 12, 12]
    labels = one_of_each(space, strata)
    free = np.flatnonzero(labels < 0)
    assert free.size == 2
    assert all(12 <= codes[unit] < 38 for unit in free)
    assert np.bincount(labels[labels >= 0]).tolist() == [5] * 12


def test_strata_of_a_second_column_lie_inside_those_of_the_first() -> None:
    first = np.arange(24.0)
    second = np.array([i * 7 % 24 for i in range(24)], float)
    strata = stratified([first, second], [2, 3])
    assert [part.size for part in strata] == [4] * 6
    halves = [set(range(12)), set(range(12, 24))]
    for place, part in enumerate(strata):
        assert set(part.tolist()) <= halves[place // 3]
    assert second[strata[0]].max() < second[strata[1]].min()
    assert second[strata[1]].max() < second[strata[2]].min()


# Groups grow for l and t: measured as `check` measures, no more than needed, or refused.

SHARED = Path(__file__).resolve().parents[3].parent / "shared"
needs_data = pytest.mark.skipif(
    not (SHARED / "data").is_dir(), reason="the reference data is not beside this project"
)


def random_case(seed: int) -> tuple[Euclidean, np.ndarray, np.ndarray]:
    rng = random.Random(seed)
    points = np.array([[rng.random(), rng.random()] for _ in range(60)])
    values = np.array([rng.randrange(-1, 5) for _ in range(60)])
    values[:5] = range(5)
    space = Euclidean(points)
    return space, mdav(space, 4), values


def measured(values: np.ndarray, labels: np.ndarray, ordered: bool) -> tuple[Fraction, int]:
    counts = counted(Groups(labels, int(labels.max()) + 1), Codes(values, 5))
    return farthest_groups(counts, ordered=ordered)[0], int(distinct_values(counts).min())


@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("seed", range(8))
def test_distances_are_those_of_check(seed: int, ordered: bool) -> None:
    _, labels, values = random_case(seed)
    wanted = Wanted("x", values, ordered, None, None)
    mine = [
        wanted.distance(inside) if inside.size else Fraction(0)
        for g in range(labels.max() + 1)
        for inside in [values[(labels == g) & (values >= 0)]]
    ]
    assert max(mine) == measured(values, labels, ordered)[0]


@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("seed", range(8))
def test_every_group_is_as_wanted_and_none_is_smaller(seed: int, ordered: bool) -> None:
    space, labels, values = random_case(seed)
    t = Fraction(1, 4)
    for l, limit in ((3, None), (None, t), (4, t)):
        got = grown(space, labels, [Wanted("x", values, ordered, l, limit)])
        assert sorted(set(got.tolist())) == list(range(got.max() + 1))
        assert np.bincount(got).min() >= 4
        distance, least = measured(values, got, ordered)
        assert l is None or least >= l
        assert limit is None or distance <= limit
        # groups only join: nobody is parted from an earlier companion
        pairs = set(zip(labels.tolist(), got.tolist(), strict=True))
        assert len(pairs) == labels.max() + 1


def test_groups_that_are_well_already_stay() -> None:
    space, labels, _ = random_case(1)
    values = np.arange(60) % 5
    got = grown(space, labels, [Wanted("x", values, True, 1, Fraction(1))])
    assert np.array_equal(got, labels)


def test_a_group_joins_its_neighbour_not_somebody_far_away() -> None:
    space = Euclidean(np.array([[0.0], [0.01], [0.9], [0.91], [0.1], [0.11]]))
    labels = np.array([0, 0, 1, 1, 2, 2])
    values = np.array([0, 0, 0, 1, 0, 1])
    got = grown(space, labels, [Wanted("x", values, True, 2, None)])
    assert got.tolist() == [1, 1, 0, 0, 1, 1]


def test_more_values_than_the_table_has_are_out_of_reach() -> None:
    space, labels, values = random_case(2)
    with pytest.raises(Unreachable):
        grown(space, labels, [Wanted("x", values, True, 6, None)])
    one = grown(space, labels, [Wanted("x", values, True, None, Fraction(0))])
    assert measured(values, one, True)[0] == 0


def test_rows_of_persons_are_measured_and_persons_moved() -> None:
    space = Euclidean(np.array([[0.0], [0.1], [0.8], [0.9]]))
    persons = np.array([0, 0, 1, 2, 3, 3])
    values = np.array([0, 1, 0, 0, 0, 0])
    got = grown(space, np.array([0, 0, 1, 1]), [Wanted("x", values, True, 2, None)], persons)
    assert got.tolist() == [0, 0, 0, 0]


def test_fifty_rows_of_one_person_weigh_no_more_than_one() -> None:
    """By rows the group is like the table, by persons it is half of it away."""
    persons = np.array([0] * 50 + [1, 2, 3])
    values = np.array([0] * 50 + [1, 0, 1])
    by_rows = Wanted("x", values, False, None, Fraction(0))
    by_person = Wanted("x", values, False, None, Fraction(0), persons)
    part = np.arange(51)
    assert by_rows.distance(values[part]) < Fraction(1, 50)
    assert by_person.distance(np.array([0, 1])) == 0
    assert by_person.holds(part)
    assert not by_person.holds(np.arange(50))


def related(seed: int, units: int = 60) -> tuple[Euclidean, np.ndarray, np.ndarray]:
    """A confidential column that rises with the quasi-identifiers, as it does in life."""
    rng = random.Random(seed)
    points = np.array([[rng.random(), rng.random()] for _ in range(units)])
    space = Euclidean(points)
    return space, mdav(space, 4), np.argsort(np.argsort(points[:, 0])).astype(np.int64)


def spread(space: Euclidean, labels: np.ndarray) -> float:
    groups = [space.points[labels == g] for g in range(labels.max() + 1)]
    return float(sum(((group - group.mean(axis=0)) ** 2).sum() for group in groups))


@pytest.mark.parametrize("units", [60, 61, 63])
@pytest.mark.parametrize("seed", range(4))
def test_strata_are_taken_where_growing_would_leave_few_groups(seed: int, units: int) -> None:
    space, labels, values = related(seed, units)
    wanted = [Wanted("x", values, True, None, Fraction("0.1"))]
    merged = grown(space, labels, wanted)  # the mutant: groups of similar people only grow
    best = close_groups(space, labels, 4, wanted)
    assert np.bincount(best).min() >= 4
    assert all(wanted[0].holds(np.flatnonzero(best == g)) for g in range(best.max() + 1))
    assert best.max() + 1 >= 10 > merged.max() + 1
    assert spread(space, best) < spread(space, merged)


def test_similar_people_stay_together_where_that_is_better() -> None:
    space, labels, _ = related(1)
    values = np.arange(60) % 4  # does not follow the points
    for l, t in ((2, None), (None, Fraction("0.3"))):
        wanted = [Wanted("x", values, True, l, t)]
        best = close_groups(space, labels, 4, wanted)
        assert spread(space, best) <= spread(space, grown(space, labels, wanted))
    calm = close_groups(space, labels, 4, [Wanted("x", values, True, 1, Fraction(1))])
    assert np.array_equal(calm, labels)


@pytest.mark.parametrize("ordered", [True, False])
def test_ties_blanks_and_two_columns_keep_what_is_wanted(ordered: bool) -> None:
    space, labels, first = related(2)
    second = np.array([i * i % 7 - 1 for i in range(60)])
    tied = first // 9
    t = Fraction("0.25")
    wanted = [Wanted("a", tied, ordered, 2, t), Wanted("b", second, ordered, None, t)]
    best = close_groups(space, labels, 4, wanted)
    assert np.bincount(best).min() >= 4
    for group in range(best.max() + 1):
        assert all(column.holds(np.flatnonzero(best == group)) for column in wanted)


def test_persons_with_several_rows_are_stratified_as_persons() -> None:
    space, labels, values = related(3)
    persons = np.repeat(np.arange(60), 2)
    rows = np.repeat(values, 2)
    wanted = [Wanted("x", rows, True, None, Fraction("0.1"), persons)]
    best = close_groups(space, labels, 4, wanted, persons)
    assert best.size == 60
    assert best.max() + 1 >= 10
    for group in range(best.max() + 1):
        assert wanted[0].holds(np.flatnonzero(np.isin(persons, np.flatnonzero(best == group))))


@needs_data
def test_census_within_a_tenth_has_216_groups_instead_of_2() -> None:
    table = np.genfromtxt(SHARED / "data" / "census.csv", delimiter=",", names=True)
    points = np.column_stack([table["TAXINC"], table["POTHVAL"]])
    space = Euclidean((points - points.min(axis=0)) / np.ptp(points, axis=0))
    codes = np.unique(table["FICA"], return_inverse=True)[1]
    wanted = [Wanted("FICA", codes, True, None, Fraction("0.1"))]
    labels = mdav(space, 5)
    assert grown(space, labels, wanted).max() + 1 == 2
    assert close_groups(space, labels, 5, wanted).max() + 1 == 216
