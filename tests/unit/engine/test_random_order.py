"""Random words put rows into a uniform order, unless two rows of a group have the same."""

from __future__ import annotations

import numpy as np
import pytest

from tenue.engine.random_order import WORDS, all_different, random_words, until_different
from tenue.noise.source import Seeded


def test_each_row_has_words_of_its_own() -> None:
    words = random_words(1000, Seeded(1))
    assert len(words) == WORDS
    assert all(len(np.unique(column)) == 1000 for column in words)
    assert min(column.min() for column in words) < 0  # all 64 bits


@pytest.mark.parametrize("cut", [1, 2, 3])
def test_equal_neighbours_are_noticed_inside_a_batch_and_between_two(cut: int) -> None:
    """A check inside batches alone would miss those at their border."""

    def batches(*columns: list[int]) -> list[list[np.ndarray]]:
        made = [np.array(column) for column in columns]
        return [[one[:cut] for one in made], [one[cut:] for one in made]]

    fine = batches([0, 0, 1, 1], [5, 6, 6, 7], [9, 8, 7, 6])
    assert [part[0].tolist() for part in all_different(iter(fine), 2)] == [
        [9, 8, 7, 6][:cut],
        [9, 8, 7, 6][cut:],
    ]
    twice = batches([0, 1, 1, 2], [5, 6, 6, 7], [9, 8, 7, 6])
    tries = iter([twice, fine])
    found = until_different(lambda: [*all_different(iter(next(tries)), 2)])
    assert np.concatenate([part[0] for part in found]).tolist() == [9, 8, 7, 6]
    assert next(tries, None) is None
