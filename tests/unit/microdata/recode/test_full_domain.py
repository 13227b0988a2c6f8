"""No levels lose less: against all levels of small lattices, one by one."""

from __future__ import annotations

import itertools
import random
from collections import defaultdict
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tenue.microdata.recode.full_domain import full_domain
from tenue.microdata.recode.lattice import Lattice
from tenue.microdata.recode.loss import MEASURES, Classes
from tenue.microdata.recode.need import Need, Secret
from unit.microdata.recode.columns import NUMBER, SPORTS, TOWN, scale, sports

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
        found[levels] = MEASURES[measure](Classes(rows, penalties, lost))
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


def drawn(seed: int) -> tuple[Lattice, Need, int]:
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
    made, need, most = drawn(seed)
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
        made, need, most = drawn(seed)
        chosen.add(tuple(full_domain(made, need, one, most).levels for one in MEASURES.values()))
    assert any(len(set(levels)) == 3 for levels in chosen)


def test_most_levels_are_never_grouped(monkeypatch: pytest.MonkeyPatch) -> None:
    made, need, _ = drawn(0)
    asked: set[Levels] = set()
    grouping = Lattice.grouping

    def counted(self: Lattice, levels: Levels) -> Any:
        asked.add(levels)
        return grouping(self, levels)

    monkeypatch.setattr(Lattice, "grouping", counted)
    full_domain(made, Need(need.k), MEASURES["ncp"])
    every = np.prod([top + 1 for top in made.top])
    assert len(asked) < every / 2
