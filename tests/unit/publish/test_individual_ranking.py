"""Groups of one column."""

from __future__ import annotations

import importlib
import itertools
import math
import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tenue.engine.contract import Numbers
from tenue.engine.passes.in_memory import InMemory
from tenue.errors import InvalidArgument, InvalidTable
from tenue.microdata import individual_ranking, mdav
from tenue.publish.partition import (
    exact_means,
    mdav_numba,
    mdav_reference,
    tied_partition_in_passes,
)
from tenue.publish.partition.individual_ranking import Classes, cut, least_errors, whole_values
from tenue.publish.partition.tied_partition_in_passes import column_cuts, cut_classes, cut_in_passes
from tenue.schema.column import Category
from tenue.taxonomy import Taxonomy

module = importlib.import_module("tenue.publish.partition.individual_ranking")

ULP = 2.0**-52
COLUMNS: dict[str, Callable[[random.Random], float]] = {
    "continuous": lambda rng: rng.gauss(0, 1),
    "few values": lambda rng: float(rng.randrange(4)),
    "one decimal": lambda rng: round(rng.gauss(0, 1), 1),
    "many magnitudes": lambda rng: 10 ** rng.uniform(-20, 20),
    "almost equal": lambda rng: rng.randrange(3) * (1 + rng.randrange(3) * ULP),
    "an outlier that hides the rest": lambda rng: rng.choice([1e17, 0.3, 0.1 + 0.2, 1.0, 2.5]),
    "below the precision of the mean": lambda rng: rng.choice([-1.0, 1.0, 1e-17, 2e-17, 3e-17]),
}


def columns(kind: str) -> Iterator[tuple[np.ndarray, int]]:
    rng = random.Random(kind)
    for _ in range(120):
        n = rng.randrange(1, 50)
        yield np.array([COLUMNS[kind](rng) for _ in range(n)]), rng.randrange(1, min(n, 8) + 1)


def as_blocks(column: np.ndarray, k: int) -> np.ndarray:
    """The obvious way, k from each end of the sorted column: wrong where there are ties."""
    labels = np.full(column.size, -1)
    left = np.argsort(column, kind="stable").tolist()
    label = 0
    while len(left) >= 2 * k:
        mean = column[left].mean()
        low_first = mean - column[left[0]] >= column[left[-1]] - mean
        ends = [left[:k], left[-k:]] if low_first else [left[-k:], left[:k]]
        for group in ends if len(left) >= 3 * k else ends[:1]:
            labels[group] = label
            label += 1
            left = [row for row in left if row not in group]
        if len(left) < k:
            break
    labels[left] = label
    return labels


@pytest.mark.parametrize("kind", COLUMNS)
def test_the_groups_are_those_of_mdav(kind: str) -> None:
    for column, k in columns(kind):
        given = exact_means.points_of(column[:, np.newaxis])
        expected = mdav_reference.mdav(mdav_reference.Euclidean(given), k).tolist()
        assert individual_ranking(column, k).labels.tolist() == expected
        assert mdav(column[:, np.newaxis], k).labels.tolist() == expected


@pytest.mark.parametrize("kind", ["few values", "one decimal", "an outlier that hides the rest"])
def test_blocks_of_the_sorted_column_would_not_do(kind: str) -> None:
    different = [
        as_blocks(column, k).tolist() != individual_ranking(column, k).labels.tolist()
        for column, k in columns(kind)
    ]
    assert any(different)


def test_blocks_of_the_sorted_column_do_where_nothing_ties() -> None:
    for column, k in columns("continuous"):
        assert as_blocks(column, k).tolist() == individual_ranking(column, k).labels.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("method", ["mdav", "optimal"])
