"""t-closeness: the distance of a confidential column in each group from the whole table.

Both distances are computed in whole numbers and returned as fractions. Missing values are left out
on both sides, and so is a group with missing values only.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ..factorize import Flags, Whole
from .count import Counts

_SAFE = 2**62
_NEAR = 1 - 1e-12


def farthest(counts: Counts, *, ordered: bool) -> tuple[Fraction, Whole]:
    """The largest earth mover's distance of a group from the whole table, from 0 to 1, and all
    groups at this distance with the fewest values.

    The result does not depend on the order of groups. Some group must have a value, unless the
    whole table has none.

    Parameters
        ordered: values lie on a line, neighbours at distance 1/(m-1) for m values in the table
            (numbers, dates); otherwise all values are at distance 1 from each other (categories).

    Source
        Thesis, section 7.2; the two ground distances are those of Li, Li, Venkatasubramanian 2007.
    """
    m, n = counts.totals.size, counts.rows
    if n == 0:
        return Fraction(0), np.arange(counts.sizes.size)
    work = _line(counts) if ordered else _unrelated(counts)
    reach = max(m - 1, 1) if ordered else 1
    sizes = counts.sizes[counts.filled]
    found = work.astype(np.float64) / sizes
    near = np.flatnonzero(found >= found.max() * _NEAR)
    # among groups of one size the one with most work is farthest, and there are few sizes
    near = near[np.argsort(sizes[near], kind="stable")]
    runs = np.flatnonzero(np.diff(sizes[near], prepend=0))
    most = np.maximum.reduceat(work[near], runs)
    exact = [
        Fraction(int(top), n * int(size) * reach)
        for top, size in zip(most, sizes[near[runs]], strict=True)
    ]
    best = max(range(len(exact)), key=exact.__getitem__)
    chosen = (sizes == sizes[near[runs[best]]]) & (work == most[best])
    return exact[best], counts.filled[np.flatnonzero(chosen)]


def beyond(counts: Counts, limit: Fraction, *, ordered: bool) -> Flags:
    """Whether each group is farther from the whole table than a limit, exactly.

    Parameters
        ordered: as for `farthest`.
    """
    found = np.zeros(counts.sizes.size, np.bool_)
    m, n = counts.totals.size, counts.rows
    if n == 0 or m < 2:
        return found
    work = _line(counts) if ordered else _unrelated(counts)
    sizes = counts.sizes[counts.filled]
    if m * n * int(sizes.max()) * limit.denominator >= _SAFE:
        work, sizes = work.astype(object), sizes.astype(object)
    most = limit.numerator * n * (m - 1 if ordered else 1)
    found[counts.filled] = work * limit.denominator > sizes * most
    return found


def ratio(counts: Counts) -> Fraction | None:
    """The largest ratio, or its inverse, of a value's shares in a group and in the whole table.

    From 1, all groups distributed like the whole table. None if infinite: some group lacks a value
    of the table.

    Source
        Thesis, definition 15 and equation 7.1.
    """
    m, n = counts.totals.size, counts.rows
    if n == 0:
        return Fraction(1)
    if (counts.distinct[counts.filled] < m).any():
        return None
    inside = counts.times * n
    outside = counts.totals[counts.value] * counts.sizes[counts.group]
    large, small = np.maximum(inside, outside), np.minimum(inside, outside)
    quotients = large / small
    near = np.flatnonzero(quotients >= quotients.max() * _NEAR)
    pairs = np.unique(np.stack([large[near], small[near]]), axis=1)
    return max(Fraction(int(a), int(b)) for a, b in pairs.T)


def gain(counts: Counts) -> tuple[Fraction, bool]:
    """The largest relative gain (q - p) / p of a value's share q in a group over its share p in the
    table, and whether every gain is also at most -ln p.

    The first is the least beta for which groups have basic beta-likeness; both together mean
    enhanced beta-likeness. 0 if all groups are distributed like the whole table.

    Source
        Cao and Karras 2012, definitions 2 and 3.
    """
    n = counts.rows
    if n == 0 or not counts.filled.size:
        return Fraction(0), True
    inside = counts.times * n
    outside = counts.totals[counts.value] * counts.sizes[counts.group]
    gains = inside / outside - 1
    near = np.flatnonzero(gains + 1 >= (gains.max() + 1) * _NEAR)
    pairs = np.unique(np.stack([inside[near], outside[near]]), axis=1)
    most = max(Fraction(int(a), int(b)) for a, b in pairs.T) - 1
    limits = -np.log(counts.totals[counts.value] / n)
    enhanced = bool(((inside <= outside) | (gains <= limits * _NEAR)).all())
    return max(most, Fraction(0)), enhanced


def _overtaken(below: Whole, shares: Whole, n: int) -> Whole:
    """How many cumulative counts are at most each of these numbers of rows, of n."""
    if n > 4 * shares.size + 1000:
        return np.searchsorted(below, shares, side="right")
    return np.cumsum(np.bincount(below, minlength=n + 1))[shares]


def _unrelated(counts: Counts) -> Whole:
    """For each filled group, n times its size times half the sum of |p - q|."""
    inside = counts.times * counts.rows
    outside = counts.totals[counts.value] * counts.sizes[counts.group]
    # the surplus of p over q equals that of q over p, and p exceeds q only at values of the group
    return np.add.reduceat(np.maximum(inside - outside, 0), counts.starts)


def _line(counts: Counts) -> Whole:
    """For each filled group, n times its size times the sum over values of |P - Q|, cumulative.

    Between two values of a group its cumulative share is constant and the table's grows, so each
    stretch is split where the table overtakes the group, and prefix sums do the rest.
    """
    m, n = counts.totals.size, counts.rows
    below = np.cumsum(counts.totals)
    prefix = np.concatenate(([0], np.cumsum(below)))
    sizes = counts.sizes[counts.group]
    running = np.cumsum(counts.times)
    before = np.repeat(
        running[counts.starts] - counts.times[counts.starts], counts.distinct[counts.filled]
    )
    reached = running - before
    start, stop = counts.value, np.empty_like(counts.value)
    stop[:-1] = counts.value[1:]
    last = np.append(counts.starts[1:], counts.value.size) - 1
    stop[last] = m
    split = np.clip(_overtaken(below, reached * n // sizes, n), start, stop)
    if m * n * int(counts.sizes.max()) >= _SAFE:
        prefix, sizes, reached = (part.astype(object) for part in (prefix, sizes, reached))
    work = reached * n * (2 * split - start - stop)
    work += sizes * (prefix[start] + prefix[stop] - 2 * prefix[split])
    total: Whole = np.add.reduceat(work, counts.starts)
    total += sizes[counts.starts] * prefix[counts.value[counts.starts]]
    return total
