"""Groups of one column: those of MDAV to the last tie, and those of least error."""

from __future__ import annotations

import importlib
import random
from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np
import pytest

from tenue.errors import InvalidArgument, InvalidTable
from tenue.microdata import individual_ranking, mdav
from tenue.microdata.partition import plain, points

module = importlib.import_module("tenue.microdata.partition.individual_ranking")

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
        given = points.points_of(column[:, np.newaxis])
        expected = plain.mdav(plain.Euclidean(given), k).tolist()
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
    for given in (column, -column, column - 0.7, column[:1], zeros):
        order, ordered = module._ranked(given)
        assert order.tolist() == np.argsort(given, kind="stable").tolist()
        assert ordered.tolist() == given[order].tolist()


def error(values: list[Fraction]) -> Fraction:
    mean = sum(values) / len(values)
    return sum(((value - mean) ** 2 for value in values), Fraction())


def error_of(column: np.ndarray, labels: np.ndarray) -> Fraction:
    groups = range(labels.max() + 1)
    return sum((error([Fraction(x) for x in column[labels == g]]) for g in groups), Fraction())


def least_error(values: list[Fraction], k: int) -> Fraction:
    """By trying every cut of the sorted values, with groups of any size."""
    best = {0: Fraction()}
    for end in range(k, len(values) + 1):
        choices = [best[s] + error(values[s:end]) for s in range(end - k + 1) if s in best]
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
    exact = float(error([Fraction(x) for x in far[3:6]]))
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
