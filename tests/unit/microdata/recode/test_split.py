"""Offers to split: every part has k units, the middle is near, the gain is what it says."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from tenue.microdata.recode.scale import Scale
from tenue.microdata.recode.split import NONE, Level, Offer, Tally
from unit.microdata.recode.columns import NUMBER, scale, sports


@dataclass
class Offered:
    """An offer to split these rows."""

    offer: Offer
    node: np.ndarray
    codes: np.ndarray

    @property
    def gain(self) -> np.ndarray:
        return self.offer.gain

    @property
    def parts(self) -> np.ndarray:
        return self.offer.parts

    def part(self, rows: np.ndarray) -> np.ndarray:
        return self.offer.rule.part(self.node[rows], self.codes[rows])


def offered(made: Scale, k: int, node: Any = None, persons: Any = None) -> Offered:
    values, ranks = np.unique(made.codes, return_inverse=True)
    groups = np.zeros(ranks.size, np.int64) if node is None else np.array(node)
    whose = None if persons is None else np.array(persons)
    level = Level(groups, int(groups.max()) + 1, whose)
    return Offered(made.offer(Tally.of(level, ranks, values), k), groups, made.codes)


def parts(offer: Offered, rows: int) -> list[int]:
    return offer.part(np.arange(rows)).tolist()


def test_the_middle_is_cut_between_values() -> None:
    assert parts(offered(scale(NUMBER, [1, 9, 1, 2, 2, 9, 2]), 2), 7) == [0, 1, 0, 1, 1, 1, 1]
    assert parts(offered(scale(NUMBER, [1, 9, 1, 1, 2, 9, 9]), 2), 7) == [0, 1, 0, 0, 1, 1, 1]
    assert offered(scale(NUMBER, [1, 2, 3, 4]), 2).part(np.arange(4)).tolist() == [0, 0, 1, 1]


def test_equal_cuts_take_the_lower() -> None:
    assert parts(offered(scale(NUMBER, [1, 1, 5, 9, 9]), 2), 5) == [0, 0, 1, 1, 1]


def test_a_group_of_equal_values_or_of_too_few_cannot_be_split() -> None:
    assert offered(scale(NUMBER, [3, 3, 3, 3]), 2).gain.tolist() == [NONE]
    assert offered(scale(NUMBER, [1, 2, 3]), 2).gain.tolist() == [NONE]


def test_the_gain_is_the_shrinking_of_shares() -> None:
    made = scale(NUMBER, [0, 1, 14, 15])
    before = 4 * made.share(np.array([0]), np.array([15]))
    after = 4 * made.share(np.array([0]), np.array([1]))
    assert offered(made, 2).gain.tolist() == (before - after).tolist()


def test_groups_do_not_see_each_other() -> None:
    made = scale(NUMBER, [1, 2, 3, 4, 7, 7, 7, 7])
    offer = offered(made, 2, [0, 0, 0, 0, 1, 1, 1, 1])
    assert (offer.gain >= 0).tolist() == [True, False]
    assert offer.parts.tolist() == [2, 1]


def test_persons_count_once_on_each_side() -> None:
    """Counting rows, the obvious way, would cut six rows of two persons in the middle."""
    ages, persons = [1, 1, 1, 9, 9, 9], [0, 0, 1, 1, 1, 0]
    assert offered(scale(NUMBER, ages), 3, persons=persons).gain.tolist() == [NONE]
    assert offered(scale(NUMBER, ages), 3).gain.tolist() != [NONE]
    assert offered(scale(NUMBER, ages), 2, persons=persons).gain.tolist() != [NONE]


def test_categories_part_along_their_taxonomy() -> None:
    offer = offered(sports("dinghy", "yacht", "surf", "ski", "sled", "ski"), 3)
    assert parts(offer, 6) == [0, 0, 0, 1, 1, 1]
    inside = offered(sports("dinghy", "dinghy", "yacht", "surf", "surf", "surf"), 3)
    assert parts(inside, 6) == [0, 0, 0, 1, 1, 1]


def test_small_concepts_stay_together_and_the_smallest_of_the_others_joins_if_it_must() -> None:
    tree = {"any": ["a", "b", "c", "d"]}
    declared = {"type": "category", "taxonomy": tree}
    pooled = offered(scale(declared, [0, 0, 0, 1, 1, 2, 3]), 3)
    assert len(set(parts(pooled, 7)[:3])) == 1
    assert len(set(parts(pooled, 7)[3:])) == 1
    assert pooled.parts.tolist() == [2]
    joined = offered(scale(declared, [0] * 5 + [1] * 3 + [2]), 3)
    found = parts(joined, 9)
    assert found[5:] == [found[5]] * 4  # the three of b take c in, not the five of a
    assert found[0] != found[5]
    assert offered(scale(declared, [0] * 5 + [2]), 3).gain.tolist() == [NONE]


@pytest.mark.parametrize("seed", range(40))
def test_every_part_has_k_units(seed: int) -> None:
    rng = random.Random(seed)
    size, k = rng.randint(6, 60), rng.randint(2, 4)
    names = ["dinghy", "yacht", "surf", "ski", "sled"]
    made = (
        scale(NUMBER, [rng.randint(0, 15) for _ in range(size)])
        if seed % 2
        else sports(*rng.choices(names, [5, 3, 2, 1, 1], k=size))
    )
    node = [i % 3 for i in range(size)]
    persons = [rng.randint(0, size // 2) for _ in range(size)] if seed % 4 < 2 else None
    offer = offered(made, k, node, persons)
    for group in range(3):
        rows = np.array([i for i in range(size) if node[i] == group])
        if offer.gain[group] == NONE:
            continue
        found = offer.part(rows).tolist()
        assert set(found) == set(range(offer.parts[group]))
        for part in set(found):
            members = [int(row) for row, own in zip(rows, found, strict=True) if own == part]
            units = members if persons is None else [persons[row] for row in members]
            assert len(set(units)) >= k
