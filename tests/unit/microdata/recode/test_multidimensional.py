"""Groups as small as can be: k in each, no split left, and no order of rows in them."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from tenue.microdata.recode.multidimensional import multidimensional, runs_of
from tenue.microdata.recode.need import Need, Secret
from tenue.microdata.recode.scale import Scale
from unit.microdata.recode.columns import NUMBER, SPORTS, scale, sports


def two(seed: int, size: int = 80) -> list[Scale]:
    rng = random.Random(seed)
    ages = [min(15, int(rng.expovariate(0.3))) for _ in range(size)]
    return [scale(NUMBER, ages, "age"), sports(*rng.choices(SPORTS, k=size))]


@pytest.mark.parametrize("seed", range(10))
def test_every_group_has_k_and_different_runs(seed: int) -> None:
    scales = two(seed)
    labels = multidimensional(scales, Need(4))
    assert np.bincount(labels).min() >= 4
    texts = [one.texts(*runs_of(one, labels)) for one in scales]
    assert len(set(zip(*texts, strict=True))) == labels.max() + 1


def test_numbers_without_ties_end_below_twice_k() -> None:
    line = scale({"type": "number", "bounds": [0, 999]}, random.Random(1).sample(range(1000), 777))
    sizes = np.bincount(multidimensional([line], Need(5)))
    assert sizes.min() >= 5
    assert sizes.max() < 10


def test_equal_rows_share_a_group() -> None:
    scales = two(3)
    labels = multidimensional(scales, Need(3))
    rows: dict[tuple[int, int], set[int]] = {}
    for age, sport, label in zip(scales[0].codes, scales[1].codes, labels, strict=True):
        rows.setdefault((int(age), int(sport)), set()).add(int(label))
    assert all(len(found) == 1 for found in rows.values())


def test_the_column_that_leaves_least_open_comes_first() -> None:
    wide = scale(NUMBER, [0, 0, 15, 15], "wide")
    narrow = scale({"type": "number", "bounds": [0, 1000]}, [1, 2, 1, 2], "narrow")
    assert multidimensional([narrow, wide], Need(2)).tolist() == [0, 0, 1, 1]


def test_k_counts_persons() -> None:
    """The mutant that counts rows makes groups of one person."""
    rng = random.Random(2)
    persons = np.array([rng.randint(0, 19) for _ in range(80)])
    scales = [scale(NUMBER, [int(one) % 16 for one in persons])]
    need = Need(4, persons=persons)
    labels = multidimensional(scales, need)
    assert need.units(labels, labels.max() + 1).min() >= 4
    mutant = multidimensional(scales, Need(4))
    assert need.units(mutant, mutant.max() + 1).min() < 4


@pytest.mark.parametrize("of_persons", [False, True])
def test_a_split_that_would_lack_l_or_t_is_not_made(of_persons: bool) -> None:
    """The mutant that looks at k alone leaves a group of one value."""
    scales = [scale(NUMBER, [i % 16 for i in range(96)])]
    secret = [Secret("ill", np.array([int(i % 16 < 8) for i in range(96)]), False)]
    persons = np.arange(96) // 2 if of_persons else None
    for need in (
        Need(3, l=2, confidential=secret, persons=persons),
        Need(3, t=Fraction(1, 5), confidential=secret, persons=persons),
    ):
        labels = multidimensional(scales, need)
        count = int(labels.max()) + 1
        assert need.diverse(labels, count).all()
        assert need.close(labels, count).all()
        mutant = multidimensional(scales, Need(3, persons=persons))
        many = int(mutant.max()) + 1
        assert not (need.diverse(mutant, many).all() and need.close(mutant, many).all())


def test_another_column_is_tried_where_the_best_is_forbidden() -> None:
    best = scale(NUMBER, [0, 0, 15, 15], "best")
    second = scale(NUMBER, [0, 3, 0, 3], "second")
    secret = [Secret("ill", np.array([0, 0, 1, 1]), False)]
    labels = multidimensional([best, second], Need(2, l=2, confidential=secret))
    assert labels.tolist() == [0, 1, 0, 1]
