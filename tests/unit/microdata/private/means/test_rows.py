"""Rows are the means of their groups, in blocks as at once."""

from __future__ import annotations

import numpy as np

from private_laws import domain
from tenue.microdata.private.means.line import MeaningLine, NumberLine, lines_of
from tenue.microdata.private.means.rows import Means, group_of
from tenue.noise.source import Seeded

SEX = {"type": "category", "categories": ["f", "m"]}
HELD = domain(c=SEX, x={"type": "number", "bounds": [0, 100]})
CATEGORY, NUMBER = lines_of(HELD)
SHARES, CHOSEN = np.array([0.1, 0.5, 0.9]), np.array([0, 1, 0])


def means(spread: bool) -> Means:
    assert isinstance(NUMBER, NumberLine)
    assert isinstance(CATEGORY, MeaningLine)
    return Means(3, 3, 2, ((NUMBER, SHARES),), ((CATEGORY, CHOSEN),), spread)


def test_the_last_group_has_the_rest() -> None:
    assert group_of(np.arange(11), 3, 3).tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 2]


def test_blocks_are_the_rows_of_one_block() -> None:
    whole = means(spread=False).block(range(11), Seeded(1))
    assert whole.tolist() == [[0, 10]] * 3 + [[1, 50]] * 3 + [[0, 90]] * 5
    for number in range(4):
        part = means(spread=False).block(range(number, 11, 4), Seeded(2))
        assert part.tolist() == whole[number::4].tolist()


def test_numbers_are_spread_and_categories_are_not() -> None:
    made = means(spread=True).block(range(11), Seeded(1))
    assert made[:, 0].tolist() == [0] * 3 + [1] * 3 + [0] * 5
    assert len(set(made[:3, 1].tolist())) > 1
    assert (np.abs(made[:, 1] - 100 * SHARES[group_of(np.arange(11), 3, 3)]) <= 20).all()
