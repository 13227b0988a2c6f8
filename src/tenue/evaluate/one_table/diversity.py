"""l-diversity: the number of values of a confidential column in each group.

A group with missing values only has one value; elsewhere missing values do not count, because they
hide nobody. A person with fifty rows is not fifty persons: what a group reveals about its members
depends on who has which value at least once, not on the number of rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from ..factorize import Codes, Real, Whole
from .count import Counts, Groups, counted, grouped

_NEAR = 1e-9
MOST_VALUES = 64
"""Recursive diversity is measured up to this l."""


def distinct_values(counts: Counts) -> Whole:
    """The number of different values of each group, at least 1. The least of them is the table's l.

    Source
        Thesis, section 2.8; Machanavajjhala et al. 2007.
    """
    return np.maximum(counts.distinct, 1)


def effective_values(counts: Counts, most: Whole) -> Real:
    """The exponential of the entropy of each group's values: that of so many equally frequent ones.

    Between 1 and `most`. A table is entropy l-diverse for every
    l up to the least of them.
    """
    effective = np.ones(counts.sizes.size)
    if counts.filled.size:
        sizes = counts.sizes[counts.filled]
        inner = np.add.reduceat(counts.times * np.log(counts.times), counts.starts)
        effective[counts.filled] = np.exp(np.log(sizes) - inner / sizes)
    return np.clip(effective, 1, most)


def least_effective(counts: Counts, most: Whole) -> float:
    """The least of `effective_values`, to the last digit whatever the order of groups and values.

    Sums of doubles depend on their order, so those of groups near the least are computed again,
    from the smallest count to the largest.
    """
    found = effective_values(counts, most)
    near = found <= found.min() * (1 + _NEAR)
    entries = np.flatnonzero(near[counts.group])
    order = entries[np.lexsort((counts.times[entries], counts.group[entries]))]
    sizes = np.where(near, counts.sizes, 0)
    again = replace(counts, group=counts.group[order], times=counts.times[order], sizes=sizes)
    return float(effective_values(again, most)[near].min())


def largest(above: Whole, below: Whole) -> Fraction:
    """The largest of some quotients of whole numbers, exactly."""
    found = above / below
    near = np.flatnonzero(found >= found.max() * (1 - _NEAR))
    pairs = np.unique(np.stack([above[near], below[near]]), axis=1)
    return max(Fraction(int(a), int(b)) for a, b in pairs.T)


def largest_share(counts: Counts, holders: Whole) -> Fraction:
    """The least alpha for which groups are (alpha, k)-anonymous: the largest share of the units of
    a group that have one and the same value. 1 for a group with missing values only.

    Parameters
        holders: the number of units of each group that have a value.

    Source
        Wong, Li, Fu and Wang 2006, for every value instead of one.
    """
    if counts.filled.size < counts.sizes.size:
        return Fraction(1)
    return largest(np.maximum.reduceat(counts.times, counts.starts), holders)


def recursive_bounds(counts: Counts, holders: Whole) -> list[Fraction]:
    """For l = 2, 3, … the largest quotient r_1 / (r_l + … + r_m) of a group, as long as all are
    finite, where r_i is how many of its units have its i-th most frequent value.

    Groups have recursive (c, l)-diversity exactly for every c above the one of l. Where a unit has
    several values, the denominator is the number of units less r_1 + … + r_(l-1), below which the
    number of units without these values never is: diversity is not overstated.

    Parameters
        holders: the number of units of each group that have a value.

    Source
        Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam 2007, definition 4.2.
    """
    if counts.filled.size < counts.sizes.size or not counts.filled.size:
        return []
    order = np.lexsort((-counts.times, counts.group))
    times, starts = counts.times[order], counts.starts
    most, rest, found = times[starts], holders.copy(), []
    for taken in range(min(int(counts.distinct.min()), MOST_VALUES) - 1):
        rest = rest - times[starts + taken]
        if (rest <= 0).any():
            break
        found.append(largest(most, rest))
    return found


@dataclass(frozen=True, eq=False)
class Holdings:
    """Who has which value: entry i is a person of a group with a value, each once.

    groups: the group of each entry, among all groups.
    values: the value of each entry.
    persons: the person of each entry; a person in two groups counts as two.
    """

    groups: Groups
    values: Codes
    persons: Groups

    @property
    def holders(self) -> Whole:
        """The number of persons of each group who have a value."""
        group = np.zeros(self.persons.count, np.int64)
        group[self.persons.labels] = self.groups.labels
        return np.bincount(group, minlength=self.groups.count)


def holdings(groups: Groups, values: Codes, unit: Codes) -> Holdings:
    """Who has which value in which group, without missing values."""
    present = np.flatnonzero(values.codes >= 0)
    labels, codes = groups.labels[present], values.codes[present]
    if present.size == 0:
        return Holdings(Groups(labels, groups.count), Codes(codes, values.count), Groups(labels, 0))
    who = grouped([Codes(labels, groups.count), Codes(unit.codes[present], unit.count)], codes.size)
    entries = grouped([Codes(who.labels, who.count), Codes(codes, values.count)], codes.size)
    return Holdings(
        Groups(labels[entries.heads], groups.count),
        Codes(codes[entries.heads], values.count),
        Groups(who.labels[entries.heads], who.count),
    )


def needed_values(entries: Holdings) -> Whole:
    """A lower bound of how many values it takes so that every person of a group has one of them.

    Guarantee
        1 exactly if all persons of the group share a value: an intruder who finds somebody there
        learns it. If each person has one value, the number of different values. Never more than the
        true number, the size of a smallest hitting set, which is hard to compute.

    A person with a single value needs that one. The others, if they have none of those, need at
    least their number divided by how many of them the most frequent value covers.
    """
    groups, size = entries.groups.count, entries.values.codes.size
    if size == 0:
        return np.ones(groups, np.int64)
    pairs = grouped([Codes(entries.groups.labels, groups), entries.values], size)
    single = entries.persons.sizes[entries.persons.labels] == 1
    forced = np.zeros(pairs.count, np.bool_)
    forced[pairs.labels[single]] = True
    served = np.zeros(entries.persons.count, np.bool_)
    served[entries.persons.labels[forced[pairs.labels]]] = True
    group_of_pair = np.zeros(pairs.count, np.int64)
    group_of_pair[pairs.labels] = entries.groups.labels
    group_of_person = np.zeros(entries.persons.count, np.int64)
    group_of_person[entries.persons.labels] = entries.groups.labels
    needed = np.bincount(group_of_pair[forced], minlength=groups)
    rest = np.bincount(group_of_person[~served], minlength=groups)
    serves = np.bincount(pairs.labels[~served[entries.persons.labels]], minlength=pairs.count)
    most = np.ones(groups, np.int64)
    np.maximum.at(most, group_of_pair, serves)
    return np.maximum(needed + -(-rest // most), 1)


def values_in(codes: Whole, labels: Whole, persons: Whole | None = None) -> Whole:
    """The number of values of each group, at least 1; with persons, its `needed_values`.

    Parameters
        codes: the value of each row, numbered from 0; -1 if missing.
        labels: the group of each row, numbered from 0.
        persons: the person of each row; None if each row is a person.
    """
    groups = Groups(labels, int(labels.max()) + 1)
    values = Codes(codes, int(codes.max()) + 1)
    if persons is None:
        return distinct_values(counted(groups, values))
    return needed_values(holdings(groups, values, Codes(persons, int(persons.max()) + 1)))


def single_valued(codes: Whole, labels: Whole, persons: Whole | None = None) -> int:
    """The number of groups with a single value of a column, or one that all persons have."""
    return int((values_in(codes, labels, persons) == 1).sum())
