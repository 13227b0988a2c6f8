"""l-diversity: the number of values of a confidential column in each group.

A group with missing values only has one value; elsewhere missing values do not count, because they
hide nobody. A person with fifty rows is not fifty persons: what a group reveals about its members
depends on who has which value at least once, not on the number of rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..factorize import Codes, Real, Whole
from .count import Counts, Groups, counted, grouped

_NEAR = 1e-9


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
