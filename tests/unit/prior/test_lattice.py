"""Consecutive logarithms from the rises between neighbours."""

from __future__ import annotations

import numpy as np

from tenue.prior.lattice import Lattice


def test_rises_add_up_from_any_start() -> None:
    lattice = Lattice.by_rise(0, 9, lambda k: -float(k * k), lambda k: -(2 * k + 1))
    assert lattice.log_weights(0, 3).tolist() == [0, -1, -4, -9]
    assert lattice.log_weights(2, 4).tolist() == [0, -5, -12]
    assert lattice.log_weights(5, 5).tolist() == [0]
    assert lattice.concave
    assert lattice.log_rise is not None
    assert lattice.log_rise(np.array([3.0])).tolist() == [-7]