@pytest.mark.parametrize("kind", COLUMNS)
def test_the_compiled_loops_agree(kind: str, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for column, k in columns(kind):
        interpreted = individual_ranking(column, k, method=method)
        with monkeypatch.context() as patch:
            patch.setattr(module, "COMPILED_FROM", 0)
            assert individual_ranking(column, k, method=method) == interpreted


@pytest.mark.parametrize("close", [0, 1, 5, 40, 400])
def test_rows_are_ranked_by_value_and_then_by_row(close: int) -> None:
    """Values that agree in all but their last bits, none of them, some, or most."""
    rng = random.Random(close)
    column = np.array([rng.choice([rng.random(), rng.randrange(9) / 8]) for _ in range(400)])
    for row in rng.sample(range(400), close):
        column[row] = 0.7 + rng.randrange(60) * 2.0**-53
    zeros = np.array([0.0, -0.0, 1.0, 0.0, -0.0, -1.0, -0.0])
    for each_given in (column, -column, column - 0.7, column[:1], zeros):
        order, ordered = module._ranked(each_given)
        assert order.tolist() == np.argsort(each_given, kind="stable").tolist()
        assert ordered.tolist() == each_given[order].tolist()


def individual_ranking_error(values: list[Fraction]) -> Fraction:
    mean = sum(values) / len(values)
    return sum(((value - mean) ** 2 for value in values), Fraction())


def error_of(column: np.ndarray, labels: np.ndarray) -> Fraction:
    groups = range(labels.max() + 1)
    return sum(
        (individual_ranking_error([Fraction(x) for x in column[labels == g]]) for g in groups),
        Fraction(),
    )


def least_error(values: list[Fraction], k: int) -> Fraction:
    """By trying every cut of the sorted values, with groups of any size."""
    best = {0: Fraction()}
    for end in range(k, len(values) + 1):
        choices = [
            best[s] + individual_ranking_error(values[s:end])
            for s in range(end - k + 1)
            if s in best
        ]
        best[end] = min(choices)
    return best[len(values)]


def test_the_optimal_groups_have_the_least_error() -> None:
    rng = random.Random(9)
    for _ in range(150):
        n = rng.randrange(1, 15)
        k = rng.randrange(1, n + 1)
        column = np.array(
            [float(rng.choice([rng.randrange(6), rng.randrange(90)])) for _ in range(n)]
        )
        partition = individual_ranking(column, k, method="optimal")
        assert partition.sizes.min() >= k
        assert partition.sizes.max() < 2 * k
        got = error_of(column, partition.labels)
        best = least_error(sorted(Fraction(x) for x in column), k)
        assert float(got) == pytest.approx(float(best), rel=1e-12, abs=1e-12)


def test_the_optimal_groups_are_better_than_those_of_mdav() -> None:
    column = np.array([1, 2, 3, 20, 21, 22, 23, 40, 41, 42, 60, 61, 62, 63], float)
    optimal = individual_ranking(column, 3, method="optimal").labels
    assert optimal.tolist() == [0] * 3 + [1] * 4 + [2] * 3 + [3] * 4
    assert error_of(column, optimal) < error_of(column, individual_ranking(column, 3).labels)


def test_errors_survive_a_large_offset() -> None:
    """Errors from prefix sums of squares, the usual way, drown in the offset."""
    rng = random.Random(10)
    near = np.sort([rng.choice([0.0, 1.0, 5.0, 6.0]) + rng.random() / 8 for _ in range(60)])
    far = near + 2.0**32
    k = 3
    assert individual_ranking(far, k, method="optimal").sizes.tolist() == (
        individual_ranking(far - 2.0**32, k, method="optimal").sizes.tolist()
    )
    squares, sums = np.cumsum(far * far), np.cumsum(far)
    naive = (squares[5] - squares[2]) - (sums[5] - sums[2]) ** 2 / 3
    exact = float(individual_ranking_error([Fraction(x) for x in far[3:6]]))
    assert abs(naive - exact) > 0.1
    assert module._errors(far, 0, k)[0, 3] == pytest.approx(exact, rel=1e-6)


def test_blocks_of_work_join_without_a_seam(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(11)
    column = np.array([rng.gauss(0, 1) for _ in range(100)])
    whole = individual_ranking(column, 4, method="optimal")
    monkeypatch.setattr(module, "_BLOCK", 7)
    assert individual_ranking(column, 4, method="optimal") == whole


def test_optimal_groups_are_numbered_from_the_smallest_values_up() -> None:
    labels = individual_ranking([30, 1, 31, 2, 1, 2], 2, method="optimal").labels
    assert labels.tolist() == [2, 0, 2, 1, 0, 1]


def test_a_matrix_of_one_column_is_one_column() -> None:
    assert individual_ranking([[3], [1], [2]], 1) == individual_ranking([3, 1, 2], 1)


@pytest.mark.parametrize(
    "values", [[[1, 2], [3, 4]], 5, [], [[]], ["a"], [1, float("nan")], [[1], [2, 3]], None]
)
def test_what_is_not_one_column_of_numbers_is_refused(values: object) -> None:
    with pytest.raises(InvalidTable):
        individual_ranking(values, 1)


@pytest.mark.parametrize("k", [0, 4, 1.5, None])
def test_an_impossible_k_is_refused(k: object) -> None:
    with pytest.raises(InvalidArgument):
        individual_ranking([1, 2, 3], k)


def test_an_unknown_method_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="optimal"):
        individual_ranking([1, 2, 3], 1, method="optimum")
    with pytest.raises(InvalidArgument):
        individual_ranking([1, 2, 3], 1, method=None)


# Groups that never part equal values: the best ones, and the same whoever has which value.

COUNTS = st.lists(st.integers(1, 4), min_size=1, max_size=9)


def every_cut(values: int) -> Iterator[list[int]]:
    """Where a group begins, in all ways."""
    for inner in itertools.product([0, 1], repeat=values - 1):
        yield np.cumsum([0, *inner]).tolist()


def error(labels: list[int], line: list[int], counts: list[int]) -> float:
    found = 0.0
    for group in set(labels):
        inside = [i for i, label in enumerate(labels) if label == group]
        units = sum(counts[i] for i in inside)
        mean = sum(counts[i] * line[i] for i in inside) / units
        found += sum(counts[i] * (line[i] - mean) ** 2 for i in inside)
    return found


def fits(labels: list[int], counts: list[int], k: int, different: int) -> bool:
    return all(
        sum(counts[i] for i, label in enumerate(labels) if label == group) >= k
        and labels.count(group) >= different
        for group in set(labels)
    )


@given(st.data(), COUNTS, st.integers(1, 6), st.integers(1, 3))
@settings(max_examples=300, deadline=None)
def test_no_partition_that_keeps_values_whole_is_better(
    data: st.DataObject, counts: list[int], k: int, different: int
) -> None:
    steps = data.draw(st.lists(st.integers(1, 9), min_size=len(counts), max_size=len(counts)))
    line = np.cumsum(steps)
    labels = cut(line.astype(float), np.array(counts), k, different).tolist()
    allowed = [found for found in every_cut(len(counts)) if fits(found, counts, k, different)]
    if not allowed:
        assert labels == [0] * len(counts)
        return
    assert fits(labels, counts, k, different)
    least = min(error(found, line.tolist(), counts) for found in allowed)
    assert error(labels, line.tolist(), counts) == pytest.approx(least)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=12), st.integers(1, 4), st.randoms())
