"""An intruder who relates columns: what he restores is counted exactly."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tenue.evaluate.pair.rematch import EVERY, PublishedColumn, cells_share, rematched


def swapped(true: np.ndarray, size: int, seed: int) -> PublishedColumn:
    """A column whose values changed places in groups of neighbours in the file."""
    random = np.random.default_rng(seed)
    labels = np.arange(true.size) // size
    shown = true.copy()
    for group in range(labels.max() + 1):
        shown[labels == group] = random.permutation(true[labels == group])
    return PublishedColumn(true, shown, labels)


def plain(values: np.ndarray) -> PublishedColumn:
    return PublishedColumn(values, values)


def test_what_one_column_tells_is_restored_all() -> None:
    true = np.random.default_rng(1).permutation(60).astype(float)
    for told in (true * 3, -true):
        found = rematched({"tax": swapped(true, 5, 2), "told": plain(told)})["tax"]
        assert found.records == found.values == 1
        assert found.records_blind == found.values_blind == pytest.approx(1 / 5)
        assert found.by == "told"


def test_what_two_columns_tell_together_is_restored_by_all() -> None:
    random = np.random.default_rng(3)
    one, other = random.normal(size=(2, 400))
    columns = {"one": plain(one), "other": plain(other)}
    found = rematched({**columns, "sum": swapped(one + other, 4, 4)})["sum"]
    assert found.by == EVERY
    assert found.records > 0.95


def test_words_tell_by_what_is_usual_among_them() -> None:
    random = np.random.default_rng(5)
    words = random.integers(0, 4, 8000).astype(float)
    height = np.array([20.0, 0.0, 30.0, 10.0])[words.astype(int)]
    told = PublishedColumn(words, words, ordered=False)
    found = rematched({"height": swapped(height, 4, 6), "word": told})["height"]
    assert found.values == 1
    assert found.records < found.values  # equal values of a group are not told apart


def test_a_value_that_several_share_is_one_record_among_them() -> None:
    """All of a group have one value: it is known, but whose record it is is as hidden as before."""
    true = np.repeat([1.0, 2.0, 3.0], 4)
    found = rematched({"x": swapped(true, 4, 7), "told": plain(true)})["x"]
    assert found.values == found.values_blind == 1
    assert found.records == found.records_blind == pytest.approx(1 / 4)


def test_blind_is_what_all_orders_give_on_average() -> None:
    true, labels = np.array([1.0, 1.0, 2.0, 5.0, 7.0]), np.array([0, 0, 0, 1, 1])
    found = rematched({"x": PublishedColumn(true, true, labels)})  # nothing to relate it to
    assert found == {}
    both = rematched({"x": PublishedColumn(true, true, labels), "flat": plain(np.zeros(5))})["x"]
    hits = []
    for first, last in itertools.product(itertools.permutations(range(3)), [(3, 4), (4, 3)]):
        order = [*first, *last]
        hits.append(np.mean([true[i] == true[j] for i, j in enumerate(order)]))
    assert both.values_blind == pytest.approx(np.mean(hits))


def test_swapped_columns_help_each_other_by_their_groups() -> None:
    """Sorted groups of a related column tell where a value belongs, though it was swapped too."""
    random = np.random.default_rng(8)
    one = random.permutation(500).astype(float)
    labels = (one // 5).astype(np.int64)
    shown = one.copy()
    for group in range(100):
        shown[labels == group] = random.permutation(one[labels == group])
    columns = {"one": PublishedColumn(one, shown, labels), "other": swapped(one, 10, 9)}
    assert rematched(columns)["other"].records > 0.9


def test_units_that_share_all_groups() -> None:
    flat, alone = np.zeros(4, np.int64), np.arange(4)
    values = np.arange(4.0)
    assert cells_share({"a": PublishedColumn(values, values, flat)}) == 1 / 4
    both = {"a": PublishedColumn(values, values, flat), "b": PublishedColumn(values, values, alone)}
    assert cells_share(both) == 1
