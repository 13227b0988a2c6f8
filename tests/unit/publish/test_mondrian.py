"""Levels of generalisation, and groups by splitting."""

from __future__ import annotations

import itertools
import random
from collections import defaultdict
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tenue.engine.passes import in_memory
from tenue.engine.passes.in_memory import InMemory
from tenue.errors import Unreachable
from tenue.publish.generalise import mondrian
from tenue.publish.generalise.full_domain import (
    MEASURES,
    Lattice,
    PublishedClasses,
    full_domain,
    joined,
    ncp,
)
from tenue.publish.generalise.hierarchy import Scale
from tenue.publish.generalise.mondrian import (
    OUT,
    Groups,
    multidimensional,
    runs_of,
    split_in_passes,
    suppressed,
)
from tenue.publish.generalise.privacy_condition import Need, Secret
from unit.publish.columns import NUMBER, SPORTS, TOWN, scale, sports

ROWS = np.array([3, 5, 2])
PENALTIES = [(np.array([0, 2, 1]), 10), (np.array([1, 1, 4]), 4)]


def test_by_hand() -> None:
    classes = PublishedClasses(ROWS, PENALTIES, suppressed=2)
    assert MEASURES["discernibility"](classes) == 9 + 25 + 4 + 2 * 12
    assert MEASURES["average-class-size"](classes) == 4
    assert MEASURES["ncp"](classes) == (Fraction(12, 10) + Fraction(16, 4) + 4) / 24


@pytest.mark.parametrize("measure", MEASURES)
def test_joining_or_suppressing_classes_never_loses_less(measure: str) -> None:
    """What the bound of the search rests on."""
    lost = MEASURES[measure](PublishedClasses(ROWS, PENALTIES))
    for one, other in itertools.combinations(range(3), 2):
        labels = np.zeros(3, np.int64)
        labels[3 - one - other] = 1
        wider = [(np.array([whole, whole]), whole) for _, whole in PENALTIES]
        assert MEASURES[measure](PublishedClasses(joined(ROWS, labels, 2), wider)) >= lost
    for gone in range(3):
        kept = np.array([place for place in range(3) if place != gone])
        some = [(penalty[kept], whole) for penalty, whole in PENALTIES]
        assert MEASURES[measure](PublishedClasses(ROWS[kept], some, int(ROWS[gone]))) >= lost


def test_wide_domains_stay_exact() -> None:
    wide = 2**61
    classes = PublishedClasses(np.array([3, 4]), [(np.array([wide, wide - 1]), wide)])
    assert ncp(classes) == (3 + Fraction(4 * (wide - 1), wide)) / 7


# Levels and their classes: the same whether made of rows or of classes below (roll-up).


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


# -- No levels lose less: against all levels of small lattices, one by one -------------------------

Levels = tuple[int, ...]


def every_loss(made: Lattice, need: Need, measure: str, most: int) -> dict[Levels, Fraction]:
    """The loss of all levels that keep what is needed: no bound, no pruning, no roll-up."""
    found = {}
    for levels in itertools.product(*(range(top + 1) for top in made.top)):
        runs = [one.runs[level] for one, level in zip(made.ladders, levels, strict=True)]
        ends = [
            list(zip(low[one.ranks].tolist(), high[one.ranks].tolist(), strict=True))
            for one, (low, high) in zip(made.ladders, runs, strict=True)
        ]
        groups: dict[Any, list[int]] = defaultdict(list)
        for row, key in enumerate(zip(*ends, strict=True)):
            groups[key].append(row)
        kept = _kept(groups, need)
        lost = made.ladders[0].ranks.size - sum(map(len, kept.values()))
        if lost > most or not kept:
            continue
        penalties = [
            (
                one.scale.penalty(*(np.array([key[j][end] for key in kept]) for end in (0, 1))),
                one.scale.whole,
            )
            for j, one in enumerate(made.ladders)
        ]
        rows = np.array([len(members) for members in kept.values()])
        found[levels] = MEASURES[measure](PublishedClasses(rows, penalties, lost))
    return found


def _kept(groups: dict[Any, list[int]], need: Need) -> dict[Any, list[int]]:
    kept = dict(groups)
    while True:
        rows = np.array(sorted(itertools.chain(*kept.values())), np.int64)
        if rows.size == 0:
            return {}
        place = {int(row): i for i, row in enumerate(rows)}
        labels = np.zeros(rows.size, np.int64)
        for number, members in enumerate(kept.values()):
            labels[[place[row] for row in members]] = number
        mine, count = need.of(rows), len(kept)
        good = (mine.units(labels, count) >= need.k) & mine.diverse(labels, count)
        if good.all():  # only then is there a whole to be close to
            good = mine.close(labels, count)
            if good.all():
                return kept
        kept = {key: kept[key] for key, holds in zip(list(kept), good, strict=True) if holds}


