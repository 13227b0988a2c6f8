"""The compiled algorithms compute the same doubles and make the same choices as the plain ones."""

from __future__ import annotations

import random
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from tenue.publish.numba_kernels import kernels
from tenue.publish.partition import exact_means, mdav_reference

fast = kernels()
pytestmark = pytest.mark.slow  # compiling takes a while


def _interpreted() -> ModuleType:
    """The same source without the compiler: for tests that look inside."""
    source = Path(fast.__file__).read_text(encoding="utf-8")
    compiler = "from numba import njit\n"
    assert source.count(compiler) == 1
    module = ModuleType("interpreted")
    module.__package__ = fast.__package__
    exec(source.replace(compiler, "njit = lambda function, **options: function\n"), vars(module))  # noqa: S102
    return module


slow = _interpreted()


def cloud(seed: int, n: int, columns: int, values: int | None = None) -> np.ndarray:
    rng = random.Random(seed)
    if values is None:
        return np.array([[rng.gauss(0, 1) for _ in range(columns)] for _ in range(n)])
    return np.array([[rng.randrange(values) for _ in range(columns)] for _ in range(n)])


@pytest.mark.parametrize("columns", [2, 4, 13])
def test_no_operation_is_fused_or_reordered(columns: int) -> None:
    """Fused multiply-add rounds once where numpy rounds twice; the data can tell them apart."""
    table = exact_means.points_of(cloud(1, 300, columns))
    plainly = mdav_reference.Euclidean(table).distances(np.arange(300), table[0])
    padded, width = fast._padded(table)
    compiled = [fast.squared(width, padded, s, padded[0]) for s in range(300)]
    assert compiled == plainly.tolist()

    fused = []
    for point in table.tolist():
        total = 0.0
        for x, y in zip(point, table[0].tolist(), strict=True):
            total = float(Fraction(x - y) ** 2 + Fraction(total))
        fused.append(total)
    assert fused != compiled


def test_the_centroid_has_the_same_bits() -> None:
    table = exact_means.points_of(cloud(2, 500, 5) * 10.0 ** cloud(3, 500, 5, 9))
    sums = np.zeros((exact_means.GRAINS, 5), np.int64)
    for row in range(500):
        for j in range(5):
            fast.add(sums, j, table[row, j], 1)
    assert np.array_equal(sums, exact_means.cut(table).sum(axis=1))
    for row in range(0, 500, 3):
        for j in range(5):
            fast.add(sums, j, table[row, j], -1)
    rest = np.delete(np.arange(500), np.arange(0, 500, 3))
    centre = np.empty(5)
    fast.centroid(sums, rest.size, centre)
    space = mdav_reference.Euclidean(table)
    assert np.array_equal(centre, space.centre(space.tally(rest), rest.size))


@pytest.mark.parametrize(("columns", "spread"), [(3, 0), (11, 0), (3, 9), (11, 150)])
def test_no_record_lies_outside_the_bounds_of_its_node(columns: int, spread: int) -> None:
    table = exact_means.points_of(
        cloud(4, 400, columns) * 10.0 ** -cloud(5, 400, columns, spread + 1)
    )
    padded, width = slow._padded(table)
    tree = slow.grow(padded, width)
    centre = padded[7] * 0.75
    slow.renew(tree, centre)
    for row in range(0, 400, 3):
        slow.remove(tree, row)
        slow.refit(tree, tree.leaf[row])
    for q in (padded[1], padded[2] * 0.3, centre):
        away = q - centre
        length = float((away * away).sum())
        for v in range(2 * tree.leaves - 1):
            inside = [
                s
                for leaf in range(tree.leaves - 1, 2 * tree.leaves - 1)
                if _under(leaf, v)
                for s in range(tree.start[leaf], tree.start[leaf] + tree.held[leaf])
            ]
            if not inside:
                continue
            distances = [slow.squared(width, tree.points, s, q) for s in inside]
            assert slow.least(width, tree.node, v, q) <= min(distances)
            assert slow.corner(tree.node, v, q) >= max(distances)
            assert slow.greatest(width, tree.node, v, centre, away, length) >= max(distances)
            assert tree.lowest[v] == min(tree.rows[s] for s in inside)


def _under(leaf: int, node: int) -> bool:
    while leaf > node:
        leaf = (leaf - 1) // 2
    return leaf == node


def test_a_seed_stays_in_its_group_whoever_shares_its_place() -> None:
    padded, width = slow._padded(exact_means.points_of([[1.0, 1.0]] * 90 + [[0.0, 0.0]] * 10))
    tree = slow.grow(padded, width)
    slow.renew(tree, np.zeros(4))
    scratch = slow.room(4, 5)
    slow.nearest(tree, np.array(tree.points[tree.slot[60]]), 60, 5, scratch)
    assert sorted(scratch.row.tolist()) == [0, 1, 2, 3, 60]


@pytest.mark.parametrize("k", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("columns", [2, 13])
def test_the_same_groups_at_every_small_size(k: int, columns: int) -> None:
    for n in {k, k + 1, 2 * k - 1, 2 * k, 3 * k - 1, 3 * k, 3 * k + 1, 5 * k, 7 * k + 2, 130}:
        for values in (None, 3):
            table = exact_means.points_of(cloud(n, n, columns, values))
            assert (
                fast.mdav(table, k).tolist()
                == mdav_reference.mdav(mdav_reference.Euclidean(table), k).tolist()
            )


@pytest.mark.parametrize(
    "table",
    [
        np.zeros((700, 3)),
        np.repeat([[0, 0], [3, 4], [9, 1]], 250, axis=0),
        np.array([[1e17, 0]] + [[i % 7, i % 3] for i in range(800)]),
        np.array([[1.0, 1.0]] + [[i * 1e-170, i * 1e-171] for i in range(300)]),
        np.array([[i * 5e-324, 0.0] for i in range(200)]),
        np.array([[np.cos(i / 50), np.sin(i / 50)] for i in range(314)]),
    ],
)
def test_the_same_groups_where_rounding_and_ties_rule(table: np.ndarray) -> None:
    given = exact_means.points_of(table)
    for k in (2, 5):
        assert np.array_equal(
            fast.mdav(given, k), mdav_reference.mdav(mdav_reference.Euclidean(given), k)
        )


@pytest.mark.parametrize("columns", [4, 5])
def test_the_same_groups_over_many_renewals(columns: int) -> None:
    table = exact_means.points_of(np.exp(cloud(8, 3000, columns)))
    assert np.array_equal(
        fast.mdav(table, 4), mdav_reference.mdav(mdav_reference.Euclidean(table), 4)
    )


def test_a_place_without_a_cache_still_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    real = fast.njit
    asked = []

    def refuses_to_cache(function: object, **options: object) -> object:
        asked.append(options.get("cache", False))
        if options.pop("cache", False):
            raise RuntimeError("no locator available")
        return real(function, **options)

    monkeypatch.setattr(fast, "njit", refuses_to_cache)
    assert fast.compiled(abs_of)(-3) == 3
    assert asked == [True, False]


def abs_of(x: int) -> int:
    return -x if x < 0 else x


@pytest.mark.any_draw("modules are loaded whatever is drawn")
def test_importing_the_room_loads_nothing_heavy() -> None:
    heavy = "numba", "scipy", "pandas", "duckdb"
    code = f"import sys, tenue.publish; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"
