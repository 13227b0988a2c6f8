"""Correlations before and after."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import tenue as tn
from tenue.errors import InvalidArgument
from tenue.noise import Seeded

difference = tn.evaluate.correlation_difference


def made(rows: int, columns: int) -> np.ndarray:
    law = tn.noise.DiscreteLaplace(sensitivity=1, epsilon="0.1")
    draws = law.sample(rows * columns, source=Seeded(7))
    return np.array(draws, np.float64).reshape(rows, columns).cumsum(axis=1)


def test_all_pairs_are_those_of_numpy() -> None:
    original, masked = made(50, 5), made(51, 5)[1:]
    found = difference(original, masked)
    before, after = np.corrcoef(original.T), np.corrcoef(masked.T)
    assert len(found.pairs) == 10
    for (one, other), (first, second) in found.pairs.items():
        assert first == pytest.approx(before[int(one), int(other)])
        assert second == pytest.approx(after[int(one), int(other)])
    moved = np.abs(before - after)[np.triu_indices(5, 1)]
    assert found.mean == pytest.approx(moved.mean())
    assert found.sd == pytest.approx(moved.std())
    assert difference(original, original).mean == 0


def test_constant_columns_have_no_correlation() -> None:
    line = [[0.1, 1], [0.1, 2], [0.1, 4]]
    assert difference(line, line).mean == 0
    found = difference([[1, 1], [2, 2], [3, 3]], [[7, 1], [7, 2], [7, 3]])
    assert found.pairs["0", "1"] == (pytest.approx(1), 0)


def test_large_numbers_do_not_overflow_and_blanks_are_left_out() -> None:
    huge = np.array([[1e99, 1e-99], [2e99, 2e-99], [3e99, 3e-99]])
    assert difference(huge, huge).pairs["0", "1"][0] == pytest.approx(1)
    table = pa.table({"a": [1, 2, None, 9], "b": [2, 4, 5, None], "c": ["x"] * 4})
    found = difference(table, table)
    assert list(found.pairs) == [("a", "b")]
    assert found.pairs["a", "b"][0] == pytest.approx(1)
    nothing = pa.table({"a": [1.0, None], "b": [None, 1.0]})
    assert difference(nothing, nothing).pairs["a", "b"] == (0, 0)


def test_one_column_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="not two columns"):
        difference([[1], [2]], [[1], [2]])
