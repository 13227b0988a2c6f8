"""MDAV and V-MDAV."""

from __future__ import annotations

import csv
import importlib
import random
from collections.abc import Callable
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tenue.errors import InvalidArgument, InvalidTable
from tenue.microdata import mdav, v_mdav
from tenue.publish.numba_kernels import kernels
from tenue.publish.partition import exact_means, mdav_reference
from tenue.publish.partition.exact_means import Points, points_of
from tenue.publish.partition.mdav_reference import Euclidean, Rows, farthest, nearest, without
from tenue.publish.partition.mdav_reference import mdav as plain_mdav
from tenue.publish.partition.mixed_records import Meaning, Mixed, Semantic, kinds_of
from tenue.taxonomy import Taxonomy

collapsed_collapsed = import_module("tenue.publish.partition.mdav")

Table = list[list[int]]


def plain_by_the_book(table: Table, k: int, *, again: bool = True) -> list[int]:
    """MDAV on whole numbers, one sentence of the definition after the other."""
    labels = [-1] * len(table)
    live = list(range(len(table)))

    def centre() -> list[float]:
        columns = zip(*(table[i] for i in live), strict=True)
        return [float(Fraction(sum(column), len(live))) for column in columns]

    def distance(i: int, point: list[float] | list[int]) -> float:
        total = 0.0
        for x, y in zip(table[i], point, strict=True):
            total += (x - y) * (x - y)
        return total

    def outermost(point: list[float] | list[int]) -> int:
        return min(live, key=lambda i: (-distance(i, point), i))

    def leave(seed: int) -> None:
        others = sorted((distance(i, table[seed]), i) for i in live if i != seed)
        group = [seed, *(i for _, i in others[: k - 1])]
        label = max(labels) + 1
        for i in group:
            labels[i] = label
            if i in live:
                live.remove(i)

    while len(live) >= 3 * k:
        first = outermost(centre())
        second = outermost(table[first])
        leave(first)
        if again and labels[second] >= 0:
            second = outermost(table[first])
        leave(second)
    if len(live) >= 2 * k:
        leave(outermost(centre()))
    last = max(labels) + 1
    return [last if label < 0 else label for label in labels]


def labels_of(table: Table, k: int) -> list[int]:
    return plain_mdav(Euclidean(points_of(table)), k).tolist()


def random_table(rng: random.Random) -> tuple[Table, int]:
    columns, values = rng.randrange(1, 5), rng.choice([2, 3, 5, 50, 10**6])
    n = rng.randrange(1, 60)
    table = [[rng.randrange(values) for _ in range(columns)] for _ in range(n)]
    return table, rng.randrange(1, min(n, 8) + 1)


def test_it_follows_the_book_on_tables_full_of_ties() -> None:
    rng = random.Random(4)
    for _ in range(300):
        table, k = random_table(rng)
        assert labels_of(table, k) == plain_by_the_book(table, k)


@pytest.mark.parametrize("k", [1, 2, 3, 5, 7])
def test_all_groups_have_k_records_and_the_last_up_to_twice_as_many(k: int) -> None:
    rng = random.Random(k)
    for n in range(k, 6 * k + 2):
        sizes = np.bincount(labels_of([[rng.randrange(9), rng.randrange(9)] for _ in range(n)], k))
        assert (sizes[:-1] == k).all()
        assert k <= sizes[-1] < 2 * k


def test_a_second_seed_that_was_taken_is_chosen_again() -> None:
    """One record far away and the others in one place: the first group takes the second seed."""
    table = [[9], [0], [0], [0], [0], [0], [0]]
    assert labels_of(table, 2) == [0, 0, 1, 1, 2, 2, 2]
    # All others are 65 from (0, 0). Row 1 is the second seed but leaves with row 0; row 2 follows.
    arc = [[0, 0], [60, 25], [16, 63], [63, 16], [25, 60], [56, 33]]
    assert labels_of(arc, 2) == [0, 0, 1, 2, 1, 2]
    rng = random.Random(5)
    wrong = 0
    for _ in range(200):
        table, k = random_table(rng)
        wrong += plain_by_the_book(table, k, again=False) != plain_by_the_book(table, k)
    assert wrong > 0


def test_a_line_of_five() -> None:
    table = [[5], [2], [9], [0], [5]]
    # The mean is 4.2: 9 leaves, then 0. Of 5, 2, 5 the mean is 4: 2 leaves, then the first 5.
    assert labels_of(table, 1) == [3, 2, 0, 1, 4]
    # Five records are fewer than 3k: one group, 9 and the first 5, and the rest.
    assert labels_of(table, 2) == [0, 1, 0, 1, 1]


