"""Groups that are like the whole table from the start: one unit from each stratum of a column.

A stratum holds neighbours in the order of a confidential column. A group with one unit from each of
k strata of n units is at earth mover's distance at most (n - k) / (2 (n - 1) k) from the table, if
all values differ; with ties it may be farther, and is measured. Inside the strata the units nearest
to each other by quasi-identifiers are taken, as MDAV takes them.

Source
    Soria-Comas, Domingo-Ferrer, Sánchez and Martínez, t-closeness through microaggregation, IEEE
    Transactions on Knowledge and Data Engineering 27 (2015): t-closeness first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from .plain import Distances, Rows, Space

Numbers = NDArray[np.int64]


def strata_for(t: Fraction, units: int) -> int:
    """The least number of strata that keeps a group within t of the table, if all values differ."""
    return max(1, math.ceil(Fraction(units) / (2 * (units - 1) * t + 1)))


def stratified(orders: Sequence[NDArray[np.float64]], counts: Sequence[int]) -> list[Rows]:
    """The strata of one column, each divided into those of the next column, and so on.

    Where units are left over, the strata in the middle have one more: there it moves least.

    Parameters
        orders: for each column where every unit stands in its order.
        counts: how many strata each column has.
    """
    strata: list[Rows] = [np.arange(orders[0].size)]
    for order, count in zip(orders, counts, strict=True):
        strata = [
            part
            for whole in strata
            for part in _divided(whole[np.argsort(order[whole], kind="stable")], count)
        ]
    return strata


def _divided(units: Rows, count: int) -> list[Rows]:
    least, more = divmod(units.size, count)
    begin = (count - more) // 2
    sizes = [least + (begin <= place < begin + more) for place in range(count)]
    return np.split(units, np.cumsum(sizes)[:-1])


def one_of_each(space: Space, strata: Sequence[Rows]) -> Numbers:
    """The group of each unit: one unit of each stratum, as near to each other as may be.

    Groups start alternately from the live unit farthest from the centre of all, and from the one
    farthest from that. Whoever is left over when a stratum is used up is labelled -1.
    """
    labels = np.full(space.size, -1, np.int64)
    groups = min(part.size for part in strata)
    live: Rows = np.concatenate(strata)
    ends = np.cumsum([part.size for part in strata])
    tally = space.tally(live)

    def leave(seed: int, group: int) -> None:
        nonlocal live, ends, tally
        away = space.distances(live, space.record(seed))
        away[live == seed] = -1.0
        places = _least_in_each(away, ends)
        members = live[places]
        labels[members] = group
        tally = tally - space.tally(members)
        stay = np.ones(live.size, np.bool_)
        stay[places] = False
        live, ends = live[stay], ends - np.arange(1, len(strata) + 1)

    for group in range(0, groups, 2):
        away = space.distances(live, space.centre(tally, live.size))
        first = int(live[np.argmax(away)])
        leave(first, group)
        if group + 1 < groups:
            away = space.distances(live, space.record(first))
            leave(int(live[np.argmax(away)]), group + 1)
    return labels


def _least_in_each(away: Distances, ends: Numbers) -> Numbers:
    """The place of the least distance in each stretch, the first among equals."""
    starts = np.concatenate(([0], ends[:-1]))
    least = np.repeat(np.minimum.reduceat(away, starts), ends - starts)
    found = np.flatnonzero(away == least)
    places: Numbers = found[np.searchsorted(found, starts)]
    return places