def test_the_groups_of_values_do_not_depend_on_whose_they_are(
    values: list[int], k: int, random: object
) -> None:
    def groups(row: list[int]) -> set[tuple[int, int]]:
        line, codes = np.unique(row, return_inverse=True)
        classes = Classes(codes.astype(np.int64), line.astype(float))
        labels = module.whole_values(classes, k, 2).labels
        return set(zip(row, labels.tolist(), strict=True))

    other = list(values)
    random.shuffle(other)  # type: ignore[attr-defined]
    found = groups(values)
    assert found == groups(other)
    assert len(found) == len(set(values))  # each value in one group


@pytest.mark.parametrize("k", [1, 3, 50])
@pytest.mark.parametrize("different", [1, 2])
def test_the_compiled_code_says_the_same(k: int, different: int) -> None:
    random = np.random.default_rng(k)
    line = np.sort(random.normal(size=800))
    counts = random.integers(1, 6, 800)
    found = []
    for best in (least_errors, mdav_numba.least_errors):
        least, begin = np.full(801, np.inf), np.zeros(801, np.int64)
        best(k, different, line, counts, least, begin)
        found.append((least.tolist(), begin.tolist()))
    assert found[0] == found[1]


def test_a_large_column_is_cut_by_the_compiled_code_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    line, counts = np.cumsum(np.arange(1, 400) % 7 + 1.0), np.arange(1, 400) % 3 + 1
    before = cut(line, counts, 5, 2)
    monkeypatch.setattr(module, "COMPILED_FROM", 0)
    assert cut(line, counts, 5, 2).tolist() == before.tolist()


