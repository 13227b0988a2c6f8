"""Uniform permutations, and kernels that are compiled once."""

from __future__ import annotations

import importlib
import itertools
import math
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tenue.noise import Seeded
from tenue.noise.source import SYSTEM
from tenue.publish.numba_kernels import COMPILING, compilation_told, kernels
from tenue.publish.permute import permuted, shuffled, some_rows

module = importlib.import_module("tenue.publish.permute")
Draw = Callable[[int, int, Any], np.ndarray]


def outcomes(labels: list[int], draw: Draw | None = None) -> Counter[tuple[int, ...]]:
    """How often each permutation comes out over all draws of whole numbers that could be made.

    The first run asks how many values each draw has; then every tape of values is played.
    """
    counts: list[int] = []

    def asking(count: int, size: int, source: Any) -> np.ndarray:
        counts.extend([count] * size)
        return np.zeros(size, np.int64)

    groups = np.array(labels, np.int64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "uniform", _altered(asking, draw))
        permuted(groups, SYSTEM)
    found: Counter[tuple[int, ...]] = Counter()
    for tape in itertools.product(*map(range, counts)):
        played = iter(tape)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "uniform", _altered(_playing(played), draw))
            found[tuple(permuted(groups, SYSTEM).tolist())] += 1
    assert sum(found.values()) == math.prod(counts)
    return found


def _playing(tape: Iterator[int]) -> Draw:
    def draw(count: int, size: int, source: Any) -> np.ndarray:
        return np.array([next(tape) for _ in range(size)], np.int64)

    return draw


def _altered(inner: Draw, draw: Any) -> Draw:
    return inner if draw is None else draw(inner)


def derangement(inner: Draw) -> Draw:
    """The mutant: nobody keeps the place (Sattolo's exchanges)."""
    return lambda count, size, source: inner(count - 1, size, source)


def links(found: Counter[tuple[int, ...]], labels: list[int]) -> list[list[Fraction]]:
    """P(row i gets the value of row j), by record identity."""
    total = sum(found.values())
    rows = range(len(labels))
    return [
        [Fraction(sum(n for p, n in found.items() if p[i] == j), total) for j in rows] for i in rows
    ]


@pytest.mark.parametrize(
    "labels", [[0, 0, 0, 0], [0, 1, 0, 1, 0], [1, 0, 1, 1, 0, 0], [0], [2, 0, 1, 0, 1]]
)
def test_every_permutation_inside_groups_is_equally_likely(labels: list[int]) -> None:
    found = outcomes(labels)
    sizes = Counter(labels).values()
    assert len(found) == math.prod(map(math.factorial, sizes))
    assert len(set(found.values())) == 1
    for permutation in found:
        assert [labels[j] for j in permutation] == labels


@pytest.mark.parametrize("labels", [[0, 0, 0, 0], [0, 1, 0, 1, 0]])
def test_the_link_matrix_is_one_over_the_group(labels: list[int]) -> None:
    sizes = Counter(labels)
    expected = [[Fraction(int(a == b), sizes[a]) for b in labels] for a in labels]
    assert links(outcomes(labels), labels) == expected


def test_a_derangement_would_link_better() -> None:
    labels = [0, 0, 0, 0]
    matrix = links(outcomes(labels, derangement), labels)
    assert [matrix[i][i] for i in range(4)] == [0] * 4
    assert max(max(row) for row in matrix) == Fraction(1, 3)


def test_large_groups_are_sorted_by_different_words() -> None:
    """Equal words would leave ties to the order of rows; all are drawn again."""

    class Repeating:
        safe = True

        def __init__(self) -> None:
            self.calls = 0

        def words(self, count: int, bits: int = 64) -> np.ndarray:
            self.calls += 1
            given = [5, 3, 5, 1] if self.calls < 3 else [9, 3, 5, 1]
            return np.array(given, np.uint64)

    source = Repeating()
    assert shuffled(4, source).tolist() == [3, 1, 2, 0]  # type: ignore[arg-type]
    assert source.calls == 3


def test_every_order_of_different_words_gives_its_own_permutation() -> None:
    class Given:
        safe = True

        def __init__(self, words: tuple[int, ...]) -> None:
            self.given = words

        def words(self, count: int, bits: int = 64) -> np.ndarray:
            return np.array(self.given, np.uint64)

    found = {
        tuple(shuffled(4, Given(words)).tolist())  # type: ignore[arg-type]
        for words in itertools.permutations([7, 2, 2**63, 11])
    }
    assert len(found) == 24


@pytest.mark.parametrize("limit", [1, 4, 1000])
def test_groups_of_any_size_keep_their_rows(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_SHORT", limit)
    labels = np.array([0] * 3 + [1] * 700 + [2] * 5)[np.argsort(Seeded(3).words(708))]
    moved = permuted(labels, SYSTEM)
    assert sorted(moved.tolist()) == list(range(708))
    assert np.array_equal(labels[moved], labels)
    assert (moved != np.arange(708)).any()


def test_some_rows_are_any_rows() -> None:
    for most in (100, 499, 500, 999):
        drawn = some_rows(1000, most, Seeded(1))
        assert (np.diff(drawn) > 0).all()
        assert drawn.size == most
        assert drawn.min() < 60
        assert drawn.max() > 940
    assert some_rows(5, 100, Seeded(1)).tolist() == [0, 1, 2, 3, 4]


# The compiled algorithms are loaded when asked for, and whoever waits for them is told why.


def test_the_module_is_the_compiled_one() -> None:
    fast = kernels()
    assert fast is importlib.import_module("tenue.publish.partition.mdav_numba")
    assert {"mdav", "v_mdav", "two_ended", "optimal"} <= set(dir(fast))


def toy() -> Any:
    """Compiled anew, with a function inside that is compiled for it."""
    from numba import njit

    @njit
    def inner(x: int) -> int:
        return x + 1

    @njit
    def outer(x: int) -> int:
        return int(inner(x)) * 2

    return outer


def test_a_compilation_is_told_once_and_only_when_it_happens() -> None:
    kernels()
    told: list[str] = []
    function = toy()
    with compilation_told(told.append):
        assert told == []
        assert function(3) == 8
        assert told == [COMPILING]
        assert function(4) == 10
    assert told == [COMPILING]
    assert toy()(3) == 8  # nobody listens any more
    assert told == [COMPILING]


@pytest.mark.parametrize("watched", [True, False])
def test_without_a_listener_a_terminal_shows_a_line(
    watched: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kernels()
    monkeypatch.setattr(sys.stderr, "isatty", lambda: watched, raising=False)
    assert toy()(3) == 8
    assert capsys.readouterr().err == (f"tenue: {COMPILING}\n" if watched else "")


@pytest.mark.any_draw("modules are loaded whatever is drawn")
def test_nothing_is_loaded_before_it_is_asked_for() -> None:
    code = (
        "import sys, tenue.microdata as m; m.mdav([[1], [2], [3]], 1); "
        "sys.exit('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
