"""Groups that are diverse in a confidential column, or like the whole table in it.

A group that does not meet the condition joins the group of the record nearest to its centre, one
group after the other. Measured as `tenue.evaluate.check` does: missing values do not count, a group
of missing values only has one value, the blank, and distance 0, and a person with several rows
counts once for each different value.

Similar people have similar confidential values, so groups of them are far from the whole table, and
may have to grow until few are left. For t, groups with one unit of each stratum of a confidential
column are tried too, and grow where they must; the partition with the closest groups is taken.

A stratum holds neighbours in the order of a confidential column. A group with one unit from each of
k strata of n units is at earth mover's distance at most (n - k) / (2 (n - 1) k) from the table, if
all values differ; with ties it may be farther, and is measured. Inside the strata the units nearest
to each other by quasi-identifiers are taken, as in MDAV.

Source
    Soria-Comas, Domingo-Ferrer, Sánchez and Martínez, t-closeness through microaggregation, IEEE
    Transactions on Knowledge and Data Engineering 27 (2015): t-closeness first. Thesis, section
    3.3.1, closing remark; l-diversity and t-closeness: section 2.8.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...errors import refuse
from ...evaluate.one_table.diversity import values_in
from .mdav_reference import Distances, Rows, Space
from .partition import Partition

Numbers = NDArray[np.int64]


def strata_for(t: Fraction, units: int) -> int:
    """The least number of strata that keeps a group within t of the table, if all values differ."""
    return max(1, math.ceil(Fraction(units) / (2 * (units - 1) * t + 1)))


def stratified(orders: Sequence[NDArray[np.float64]], counts: Sequence[int]) -> list[Rows]:
    """The strata of one column, each divided into those of the next column, and so on.

    Units left over go to the strata in the middle, where they change least.

    Parameters
        orders: for each column the position of every unit in its order.
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
    sizes = [least + (begin <= i < begin + more) for i in range(count)]
    return np.split(units, np.cumsum(sizes)[:-1])


def one_of_each(space: Space, strata: Sequence[Rows]) -> Numbers:
    """The group of each unit: one unit of each stratum, as near to each other as possible.

    Groups start alternately from the live unit farthest from the centre of all, and from the one
    farthest from that. Units left over when a stratum is used up are labelled -1.
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
        live, ends = np.delete(live, places), ends - np.arange(1, len(strata) + 1)

    for group in range(0, groups, 2):
        away = space.distances(live, space.centre(tally, live.size))
        first = int(live[np.argmax(away)])
        leave(first, group)
        if group + 1 < groups:
            away = space.distances(live, space.record(first))
            leave(int(live[np.argmax(away)]), group + 1)
    return labels


def _least_in_each(away: Distances, ends: Numbers) -> Numbers:
    """The index of the least distance in each stretch, the first among equals."""
    starts = np.concatenate(([0], ends[:-1]))
    least = np.repeat(np.minimum.reduceat(away, starts), ends - starts)
    minima = np.flatnonzero(away == least)
    first: Numbers = minima[np.searchsorted(minima, starts)]
    return first


Places = NDArray[np.float64]

_TRIED = 50


@dataclass(frozen=True, eq=False)
class Wanted:
    """The condition on one confidential column in every group.

    codes: the rank of each row's value among the different values of the table; -1 where the value
        is missing.
    ordered: whether values lie on a line, as for the earth mover's distance of numbers and dates.
    l: the least number of different values, or None.
    t: the largest earth mover's distance from the whole table, or None.
    persons: whose each row is; None if each row is a person.
    """

    name: str
    codes: Numbers
    ordered: bool
    l: int | None
    t: Fraction | None
    persons: Numbers | None = None

    def holds(self, rows: Numbers) -> bool:
        """Whether a group of these rows meets the condition."""
        codes = self._values(rows)
        if self.l is not None and self._different(rows, codes) < self.l:
            return False
        return self.t is None or codes.size == 0 or self.distance(codes) <= self.t

    def _values(self, rows: Numbers) -> Numbers:
        """The values of these rows, each person's once."""
        codes = self.codes[rows]
        present = codes >= 0
        if self.persons is None:
            return codes[present]
        kinds = int(self.codes.max()) + 1
        pairs: Numbers = np.unique(self.persons[rows][present] * kinds + codes[present])
        return pairs % max(kinds, 1)

    def _different(self, rows: Numbers, codes: Numbers) -> int:
        if self.persons is None:
            return max(np.unique(codes).size, 1)
        together = np.zeros(rows.size, np.int64)
        return int(values_in(self.codes[rows], together, self.persons[rows])[0])

    def order(self, persons: Numbers | None) -> Places:
        """The position of each unit in the order of values: of a person, the mean of their rows."""
        if persons is None:
            return self.codes.astype(np.float64)
        means: Places = np.bincount(persons, self.codes) / np.bincount(persons)
        return means

    @cached_property
    def _whole(self) -> Numbers:
        return np.bincount(self._values(np.arange(self.codes.size)))

    def distance(self, codes: Numbers) -> Fraction:
        """The earth mover's distance of these values from the whole column, exactly."""
        whole = self._whole
        if whole.size < 2:
            return Fraction(0)
        inside = np.bincount(codes, minlength=whole.size)
        n, size = int(whole.sum()), codes.size
        gap = inside * n - whole * size
        if self.ordered:
            work, reach = int(np.abs(np.cumsum(gap)).sum()), whole.size - 1
        else:
            work, reach = int(np.maximum(gap, 0).sum()), 1
        return Fraction(work, n * size * reach)


