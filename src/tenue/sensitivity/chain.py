"""How far one replaced record can move all groups of a table that is partitioned by rank.

Let the rows be sorted by *one* total order of the domain, fixed without looking at them, and split
into N groups of fixed sizes. A record that is replaced moves the records between its old and its
new place by one rank. A group that loses y gains the first record of the next one, so all that
happens to the groups' sums are the links of a chain y₀, y₁, …, y_m of at most N links that runs
through the order in one direction. Its length Σ|yᵢ − yᵢ₋₁| is therefore the L1 sensitivity of the
whole list of sums, each column divided by its range; L_N, the greatest length, is what is bounded
here. With at least k records in each group, their means move by at most L_N/k together.

* One number: the range itself, 1.
* Categories on their line: at most the line; exactly, the best of all chains.
* D columns along the Hilbert curve: a table of lines, L_N ≤ V(λ) + λ·N for every N. V(λ) is the
  greatest Σ(length − λ) over chains of coarse cells. A link between two cells counts as the
  distance between their corners that are furthest apart; a link inside one cell is then no longer
  than λ, as long as λ ≥ D·2^−q for cells of side 2^−q, and for no smaller λ.
  `scripts/chain_table.py` computes the table.
* Groups that are formed one after the other, each by a different order: every group may change by
  one record, so N·D and no better.

Source
    Thesis, chapter 6, whose bound these replace.
"""

from __future__ import annotations

import json
from fractions import Fraction
from functools import cache
from importlib import resources
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

MOST_EXACT = 512
"""For more categories the length of the line is the bound, because the exact one is slow."""


class Table(NamedTuple):
    """The bounds for one number of columns.

    bits: the levels of the curve, which has 2^(D·bits) cells.
    unit: λ and V are whole multiples of it.
    lines: (λ, V) with L_N ≤ V + λ·N for every N.
    """

    bits: int
    unit: Fraction
    lines: tuple[tuple[int, int], ...]


@cache
def tables() -> dict[int, Table]:
    """The shipped tables, by the number of columns."""
    text = resources.files(__package__).joinpath("chain_table.json").read_text("utf-8")
    return {
        int(columns): Table(
            entry["bits"],
            Fraction(1, entry["units"]),
            tuple((slope, start) for slope, start in entry["lines"]),
        )
        for columns, entry in json.loads(text).items()
    }


def hilbert(columns: int, groups: int) -> Fraction:
    """L_N for so many columns in Hilbert order, split into N groups: an upper bound.

    Exact for one column, whose order is that of its values.

    Example
        >>> hilbert(1, 100), hilbert(2, 1), float(hilbert(2, 100)) < 28.4
        (Fraction(1, 1), Fraction(2, 1), True)
    """
    if columns == 1:
        return Fraction(1)
    table = tables().get(columns)
    most = separate(columns, groups)
    if table is None:
        return most
    return min(most, table.unit * min(start + slope * groups for slope, start in table.lines))


def category(metric: NDArray[np.int64], groups: int) -> int:
    """L_N for one column of categories in a fixed order and N groups, in steps of `metric`.

    Exact; the length of the line is an upper bound for every N.

    Parameters
        metric: whole distances between categories in their order; the triangle inequality holds.
    """
    size = metric.shape[0]
    if groups >= size - 1:
        return int(np.diagonal(metric, 1).sum())
    longest = np.zeros(size, np.int64)  # of the chains so far that end here
    forward = np.where(np.triu(np.ones_like(metric)) > 0, metric, -1)
    for _ in range(groups):
        reached = np.where(forward >= 0, longest[:, None] + forward, -1)
        longest = reached.max(axis=0)
    return int(longest.max(initial=0))


def separate(columns: int, groups: int) -> Fraction:
    """The bound for groups that are formed one after the other, each by a different order."""
    return Fraction(columns * groups)
