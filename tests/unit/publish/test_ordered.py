"""Groups by an order of the domain; records of numbers and categories."""

from __future__ import annotations

import importlib
import itertools
import math
import random
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tenue.errors import InvalidArgument, InvalidTable, NotPromised
from tenue.microdata import Records, mdav, ordered, records, reference_points, v_mdav
from tenue.publish.partition import mdav_reference
from tenue.publish.partition.mixed_records import Meaning, Mixed
from tenue.publish.partition.ordered import corners, intervals
from tenue.schema import Schema
from tenue.sensitivity import chain
from tenue.taxonomy import Taxonomy, total_order

SQUARE = [(0, 8), (0, 8)]


def test_groups_are_intervals_of_ranks() -> None:
    assert intervals(10, 3).tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2, 2]
    assert intervals(5, 3).tolist() == [0] * 5


def test_one_column_is_sorted() -> None:
    found = ordered([[5], [1], [4], [2], [3]], k=2, bounds=[(0, 9)])
    assert found.labels.tolist() == [1, 0, 1, 0, 1]


def test_labels_follow_the_curve() -> None:
    cells = np.array(list(itertools.product(range(4), range(4))))
    labels = ordered(cells + 0.5, k=1, bounds=[(0, 4), (0, 4)]).labels
    assert np.array_equal(labels, total_order.index(cells, 2).astype(np.int64))


def test_values_beyond_the_bounds_count_as_the_bound() -> None:
    inside = ordered([[0, 0], [8, 8], [4, 4]], k=1, bounds=SQUARE)
    assert ordered([[-5, 0], [99, 8], [4, 4]], k=1, bounds=SQUARE) == inside


def test_ordered_rows_decide_nothing() -> None:
    points = np.random.default_rng(2).integers(0, 9, (50, 2))
    groups = ordered(points, k=7, bounds=SQUARE)
    rows = np.random.default_rng(3).permutation(50)
    again = ordered(points[rows], k=7, bounds=SQUARE)
    for group in range(len(groups)):
        one, other = points[groups.labels == group], points[rows][again.labels == group]
        assert sorted(one.tolist()) == sorted(other.tolist())


