from __future__ import annotations

import numpy as np
import pytest

from tenue.papers.data import Columns
from tenue.papers.private_data.calibration import (
    FOUR,
    by_corners,
    by_mdav,
    measured,
    printed_runs,
    tops,
)

ROWS = np.array([[float(i * j % 23 + 1) for j in (3, 5, 7, 11)] for i in range(46)])
COLUMNS = Columns(FOUR, ROWS)


def test_it_says_that_it_keeps_no_promise() -> None:
    from tenue.papers.private_data import calibration

    assert "WITHOUT a guarantee" in str(calibration.__doc__)


def test_groups_keep_means_and_have_k_records() -> None:
    for masked in (by_corners(COLUMNS, 5), by_mdav(COLUMNS, 5)):
        assert np.allclose(masked.mean(axis=0), ROWS.mean(axis=0))
        _, sizes = np.unique(masked, axis=0, return_counts=True)
        assert sizes.min() >= 5


def test_the_first_groups_are_at_the_first_corners() -> None:
    masked = by_corners(COLUMNS, 5)
    near = ((ROWS / ROWS.max(axis=0)) ** 2).sum(axis=1).argmin()
    far = ((ROWS / ROWS.max(axis=0) - 1) ** 2).sum(axis=1).argmin()
    assert masked[near].sum() < masked.sum(axis=1).mean() < masked[far].sum()


def test_noise_has_the_printed_scale_and_stays_inside() -> None:
    runs = printed_runs(COLUMNS, 1, "100.0", 40)
    top = tops(COLUMNS)
    away = np.array([np.abs(run.values - ROWS) / top for run in runs])
    assert away.mean() == pytest.approx(0.01, rel=0.1)
    assert all((run.values >= 0).all() and (run.values <= top).all() for run in runs)


def test_records_as_they_are_have_no_error_and_are_linked() -> None:
    whole, masked = measured(COLUMNS, ROWS), measured(COLUMNS, by_mdav(COLUMNS, 10))
    assert whole.sse == 0
    assert whole.linkage > 2 * masked.linkage
