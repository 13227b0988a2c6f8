"""Groups grow for l and t: measured as `check` measures, no more than needed, or refused."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from tenue.errors import Unreachable
from tenue.evaluate.group.closeness import earth_movers
from tenue.evaluate.group.count import Groups, counted
from tenue.evaluate.group.diversity import distinct_values
from tenue.evaluate.value import Codes
from tenue.microdata.partition.grow import Wanted, close_groups, grown
from tenue.microdata.partition.plain import Euclidean, mdav

SHARED = Path(__file__).resolve().parents[4].parent / "shared"
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
    return earth_movers(counts, ordered=ordered)[0], int(distinct_values(counts).min())


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
