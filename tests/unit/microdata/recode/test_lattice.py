"""Levels and their classes: the same whether made of rows or of classes below (roll-up)."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

from tenue.errors import Unreachable
from tenue.microdata.recode.lattice import Lattice
from tenue.microdata.recode.need import Need
from unit.microdata.recode.columns import NUMBER, SPORTS, TOWN, scale, sports


def lattice(seed: int = 1, size: int = 60) -> Lattice:
    rng = random.Random(seed)
    scales = [
        scale(NUMBER, [rng.randint(0, 15) for _ in range(size)], "age"),
        sports(*rng.choices(SPORTS, k=size)),
        scale(TOWN, [rng.randint(0, 3) for _ in range(size)], "town"),
    ]
    return Lattice.of(scales, [()] * 3)


def all_levels(made: Lattice) -> list[tuple[int, ...]]:
    return list(itertools.product(*(range(top + 1) for top in made.top)))


def test_classes_are_those_of_the_rows_in_whatever_order_they_are_asked_for() -> None:
    order = all_levels(lattice())
    for shuffle in range(3):
        random.Random(shuffle).shuffle(order)
        made = lattice()
        for levels in order:
            labels, count = made.labels(levels)
            texts = [
                np.array(one.scale.texts(*one.runs[level]))[one.ranks]
                for one, level in zip(made.ladders, levels, strict=True)
            ]
            rows = list(zip(*texts, strict=True))
            assert len(set(rows)) == count
            assert len(set(zip(rows, labels.tolist(), strict=True))) == count
            # the classes of a roll-up are numbered alike
            assert made.grouping(levels).rows.tolist() == np.bincount(labels).tolist()
            of_first = made.grouping(levels).first
            combination = np.unique(made.combination, return_index=True)[1]
            assert labels[combination[of_first]].tolist() == list(range(count))


def test_penalties_are_those_of_the_runs() -> None:
    made = lattice()
    for levels in all_levels(made)[::7]:
        classes = made.classes(levels)
        labels, _ = made.labels(levels)
        for (penalty, whole), one, level in zip(
            classes.penalties, made.ladders, levels, strict=True
        ):
            low, high = one.runs[level]
            of_rows = one.scale.penalty(low[one.ranks], high[one.ranks])
            assert penalty[labels].tolist() == of_rows.tolist()
            assert whole == one.scale.whole


def test_persons_are_counted_once() -> None:
    made = lattice(size=40)
    persons = np.arange(40) // 4
    units, rows = made.units(made.top, Need(2, persons=persons))
    assert units.tolist() == [10]
    assert rows.tolist() == [40]


def test_a_step_up_is_one_column_higher() -> None:
    made = lattice()
    assert made.above(made.top) == []
    assert made.above((0, 0, 0)) == [(1, 0, 0), (0, 1, 0), (0, 0, 1)]


def test_too_many_levels_are_refused_whatever_occurs() -> None:
    """By the schema: how many of the levels differ in the rows must not decide it."""
    wide = {"type": "number", "bounds": [0, 10**6]}
    scales = [scale(wide, [1, 1, 2], f"x{i}") for i in range(7)]
    with pytest.raises(Unreachable, match="combinations of levels"):
        Lattice.of(scales, [()] * 7)
    Lattice.of(scales, [(1000,)] * 7)