def full_domain_drawn(seed: int) -> tuple[Lattice, Need, int]:
    rng = random.Random(seed)
    size = rng.randint(15, 60)
    ages = [min(15, int(rng.expovariate(0.25))) for _ in range(size)]
    scales = [
        scale(NUMBER, ages, "age"),
        sports(*rng.choices(SPORTS, [6, 3, 2, 1, 1], k=size)),
        scale(TOWN, rng.choices(range(4), [5, 2, 1, 1], k=size), "town"),
    ]
    secret = [Secret("ill", np.array([rng.randint(0, 2) for _ in range(size)]), False)]
    persons = np.array([rng.randint(0, size // 2) for _ in range(size)]) if seed % 3 == 0 else None
    need = Need(
        rng.choice([2, 3, 5]),
        2 if seed % 4 == 1 else None,
        Fraction(3, 10) if seed % 4 == 2 else None,
        secret,
        persons,
    )
    need = need if need.looks_inside else Need(need.k, persons=persons)
    return Lattice.of(scales, [()] * 3), need, rng.choice([0, 0, size // 10, size // 4])


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("seed", range(24))
def test_no_levels_lose_less(measure: str, seed: int) -> None:
    made, need, most = full_domain_drawn(seed)
    found = full_domain(made, need, MEASURES[measure], most)
    losses = every_loss(made, need, measure, most)
    assert found.loss == min(losses.values())
    assert losses[found.levels] == found.loss
    stay = np.flatnonzero(found.labels >= 0)
    assert found.labels.size - stay.size <= most
    labels, count = found.labels[stay], int(found.labels.max()) + 1
    mine = need.of(stay)
    assert (mine.units(labels, count) >= need.k).all()
    assert mine.diverse(labels, count).all()
    assert mine.close(labels, count).all()


def test_different_measures_choose_different_levels() -> None:
    """A search that minimises something else would pass the tests of one measure."""
    chosen = set()
    for seed in range(12):
        made, need, most = full_domain_drawn(seed)
        chosen.add(tuple(full_domain(made, need, one, most).levels for one in MEASURES.values()))
    assert any(len(set(levels)) == 3 for levels in chosen)


def test_most_levels_are_never_grouped(monkeypatch: pytest.MonkeyPatch) -> None:
    made, need, _ = full_domain_drawn(0)
    asked: set[Levels] = set()
    grouping = Lattice.grouping

    def counted(self: Lattice, levels: Levels) -> Any:
        asked.add(levels)
        return grouping(self, levels)

    monkeypatch.setattr(Lattice, "grouping", counted)
    full_domain(made, Need(need.k), MEASURES["ncp"])
    every = np.prod([top + 1 for top in made.top])
    assert len(asked) < every / 2


# -- Groups as small as can be: k in each, no split left, and no order of rows in them -------------


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


# Rows at the edge go where the others gain more than they cost, and no more than are allowed.

SUPPRESS_WIDE = {"type": "number", "bounds": [0, 1000]}


def loss(scales: list[Scale], labels: np.ndarray) -> Fraction:  # type: ignore[type-arg]
    stay = np.flatnonzero(labels != OUT)
    penalties = [(one.penalty(*runs_of(one, labels, stay)), one.whole) for one in scales]
    return ncp(PublishedClasses(np.bincount(labels[stay]), penalties, labels.size - stay.size))


def drawn(seed: int, size: int = 60) -> list[Scale]:
    rng = random.Random(seed)
    return [
        scale(SUPPRESS_WIDE, [min(1000, int(rng.paretovariate(0.4))) for _ in range(size)], name)
        for name in ("a", "b")
    ]


def test_an_outlier_is_left_out() -> None:
    scales = [scale(SUPPRESS_WIDE, [1, 2, 3, 4, 1000])]
    labels = np.zeros(5, np.int64)
    assert suppressed(scales, labels, Need(3), 1).tolist() == [0, 0, 0, 0, OUT]
    assert suppressed(scales, labels, Need(3), 0).tolist() == [0] * 5
    assert suppressed(scales, labels, Need(5), 4).tolist() == [0] * 5  # k would not hold


def test_nobody_is_left_out_for_nothing() -> None:
    scales = [scale(SUPPRESS_WIDE, [1, 2, 3, 4, 5])]
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
    found = suppressed([scale(SUPPRESS_WIDE, codes)], labels, Need(3), 1)
    assert np.flatnonzero(found == OUT).tolist() == [3]


def test_l_and_t_forbid_it() -> None:
    """The one other value of a group stays, whatever the rest would gain."""
    scales, labels = [scale(SUPPRESS_WIDE, [1, 2, 3, 4, 1000])], np.zeros(5, np.int64)
    secret = [Secret("ill", np.array([0, 0, 0, 0, 1]), False)]
    assert OUT in suppressed(scales, labels, Need(3), 1)
    assert OUT not in suppressed(scales, labels, Need(3, l=2, confidential=secret), 1)
    both = [scale(SUPPRESS_WIDE, [1, 2, 3, 1000, 500, 501, 502])]
    groups = np.array([0, 0, 0, 0, 1, 1, 1])
    values = [Secret("ill", np.array([0, 0, 0, 1, 0, 0, 1]), False)]
    tight = Need(3, t=Fraction(1, 10), confidential=values)
    assert OUT not in suppressed(both, groups, tight, 1)
    assert OUT in suppressed(both, groups, Need(3), 1)


def test_persons_are_counted() -> None:
    persons = np.array([0, 0, 1, 2, 3])
    scales, labels = [scale(SUPPRESS_WIDE, [1, 2, 3, 4, 1000])], np.zeros(5, np.int64)
    assert suppressed(scales, labels, Need(3, persons=persons), 1)[4] == OUT
    assert suppressed(scales, labels, Need(4, persons=persons), 1)[4] != OUT
    assert suppressed(scales, labels, Need(4), 1)[4] == OUT  # the mutant that counts rows


# -- Groups that are split in passes are those of the table in memory, number by number ------------

WIDE = {"type": "number", "bounds": [0, 2**40]}


def table(seed: int) -> list[Scale]:
    rng = random.Random(seed)
    size = rng.randint(8, 150)
    made = [
        scale(NUMBER, [min(15, int(rng.expovariate(0.3))) for _ in range(size)], "age"),
        sports(*rng.choices(SPORTS, [9, 5, 2, 2, 1], k=size)),
        scale(TOWN, rng.choices(range(4), [6, 3, 2, 1], k=size), "town"),
        scale(WIDE, [rng.randint(0, 2**40) for _ in range(size)], "wide"),
    ]
    return rng.sample(made, rng.randint(1, 4))


def split(scales: list[Scale], k: int, batch: int = 1 << 18) -> tuple[Groups, np.ndarray]:
    codes = np.stack([one.codes for one in scales], axis=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(in_memory, "BATCH", batch)
        found = split_in_passes(InMemory(codes), scales, [2**41] * len(scales), k)
    return found, found.labels(codes)


@pytest.mark.parametrize("batch", [1, 2, 7, 1 << 18])
@pytest.mark.parametrize("seed", range(25))
def test_every_row_has_the_group_that_it_has_in_memory(seed: int, batch: int) -> None:
    scales = table(seed)
    k = 2 + seed % 4
    expected = multidimensional(scales, Need(k))
    found, labels = split(scales, k, batch)
    assert labels.tolist() == expected.tolist()
    assert found.sizes.tolist() == np.bincount(expected).tolist()
    for one, run in zip(scales, found.runs, strict=True):
        wanted = runs_of(one, expected)
        assert [end.tolist() for end in run] == [end.tolist() for end in wanted]


def test_what_a_batch_begins_with_may_be_the_value_behind_a_cut(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The mutant takes the last value of a batch for the one that follows it."""
    scales = [scale(WIDE, [0, 1, 2, 2**39, 2**40 - 2, 2**40 - 1])]
    real, _ = split(scales, 2, 3)

    def short(counts):  # type: ignore[no-untyped-def]
        for node, code, rows in counts:
            yield node, code, rows, np.append(code[1:], code[-1:])

    gains = []

    def gained(*given):  # type: ignore[no-untyped-def]
        gains.append(in_two(*given).gain.tolist())
        return in_two(*given)

    in_two = mondrian.in_two
    monkeypatch.setattr(mondrian, "in_two", gained)
    split(scales, 2, 3)
    right = list(gains)
    gains.clear()
    monkeypatch.setattr(mondrian, "_with_next", short)
    split(scales, 2, 3)
    assert gains != right
    assert real.sizes.min() >= 2
