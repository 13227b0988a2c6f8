"""Rows drawn from tables keep what the tables say, in every block."""

from __future__ import annotations

import numpy as np
import pytest

from tenue.microdata.private.joint.conditional import raked


def test_raking_meets_the_sums() -> None:
    made = raked(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([4.0, 6.0]), np.array([5.0, 5.0]))
    assert made.sum(axis=0) == pytest.approx([5, 5])
    assert made.sum(axis=1) == pytest.approx([4, 6], rel=1e-3)
