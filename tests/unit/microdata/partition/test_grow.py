"""Groups grow for l and t: measured as `check` measures, no more than needed, or refused."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from tenue.errors import Unreachable
from tenue.evaluate.group.closeness import earth_movers
from tenue.evaluate.group.count import Groups, counted
from tenue.evaluate.group.diversity import distinct_values
from tenue.evaluate.value import Codes
from tenue.microdata.partition.grow import Wanted, grown
from tenue.microdata.partition.plain import Euclidean, mdav


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
