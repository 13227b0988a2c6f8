"""MDAV, fast and plain, are one function; and whatever rule is taken away, the tests notice."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenue.microdata import individual_ranking, mdav, v_mdav
from tenue.publish.numba_kernels import kernels
from tenue.publish.partition import mdav_reference
from tenue.publish.partition.exact_means import Points, points_of

SOURCE = Path(mdav_reference.__file__).parent
ARC = [(0, 65), (16, 63), (25, 60), (33, 56), (39, 52), (52, 39), (56, 33), (60, 25), (63, 16)]
"""Whole points equally far from (0, 0): the first group takes its nearest and the second seed."""


def altered(file: str, *changes: tuple[str, str]) -> ModuleType:
    """A module with passages replaced, run by the interpreter."""
    source = (SOURCE / file).read_text(encoding="utf-8")
    compiler = ("from numba import njit\n", "njit = lambda function, **options: function\n")
    for old, new in [compiler, *changes] if file == "mdav_numba.py" else changes:
        assert source.count(old) == 1, old
        source = source.replace(old, new)
    module = ModuleType("altered")
    module.__package__ = "tenue.publish.partition"
    exec(source, vars(module))  # noqa: S102
    return module


def plainly(points: Points, k: int) -> np.ndarray:
    return mdav_reference.mdav(mdav_reference.Euclidean(points), k)


def data_set(seed: int, largest: int) -> tuple[Points, int]:
    """Tables with ties and duplicates, skewed ones, and sizes around multiples of k."""
    rng = random.Random(seed)
    k = rng.choice([1, 2, 3, 4, 5, 7, 10])
    n = rng.choice([k, k + 1, 2 * k - 1, 2 * k, 3 * k - 1, 3 * k, 3 * k + 1, largest])
    n = max(n, k) if seed % 3 else rng.randrange(k, max(largest, k) + 1)
    columns = 1 + seed % 13
    kind = rng.randrange(6)
    values = rng.choice([2, 3, 5, 20, 1000])

    def cell() -> float:
        if kind < 3:
            return float(rng.randrange(values))
        if kind == 3:
            return round(rng.gauss(0, 1), 1)
        return rng.gauss(0, 1) if kind == 4 else 10 ** rng.gauss(0, 3)

    if columns > 1 and seed % 10 == 7:
        apex = rng.randrange(n)
        arc = [(0, 0) if row == apex else rng.choice(ARC) for row in range(n)]
        return points_of([[*point, *[0] * (columns - 2)] for point in arc]), k
    table = [[cell() for _ in range(columns)] for _ in range(n)]
    for _ in range(rng.choice([0, 0, n // 2])):
        table[rng.randrange(n)] = table[rng.randrange(n)]
    return points_of(table), k


def data_sets(count: int, largest: int) -> Iterator[tuple[Points, int]]:
    return (data_set(seed, largest) for seed in range(count))


@pytest.mark.slow
def test_the_compiled_algorithm_is_the_plain_one_on_400_tables() -> None:
    fast = kernels()
    for points, k in data_sets(400, 400):
        assert np.array_equal(fast.mdav(points, k), plainly(points, k))


def test_the_interpreted_algorithm_is_the_plain_one() -> None:
    """The control for the mutants below: the same source, unaltered."""
    fast = altered("mdav_numba.py")
    for points, k in data_sets(60, 90):
        assert np.array_equal(fast.mdav(points, k), plainly(points, k))


MUTANTS = {
    "no drift bound: distances to the old centre are taken for the new": (
        "    return (reach + length - 2.0 * along) + (slack * (reach + length) + 1e-300)\n",
        "    return reach + slack\n",
    ),
    "no drift: the farthest from the old centre": (
        "first = farthest(tree, centre, scratch)",
        "first = farthest(tree, tree.centre, scratch)",
    ),
    "drift without its direction": (
        "    return (reach + length - 2.0 * along) + ",
        "    return (reach + length) + ",
    ),
    "the second seed is not chosen again": ("if labels[second] >= 0:", "if False:"),
    "ties at the edge of a box are not looked at": (
        "bound == distances[0] and tree.lowest[v] > rows[0]",
        "bound == distances[0]",
    ),
    "ties in a leaf go to whoever comes first": (
        "distance == distances[0] and row < rows[0]",
        "False",
    ),
    "ties for the farthest go to whoever comes first": (
        "distance == best and tree.rows[s] < row",
        "False",
    ),
    "sums keep those who left": ("add(sums, j, tree.points[tree.slot[row], j], -1)", "pass"),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_no_rule_of_the_fast_algorithm_can_be_taken_away(mutant: str) -> None:
    fast = altered("mdav_numba.py", MUTANTS[mutant])
    assert any(differs(fast, points, k) for points, k in data_sets(120, 250))


def differs(fast: ModuleType, points: Points, k: int) -> bool:
    try:
        return not np.array_equal(fast.mdav(points, k), plainly(points, k))
    except IndexError:  # it lost count of its records
        return True


def test_the_second_seed_of_the_plain_algorithm_must_be_chosen_again() -> None:
    wrong = altered("mdav_reference.py", ("if labels[second] >= 0:", "if False:"))
    found = 0
    for points, k in data_sets(120, 60):
        try:
            labels = wrong.mdav(wrong.Euclidean(points), k)
        except IndexError:
            found += 1
        else:
            found += not np.array_equal(labels, plainly(points, k))
    assert found > 0


whole_tables = st.integers(1, 6).flatmap(
    lambda columns: st.lists(
        st.lists(st.integers(-4, 4), min_size=columns, max_size=columns), min_size=1, max_size=40
    )
)
any_tables = st.integers(1, 4).flatmap(
    lambda columns: st.lists(
        st.lists(
            st.floats(allow_nan=False, allow_infinity=False), min_size=columns, max_size=columns
        ),
        min_size=1,
        max_size=30,
    )
)


@settings(deadline=None)
@given(whole_tables | any_tables, st.integers(1, 8))
def test_groups_have_k_records_and_the_last_fewer_than_2k(table: list[list[float]], k: int) -> None:
    k = min(k, len(table))
    sizes = mdav(table, k).sizes
    assert (sizes[:-1] == k).all()
    assert k <= sizes[-1] < 2 * k
    assert sizes.sum() == len(table)
    varied = v_mdav(table, k, 1.5).sizes
    assert k <= varied.min()
    assert varied.max() < 2 * k


@settings(deadline=None)
@given(any_tables, st.integers(1, 5), st.integers(-40, 40))
def test_a_power_of_two_changes_nothing(table: list[list[float]], k: int, exponent: int) -> None:
    values = np.array(table)
    k = min(k, len(table))
    with np.errstate(all="ignore"):
        scaled = np.ldexp(values, exponent)
    if np.isfinite(scaled).all() and np.array_equal(np.ldexp(scaled, -exponent), values):
        assert mdav(scaled, k) == mdav(values, k)


@settings(deadline=None)
@given(any_tables, st.integers(1, 5))
def test_a_constant_column_changes_nothing(table: list[list[float]], k: int) -> None:
    values = np.array(table)
    k = min(k, len(table))
    wider = np.column_stack([np.full(len(table), 0.0), values, np.full(len(table), -0.0)])
    assert mdav(wider, k) == mdav(values, k)


@settings(deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 6))
def test_where_nothing_ties_the_order_of_rows_does_not_matter(seed: int, k: int) -> None:
    """Means come from exact sums: in any order of adding they are the same double."""
    rng = random.Random(seed)
    values = np.array([[rng.gauss(0, 1) for _ in range(3)] for _ in range(40)])
    order = rng.sample(range(40), 40)
    assert np.array_equal(mdav(values[order], k).labels, mdav(values, k).labels[order])


@settings(deadline=None)
@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=40)
    | st.lists(st.sampled_from([0.3, 0.1 + 0.2, 1.0, 1e16, -1e16, 5e-17]), min_size=1, max_size=40),
    st.integers(1, 6),
)
def test_individual_ranking_is_mdav_of_one_column(column: list[float], k: int) -> None:
    k = min(k, len(column))
    expected = plainly(points_of([[value] for value in column]), k)
    assert np.array_equal(individual_ranking(column, k).labels, expected)
