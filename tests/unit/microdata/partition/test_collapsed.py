"""Equal records taken together give the groups of the plain algorithm, record by record."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from tenue.microdata.partition import collapsed, plain
from tenue.microdata.partition.meaning import Meaning
from tenue.microdata.partition.mixed import Mixed, Semantic, kinds_of
from tenue.taxonomy import Taxonomy

JOBS = Taxonomy.from_nested({"any": {"desk": ["clerk", "writer", "judge"], "field": ["miner"]}})


def case(seed: int, size: int, different: int) -> tuple[Mixed, np.ndarray]:
    rng = random.Random(seed)
    points = np.array([[rng.randrange(different) / 8, rng.randrange(2) / 2] for _ in range(size)])
    occurring = np.array([i for i, name in enumerate(JOBS.concepts) if name in JOBS.categories])
    codes = np.array([rng.randrange(occurring.size) for _ in range(size)])
    semantic = (Semantic(Meaning(JOBS, occurring), codes),)
    return Mixed(points, semantic), kinds_of(points, semantic)


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("k", [1, 2, 3, 7])
def test_groups_are_those_of_the_plain_algorithm(seed: int, k: int) -> None:
    size = 7 + 3 * seed
    space, kinds = case(seed, size, 1 + seed % 8)
    expected = plain.mdav(space, k)
    assert collapsed.mdav(space, kinds, k).tolist() == expected.tolist()


def test_all_equal_and_all_different_are_no_exceptions() -> None:
    for different in (1, 100_000):
        space, kinds = case(1, 90, different)
        assert np.array_equal(collapsed.mdav(space, kinds, 4), plain.mdav(space, 4))
    space, _ = case(2, 50, 3)
    assert np.array_equal(collapsed.mdav(space, np.arange(50), 4), plain.mdav(space, 4))


def test_ties_between_kinds_are_decided_by_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant exhausts one kind before the next, whatever rows they have."""

    def one_kind_after_another(self: Any, kinds: np.ndarray, wanted: int) -> np.ndarray:
        lists = [self._rows[self._heads[kind] : self._ends[kind]] for kind in kinds]
        chosen = np.concatenate(lists)[:wanted]
        np.add.at(self._heads, self._kinds[chosen], 1)
        return chosen

    monkeypatch.setattr(collapsed._Live, "_first_of", one_kind_after_another)
    different = [
        not np.array_equal(collapsed.mdav(space, kinds, 5), plain.mdav(space, 5))
        for space, kinds in (case(seed, 100, 4) for seed in range(5))
    ]
    assert any(different)


def test_kinds_are_different_records() -> None:
    space, kinds = case(3, 60, 3)
    rows = [tuple(space.record(i).tolist()) for i in range(60)]
    assert len(set(zip(rows, kinds.tolist(), strict=True))) == len(set(rows)) == kinds.max() + 1
