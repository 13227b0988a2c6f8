"""An array is read in passes of few rows; its contract is in tests/contracts."""

from __future__ import annotations

import numpy as np
import pytest

from tenue.engine import held
from tenue.engine.held import Held


def test_a_measure_sees_few_rows_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held, "BATCH", 4)
    seen: list[int] = []

    def measure(part: np.ndarray) -> np.ndarray:
        seen.append(len(part))
        return part.sum(axis=0)

    assert Held(np.arange(10)[:, None]).sum(measure).tolist() == [45]
    assert seen == [4, 4, 2]


def test_a_measure_of_no_rows() -> None:
    assert Held(np.zeros((0, 2), np.int64)).sum(lambda part: part.sum(axis=0)).tolist() == [0, 0]
