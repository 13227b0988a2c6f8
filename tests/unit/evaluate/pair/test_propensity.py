"""The propensity score: 0 for what cannot be told apart, a quarter for what always can."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import tenue as tn
from tenue.evaluate.pair.propensity import _fitted as fitted
from tenue.noise import Seeded

propensity = tn.evaluate.propensity


def draws(count: int, seed: int) -> np.ndarray:
    law = tn.noise.DiscreteLaplace(sensitivity=1, epsilon="0.05")
    return np.array(law.sample(count, source=Seeded(seed)), np.float64)


def standard(columns: np.ndarray) -> np.ndarray:
    return (columns - columns.mean(axis=0)) / columns.std(axis=0)


def linear_score(original: np.ndarray, masked: np.ndarray) -> float:
    """The mutant: every column by itself, linearly, as the measure was before."""
    both = np.concatenate([original, masked])
    design = np.column_stack([np.ones(len(both)), standard(both)])
    chances = fitted(design, np.repeat([0.0, 1.0], len(original)))
    return float(((chances - 0.5) ** 2).mean())


def test_one_group_of_all_is_told_apart_though_its_means_are_right() -> None:
    """k = n: every row is the mean of all. A model of means alone cannot tell."""
    original = np.column_stack([draws(200, 7), draws(200, 8)])
    masked = np.repeat(original.mean(axis=0)[None], 200, axis=0)
    assert linear_score(original, masked) == pytest.approx(0, abs=1e-12)
    assert propensity(original, masked).score > 0.2


def test_lost_correlations_are_told_apart_though_columns_are_the_same() -> None:
    one = draws(200, 7)
    original, masked = np.column_stack([one, one]), np.column_stack([one, one[::-1]])
    assert linear_score(original, masked) == pytest.approx(0, abs=1e-12)
    assert propensity(original, masked).score > 0.1
    words = np.where(one > 0, "high", "low")
    mixed = pa.table({"number": one, "word": words})
    swapped = pa.table({"number": one, "word": words[::-1]})
    assert propensity(mixed, swapped).score > 0.01


def test_a_swapped_table_cannot_be_told_apart_column_by_column() -> None:
    column = draws(200, 7)[:, None]
    assert propensity(column, column[::-1]).score == pytest.approx(0, abs=1e-20)


def test_what_is_always_told_apart_scores_a_quarter() -> None:
    found = propensity([[1.0], [2.0], [3.0]], [[11.0], [12.0], [13.0]])
    assert found.score == pytest.approx(0.25, abs=1e-3)
    words = propensity(pa.table({"a": ["x"] * 9}), pa.table({"a": ["y"] * 9}))
    assert words.score == pytest.approx(0.25, abs=1e-3)
    blanks = propensity(pa.table({"a": [1.0] * 9}), pa.table({"a": [None] * 9}))
    assert blanks.score == pytest.approx(0.25, abs=1e-3)


def test_two_groups_by_hand() -> None:
    """Half of the originals and all of the masked are y: of y two thirds are masked, of x none."""
    found = propensity(pa.table({"a": ["x", "y"] * 50}), pa.table({"a": ["y"] * 100}))
    by_hand = (50 * 0.25 + 150 * (2 / 3 - 1 / 2) ** 2) / 200
    assert found.score == pytest.approx(by_hand, rel=1e-3)
    assert found.ratio == pytest.approx(found.score * 4 * 200, rel=1e-9)


def test_it_is_the_maximum_of_the_likelihood() -> None:
    """The slope of the likelihood is zero: residuals are orthogonal to every feature."""
    original = np.column_stack([draws(300, 1), draws(300, 2)])
    masked = np.column_stack([draws(300, 3) + 20, draws(300, 4) * 2])
    z = standard(np.concatenate([original, masked]))
    products = standard(np.column_stack([z**2, z[:, 0] * z[:, 1]]))
    design = np.column_stack([np.ones(600), z, products])
    target = np.repeat([0.0, 1.0], 300)
    chances = fitted(design, target)
    assert np.abs(design.T @ (target - chances)).max() < 1e-2
    assert propensity(original, masked).score == pytest.approx(((chances - 0.5) ** 2).mean())


def test_a_fresh_sample_has_ratio_about_one() -> None:
    found = [
        propensity(
            np.column_stack([draws(400, 10 * i + j) for j in range(4)]),
            np.column_stack([draws(400, 10 * i + j + 5) for j in range(4)]),
        ).ratio
        for i in range(20)
    ]
    # the mean of 20 ratios has a standard deviation of about 0.16; half or twice would be seen
    assert 0.6 < np.mean(found) < 1.5


def test_long_tables_are_thinned_and_constant_ones_are_alike() -> None:
    long = np.tile([[0.0], [1.0]], (150_000, 1))
    assert propensity(long, long).score == pytest.approx(0, abs=1e-20)
    same = propensity([[1.0], [1.0]], [[1.0], [1.0]])
    assert (same.score, same.ratio) == (0, 0)
