"""The groups of `whole_values` for a column that need not fit into memory.

The different values come in order with their counts, and are in files while the best groups are
computed; only the first value of each group is in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...engine.contract import Passes
from ...engine.scratch import Scratch
from ...schema import Bounded, Column
from ..table.cells import Cells, Numbers
from ..table.records import classes_of
from .individual_ranking import cut

_BLOCK = 1 << 20
_FEW = 1 << 10
_HALF = 32


@dataclass(frozen=True, eq=False)
class Cuts:
    """Groups of the values of one column.

    label: the group of each of some values.
    sizes: how many rows each group has.
    values: how many different values each group has.
    heap: how many rows have the most frequent value.
    means: the mean of each group, rounded to a whole number, halves up; None of few values.
    """

    label: Callable[[Numbers], Numbers]
    sizes: Numbers
    values: Numbers
    heap: int
    means: Numbers | None = None


def column_cuts(passes: Passes, column: Column, k: int, different: int) -> Cuts:
    """The groups of a column, the same as those of `whole_values`.

    Parameters
        passes: rows of the one column, numbered as `Coding` does; none is missing.
    """
    tally = passes.tally(lambda rows: [rows[:, 0]])
    if isinstance(column, Bounded):
        with closing(Scratch()) as scratch:
            return cut_in_passes(tally, passes.rows, k, different, scratch.path)
    numbers, times = (np.concatenate(one) for one in zip(*tally, strict=True))
    occurring = Cells(column, numbers - 1, np.ones(numbers.size, np.bool_), None)
    classes = classes_of(occurring)
    counts = np.zeros(classes.line.size, np.int64)
    np.add.at(counts, classes.codes, times)
    codes = np.full(occurring.last + 2, -1, np.int64)
    codes[numbers] = classes.codes
    return cut_classes(classes.line, codes, counts, k, different)


def cut_in_passes(
    tally: Iterator[Sequence[Numbers]], most: int, k: int, different: int, folder: Path
) -> Cuts:
    """The groups of `whole_values` for the same numbers.

    Parameters
        tally: the different numbers in order, and how many rows have each.
        most: how many different ones there are at most.
        folder: a private one for files.
    """

    def array(name: str, size: int, kind: type) -> Any:
        return np.asarray(np.memmap(folder / f"{name}.bin", kind, mode="w+", shape=(size,)))

    value, count = array("value", most, np.int64), array("count", most, np.int64)
    line = array("line", most, np.float64)
    many = 0
    for values, counts in tally:
        part = slice(many, many + values.size)
        value[part], count[part] = values, counts
        # from the least one on, so that values beyond 2^53 keep their distances
        line[part] = values - value[0]
        many += values.size
    groups = cut(line[:many], count[:many], k, different, array)
    starts = np.concatenate(
        [
            begin
            + np.flatnonzero(np.diff(groups[max(begin - 1, 0) : begin + _BLOCK]))
            + (0 if begin else 1)
            for begin in range(0, many, _BLOCK)
        ]
    )
    starts = np.append(0, starts)
    edges, sizes = np.array(value[starts]), np.add.reduceat(count[:many], starts)

    def label(numbers: Numbers) -> Numbers:
        return np.searchsorted(edges, numbers, side="right") - 1

    means = _means(value[:many], count[:many], starts, sizes)
    return Cuts(label, sizes, np.diff(starts, append=many), int(count[:many].max()), means)


def _means(value: Numbers, count: Numbers, starts: Numbers, sizes: Numbers) -> Numbers:
    """Exactly, a few groups at a time: sums may be beyond 64 bits."""
    ends, means = np.append(starts[1:], value.size), np.empty(starts.size, np.int64)
    for begin in range(0, starts.size, _FEW):
        end = min(begin + _FEW, starts.size)
        part = slice(starts[begin], ends[end - 1])
        inside = starts[begin:end] - starts[begin]
        high = np.add.reduceat((value[part] >> _HALF) * count[part], inside)
        low = np.add.reduceat((value[part] & ((1 << _HALF) - 1)) * count[part], inside)
        sums = high.astype(object) * (1 << _HALF) + low.astype(object)
        units = sizes[begin:end].astype(object)
        means[begin:end] = (2 * sums + units) // (2 * units)
    return means


def cut_classes(
    line: NDArray[np.float64], codes: Numbers, counts: Numbers, k: int, different: int
) -> Cuts:
    """The same for few values, such as categories, whose positions on the line are known.

    Parameters
        line: where each class lies, in order.
        codes: the class of each number from 0 on, or -1 of one that does not occur.
        counts: how many rows have each class.
    """
    groups = cut(line, counts, k, different)
    sizes = np.zeros(int(groups[-1]) + 1, np.int64)
    np.add.at(sizes, groups, counts)
    group_of = np.where(codes >= 0, groups[codes], 0)

    return Cuts(lambda numbers: group_of[numbers], sizes, np.bincount(groups), int(counts.max()))
