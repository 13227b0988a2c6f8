"""What a partition is, and exact means of its groups."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from tenue.errors import InvalidArgument, InvalidTable
from tenue.microdata import Partition
from tenue.publish.partition.exact_means import centroid, cut, enough_rows, points_of


def test_groups_and_sizes_follow_the_labels() -> None:
    partition = Partition(np.array([2, 0, 2, 1, 0, 2]))
    assert partition.sizes.tolist() == [2, 1, 3]
    assert [group.tolist() for group in partition.groups()] == [[1, 4], [3], [0, 2, 5]]
    assert len(partition) == 3
    assert partition.labels.dtype == np.int64


def test_every_row_is_in_exactly_one_group() -> None:
    labels = np.array([3, 1, 0, 2, 2, 1, 0, 3, 0])
    rows = np.concatenate(Partition(labels).groups())
    assert sorted(rows.tolist()) == list(range(9))


def test_nothing_can_be_changed_afterwards() -> None:
    given = np.array([0, 1, 0])
    partition = Partition(given)
    given[0] = 1
    assert partition.labels.tolist() == [0, 1, 0]
    with pytest.raises(ValueError, match="read-only"):
        partition.labels[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        partition.sizes[0] = 1
    with pytest.raises(AttributeError):
        partition.labels = given


def test_equality_is_equality_of_labels() -> None:
    assert Partition([0, 1, 0]) == Partition(np.array([0, 1, 0], np.uint8))
    assert hash(Partition([0, 1, 0])) == hash(Partition(np.array([0, 1, 0], np.int16)))
    assert Partition([0, 1, 0]) != Partition([1, 0, 1])
    assert Partition([0, 1, 0]) != [0, 1, 0]


@pytest.mark.parametrize(
    "labels",
    [
        [],
        [0, 2],
        [1, 1],
        [-1, 0],
        [0.0, 1.0],
        [True, False],
        ["a", "b"],
        [[0], [1]],
        0,
        [0, 1, 2**40],
        np.array([0, 2**64 - 1], np.uint64),
    ],
)
def test_labels_that_do_not_number_groups_are_refused(labels: object) -> None:
    with pytest.raises(InvalidArgument):
        Partition(labels)


# -- Points are the given numbers, and their means do not depend on the order of adding ------------


def test_only_a_power_of_two_lies_between_values_and_points() -> None:
    table = np.array([[3.7, -1e5], [0.1, 7e-9], [-12.25, 0.0]])
    points = points_of(table)
    assert 0.5 <= np.abs(points).max() < 1
    assert np.array_equal(points * 2.0**17, table)


@pytest.mark.parametrize("size", [1e-320, 1e-200, 1.0, 1e200, 1.7e308])
def test_no_magnitude_overflows_or_vanishes(size: float) -> None:
    points = points_of(np.array([[1.0, 0.5], [-1.0, 0.25]]) * size)
    assert np.isfinite(points).all()
    assert 0.5 <= np.abs(points).max() <= 1
    assert np.unique(points).size == 4


def test_a_table_of_zeros_stays_zero() -> None:
    assert not points_of([[0, 0], [0, 0]]).any()


def test_scale_divides_each_column() -> None:
    table = np.array([[3.0, 800.0], [1.0, 100.0]])
    assert np.array_equal(points_of(table, [3, 700]), points_of(table / [3.0, 700.0]))
    assert np.array_equal(points_of(table, np.array([3.0, 700.0])), points_of(table / [3.0, 700.0]))


def test_a_value_is_the_sum_of_its_parts() -> None:
    rng = random.Random(1)
    values = [rng.uniform(-1, 1) * 2.0 ** -rng.randrange(43) for _ in range(500)]
    parts = cut(np.array(values))
    for value, (first, second, third) in zip(values, parts.T.tolist(), strict=True):
        assert abs(first) <= 2**32
        whole = Fraction(first, 2**32) + Fraction(second, 2**64) + Fraction(third, 2**96)
        assert whole == Fraction(value)


def test_the_mean_of_whole_numbers_is_correctly_rounded() -> None:
    rng = random.Random(2)
    for _ in range(300):
        n = rng.randrange(1, 50)
        table = [[rng.randrange(-(10**12), 10**12)] for _ in range(n)]
        points = points_of(table)
        unit = Fraction(points[0, 0]) / table[0][0]
        mean = centroid(cut(points).sum(axis=1), n)[0]
        assert mean == float(Fraction(sum(row[0] for row in table), n) * unit)


def test_adding_and_subtracting_leaves_no_trace() -> None:
    """A running sum of doubles, the obvious way, does leave one."""
    rng = random.Random(3)
    values = np.array([rng.gauss(0, 1) * 10 ** rng.uniform(-6, 0) for _ in range(400)])
    values /= 8
    parts = cut(values)
    shuffled = rng.sample(range(400), 400)
    running, doubles = parts.sum(axis=1), float(values.sum())
    for row in shuffled[:-7]:
        running = running - parts[:, row]
        doubles -= float(values[row])
    rest = shuffled[-7:]
    mean = centroid(running, 7)
    assert mean == centroid(parts[:, rest].sum(axis=1), 7)
    exact = sum(Fraction(values[row]) for row in rest) / 7
    assert abs(Fraction(float(mean)) - exact) <= abs(exact) * Fraction(1, 2**52)
    assert doubles / 7 != mean


class _Column:
    """Something that is not a table at all."""


@pytest.mark.parametrize(
    "table",
    [
        [1, 2, 3],
        5,
        [[[1]]],
        [],
        [[]],
        np.empty((0, 3)),
        np.empty((3, 0)),
        [["a", "b"]],
        [["1", "2"]],
        [[1 + 2j]],
        [[None, 1]],
        [[_Column()]],
        [[1, 2], [3]],
        [[float("nan"), 1.0]],
        [[float("inf"), 1.0]],
        [[1.0], [-float("inf")]],
        np.array([["2020-01-01"]], "datetime64[D]"),
        np.ma.masked_array([[1.0, 2.0]], mask=[[False, True]]),
        "text",
        None,
    ],
)
def test_what_is_not_a_table_of_finite_numbers_is_refused(table: object) -> None:
    with pytest.raises(InvalidTable):
        points_of(table)


@pytest.mark.parametrize(
    "scale",
    [
        [1],
        [1, 1, 1],
        [],
        1,
        1.0,
        "12",
        [1, 0],
        [1, -2],
        [1, float("nan")],
        [1, float("inf")],
        [1, None],
        [1, "x"],
        [[1, 1]],
        [1, "1e350"],
        [1, "1e-350"],
        [1, 5e-324],
    ],
)
def test_a_scale_that_is_not_one_divisor_for_each_column_is_refused(scale: object) -> None:
    with pytest.raises(InvalidArgument):
        points_of([[1, 2], [3, 4]], scale)


@pytest.mark.parametrize("k", [0, -1, 2.5, "three", None, True, float("nan"), float("inf"), 4])
def test_a_k_that_no_group_of_these_rows_can_have_is_refused(k: object) -> None:
    with pytest.raises(InvalidArgument):
        enough_rows(np.zeros((3, 1)), k)


@pytest.mark.parametrize("k", [1, 3, 3.0, "2", np.int8(3)])
def test_a_whole_k_is_taken_as_it_is_meant(k: object) -> None:
    assert enough_rows(np.zeros((3, 1)), k) == int(str(k)[0])


def test_a_refusal_says_nothing_about_the_rows() -> None:
    with pytest.raises(InvalidTable) as refusal:
        points_of([[12345.0], [float("nan")]])
    assert "12345" not in str(refusal.value)


@pytest.mark.parametrize("least", [2**53 + 1, -(2**62), 2**63 - 10])
def test_whole_numbers_beyond_2_to_the_53_keep_their_distances(least: int) -> None:
    values = np.array([[least + step, 3] for step in (0, 1, 2, 6)])
    points = points_of(values)
    assert (points[:, 0] * 8).tolist() == [0, 1, 2, 6]
    assert (points[:, 1] * 8).tolist() == [3] * 4  # a column of small numbers stays where it is
    assert np.diff(values[:, 0].astype(float)).tolist() != [1, 1, 4]  # what doubles make of them


def test_unsigned_numbers_and_both_ends_of_the_line_fit() -> None:
    unsigned = np.array([[2**64 - 1], [2**64 - 3]], np.uint64)
    assert points_of(unsigned).tolist() == [[0.5], [0.0]]
    ends = np.array([[-(2**63)], [2**63 - 1]])
    assert points_of(ends).tolist() == [[0.0], [0.5]]