def test_equal_distances_are_decided_by_row() -> None:
    live: Rows = np.array([2, 5, 7, 8])
    assert farthest(live, np.array([1.0, 3.0, 3.0, 0.0])) == 5
    distances = np.array([4.0, 4.0, 0.0, 4.0])
    assert sorted(nearest(live, distances.copy(), 7, 2).tolist()) == [2, 7]
    assert sorted(nearest(live, distances.copy(), 7, 3).tolist()) == [2, 5, 7]
    assert sorted(nearest(live, np.zeros(4), 8, 2).tolist()) == [2, 8]
    assert without(live, np.array([8, 5])).tolist() == [2, 7]


def test_distances_add_the_columns_in_order() -> None:
    rng = random.Random(6)
    points = np.array([[rng.uniform(-1, 1) for _ in range(13)] for _ in range(200)])
    got = Euclidean(points).distances(np.arange(200), points[0])
    for i in range(200):
        total = 0.0
        for x, y in zip(points[i].tolist(), points[0].tolist(), strict=True):
            total += (x - y) * (x - y)
        assert got[i] == total


def test_centres_of_groups_are_their_means() -> None:
    points = points_of([[0, 4], [8, 8], [2, 0], [5, 5]])
    centres = Euclidean(points).centres(np.array([1, 0, 1, -1]))
    assert centres.size == 2
    assert centres.record(0).tolist() == points[1].tolist()
    assert centres.record(1).tolist() == ((points[0] + points[2]) / 2).tolist()


class CityBlocks(Euclidean):
    """Another distance on the same records."""

    def distances(self, rows: Rows, point: Points) -> np.ndarray:
        everything = np.array([self.record(int(row)) for row in rows]).reshape(rows.size, -1)
        return np.abs(everything - point).sum(axis=1)


def _sets(labels: np.ndarray) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(labels == g).tolist()) for g in range(labels.max() + 1)}


@pytest.mark.parametrize(("space", "partner"), [(Euclidean, 2), (CityBlocks, 1)])
def test_any_space_will_do(space: Callable[[Points], Euclidean], partner: int) -> None:
    # From (0, 0), (4, 4) is nearer than (0, 7) in a straight line and farther along streets.
    points = points_of([[0, 0], [0, 7], [4, 4], [-60, 0], [-60, 1], [-70, 0], [-70, 1]])
    distances = space(points).distances(np.arange(7), points[0])
    assert sorted(nearest(np.arange(7), distances, 0, 2).tolist()) == [0, partner]
    sizes = sorted(len(group) for group in _sets(plain_mdav(space(points), 2)))
    assert sizes == [2, 2, 3]


# Equal records taken together give the groups of the plain algorithm, record by record.

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
    expected = mdav_reference.mdav(space, k)
    assert collapsed_collapsed.mdav_of_duplicates(space, kinds, k).tolist() == expected.tolist()


def test_all_equal_and_all_different_are_no_exceptions() -> None:
    for different in (1, 100_000):
        space, kinds = case(1, 90, different)
        assert np.array_equal(
            collapsed_collapsed.mdav_of_duplicates(space, kinds, 4), mdav_reference.mdav(space, 4)
        )
    space, _ = case(2, 50, 3)
    assert np.array_equal(
        collapsed_collapsed.mdav_of_duplicates(space, np.arange(50), 4),
        mdav_reference.mdav(space, 4),
    )


