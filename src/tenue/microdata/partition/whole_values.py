"""Groups of one column in which equal values stay together, for values that change places.

Cutting ranks so that equal values fall into two groups tells more than 1/k, for which of them fell
where depends on whose they are. So do cuts that depend on the order of rows. Here the cuts are a
function of the sorted pairs (value, number of units) alone: every table with the same values has
the same cuts, whoever has which value.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels import kernels
from .partition import Partition

# Below this many steps the interpreter is done before the compiled code is loaded.
COMPILED_FROM = 500_000


class Classes(NamedTuple):
    """The different values of a column, in order.

    codes: for each unit, the place of its value among them.
    line: where each value lies, so that what is close on the line is close in meaning.
    """

    codes: NDArray[np.int64]
    line: NDArray[np.float64]


def whole_values(classes: Classes, k: int, different: int = 1) -> Partition:
    """Groups of at least `k` units and `different` values, with the least squared error.

    Guarantee
        No value lies in two groups. The groups depend on the different values and on how many units
        have each, on nothing else. Among such partitions none has a smaller sum of squared
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
        Tenue's own, after thesis, section 3.3.3, whose cuts could part equal values.
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
        room: makes arrays of a name, a size and a type, as in files; in memory if not given.
    """
    array = room or (lambda _name, size, kind: np.empty(size, kind))
    values = line.size
    least, begin = array("least", values + 1, np.float64), array("begin", values + 1, np.int64)
    least[:], begin[:] = np.inf, 0
    fast = kernels() if values * min(k, values) >= COMPILED_FROM else None
    if fast is not None:
        fast.least_errors(k, different, line, counts, least, begin)
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

    From each place, ends are tried until what lies behind the first one that will do would make a
    group of its own: then to split there is never worse.
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
