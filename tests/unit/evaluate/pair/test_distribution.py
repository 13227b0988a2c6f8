"""How far each column moved by itself."""

from __future__ import annotations

import datetime as dt
import math

import numpy as np
import pyarrow as pa
import pytest

import tenue as tn
from tenue.errors import InvalidArgument
from unit.evaluate.stated import AGE, schema

distributions = tn.evaluate.distributions


def test_swapping_moves_nothing() -> None:
    table = pa.table({"a": [1, 2, 2, 5], "b": ["x", "y", "y", None]})
    swapped = pa.table({"a": [2, 5, 1, 2], "b": ["y", None, "x", "y"]})
    number, word = distributions(table, swapped)
    assert (number.mean, number.variance, number.quantiles) == (0, 0, 0)
    assert (number.histogram, number.missing) == (0, 0)
    assert (word.mean, word.variance, word.quantiles) == (None, None, None)
    assert (word.histogram, word.missing) == (0, 0)


def test_means_and_variances_move_relatively() -> None:
    (found,) = distributions([[2.0], [4.0]], [[4.0], [8.0]])
    assert found.mean == 1
    assert found.variance == 3
    (found,) = distributions([[-1.0], [1.0]], [[1.0], [1.0]])
    assert (found.mean, found.variance) == (math.inf, 1)
    (found,) = distributions([[3.0], [3.0]], [[3.0], [3.0]])
    assert (found.mean, found.variance, found.quantiles, found.histogram) == (0, 0, 0, 0)


def test_quantiles_move_by_a_share_of_the_width() -> None:
    original, masked = np.arange(11.0)[:, None], np.arange(11.0)[::-1, None] + 1
    (found,) = distributions(original, masked)
    assert found.quantiles == pytest.approx(1 / 10)
    stated = schema({"a": AGE})
    tables = (pa.table({"a": t[:, 0]}) for t in (original, masked))
    (found,) = distributions(*tables, schema=stated)
    assert found.quantiles == pytest.approx(1 / 100)
    (found,) = distributions([[3.0], [3.0]], [[3.0], [4.0]])
    assert found.quantiles == math.inf


def test_histograms_count_shares_and_what_leaves_the_range() -> None:
    (found,) = distributions([[0.0], [10.0]], [[4.0], [11.0]], bins=2)
    assert found.histogram == 0.5
    (found,) = distributions([[0.0], [10.0]], [[1.0], [9.0]], bins=2)
    assert found.histogram == 0
    (found,) = distributions([[0.0], [10.0]], [[1.0], [9.0]], bins=20)
    assert found.histogram == 1
    words = pa.table({"a": ["x", "x", "y", "y"]}), pa.table({"a": ["x", "x", "x", "z"]})
    assert distributions(*words)[0].histogram == 0.5
    with pytest.raises(InvalidArgument):
        distributions([[1]], [[1]], bins=0)


def test_missing_values_are_counted_and_not_guessed() -> None:
    before = pa.table({"a": [1.0, 2.0, 3.0, 4.0]})
    after = pa.table({"a": [1.0, 2.0, None, None]})
    (found,) = distributions(before, after, bins=1)
    assert (found.missing, found.histogram) == (0.5, 0.5)
    assert found.mean == pytest.approx(0.4)
    assert found.quantiles == pytest.approx(1 / 3, abs=1e-3)
    gone = pa.table({"a": pa.array([None] * 4, pa.float64())})
    (found,) = distributions(before, gone)
    assert (found.mean, found.histogram, found.missing) == (None, 1, 1)
    (found,) = distributions(gone, gone)
    assert (found.histogram, found.missing) == (0, 0)


def test_times_have_no_relative_mean() -> None:
    days = pa.table({"a": [dt.date(2020, 1, 1), dt.date(2020, 1, 3)]})
    later = pa.table({"a": [dt.date(2020, 1, 2), dt.date(2020, 1, 4)]})
    (found,) = distributions(days, later)
    assert found.mean is None
    assert found.quantiles == 0.5
