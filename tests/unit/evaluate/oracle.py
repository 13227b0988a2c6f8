"""k, l, t and record linkage by their definitions: slow, in plain Python and fractions.

None is missing. Nothing here is shared with the code under test.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

Row = Sequence[Any]


def groups(known: Sequence[Row]) -> list[list[int]]:
    """The rows that are equal in everything known; a blank equals a blank."""
    found: dict[Hashable, list[int]] = {}
    for i, row in enumerate(known):
        found.setdefault(tuple(row), []).append(i)
    return list(found.values())


def units(members: list[int], unit: Sequence[Any]) -> int:
    return len({unit[i] for i in members})


def once_each(members: list[int], unit: Sequence[Any], values: Sequence[Any]) -> list[int]:
    """One row for each person and value: fifty rows of one person are no fifty persons."""
    seen: dict[Hashable, int] = {}
    for i in members:
        if values[i] is not None:
            seen.setdefault((unit[i], values[i]), i)
    return sorted(seen.values())


def hitting(members: list[int], unit: Sequence[Any], values: Sequence[Any]) -> int:
    """The least number of values such that everybody has one of them; 1 if nobody has a value."""
    sets: dict[Any, set[Any]] = {}
    for i in members:
        if values[i] is not None:
            sets.setdefault(unit[i], set()).add(values[i])
    known = sorted(set().union(*sets.values()), key=repr) if sets else []
    for size in range(1, len(known) + 1):
        for chosen in combinations(known, size):
            if all(held & set(chosen) for held in sets.values()):
                return size
    return 1


def distinct(values: Sequence[Any]) -> int:
    """A group that shows nothing shows the blank."""
    return max(1, len({value for value in values if value is not None}))


def effective(values: Sequence[Any]) -> float:
    counts = Counter(value for value in values if value is not None)
    size = sum(counts.values())
    return math.exp(-sum(c / size * math.log(c / size) for c in counts.values()))


def shares(values: Sequence[Any]) -> dict[Any, Fraction]:
    counts = Counter(value for value in values if value is not None)
    size = sum(counts.values())
    return {value: Fraction(count, size) for value, count in counts.items()}


def carried(inside: dict[Any, Fraction], whole: dict[Any, Fraction], *, ordered: bool) -> Fraction:
    """The work of carrying one heap of earth to the other.

    On a line the leftmost earth goes to the leftmost hole; elsewhere what is in place stays.
    """
    places = sorted(whole) if ordered else list(whole)
    if len(places) < 2:
        return Fraction(0)
    if not ordered:
        return 1 - sum(min(inside.get(place, Fraction(0)), whole[place]) for place in places)
    heaps = [[i, inside.get(place, Fraction(0))] for i, place in enumerate(places)]
    holes = [[i, whole[place]] for i, place in enumerate(places)]
    work = Fraction(0)
    while heaps and holes:
        amount = min(heaps[0][1], holes[0][1])
        work += amount * abs(heaps[0][0] - holes[0][0])
        for line in (heaps, holes):
            line[0][1] -= amount
            if line[0][1] == 0:
                line.pop(0)
    return work / (len(places) - 1)


def quotient(inside: dict[Any, Fraction], whole: dict[Any, Fraction]) -> Fraction | None:
    """None for infinite."""
    if set(inside) != set(whole):
        return None
    return max(max(inside[v] / whole[v], whole[v] / inside[v]) for v in whole)


def closeness(groups: list[list[Any]], *, ordered: bool) -> tuple[Fraction, Fraction | None]:
    """Of the values of each group."""
    whole = shares([value for group in groups for value in group])
    parts = [part for part in map(shares, groups) if part]
    t = max((carried(part, whole, ordered=ordered) for part in parts), default=Fraction(0))
    quotients = [quotient(part, whole) for part in parts]
    if None in quotients:
        return t, None
    return t, max((q for q in quotients if q is not None), default=Fraction(1))


def linkage(squared: Sequence[Sequence[Any]]) -> Fraction:
    """Of the squared distances from masked row i to original row j."""
    total = Fraction(0)
    for i, row in enumerate(squared):
        least = min(row)
        if row[i] == least:
            total += Fraction(1, sum(value == least for value in row))
    return total / len(squared)
