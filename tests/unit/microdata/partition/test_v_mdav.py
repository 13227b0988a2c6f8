"""V-MDAV follows its definition, and no group has fewer than k or more than 2k - 1 records."""

from __future__ import annotations

import importlib
import random

import numpy as np
import pytest

from tenue.errors import InvalidArgument, InvalidTable
from tenue.microdata import mdav, v_mdav
from tenue.microdata.partition import plain, points

module = importlib.import_module("tenue.microdata.partition.v_mdav")
TINY = 2.0**-30


def by_the_book(table: np.ndarray, k: int, gain: float, *, careful: bool = True) -> list[int]:
    """The definition, sentence by sentence; without `careful`, as it was published."""
    space = plain.Euclidean(points.points_of(table))
    n = space.size
    everybody = np.arange(n)
    apart = [space.distances(everybody, space.record(i)).tolist() for i in range(n)]
    outward = space.distances(everybody, space.centre(space.tally(everybody), n)).tolist()
    free = list(range(n))
    groups: list[list[int]] = []
    while len(free) >= k:
        seed = min(free, key=lambda i: (-outward[i], i))
        others = sorted((apart[seed][i], i) for i in free if i != seed)
        group = [seed, *(i for _, i in others[: k - 1])]
        free = [i for i in free if i not in group]
        while free and len(group) < 2 * k - 1:
            if careful and len(free) == k:
                break
            inside, new = min((apart[member][i], i) for i in free for member in group)
            outside = min((apart[new][i] for i in free if i != new), default=float("inf"))
            if not inside < gain * gain * outside:
                break
            group.append(new)
            free.remove(new)
        groups.append(group)
    labels = [-1] * n
    for label, group in enumerate(groups):
        for i in group:
            labels[i] = label
    centres = space.centres(np.array(labels))
    for i in free:
        distances = centres.distances(np.arange(len(groups)), space.record(i)).tolist()
        room = [g for g, group in enumerate(groups) if not careful or len(group) < 2 * k - 1]
        best = min(room, key=lambda g: (distances[g], g))
        groups[best].append(i)
        labels[i] = best
    return labels


def tables() -> list[tuple[np.ndarray, int, float]]:
    rng = random.Random(12)
    made = []
    for turn in range(240):
        n, columns, values = rng.randrange(1, 45), rng.choice([1, 2, 3, 9]), [0, 2, 4, 30][turn % 4]
        cells = [rng.randrange(values) if values else rng.gauss(0, 1) for _ in range(n * columns)]
        table = np.array(cells, float).reshape(n, columns)
        made.append((table, rng.randrange(1, min(n, 6) + 1), rng.choice([0.25, 1.5, 4.0])))
    return made


def test_it_follows_the_book() -> None:
    for table, k, gain in tables():
        assert v_mdav(table, k, gain).labels.tolist() == by_the_book(table, k, gain)


def test_every_group_has_k_to_2k_minus_1_records() -> None:
    for table, k, gain in tables():
        sizes = v_mdav(table, k, gain).sizes
        assert sizes.min() >= k
        assert sizes.max() <= 2 * k - 1


def test_as_published_groups_can_grow_too_large() -> None:
    largest = [
        max(np.bincount(by_the_book(table, k, gain, careful=False))) - (2 * k - 1)
        for table, k, gain in tables()
    ]
    assert max(largest) > 0


@pytest.mark.slow
def test_the_compiled_algorithm_agrees(monkeypatch: pytest.MonkeyPatch) -> None:
    plainly = [v_mdav(table, k, gain) for table, k, gain in tables()]
    monkeypatch.setattr(module, "COMPILED_FROM", 0)
    for (table, k, gain), expected in zip(tables(), plainly, strict=True):
        assert v_mdav(table, k, gain) == expected


def test_natural_clusters_are_found_whole() -> None:
    """Clusters of 4, 3 and 5 with k = 3: MDAV must cut them up, V-MDAV need not."""
    line = [0, 1, 2, 3, 50, 51, 52, 90, 91, 92, 93, 94]
    table = np.array([[float(x), 0.0] for x in line])
    whole = [[0, 1, 2, 3], [4, 5, 6], [7, 8, 9, 10, 11]]
    found = sorted(group.tolist() for group in v_mdav(table, 3, gamma=1.5).groups())
    assert found == whole
    assert sorted(group.tolist() for group in mdav(table, 3).groups()) != whole


def test_a_small_gain_factor_keeps_groups_small() -> None:
    rng = random.Random(13)
    table = np.array([[rng.gauss(0, 1), rng.gauss(0, 1)] for _ in range(90)])
    assert (v_mdav(table, 3, gamma=TINY).sizes == 3).all()
    assert v_mdav(table, 3, gamma=3).sizes.max() > 3


def test_scale_divides_before_distances_are_taken() -> None:
    rng = random.Random(14)
    table = np.array([[rng.gauss(0, 1), rng.gauss(0, 1000)] for _ in range(60)])
    assert v_mdav(table, 4, scale=[1, 1000]) == v_mdav(table / [1.0, 1000.0], 4)


@pytest.mark.parametrize("gamma", [0, -1, float("nan"), float("inf"), None, "much", 1e7, True])
def test_an_impossible_gain_factor_is_refused(gamma: object) -> None:
    with pytest.raises(InvalidArgument):
        v_mdav([[1, 2], [3, 4]], 1, gamma)


def test_bad_tables_and_sizes_are_refused() -> None:
    with pytest.raises(InvalidTable):
        v_mdav([1, 2, 3], 1)
    with pytest.raises(InvalidArgument):
        v_mdav([[1], [2]], 3)
    with pytest.raises(InvalidArgument):
        v_mdav([[1], [2]], 1, gama=2)