def close_groups(
    space: Space, labels: Numbers, k: int, wanted: Sequence[Wanted], persons: Numbers | None = None
) -> Numbers:
    """Groups of at least k units that meet the conditions; refused if even one single group does
    not.

    Parameters
        space: one record for each unit.
        labels: groups by quasi-identifiers alone, which the result improves upon.
        wanted: the conditions on the rows of every group.
        persons: whose each row is; None if each row is a unit.
    """
    best = grown(space, labels, wanted, persons)
    if best.max() == labels.max():
        return best  # nothing had to grow
    loss = _spread(space, best)
    for orders, counts in _stratifications(space.size, k, wanted, persons):
        while 2 * math.prod(counts) <= space.size:
            strata = stratified(orders, counts)
            start = _settled(space, one_of_each(space, strata), wanted, persons)
            found = grown(space, start, wanted, persons)
            spread = _spread(space, found)
            if spread < loss:
                best, loss = found, spread
            if found.max() == start.max():
                break
            counts = [2 * counts[0], *counts[1:]]  # ties keep larger groups closer to the whole
    return best


def _stratifications(
    units: int, k: int, wanted: Sequence[Wanted], persons: Numbers | None
) -> Iterator[tuple[list[Places], list[int]]]:
    """The orders and numbers of strata of each column that has a t; and of all, one inside the
    other."""
    columns = [(column.order(persons), column.t) for column in wanted if column.t is not None]
    orders = [order for order, _ in columns]
    counts = [strata_for(t, units) for _, t in columns]
    for order, count in zip(orders, counts, strict=True):
        yield [order], [max(k, count)]
    if len(columns) > 1:
        counts[0] = max(counts[0], -(-k // math.prod(counts[1:])))
        yield orders, counts


def _settled(
    space: Space, labels: Numbers, wanted: Sequence[Wanted], persons: Numbers | None
) -> Numbers:
    """Units in no group join the nearest that then meets the conditions, or else the nearest."""
    free = np.flatnonzero(labels < 0)
    if free.size == 0:
        return labels
    centres = space.centres(labels)
    groups = np.arange(centres.size)
    for unit in free:
        away = centres.distances(groups, space.record(int(unit)))
        near = np.argsort(away, kind="stable")[:_TRIED]
        for group in near:
            members = np.append(np.flatnonzero(labels == group), unit)
            rows = members if persons is None else np.flatnonzero(np.isin(persons, members))
            if _hold(wanted, rows):
                labels[unit] = group
                break
        else:
            labels[unit] = near[0]
    return labels


def _spread(space: Space, labels: Numbers) -> float:
    """The sum of squared distances from the centres of groups."""
    total = 0.0
    for members in Partition(labels).groups():
        centre = space.centre(space.tally(members), members.size)
        total += float(space.distances(members, centre).sum())
    return total


def grown(
    space: Space, labels: Numbers, wanted: Sequence[Wanted], persons: Numbers | None = None
) -> Numbers:
    """Groups, joined until they meet the conditions; parameters and refusals of `close_groups`."""
    everybody = np.arange(wanted[0].codes.size)
    for column in wanted:
        if not column.holds(everybody):
            word = "values" if column.persons is None else "suffice"
            raise refuse(f"publish.fewer-than-l-{word}", column=column.name, l=column.l)
    labels = labels.copy()
    units = Partition(labels).groups()
    rows = units if persons is None else Partition(labels[persons]).groups()
    short = [g for g in range(len(units)) if not _hold(wanted, rows[g])]
    all_units = np.arange(space.size)
    while short:
        group = short.pop(0)
        centre = space.centre(space.tally(units[group]), units[group].size)
        distances = space.distances(all_units, centre)
        distances[units[group]] = np.inf
        other = int(labels[np.argmin(distances)])
        labels[units[group]] = other
        units[other] = np.concatenate([units[other], units[group]])
        rows[other] = (
            units[other] if persons is None else np.concatenate([rows[other], rows[group]])
        )
        if other in short:
            if _hold(wanted, rows[other]):
                short.remove(other)
        elif not _hold(wanted, rows[other]):
            # more rows can move a group away from the whole table
            short.append(other)
    return np.unique(labels, return_inverse=True)[1].astype(np.int64).reshape(-1)


def _hold(wanted: Sequence[Wanted], rows: Numbers) -> bool:
    return all(column.holds(rows) for column in wanted)
