"""A partition puts each row in one group and cannot be changed."""

from __future__ import annotations

import numpy as np
import pytest

from tenue.errors import InvalidArgument
from tenue.microdata import Partition


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
