"""Every row of a column, for mechanisms that are calibrated to the table itself."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..engine.contract import Engine
from ..engine.request import RankRequest, Window

__all__ = ["column_steps"]

_EVERYTHING = Window(1, 0, 0, 0, 1 << 200)


def column_steps(engine: Engine, column: str) -> NDArray[np.int64]:
    """The steps of a bounded column, in increasing order."""
    profile = engine.ranks(RankRequest(column, (_EVERYTHING,))).get(())
    listed = () if profile is None else profile.values
    steps = np.array([step for step, _, _ in listed], dtype=np.int64)
    return np.repeat(steps, [count for _, _, count in listed])