def test_a_heap_takes_its_neighbours_in() -> None:
    """Fewer than k others beside many equal ones are one group with them."""
    codes = np.array([0] * 90 + [1, 2, 3])
    one = module.whole_values(Classes(codes, np.arange(4.0)), 5)
    assert one.sizes.tolist() == [93]


# -- Cuts that are found from counts in order are those of `whole_values` --------------------------


@pytest.mark.parametrize("block", [1, 3, 1 << 20])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.integers(1, 30), min_size=1, max_size=40), st.integers(1, 6), st.integers(1, 3))
def test_groups_are_those_of_the_column(
    block: int, tmp_path: Path, given: list[int], k: int, different: int
) -> None:
    numbers = np.array(given)
    values, codes, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    expected = whole_values(Classes(codes, (values - values[0]).astype(float)), k, different)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tied_partition_in_passes, "_BLOCK", block)
        batches = iter([(values[i : i + 2], counts[i : i + 2]) for i in range(0, values.size, 2)])
        found = cut_in_passes(batches, numbers.size, k, different, tmp_path)
    assert found.label(numbers).tolist() == expected.labels.tolist()
    assert found.sizes.tolist() == expected.sizes.tolist()
    assert found.heap == counts.max()
    each = [np.unique(numbers[expected.labels == g]).size for g in range(expected.sizes.size)]
    assert found.values.tolist() == each
    means = [Fraction(int(sum(one)), len(one)) for one in _parts(numbers, expected.labels)]
    assert found.means is not None
    assert found.means.tolist() == [math.floor(mean + Fraction(1, 2)) for mean in means]


def _parts(numbers: Numbers, labels: Numbers) -> list[Numbers]:
    return [numbers[labels == group] for group in range(int(labels.max()) + 1)]


def test_values_beyond_doubles_are_kept_apart(tmp_path: Path) -> None:
    values = np.array([2**60, 2**60 + 1, 2**60 + 100, 2**60 + 101])
    found = cut_in_passes(iter([(values, np.ones(4, np.int64))]), 4, 2, 1, tmp_path)
    assert found.label(values).tolist() == [0, 0, 1, 1]


def test_means_of_many_large_values_are_exact(tmp_path: Path) -> None:
    """A sum in 64 bits, or in doubles, would miss them."""
    values, counts = np.array([2**61 + 1, 2**61 + 4]), np.array([10**6, 10**6])
    found = cut_in_passes(iter([(values, counts)]), 2, 2 * 10**6, 1, tmp_path)
    assert found.means is not None
    assert found.means.tolist() == [2**61 + 3]


def test_columns_of_few_values_have_no_means() -> None:
    words = ("a", "b", "c", "d")
    town = Category(name="c", role="other", taxonomy=Taxonomy.flat(words), stated=words)
    rows = InMemory(np.array([1, 1, 2, 4, 4, 4])[:, np.newaxis])
    found = column_cuts(rows, town, 2, 1)
    assert found.means is None
    assert found.label(np.array([1, 2, 4])).tolist() == [0, 0, 1]


def test_categories_are_cut_by_their_places() -> None:
    line, counts = np.array([0.0, 1.0, 9.0, 10.0]), np.array([2, 1, 1, 2])
    codes = np.array([-1, 3, 0, 2, 1, 0])  # numbers 2 and 5 mean the same, 0 does not occur
    found = cut_classes(line, codes, counts, 3, 2)
    assert found.label(np.array([1, 2, 3, 4, 5])).tolist() == [1, 0, 1, 0, 0]
    assert (found.sizes.tolist(), found.values.tolist(), found.heap) == ([3, 3], [2, 2], 2)
