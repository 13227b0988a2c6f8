"""A recoded column is text, and its centres are values."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from tenue.microdata.recode.multidimensional import runs_of
from tenue.microdata.recode.recoded import centred, recoded
from unit.microdata.recode.columns import NUMBER, scale


def test_every_row_has_the_text_of_its_group() -> None:
    line, labels = scale(NUMBER, [3, 9, 5, 11]), np.array([0, 1, 0, 1])
    made = recoded(line, runs_of(line, labels), labels).to_arrow()
    assert made.type == pa.string()
    assert made.to_pylist() == ["[3, 5]", "[9, 11]", "[3, 5]", "[9, 11]"]
    assert centred(line, runs_of(line, labels), labels).to_arrow().to_pylist() == [4, 10, 4, 10]


def test_groups_with_equal_runs_share_a_text() -> None:
    line, labels = scale(NUMBER, [3, 3, 5, 3]), np.array([0, 1, 2, 0])
    made = recoded(line, runs_of(line, labels), labels)
    assert made.labels == ("[3, 3]", "[5, 5]")
    assert made.take(np.array([2, 1])).to_arrow().to_pylist() == ["[5, 5]", "[3, 3]"]
