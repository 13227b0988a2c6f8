"""Cuts that are found from counts in order are those of `whole_values`."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tenue.engine.contract import Numbers
from tenue.engine.held import Held
from tenue.microdata.partition.whole_values import Classes, whole_values
from tenue.microdata.stream import cuts
from tenue.microdata.stream.cuts import column_cuts, cut_classes, cut_in_passes
from tenue.schema.column import Category
from tenue.taxonomy import Taxonomy


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
        patch.setattr(cuts, "_BLOCK", block)
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
    rows = Held(np.array([1, 1, 2, 4, 4, 4])[:, np.newaxis])
    found = column_cuts(rows, town, 2, 1)
    assert found.means is None
    assert found.label(np.array([1, 2, 4])).tolist() == [0, 0, 1]


def test_categories_are_cut_by_their_places() -> None:
    line, counts = np.array([0.0, 1.0, 9.0, 10.0]), np.array([2, 1, 1, 2])
    codes = np.array([-1, 3, 0, 2, 1, 0])  # numbers 2 and 5 mean the same, 0 does not occur
    found = cut_classes(line, codes, counts, 3, 2)
    assert found.label(np.array([1, 2, 3, 4, 5])).tolist() == [1, 0, 1, 0, 0]
    assert (found.sizes.tolist(), found.values.tolist(), found.heap) == ([3, 3], [2, 2], 2)
