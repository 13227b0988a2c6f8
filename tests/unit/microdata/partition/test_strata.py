"""One unit of each stratum: groups that are like the whole table, and near by quasi-identifiers."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from tenue.microdata.partition.grow import Wanted
from tenue.microdata.partition.plain import Euclidean
from tenue.microdata.partition.strata import one_of_each, strata_for, stratified


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
