"""Rows at the edge go where the others gain more than they cost, and no more than are allowed."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from tenue.microdata.recode.loss import Classes, ncp
from tenue.microdata.recode.multidimensional import multidimensional, runs_of
from tenue.microdata.recode.need import Need, Secret
from tenue.microdata.recode.scale import Scale
from tenue.microdata.recode.suppress import OUT, suppressed
from unit.microdata.recode.columns import scale

WIDE = {"type": "number", "bounds": [0, 1000]}


def loss(scales: list[Scale], labels: np.ndarray) -> Fraction:  # type: ignore[type-arg]
    stay = np.flatnonzero(labels != OUT)
    penalties = [(one.penalty(*runs_of(one, labels, stay)), one.whole) for one in scales]
    return ncp(Classes(np.bincount(labels[stay]), penalties, labels.size - stay.size))


def drawn(seed: int, size: int = 60) -> list[Scale]:
    rng = random.Random(seed)
    return [
        scale(WIDE, [min(1000, int(rng.paretovariate(0.4))) for _ in range(size)], name)
        for name in ("a", "b")
    ]


def test_an_outlier_is_left_out() -> None:
    scales = [scale(WIDE, [1, 2, 3, 4, 1000])]
    labels = np.zeros(5, np.int64)
    assert suppressed(scales, labels, Need(3), 1).tolist() == [0, 0, 0, 0, OUT]
    assert suppressed(scales, labels, Need(3), 0).tolist() == [0] * 5
    assert suppressed(scales, labels, Need(5), 4).tolist() == [0] * 5  # k would not hold


def test_nobody_is_left_out_for_nothing() -> None:
    scales = [scale(WIDE, [1, 2, 3, 4, 5])]
    assert suppressed(scales, np.zeros(5, np.int64), Need(3), 2).tolist() == [0] * 5


@pytest.mark.parametrize("seed", range(12))
def test_it_loses_less_and_keeps_k(seed: int) -> None:
    scales, need = drawn(seed), Need(4)
    labels = multidimensional(scales, need)
    fewer = suppressed(scales, labels, need, 6)
    stay = fewer != OUT
    assert (~stay).sum() <= 6
    assert (fewer[stay] == labels[stay]).all()
    assert np.bincount(fewer[stay]).min() >= 4
    assert loss(scales, fewer) <= loss(scales, labels)


def test_something_is_left_out_in_some_of_them() -> None:
    gone = [
        (suppressed(s, multidimensional(s, Need(4)), Need(4), 6) == OUT).sum()
        for s in map(drawn, range(12))
    ]
    assert sum(gone) > 12


def test_what_gains_most_for_a_row_comes_first() -> None:
    codes = [1, 2, 3, 1000, 1, 2, 3, 600]
    labels = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    found = suppressed([scale(WIDE, codes)], labels, Need(3), 1)
    assert np.flatnonzero(found == OUT).tolist() == [3]


def test_l_and_t_forbid_it() -> None:
    """The one other value of a group stays, whatever the rest would gain."""
    scales, labels = [scale(WIDE, [1, 2, 3, 4, 1000])], np.zeros(5, np.int64)
    secret = [Secret("ill", np.array([0, 0, 0, 0, 1]), False)]
    assert OUT in suppressed(scales, labels, Need(3), 1)
    assert OUT not in suppressed(scales, labels, Need(3, l=2, confidential=secret), 1)
    both = [scale(WIDE, [1, 2, 3, 1000, 500, 501, 502])]
    groups = np.array([0, 0, 0, 0, 1, 1, 1])
    values = [Secret("ill", np.array([0, 0, 0, 1, 0, 0, 1]), False)]
    tight = Need(3, t=Fraction(1, 10), confidential=values)
    assert OUT not in suppressed(both, groups, tight, 1)
    assert OUT in suppressed(both, groups, Need(3), 1)


def test_persons_are_counted() -> None:
    persons = np.array([0, 0, 1, 2, 3])
    scales, labels = [scale(WIDE, [1, 2, 3, 4, 1000])], np.zeros(5, np.int64)
    assert suppressed(scales, labels, Need(3, persons=persons), 1)[4] == OUT
    assert suppressed(scales, labels, Need(4, persons=persons), 1)[4] != OUT
    assert suppressed(scales, labels, Need(4), 1)[4] == OUT  # the mutant that counts rows