def test_ties_between_kinds_are_decided_by_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant exhausts one kind before the next, whatever rows they have."""

    def one_kind_after_another(self: Any, kinds: np.ndarray, wanted: int) -> np.ndarray:
        lists = [self._rows[self._heads[kind] : self._ends[kind]] for kind in kinds]
        chosen = np.concatenate(lists)[:wanted]
        np.add.at(self._heads, self._kinds[chosen], 1)
        return chosen

    monkeypatch.setattr(collapsed_collapsed._Live, "_first_of", one_kind_after_another)
    different = [
        not np.array_equal(
            collapsed_collapsed.mdav_of_duplicates(space, kinds, 5), mdav_reference.mdav(space, 5)
        )
        for space, kinds in (case(seed, 100, 4) for seed in range(5))
    ]
    assert any(different)


def test_kinds_are_different_records() -> None:
    space, kinds = case(3, 60, 3)
    rows = [tuple(space.record(i).tolist()) for i in range(60)]
    assert len(set(zip(rows, kinds.tolist(), strict=True))) == len(set(rows)) == kinds.max() + 1


# -- `mdav` as people call it: its refusals, its two ways of computing -----------------------------

mdav_module = importlib.import_module("tenue.publish.partition.mdav")
DATA = Path(__file__).resolve().parents[3].parent / "shared" / "data"
needs_data = pytest.mark.skipif(
    not DATA.is_dir(), reason="the reference data (../shared/data) is not on this machine"
)
EIA_ELEVEN = [
    "MONTH",
    *("RESREVENUE", "RESSALES", "COMREVENUE", "COMSALES", "INDREVENUE", "INDSALES"),
    *("OTHREVENUE", "OTHRSALES", "TOTREVENUE", "TOTSALES"),
]


def read(name: str, columns: list[str] | None = None) -> np.ndarray:
    with (DATA / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return np.array([[float(row[c]) for c in columns or rows[0]] for row in rows])


def test_mdav_scale_divides_before_distances_are_taken() -> None:
    rng = random.Random(1)
    table = np.array([[rng.gauss(0, 1), rng.gauss(0, 1000)] for _ in range(90)])
    assert mdav(table, 4, scale=[1, 1000]) == mdav(table / [1.0, 1000.0], 4)
    assert mdav(table, 4, scale=[1, 1000]) != mdav(table, 4)


def test_tables_of_any_kind_are_read() -> None:
    rows = [[3, 1], [0, 2], [5, 5], [1, 1], [4, 0], [2, 2]]
    expected = mdav(rows, 2)
    pandas = pytest.importorskip("pandas")
    assert mdav(np.array(rows, np.uint8), 2) == expected
    assert mdav(pandas.DataFrame(rows), 2) == expected
    assert mdav(np.array(rows, np.float32)[::-1][::-1], 2) == expected


def test_the_given_table_is_left_alone() -> None:
    table = np.arange(40.0).reshape(10, 4)
    mdav(table, 2, scale=[1, 2, 3, 4])
    assert np.array_equal(table, np.arange(40.0).reshape(10, 4))


@pytest.mark.parametrize("k", [0, -3, 1.5, 7, "k", None])
def test_an_impossible_k_is_refused(k: object) -> None:
    with pytest.raises(InvalidArgument):
        mdav(np.arange(12.0).reshape(6, 2), k)


@pytest.mark.parametrize("table", [[1, 2, 3], [], [[]], [["a"]], [[float("nan")]], [[1], [1, 2]]])
def test_a_table_that_is_none_is_refused(table: object) -> None:
    with pytest.raises(InvalidTable):
        mdav(table, 1)


def test_a_wrong_call_is_refused() -> None:
    with pytest.raises(InvalidArgument):
        mdav([[1]], 1, scales=[1])
    with pytest.raises(InvalidArgument):
        mdav([[1]])
    with pytest.raises(InvalidArgument):
        mdav([[1, 2]], 1, scale=[1])


def test_the_compiled_algorithm_is_used_for_large_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    class Kernels:
        @staticmethod
        def mdav(given: exact_means.Points, k: int) -> np.ndarray:
            calls.append(k)
            return mdav_reference.mdav(mdav_reference.Euclidean(given), k)

    monkeypatch.setattr(mdav_module, "kernels", lambda: Kernels)
    table = np.arange(200.0).reshape(100, 2) % 7
    expected = mdav(table, 3)
    assert calls == []
    monkeypatch.setattr(mdav_module, "COMPILED_FROM", 100 * 100 * 2 / 3)
    assert mdav(table, 3) == expected
    assert calls == [3]


@pytest.mark.slow
@needs_data
@pytest.mark.parametrize("k", [3, 5, 10, 25])
@pytest.mark.parametrize(("name", "columns"), [("census", None), ("eia", EIA_ELEVEN)])
def test_the_compiled_algorithm_agrees_on_real_tables(
    name: str, columns: list[str] | None, k: int
) -> None:
    fast = kernels()
    table = read(name, columns)
    for scale in (None, (1.5 * np.abs(table).max(axis=0)).tolist()):
        given = exact_means.points_of(table, scale)
        assert np.array_equal(
            fast.mdav(given, k), mdav_reference.mdav(mdav_reference.Euclidean(given), k)
        )


# V-MDAV follows its definition, and no group has fewer than k or more than 2k - 1 records.

module = importlib.import_module("tenue.publish.partition.mdav")
TINY = 2.0**-30


def by_the_book(table: np.ndarray, k: int, gain: float, *, careful: bool = True) -> list[int]:
    """The definition, sentence by sentence; without `careful`, as it was published."""
    space = mdav_reference.Euclidean(exact_means.points_of(table))
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
