"""What is minimised is what `tn.evaluate` measures; and it grows when classes are joined."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from tenue.microdata.recode.loss import MEASURES, Classes, joined, ncp

ROWS = np.array([3, 5, 2])
PENALTIES = [(np.array([0, 2, 1]), 10), (np.array([1, 1, 4]), 4)]


def test_by_hand() -> None:
    classes = Classes(ROWS, PENALTIES, suppressed=2)
    assert MEASURES["discernibility"](classes) == 9 + 25 + 4 + 2 * 12
    assert MEASURES["average-class-size"](classes) == 4
    assert MEASURES["ncp"](classes) == (Fraction(12, 10) + Fraction(16, 4) + 4) / 24


@pytest.mark.parametrize("measure", MEASURES)
def test_joining_or_suppressing_classes_never_loses_less(measure: str) -> None:
    """What the bound of the search rests on."""
    lost = MEASURES[measure](Classes(ROWS, PENALTIES))
    for one, other in itertools.combinations(range(3), 2):
        labels = np.zeros(3, np.int64)
        labels[3 - one - other] = 1
        wider = [(np.array([whole, whole]), whole) for _, whole in PENALTIES]
        assert MEASURES[measure](Classes(joined(ROWS, labels, 2), wider)) >= lost
    for gone in range(3):
        kept = np.array([place for place in range(3) if place != gone])
        some = [(penalty[kept], whole) for penalty, whole in PENALTIES]
        assert MEASURES[measure](Classes(ROWS[kept], some, int(ROWS[gone]))) >= lost


def test_wide_domains_stay_exact() -> None:
    wide = 2**61
    classes = Classes(np.array([3, 4]), [(np.array([wide, wide - 1]), wide)])
    assert ncp(classes) == (3 + Fraction(4 * (wide - 1), wide)) / 7
