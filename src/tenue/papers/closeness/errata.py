"""What chapter 7 gets wrong, each with a check that runs."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np

from ..cell import Cell, beside, claimed, refuted
from ..data import Data
from ..exhibit import erratum
from .release import released


def ceiling(_: Data) -> list[Cell]:
    """Bucket ends ⌈iN/(t+1) + ½⌉: six values in three buckets become 3, 2 and 1."""
    cells = []
    for units, t in ((6, 2), (10, 4), (12, 2)):
        ends = [math.ceil(Fraction(i * units, t + 1) + Fraction(1, 2)) for i in range(t + 1)]
        printed = np.diff([0, *ends[1:], units]).tolist()
        ours = released(range(1, units + 1), t, units).sizes
        cells += [
            refuted(
                f"{units} values, t = {t}",
                "sizes, as printed",
                "equal mass",
                ", ".join(map(str, printed)),
                fails=max(printed) - min(printed) > 1,
                because="The ceiling after adding a half moves every end too far; it is the floor.",
            ),
            claimed(
                f"{units} values, t = {t}",
                "sizes, corrected",
                "equal mass",
                ", ".join(map(str, ours)),
                holds=max(ours) - min(ours) <= 1,
            ),
        ]
    return cells


def recipe(buckets: list[int], t: int) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """Section 7.2.2: the least of every other bucket, the rest of the emphasised one."""
    units, many = sum(buckets), len(buckets)
    rows = []
    ends = [math.ceil(Fraction(i * units, many)) for i in range(many + 1)]
    for i, size in enumerate(b - a for a, b in pairwise(ends)):
        row = [math.ceil(Fraction(size * bucket, units * t)) for bucket in buckets]
        row[i] = size - sum(row) + row[i]
        rows.append(row)
    return np.array(rows)


def sums(_: Data) -> list[Cell]:
    ours = released(range(1, 20), 2, 6)
    buckets = ours.sizes
    printed = recipe(buckets, 2).sum(axis=0).tolist()
    made = len(released([1] * 5 + [2] * 4, Fraction(3, 2), 3).counts)
    row, wanted = "19 records, t = 2", ", ".join(map(str, buckets))
    return [
        refuted(
            row,
            "records of each bucket",
            wanted,
            ", ".join(map(str, printed)),
            fails=printed != buckets,
            because="The recipe fills each group by itself; buckets then give too many or too few "
            "records.",
        ),
        claimed(
            row,
            "t of the three groups of Tenue",
            "at most 2",
            ours.ratio,
            holds=ours.ratio <= 2 and len(ours.counts) == 3,
        ),
        refuted(
            "buckets of 5 and 4, t = 1.5",
            "three groups of 3",
            "always possible",
            f"{made} groups",
            fails=made < 3,
            because="No whole counts satisfy all rows and columns. Fewer groups do; one always "
            "does.",
        ),
    ]


def last_member(_: Data) -> list[Cell]:
    """e^ε-closeness is not ε-differential privacy for whoever knows the others of a group."""
    cells = []
    for k in (6, 30):
        release = released(range(1, 3 * k + 1), 2, k)
        group = release.counts[0].tolist()
        cells += [
            refuted(
                f"t = 2, a group of {k}",
                "P(right), all others known",
                "at most 2 · 1/3",
                _told(group),
                fails=_told(group) > 2 / 3,
                because="The link to differential privacy holds for an intruder who knows the "
                "marginal distribution only. Whoever knows k − 1 members learns the last.",
            ),
            beside(f"t = 2, a group of {k}", "P(right), none known", max(group) / k, right=2 / 3),
        ]
    return cells


def _told(group: list[int]) -> float:
    """How often the published counts of a group less all other members leave the right bucket."""
    right = 0
    for own, many in enumerate(group):
        others = [count - (bucket == own) for bucket, count in enumerate(group)]
        left = [count - known for count, known in zip(group, others, strict=True)]
        right += many * (left.index(max(left)) == own)
    return right / sum(group)


EXHIBITS = (
    erratum("err.ceiling", "Bucket ends are floors", "section 7.2.2", ceiling),
    erratum("err.sums", "The recipe does not add up", "section 7.2.2", sums),
    erratum(
        "err.last", "Close is not private for who knows the others", "section 7.3", last_member
    ),
)
