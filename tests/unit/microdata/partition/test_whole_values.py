"""Groups that never part equal values: the best ones, and the same whoever has which value."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenue.microdata.partition import fast, whole_values
from tenue.microdata.partition.whole_values import Classes, cut, least_errors

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
        labels = whole_values.whole_values(classes, k, 2).labels
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
    for best in (least_errors, fast.least_errors):
        least, begin = np.full(801, np.inf), np.zeros(801, np.int64)
        best(k, different, line, counts, least, begin)
        found.append((least.tolist(), begin.tolist()))
    assert found[0] == found[1]


def test_a_large_column_is_cut_by_the_compiled_code_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    line, counts = np.cumsum(np.arange(1, 400) % 7 + 1.0), np.arange(1, 400) % 3 + 1
    before = cut(line, counts, 5, 2)
    monkeypatch.setattr(whole_values, "COMPILED_FROM", 0)
    assert cut(line, counts, 5, 2).tolist() == before.tolist()


def test_a_heap_takes_its_neighbours_in() -> None:
    """Fewer than k others beside many equal ones are one group with them."""
    codes = np.array([0] * 90 + [1, 2, 3])
    one = whole_values.whole_values(Classes(codes, np.arange(4.0)), 5)
    assert one.sizes.tolist() == [93]