@pytest.mark.parametrize(("columns", "rows", "k"), [(1, 7, 2), (2, 8, 1), (3, 8, 2), (4, 9, 3)])
def test_a_replaced_record_moves_the_groups_along_a_chain(columns: int, rows: int, k: int) -> None:
    rng = np.random.default_rng(columns)
    limit = chain.hilbert(columns, rows // k)
    for _ in range(150):
        points = rng.integers(0, 9, (rows, columns))
        moved = points.copy()
        moved[0] = rng.integers(0, 9, columns)
        sums = []
        for table in (points, moved):
            labels = ordered(table, k, bounds=[(0, 8)] * columns).labels
            sums.append([table[labels == g].sum(axis=0) for g in range(rows // k)])
        assert Fraction(int(np.abs(np.subtract(*sums)).sum()), 8) <= limit


@pytest.mark.parametrize(
    "bounds",
    [[(0, 1)], [(0, 1), (1, 1)], [(0, 1), (2, 1)], 3, [(0, 1), 5], [(0, 1), (-1e308, 1e308)]],
)
def test_bounds_are_stated_for_each_column(bounds: object) -> None:
    with pytest.raises(InvalidArgument, match="bounds"):
        ordered([[0, 0]], k=1, bounds=bounds)  # type: ignore[arg-type]


def test_refusals() -> None:
    with pytest.raises(InvalidArgument, match="hilbert"):
        ordered([[0]], k=1, order="peano", bounds=[(0, 1)])
    with pytest.raises(InvalidArgument, match="bounds"):
        ordered([[0]], k=1)  # type: ignore[call-arg]
    with pytest.raises(NotPromised):
        ordered([[0] * 17], k=1, bounds=[(0, 1)] * 17)
    with pytest.raises(InvalidTable):
        ordered([[float("nan")]], k=1, bounds=[(0, 1)])


# Groups from the corners: the Hamming rule, one record at most in each group, N times in all.


def by_the_book(points: np.ndarray, k: int) -> list[int]:
    """Algorithm 6.1, sentence by sentence, for whole numbers between 0 and 8."""
    rest = list(range(len(points)))
    labels = [0] * len(points)
    for group, corner in enumerate(corners(points.shape[1])):
        ends = [8 * (corner >> j & 1) for j in range(points.shape[1])]
        rest.sort(
            key=lambda i, ends=ends: (
                sum((int(v) - e) ** 2 for v, e in zip(points[i], ends, strict=True)),
                points[i].tolist(),
            )
        )
        taken, rest = (rest[:k], rest[k:]) if len(rest) >= 2 * k else (rest, [])
        for row in taken:
            labels[row] = group
        if not rest:
            return labels
    raise AssertionError


def test_corners_of_a_cube() -> None:
    assert list(islice(corners(1), 4)) == [0, 1, 0, 1]
    assert list(islice(corners(3), 8)) == [0, 7, 1, 6, 3, 4, 2, 5]


@pytest.mark.parametrize("columns", [1, 2, 3, 4, 5])
def test_corners_follow_the_hamming_rule(columns: int) -> None:
    found = list(islice(corners(columns), 1 << columns))
    assert sorted(found) == list(range(1 << columns))
    for i in range(1, len(found)):
        free = [c for c in range(1 << columns) if c not in found[:i]]
        distances = {c: [(c ^ f).bit_count() for f in found[:i][::-1]] for c in free}
        assert distances[found[i]] == max(distances.values())


@pytest.mark.parametrize(("columns", "rows", "k"), [(1, 9, 2), (2, 40, 3), (3, 50, 4), (7, 60, 2)])
def test_groups_are_those_of_the_algorithm(columns: int, rows: int, k: int) -> None:
    points = np.random.default_rng(columns).integers(0, 9, (rows, columns))
    found = reference_points(points, k, bounds=[(0, 8)] * columns)
    assert found.labels.tolist() == by_the_book(points, k)
    assert found.sizes.tolist()[:-1] == [k] * (rows // k - 1)


def test_one_record_changes_every_group_and_each_by_one_record() -> None:
    """The thesis' claim, one record for each group, holds; its sensitivity, that of one group,
    does not: the sum of all of them goes far beyond the 2 of one group."""
    rng = np.random.default_rng(5)
    rows, k, most = 24, 2, 0.0
    for _ in range(300):
        points = rng.integers(0, 9, (rows, 2))
        moved = points.copy()
        moved[0] = rng.integers(0, 9, 2)
        sums, members = [], []
        for table in (points, moved):
            labels = reference_points(table, k, bounds=[(0, 8)] * 2).labels
            sums.append([table[labels == g].sum(axis=0) for g in range(rows // k)])
            members.append(
                [Counter(map(tuple, table[labels == g].tolist())) for g in range(rows // k)]
            )
        for one, other in zip(*members, strict=True):
            assert sum((one - other).values()) <= 1
        most = max(most, float(np.abs(np.subtract(*sums)).sum()) / 8)
    assert 2 * 2 < most <= chain.separate(2, rows // k)


def test_rows_decide_nothing() -> None:
    points = np.random.default_rng(8).integers(0, 4, (30, 2))
    rows = np.random.default_rng(9).permutation(30)
    one = reference_points(points, 4, bounds=[(0, 3)] * 2).labels
    other = reference_points(points[rows], 4, bounds=[(0, 3)] * 2).labels
    for group in range(7):
        assert sorted(points[one == group].tolist()) == sorted(
            points[rows][other == group].tolist()
        )


# -- Distances in a taxonomy, and the concept in the middle: those of the taxonomy itself ----------

module = importlib.import_module("tenue.publish.partition.mixed_records")
TREE = Taxonomy.from_nested(
    {"any": {"a": {"a1": ["x", "y", "z"], "a2": ["u", "v"]}, "b": ["w"], "c": ["p", "q", "r", "s"]}}
)
OCCURRING = np.array([TREE.concepts.index(name) for name in ("y", "u", "w", "p", "a1")])


def test_distances_are_semantic_and_the_domain_has_diameter_one() -> None:
    meaning = Meaning(TREE, OCCURRING)
    diameter = float(TREE.marginality_sensitivity)
    for place, concept in enumerate(TREE.concepts):
        expected = [
            (float(TREE.rational_distance(concept, TREE.concepts[o])) / diameter) ** 2
            for o in OCCURRING
        ]
        assert meaning.squared_from(place).tolist() == pytest.approx(expected, rel=1e-14)
    every = Meaning(TREE, np.array([TREE.concepts.index(leaf) for leaf in TREE.categories]))
    apart = [every.squared_from(TREE.concepts.index(leaf)).max() for leaf in TREE.categories]
    assert max(apart) == pytest.approx(1.0, rel=1e-15)


@pytest.mark.parametrize("largest", [0, 1 << 20])
def test_the_middle_is_the_least_marginal_concept(
    largest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_LARGEST_TABLE", largest)
    monkeypatch.setattr(module, "_BLOCK", 7)
    rng = random.Random(1)
    meaning = Meaning(TREE, OCCURRING)
    counts = np.array([[rng.randrange(4) for _ in OCCURRING] for _ in range(100)])
    counts[:, 0] += counts.sum(axis=1) == 0
    names = [TREE.concepts[o] for o in OCCURRING]
    expected = [
        TREE.least_marginal(Counter(dict(zip(names, map(int, sample), strict=True))))
        for sample in counts
    ]
    assert [TREE.concepts[found] for found in meaning.middle(counts)] == expected


def test_one_category_is_at_distance_zero() -> None:
    lone = Taxonomy.from_nested({"any": ["only"]})
    meaning = Meaning(lone, np.array([lone.concepts.index("only")]))
    assert meaning.squared_from(0).tolist() == [0.0]


# Groups of numbers and categories together are those of the definition, worked out by hand.

NESTED = {"any": {"work": {"desk": ["clerk", "writer"], "field": ["farmer"]}, "none": ["idle"]}}
JOBS = Taxonomy.from_nested(NESTED)
SEXES = ("f", "m", "x")
SCHEMA = Schema.from_dict(
    {
        "table": {"name": "people", "unit": "record", "neighbours": "replace"},
        "columns": {
            "age": {"type": "number", "bounds": [0, 100], "role": "quasi-identifier"},
            "job": {"type": "category", "taxonomy": NESTED, "role": "quasi-identifier"},
            "sex": {"type": "category", "categories": list(SEXES), "role": "quasi-identifier"},
            "born": {
                "type": "date",
                "bounds": ["2000-01-01", "2000-01-11"],
                "role": "quasi-identifier",
            },
            "ok": {"type": "boolean", "role": "quasi-identifier"},
        },
    }
)


def people(seed: int, size: int) -> list[dict[str, Any]]:
    rng = random.Random(seed)
    ages = rng.choice([[20, 40, 60], list(range(101))])
    return [
        {
            "age": rng.choice(ages),
            "job": rng.choice(JOBS.categories),
            "sex": rng.choice(SEXES),
            "born": f"2000-01-{rng.randrange(1, 12):02d}",
            "ok": rng.random() < 0.5,
        }
        for _ in range(size)
    ]


def given(rows: list[dict[str, Any]], *columns: str) -> Records:
    import datetime

    table = pa.table(
        {
            "age": [row["age"] for row in rows],
            "job": [row["job"] for row in rows],
            "sex": [row["sex"] for row in rows],
            "born": [datetime.date.fromisoformat(row["born"]) for row in rows],
            "ok": [row["ok"] for row in rows],
        }
    )
    return records(table, SCHEMA, list(columns) or None)


def by_hand(one: dict[str, Any], other: dict[str, Any]) -> float:
    """Equation 6.7, squared."""
    diameter = max(JOBS.distance(a, b) for a in JOBS.categories for b in JOBS.categories)
    days = int(one["born"][-2:]) - int(other["born"][-2:])
    return (
        ((one["age"] - other["age"]) / 100) ** 2
        + (JOBS.distance(one["job"], other["job"]) / diameter) ** 2
        + (one["sex"] != other["sex"])
        + (days / 10) ** 2
        + (one["ok"] != other["ok"])
    )


def test_the_distance_of_two_records_is_that_of_equation_6_7() -> None:
    rows = people(1, 40)
    held = given(rows)
    space = Mixed(held.coordinates, held.semantic)
    for i in range(0, 40, 3):
        got = space.distances(np.arange(40), space.record(i))
        assert got.tolist() == pytest.approx([by_hand(rows[i], row) for row in rows], abs=1e-8)


def test_the_centre_has_means_shares_and_the_least_marginal_concept() -> None:
    rows = people(2, 30)
    held = given(rows)
    space = Mixed(held.coordinates, held.semantic)
    chosen = np.array([0, 3, 4, 7, 11])
    centre = space.centre(space.tally(chosen), 5)
    inside = [rows[i] for i in chosen]
    assert centre[0] == pytest.approx(sum(row["age"] for row in inside) / 500)
    shares = [sum(row["sex"] == sex for row in inside) / 5 * math.sqrt(0.5) for sex in SEXES]
    assert centre[1:4].tolist() == pytest.approx(shares)
    job = JOBS.least_marginal([row["job"] for row in inside])
    assert JOBS.concepts[int(centre[-1])] == job


def naive_mdav(rows: list[dict[str, Any]], k: int, again: bool = True) -> list[int]:
    """MDAV on whole records by the book, with exact means, no arrays and no shared code."""
    live = list(range(len(rows)))
    labels = [-1] * len(rows)
    group = 0
    apart = {(i, j): by_hand(rows[i], rows[j]) for i in live for j in live}

    def from_centre() -> Callable[[int], float]:
        count = len(live)
        age = Fraction(sum(rows[i]["age"] for i in live), count)
        day = Fraction(sum(int(rows[i]["born"][-2:]) for i in live), count)
        yes = Fraction(sum(rows[i]["ok"] for i in live), count)
        share = {s: Fraction(sum(rows[i]["sex"] == s for i in live), count) for s in SEXES}
        job = JOBS.least_marginal([rows[i]["job"] for i in live])
        diameter = max(JOBS.distance(a, b) for a in JOBS.categories for b in JOBS.categories)

        def distance(i: int) -> float:
            row = rows[i]
            corner = sum(((row["sex"] == s) - share[s]) ** 2 for s in SEXES) / 2
            exact = ((row["age"] - age) / 100) ** 2 + ((int(row["born"][-2:]) - day) / 10) ** 2
            exact += (row["ok"] - yes) ** 2 + corner
            return round(float(exact) + (JOBS.distance(row["job"], job) / diameter) ** 2, 9)

        return distance

    def far(distance: Callable[[int], float]) -> int:
        return max(live, key=lambda i: (distance(i), -i))

    def leave(seed: int) -> None:
        nonlocal group
        others = sorted((round(apart[seed, i], 9), i) for i in live if i != seed)
        for i in [seed, *(i for _, i in others[: k - 1])]:
            labels[i] = group
            live.remove(i)
        group += 1

    while len(live) >= 3 * k:
        first = far(from_centre())
        second = far(lambda i, first=first: round(apart[first, i], 9))
        leave(first)
        if labels[second] >= 0:
            second = far(lambda i, first=first: round(apart[first, i], 9))
        leave(second)
    if len(live) >= 2 * k:
        leave(far(from_centre()))
    for i in live:
        labels[i] = group
    return labels


@pytest.mark.parametrize("seed", range(12))
def test_mixed_groups_are_those_of_the_book(seed: int) -> None:
    rows = people(seed, 25 + seed)
    for k in (2, 3, 5):
        assert mdav(given(rows), k).labels.tolist() == naive_mdav(rows, k)


def test_numbers_alone_go_the_fast_way_and_give_the_same_groups() -> None:
    rows = people(5, 60)
    held = given(rows, "age", "born", "ok", "sex")
    assert held.semantic == ()
    plainly = mdav_reference.mdav(mdav_reference.Euclidean(held.coordinates), 4)
    assert np.array_equal(mdav(held, 4).labels, plainly)


def test_a_taxonomy_puts_related_jobs_together() -> None:
    """Without the taxonomy a writer is as far from a clerk as from somebody idle."""
    rows = [
        {"age": 30, "job": job, "sex": "f", "born": "2000-01-01", "ok": True}
        for job in ["clerk", "idle", "writer", "idle", "clerk", "idle"]
    ]
    groups = {frozenset(group.tolist()) for group in mdav(given(rows), 3).groups()}
    assert groups == {frozenset({0, 2, 4}), frozenset({1, 3, 5})}


@pytest.mark.parametrize("k", [2, 3, 4])
def test_v_mdav_keeps_its_sizes_on_mixed_records(k: int) -> None:
    for seed in range(6):
        sizes = v_mdav(given(people(seed, 40)), k, 1.1).sizes
        assert k <= sizes.min() <= sizes.max() < 2 * k


def test_a_scale_for_records_is_refused() -> None:
    with pytest.raises(InvalidArgument):
        mdav(given(people(1, 9)), 3, scale=[1])
    with pytest.raises(InvalidArgument):
        mdav(given(people(1, 2)), 3)
