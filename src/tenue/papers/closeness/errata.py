"""What chapter 7 gets wrong, each with a check that runs."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np

from ...microdata.bucket.cut import cut
from ...microdata.bucket.emphasis import emphasised
from ...microdata.bucket.feasible import feasible, most_groups
from ...microdata.bucket.intruder import farthest_group, right_guess
from ..cell import Cell, beside, claimed, refuted
from ..data import Data
from ..exhibit import erratum


def ceiling(_: Data) -> list[Cell]:
    """Bucket ends ⌈iN/(t+1) + ½⌉: six values in three buckets become 3, 2 and 1."""
    cells = []
    for units, t in ((6, 2), (10, 4), (12, 2)):
        ends = [math.ceil(Fraction(i * units, t + 1) + Fraction(1, 2)) for i in range(t + 1)]
        printed = np.diff([0, *ends[1:], units]).tolist()
        ours = np.bincount(cut(np.ones(units, np.int64), t + 1)).tolist()
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
    buckets = np.bincount(cut(np.ones(19, np.int64), 3)).tolist()
    printed, ours = recipe(buckets, 2).sum(axis=0).tolist(), emphasised(buckets, 3, Fraction(2))
    possible = feasible([5, 4], 3, Fraction(3, 2))
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
            "by a flow",
            wanted,
            ", ".join(map(str, ours.sum(axis=0).tolist())),
            holds=ours.sum(axis=0).tolist() == buckets,
        ),
        refuted(
            "buckets of 5 and 4, t = 1.5",
            "three groups of 3",
            "always possible",
            "possible" if possible else "impossible",
            fails=not possible,
            because="No whole counts satisfy all rows and columns. Fewer groups do; one always "
            "does.",
        ),
        beside(
            "buckets of 5 and 4, t = 1.5",
            "groups that can be made",
            float(most_groups([5, 4], 3, Fraction(3, 2))),
        ),
    ]


def last_member(_: Data) -> list[Cell]:
    """e^ε-closeness is not ε-differential privacy for whoever knows the others of a group."""
    cells = []
    for k in (4, 30):
        counts = farthest_group(k, Fraction(2))
        blind = float(right_guess(counts, 0))
        told = float(right_guess(counts, sum(counts) - 1))
        cells += [
            refuted(
                f"t = 2, a group of {sum(counts)}",
                "P(right), all others known",
                "at most 2 · 1/3",
                told,
                fails=told > 2 / 3,
                because="The link to differential privacy holds for an intruder who knows the "
                "marginal distribution only. Whoever knows k − 1 members learns the last.",
            ),
            beside(f"t = 2, a group of {sum(counts)}", "P(right), none known", blind),
        ]
    return cells


EXHIBITS = (
    erratum("err.ceiling", "Bucket ends are floors", "section 7.2.2", ceiling),
    erratum("err.sums", "The recipe does not add up", "section 7.2.2", sums),
    erratum(
        "err.last", "Close is not private for who knows the others", "section 7.3", last_member
    ),
)
