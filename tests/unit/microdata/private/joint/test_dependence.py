"""What noisy counts of groups say of how columns depend on each other."""

from __future__ import annotations

import numpy as np
import pytest

from tenue.microdata.private.joint import dependence
from tenue.microdata.private.joint.dependence import dependent


def test_what_may_be_noise_changes_nothing() -> None:
    expected = np.multiply.outer(np.outer([60, 140], [0.1, 0.2, 0.7]), [0.5, 0.5])
    near = np.rint(expected) + np.array([[[0, 1]], [[1, 0]]])
    found = dependent(near, expected, 4.0, [True] * 3)
    assert found == pytest.approx(expected)


def test_margins_are_kept_and_what_is_surely_not_noise() -> None:
    expected = np.outer([0.5, 0.5], [0.25, 0.75]) * 4000
    seen = np.array([[900, 1100], [100, 1900]])
    found = dependent(seen, expected, 2.0, [False, False])
    assert found.sum(axis=0) == pytest.approx([1000, 3000])
    assert found.sum(axis=1) == pytest.approx([2000, 2000])
    assert found == pytest.approx(seen, abs=3)


def test_what_is_small_in_each_cell_but_the_same_in_many_is_seen() -> None:
    """From near every departure is taken for noise; the mutant looks from near only."""
    size = 16
    expected = np.full((size, size), 100.0)
    side = np.where(np.arange(size) < size // 2, 1, -1)
    seen = expected + 4 * np.outer(side, side)
    far = dependent(seen, expected, 10.0, [True, True])
    near = dependent(seen, expected, 10.0, [False, False])
    assert near == pytest.approx(expected)
    # from far away, 64 cells are off by 256 together, with noise of a scale of 80
    kept = 4 * (1 - (80 / 256) ** 2)
    assert far[0, 0] - 100 == pytest.approx(kept)
    assert far[0, -1] - 100 == pytest.approx(-kept)


def test_noise_of_empty_cells_adds_no_rows_to_their_region(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All rows lie on the diagonal. The mutant cuts off what is below 0 and shares nothing out:
    it keeps what noise there is above 0, and rows move away from the diagonal."""
    size, rows, scale = 64, 20_000, 2.0
    expected = np.full((size, size), rows / size**2)
    noise = np.random.default_rng(3).laplace(0, scale, expected.shape)
    middle = np.arange(size) - (size - 1) / 2

    def correlation() -> float:
        seen = np.diag(np.full(size, rows / size)) + noise
        found = dependent(seen, expected, scale, [True, True])
        return float(middle @ found @ middle / (found.sum(axis=1) @ middle**2))

    assert correlation() > 0.99
    monkeypatch.setattr(dependence, "_shared", lambda values, *_: np.maximum(values, 0.0))
    assert correlation() < 0.9


@pytest.mark.parametrize("sizes", [(1, 3), (2, 5), (3, 3, 7), (1, 1)])
def test_any_number_of_groups_will_do(sizes: tuple[int, ...]) -> None:
    rng = np.random.default_rng(1)
    expected = np.ones(sizes) * 50
    found = dependent(expected + rng.normal(0, 9, sizes), expected, 3.0, [True] * len(sizes))
    assert found.sum() == pytest.approx(expected.sum())
    assert (found >= 0).all()


def test_a_total_that_rounding_swallows_is_no_fault() -> None:
    expected = np.outer([1e-12, 1.0], [1e-12, 1.0]) * 100
    found = dependent(np.array([[50.0, -30.0], [20.0, 60.0]]), expected, 0.1, [True, True])
    assert np.isfinite(found).all()
    assert found.sum() == pytest.approx(100)
