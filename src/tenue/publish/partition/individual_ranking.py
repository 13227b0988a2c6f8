"""Groups of one column: univariate MDAV, least errors, or equal values kept together.

On a sorted column MDAV takes its groups from the two ends, so it needs one sort and then about one
step for each record.

If equal values fell into two groups, the group of each would depend on whose it is, which reveals
more than 1/k. So would groups that depend on the order of rows. Here groups are a function of the
sorted pairs (value, number of units) alone: every table with the same values has the same groups,
independently of who has which value.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arguments import checked_call
from ...errors import nearest, refuse
from ..numba_kernels import kernels
from .exact_means import GRAIN, Points, enough_rows, points_of
from .partition import Partition

METHODS = ("mdav", "optimal")
# Below this many steps the interpreter is done before the compiled code is loaded.
COMPILED_FROM = 500_000
_BLOCK = 1 << 16


@checked_call
def individual_ranking(values: ArrayLike, k: int, *, method: str = "mdav") -> Partition:
    """Groups of at least `k` similar values of one column, at most 2k - 1.

    Guarantee
        With "mdav", the groups are those of `mdav` on this one column, ties included; they are
        numbered as they are formed. With "optimal", no partition into groups of at least `k` has a
        smaller sum of squared differences from the group means, up to rounding; the groups are
        numbered from the smallest values up, and equal values are taken in row order.

    Parameters
        values: one number for each row.
        k: the least size of a group, at least 1 and at most the number of rows.
        method: "mdav" (n log n steps) or "optimal" (n log n + nk steps).

    Example
        >>> individual_ranking([1, 9, 2, 11, 3, 10, 4], k=3).labels.tolist()
        [1, 0, 1, 0, 1, 0, 1]
        >>> individual_ranking([1, 2, 3, 20, 21, 40, 41], k=2, method="optimal").sizes.tolist()
        [3, 2, 2]

    Source
        Thesis, sections 2.8 and 3.3.3; Hansen and Mukherjee 2003 for the optimal groups.
    """
    if method not in METHODS:
        names, near = ", ".join(f"`{name}`" for name in METHODS), nearest(str(method), METHODS)
        raise refuse("publish.unknown-method", method=method, names=names, nearest=near)
    points = points_of(_one_column(values))
    k = enough_rows(points, k)
    column = points[:, 0]
    return Partition(univariate_mdav(column, k) if method == "mdav" else _optimal(column, k))


def univariate_mdav(column: Points, k: int) -> NDArray[np.int64]:
    """The labels of `mdav_reference.mdav` for a table of this one column."""
    order, ordered = _ranked(column)
    starts = np.append(np.flatnonzero(np.diff(ordered, prepend=-np.inf)), column.size)
    values = ordered if starts.size > column.size else ordered[starts[:-1]]
    state = values, order, starts, starts[:-1].copy()
    labels = np.empty(column.size, np.int64)
    found = np.full(column.size, -1, np.int64)  # place by place
    if column.size >= COMPILED_FROM:
        kernels().two_ended(k, found, *state)
    else:
        listed = found.tolist()
        two_ended(k, listed, *(array.tolist() for array in state))
        found[:] = listed
    labels[order] = found
    return labels


def two_ended(k: int, labels: Any, values: Any, order: Any, starts: Any, heads: Any) -> None:
    """MDAV on one sorted column; fills `labels`, the group of each place.

    Equal values form a run. Records leave a run in their order, for the rule on ties never takes a
    later one first; so the live records of a run are the places from its head to the start of the
    next run. Different values can have equal *computed* distances; all such neighbours are looked
    at, and the lowest in `order` wins. Arrays or lists will do. Places are visited from both ends
    inwards, never at random, so that arrays may lie on a disk.
    """
    runs = len(values)
    live = len(order)
    left, right = 0, runs - 1
    label = 0

    def grains(value: float) -> tuple[int, int, int]:
        """The parts of one value, as in `exact_means.cut`."""
        rest = value * GRAIN
        first = int(rest)
        rest = (rest - first) * GRAIN
        second = int(rest)
        return first, second, int((rest - second) * GRAIN)

    def above(run: int, right: int) -> int:
        run += 1
        while run <= right and heads[run] == starts[run + 1]:
            run += 1
        return run

    def below(run: int, left: int) -> int:
        run -= 1
        while run >= left and heads[run] == starts[run + 1]:
            run -= 1
        return run

    def farthest(point: float, left: int, right: int) -> int:
        """The run of the live record farthest from the point, the lowest row among equals."""
        low, high = values[left] - point, values[right] - point
        best = max(low * low, high * high)
        found, run = -1, left
        while run <= right and (values[run] - point) * (values[run] - point) == best:
            if found < 0 or order[heads[run]] < order[heads[found]]:
                found = run
            run = above(run, right)
        run = right
        while run >= left and (values[run] - point) * (values[run] - point) == best:
            if found < 0 or order[heads[run]] < order[heads[found]]:
                found = run
            run = below(run, left)
        return found

    first_sum, second_sum, third_sum = 0, 0, 0
    for run in range(runs):
        first_part, second_part, third_part = grains(values[run])
        count = starts[run + 1] - starts[run]
        first_sum += first_part * count
        second_sum += second_part * count
        third_sum += third_part * count

    while live >= 2 * k:
        mean = (first_sum * 2.0**-32 + second_sum * 2.0**-64) + third_sum * 2.0**-96
        first = farthest(mean / live, left, right)
        point = values[first]
        second = farthest(point, left, right)
        second_place = heads[second]
        seeds = 2 if live >= 3 * k else 1
        for turn in range(seeds):
            run = first
            if turn == 1:
                run = second
                if labels[second_place] >= 0:
                    run = farthest(point, left, right)
            seed = values[run]
            low, high = run, above(run, right)
            for taken in range(k):
                best, row = np.inf, -1
                near = low
                while taken > 0 and near >= left:
                    distance = (values[near] - seed) * (values[near] - seed)
                    if distance > best:
                        break
                    if distance < best or order[heads[near]] < row:
                        best, row, run = distance, order[heads[near]], near
                    near = below(near, left)
                near = high
                while taken > 0 and near <= right:
                    distance = (values[near] - seed) * (values[near] - seed)
                    if distance > best:
                        break
                    if distance < best or order[heads[near]] < row:
                        best, row, run = distance, order[heads[near]], near
                    near = above(near, right)
                labels[heads[run]] = label
                heads[run] += 1
                first_part, second_part, third_part = grains(values[run])
                first_sum -= first_part
                second_sum -= second_part
                third_sum -= third_part
                if heads[run] == starts[run + 1]:
                    if run == left:
                        left = above(run, right)
                    if run == right:
                        right = below(run, left)
                    if run == low:
                        low = below(run, left)
                    elif run == high:
                        high = above(run, right)
            live -= k
            label += 1
        if seeds == 1:
            break
    for run in range(left, right + 1):
        for i in range(heads[run], starts[run + 1]):
            labels[i] = label


def _optimal(column: Points, k: int) -> NDArray[np.int64]:
    order, ordered = _ranked(column)
    n = column.size
    least = np.full(n + 1, np.inf)
    least[0] = 0.0
    size = np.zeros(n + 1, np.int64)
    relax = kernels().optimal if n * k >= COMPILED_FROM else optimal
    for begin in range(0, n - k + 1, _BLOCK):
        relax(_errors(ordered, begin, k), begin, k, least, size)
    ends = [n]
    while ends[-1] > 0:
        ends.append(ends[-1] - int(size[ends[-1]]))
    sizes = -np.diff(np.array(ends))[::-1]
    labels = np.empty(n, np.int64)
    labels[order] = np.repeat(np.arange(sizes.size), sizes)
    return labels


def _errors(ordered: Points, begin: int, k: int) -> Points:
    """Squared errors of the groups of k, k + 1, ... 2k - 1 values that start at each of a block."""
    n = ordered.size
    starts = min(_BLOCK, n - k + 1 - begin)
    errors = np.full((k, starts), np.inf)
    mean, error = np.zeros(starts), np.zeros(starts)
    for size in range(1, 2 * k):
        fit = min(starts, n - size + 1 - begin)
        if fit <= 0:
            break
        value = ordered[begin + size - 1 : begin + size - 1 + fit]
        before = value - mean[:fit]
        mean[:fit] += before / size
        error[:fit] += before * (value - mean[:fit])
        if size >= k:
            errors[size - k, :fit] = error[:fit]
    return errors


def optimal(errors: Any, begin: int, k: int, least: Any, size: Any) -> None:
    """The least error of the first i values, and the size of the last group that reaches it."""
    for start in range(errors.shape[1]):
        reached = least[begin + start]
        if reached < np.inf:
            for extra in range(k):
                error = reached + errors[extra, start]
                end = begin + start + k + extra
                if error < np.inf and error < least[end]:
                    least[end] = error
                    size[end] = k + extra


def _ranked(column: Points) -> tuple[NDArray[np.int64], Points]:
    """Rows by value, equal values by row; and the values in that order.

    Sorting whole numbers is several times faster than sorting rows by value. So the leading bits of
    a value and its row make one number: the bits of doubles are ordered as whole numbers are, once
    those below zero are turned round. Values are taken from the middle, where they are densest and
    bits tell most; where they agree in the leading bits, their order is put right afterwards.
    """
    n = column.size
    bits = n.bit_length()
    middle = np.median(column[:: 1 + n // 1000])
    packed = (column - middle + 0.0).view(np.int64)  # + 0.0: there is one zero only
    packed ^= (packed >> 63) & np.iinfo(np.int64).max
    packed >>= bits
    packed <<= bits
    packed |= np.arange(n)
    packed.sort()
    order = packed & ((1 << bits) - 1)
    ordered = column[order]
    wrong = np.flatnonzero(ordered[1:] < ordered[:-1])
    if wrong.size > n >> 4:
        order = np.lexsort((column,))
        return order, column[order]
    if wrong.size > 0:
        leading = np.unique(packed[wrong] >> bits)
        starts = np.searchsorted(packed, leading << bits)
        sizes = np.searchsorted(packed, (leading + 1) << bits) - starts
        places = np.repeat(starts - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())
        rows = order[places]
        rows = rows[np.lexsort((rows, column[rows], packed[places] >> bits))]
        order[places] = rows
        ordered[places] = column[rows]
    return order, ordered


def _one_column(values: ArrayLike) -> NDArray[Any]:
    try:
        given = np.asanyarray(values)
    except ValueError:
        given = np.empty((0, 0))
    if given.ndim == 1:
        return given[:, np.newaxis]
    if given.ndim == 2 and given.shape[1] == 1:
        return given
    raise refuse("publish.not-one-column")


class Classes(NamedTuple):
    """The different values of a column, in order.

    codes: for each unit, the rank of its value among them.
    line: the position of each value; values close on the line are close in meaning.
    """

    codes: NDArray[np.int64]
    line: NDArray[np.float64]


def whole_values(classes: Classes, k: int, different: int = 1) -> Partition:
    """Groups of at least `k` units and `different` values, with the least squared error.

    Guarantee
        No value lies in two groups. The groups depend on the different values and on how many units
        have each, and on nothing else. Among such partitions none has a smaller sum of squared
        differences from the group means on the line, up to rounding. They are numbered from the
        smallest values up. Where there are fewer values than `different`, or fewer units than `k`,
        there is one group.

    Parameters
        classes: each unit's value.
        k: the least number of units in a group.
        different: the least number of different values in a group.

    Example
        >>> whole_values(Classes(np.array([0, 0, 0, 1, 2, 3]), np.arange(4.0)), k=2).labels.tolist()
        [0, 0, 0, 0, 1, 1]

    Source
        Tenue's own, after thesis, section 3.3.3, whose groups could separate equal values.
    """
    counts = np.bincount(classes.codes, minlength=classes.line.size)
    return Partition(cut(classes.line, counts, k, different)[classes.codes])


def cut(
    line: NDArray[np.float64],
    counts: NDArray[np.int64],
    k: int,
    different: int = 1,
    room: Callable[[str, int, type], Any] | None = None,
) -> NDArray[np.int64]:
    """The group of each value.

    Parameters
        line: the different values, in order.
        counts: how many units have each.
        room: creates an array of a name, a size and a type, as in files; by default in memory.
    """
    array = room or (lambda _name, size, kind: np.empty(size, kind))
    values = line.size
    least, begin = array("least", values + 1, np.float64), array("begin", values + 1, np.int64)
    least[:], begin[:] = np.inf, 0
    if values * min(k, values) >= COMPILED_FROM:
        kernels().least_errors(k, different, line, counts, least, begin)
    else:
        listed = begin.tolist()
        state = line.tolist(), counts.tolist(), least.tolist()
        least_errors(k, different, *state, listed)
        begin[:] = listed
    groups = array("group", values, np.int64)
    groups[:] = 0
    end = values
    while end > 0:
        end = int(begin[end])
        if end > 0:
            groups[end] = 1
    np.cumsum(groups, out=groups)
    return groups


def least_errors(k: int, different: int, line: Any, counts: Any, least: Any, begin: Any) -> None:
    """The least error of the first i values, and where the last group that reaches it begins.

    From each start, ends are tried until the values behind the first admissible end would be a
    group of their own: then to split there is never worse.
    """
    values = len(line)
    least[0] = 0.0
    for start in range(values):
        reached = least[start]
        if reached == math.inf:
            continue
        units, mean, error = 0, 0.0, 0.0
        first, before = -1, 0
        for place in range(start, values):
            many = counts[place]
            units += many
            away = line[place] - mean
            mean += away * many / units
            error += many * away * (line[place] - mean)
            if units < k or place + 1 - start < different:
                continue
            if first < 0:
                first, before = place, units
            elif units - before >= k and place - first >= different:
                break
            if reached + error < least[place + 1]:
                least[place + 1] = reached + error
                begin[place + 1] = start
