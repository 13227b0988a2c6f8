"""l: distinct and effective values of each group, blanks left out."""

from __future__ import annotations

import numpy as np
import pytest

from tenue.evaluate.code import Codes
from tenue.evaluate.group.count import Counts, Groups, counted
from tenue.evaluate.group.diversity import distinct_values, effective_values
from unit.evaluate import oracle

LABELS = [0, 0, 0, 0, 1, 1, 2, 2, 3]
VALUES = [0, 1, 1, -1, 2, -1, -1, -1, 0]


def counts() -> Counts:
    groups = Groups(np.array(LABELS), 4)
    return counted(groups, Codes(np.array(VALUES), 3))


def members(group: int) -> list[int | None]:
    pairs = zip(LABELS, VALUES, strict=True)
    return [None if v < 0 else v for label, v in pairs if label == group]


def test_blanks_hide_nobody() -> None:
    found = distinct_values(counts()).tolist()
    assert found == [oracle.distinct(members(g)) for g in range(4)] == [2, 1, 1, 1]
    counting_blanks = [len(set(members(g))) for g in range(4)]
    assert found != counting_blanks


def test_effective_values_are_the_exponential_of_the_entropy() -> None:
    found = effective_values(counts())
    assert found.tolist() == pytest.approx([oracle.effective(members(g)) for g in range(4)])
    assert found[0] == pytest.approx(3 / 2 ** (2 / 3))
    # a table of equally frequent values has as many as it has, and not a rounding more
    even = counted(Groups(np.zeros(21, np.int64), 1), Codes(np.arange(21) % 7, 7))
    assert effective_values(even)[0] <= 7
    assert effective_values(even)[0] == pytest.approx(7)


def test_a_column_without_values_has_one() -> None:
    nothing = counted(Groups(np.array([0, 1, 1]), 2), Codes(np.full(3, -1), 0))
    assert distinct_values(nothing).tolist() == [1, 1]
    assert effective_values(nothing).tolist() == [1, 1]
