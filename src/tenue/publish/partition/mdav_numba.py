"""The groups of `mdav_reference`, without looking at every record: about n^1.3 instead of n^2.

Live records lie in the leaves of a k-d tree. Each node knows the tight box of its live records,
the greatest squared distance of any of them to an old centre (`reach`), and its lowest row.
Searches go down the tree and leave out nodes that cannot hold a better record:

* nearest: no record of a node is closer than its box. Rounding is monotone and both sides add the
  columns in the same order, so this holds for the computed numbers, to the last bit.
* farthest from a point q: with a = q - old centre,
  |x - q|² = |x - old centre|² + |a|² - 2 (x - old centre)·a, where the first term is at most the
  reach and the last is bounded by the box. While the centroid has drifted little from the old
  centre, a is short and the bound is sharp; it also serves for the farthest from a seed. It is
  raised by more than its rounding error; near-ties are settled by the box's farthest corner, which
  is exact as above. When a fifth of the records has left, the old centre is renewed.

Equal distances are decided by row, and the lowest row of a node is part of every comparison, so
tables full of duplicates are not slower. Where the dimension defeats the tree, every leaf is
visited: that is brute force, and no slower than the plain algorithm.

Functions that call each other are in this one long file, because numba's cache on disk notices a
change of the file a function is in, not of the files it calls.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .exact_means import GRAIN, GRAINS, Points, Sums
from .individual_ranking import least_errors as _least_errors
from .individual_ranking import optimal as _optimal
from .individual_ranking import two_ended as _two_ended

F = TypeVar("F", bound=Callable[..., Any])
Numbers = NDArray[np.int64]
Reals = NDArray[np.float64]

LEAF = 32
RENEW = 0.8
NOBODY = 1 << 62
# No box of live records reaches this far: values are below 1.
OUTSIDE = 1e150


def compiled(function: F) -> F:
    """Compiled on first use and kept on disk; no fused or reordered arithmetic."""
    try:
        return cast(F, njit(function, cache=True, error_model="numpy", nogil=True))
    except RuntimeError:  # there is no place to keep it
        return cast(F, njit(function, error_model="numpy", nogil=True))


class PointTree(NamedTuple):
    """Node v has the children 2v + 1 and 2v + 2; the last `leaves` nodes are the leaves."""

    width: tuple[int, ...]  # as many entries as columns where the compiler is to know, else none
    leaves: int
    points: Reals  # by slot; the slots of a leaf are consecutive, live ones first
    rows: Numbers  # the record in each slot
    reach: Reals  # squared distance of each slot to the old centre
    slot: Numbers  # by record
    leaf: Numbers  # by record
    start: Numbers  # first slot of a node
    held: Numbers  # live records of a leaf
    node: Reals  # low corner, high corner, greatest reach
    lowest: Numbers  # lowest row of a node
    centre: Reals  # the old centre


class Scratch(NamedTuple):
    """Room for one search: nodes to visit, and the k nearest as a heap with the worst on top."""

    node: Numbers
    bound: Reals
    away: Reals
    seed: Reals
    distance: Reals
    row: Numbers


@compiled
def arrange(points: Reals, rows: Numbers, start: Numbers, held: Numbers, leaves: int) -> None:
    """Sorts the records into leaves, halving each node at the median of its widest column."""
    width = points.shape[1]
    key = np.empty(rows.size)
    held[0] = rows.size
    for v in range(leaves - 1):
        begin, end = start[v], start[v] + held[v]
        axis, widest = 0, -1.0
        for j in range(width):
            low, high = np.inf, -np.inf
            for s in range(begin, end):
                low = min(low, points[s, j])
                high = max(high, points[s, j])
            if high - low > widest:
                axis, widest = j, high - low
        for s in range(begin, end):
            key[s] = points[s, axis]
        middle = (begin + end) >> 1
        left, right = begin, end - 1
        while left < right:
            pivot = key[(left + right) >> 1]
            i, e = left, right
            while i <= e:
                while key[i] < pivot:
                    i += 1
                while key[e] > pivot:
                    e -= 1
                if i <= e:
                    key[i], key[e] = key[e], key[i]
                    rows[i], rows[e] = rows[e], rows[i]
                    for j in range(width):
                        points[i, j], points[e, j] = points[e, j], points[i, j]
                    i += 1
                    e -= 1
            if middle <= e:
                right = e
            elif middle >= i:
                left = i
            else:
                break
        start[2 * v + 1], held[2 * v + 1] = begin, middle - begin
        start[2 * v + 2], held[2 * v + 2] = middle, end - middle


@compiled
def grow(points: Reals, width: tuple[int, ...]) -> PointTree:
    n, columns = points.shape
    leaves = 1
    while n > LEAF * leaves:
        leaves *= 2
    nodes = 2 * leaves - 1
    rows = np.arange(n)
    start, held = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)
    arrange(points, rows, start, held, leaves)
    slot, leaf = np.empty(n, np.int64), np.empty(n, np.int64)
    for v in range(leaves - 1, nodes):
        for s in range(start[v], start[v] + held[v]):
            slot[rows[s]] = s
            leaf[rows[s]] = v
    node, lowest = np.empty((nodes, 2 * columns + 1)), np.empty(nodes, np.int64)
    centre = np.empty(columns)
    return PointTree(
        width, leaves, points, rows, np.empty(n), slot, leaf, start, held, node, lowest, centre
    )


@compiled
def squared(width: tuple[int, ...], points: Reals, s: int, q: Reals) -> float:
    total = 0.0
    for j in range(len(width) or q.size):
        difference = points[s, j] - q[j]
        total += difference * difference
    return total


@compiled
def least(width: tuple[int, ...], node: Reals, v: int, q: Reals) -> float:
    """No record of the node has a smaller computed distance."""
    columns = len(width) or q.size
    total = 0.0
    for j in range(columns):
        difference = max(max(node[v, j] - q[j], q[j] - node[v, columns + j]), 0.0)
        total += difference * difference
    return total


@compiled
def corner(node: Reals, v: int, q: Reals) -> float:
    """No record of the node has a greater computed distance."""
    total = 0.0
    for j in range(q.size):
        difference = max(q[j] - node[v, j], node[v, q.size + j] - q[j])
        total += difference * difference
    return total


@compiled
def greatest(
    width: tuple[int, ...], node: Reals, v: int, centre: Reals, away: Reals, length: float
) -> float:
    """No record of the node has a greater distance from centre + away, rounding included.

    `length` is |away|². The computed terms are off by less than (columns + 8)² 2^-53 times
    reach + length, for the box lies within the reach of the centre; the last summand covers what
    underflows.
    """
    columns = len(width) or away.size
    along = 0.0
    for j in range(columns):
        low, high = node[v, j] - centre[j], node[v, columns + j] - centre[j]
        along += min(low * away[j], high * away[j])
    reach: float = node[v, 2 * columns]
    slack = (columns + 8) * (columns + 8) * 2.0**-52
    return (reach + length - 2.0 * along) + (slack * (reach + length) + 1e-300)


@compiled
def tighten(tree: PointTree, v: int) -> None:
    """Fits a leaf to its live records."""
    columns = len(tree.width) or tree.points.shape[1]
    begin, end = tree.start[v], tree.start[v] + tree.held[v]
    for j in range(columns):
        low, high = OUTSIDE, -OUTSIDE
        for s in range(begin, end):
            low = min(low, tree.points[s, j])
            high = max(high, tree.points[s, j])
        tree.node[v, j] = low
        tree.node[v, columns + j] = high
    row, reach = NOBODY, -np.inf
    for s in range(begin, end):
        row = min(row, tree.rows[s])
        reach = max(reach, tree.reach[s])
    tree.lowest[v] = row
    tree.node[v, 2 * columns] = reach


@compiled
def join(tree: PointTree, v: int) -> bool:
    """Fits a node to its two children; returns whether anything changed."""
    columns = len(tree.width) or tree.points.shape[1]
    node, left, right = tree.node, 2 * v + 1, 2 * v + 2
    changes: int = 0
    for j in range(columns):
        low = min(node[left, j], node[right, j])
        changes += low != node[v, j]
        node[v, j] = low
    for j in range(columns, 2 * columns + 1):
        high = max(node[left, j], node[right, j])
        changes += high != node[v, j]
        node[v, j] = high
    row = min(tree.lowest[left], tree.lowest[right])
    changes += row != tree.lowest[v]
    tree.lowest[v] = row
    return bool(changes > 0)


@compiled
def renew(tree: PointTree, centre: Reals) -> None:
    """Measures every reach anew, from this centre."""
    for j in range(centre.size):
        tree.centre[j] = centre[j]
    for v in range(tree.leaves - 1, 2 * tree.leaves - 1):
        for s in range(tree.start[v], tree.start[v] + tree.held[v]):
            tree.reach[s] = squared(tree.width, tree.points, s, centre)
        tighten(tree, v)
    for v in range(tree.leaves - 2, -1, -1):
        join(tree, v)


@compiled
def farthest(tree: PointTree, q: Reals, scratch: Scratch) -> int:
    """The slot of the live record farthest from q, of the lowest row among equals."""
    away, stack, bounds = scratch.away, scratch.node, scratch.bound
    length = 0.0
    for j in range(q.size):
        away[j] = q[j] - tree.centre[j]
        length += away[j] * away[j]
    best, row, slot = -1.0, NOBODY, -1
    stack[0], bounds[0] = 0, np.inf
    top = 1
    while top > 0:
        top -= 1
        v, bound = stack[top], bounds[top]
        if bound < best:
            continue
        if bound <= best * (1.0 + 1e-9):
            exact = corner(tree.node, v, q)
            if exact < best or (exact == best and tree.lowest[v] > row):
                continue
        if v >= tree.leaves - 1:
            for s in range(tree.start[v], tree.start[v] + tree.held[v]):
                distance = squared(tree.width, tree.points, s, q)
                if distance > best or (distance == best and tree.rows[s] < row):
                    best, row, slot = distance, tree.rows[s], s
        else:
            near, far = 2 * v + 1, 2 * v + 2
            low = greatest(tree.width, tree.node, near, tree.centre, away, length)
            high = greatest(tree.width, tree.node, far, tree.centre, away, length)
            if low > high:
                near, far, low, high = far, near, high, low
            if low >= best:
                stack[top], bounds[top] = near, low
                top += 1
            if high >= best:
                stack[top], bounds[top] = far, high
                top += 1
    return slot


@compiled
def replace_worst(scratch: Scratch, k: int, distance: float, row: int) -> None:
    distances, rows = scratch.distance, scratch.row
    i = 0
    while True:
        worse = 2 * i + 1
        if worse >= k:
            break
        other = worse + 1
        if other < k and (
            distances[other] > distances[worse]
            or (distances[other] == distances[worse] and rows[other] > rows[worse])
        ):
            worse = other
        if distances[worse] < distance or (distances[worse] == distance and rows[worse] < row):
            break
        distances[i], rows[i] = distances[worse], rows[worse]
        i = worse
    distances[i], rows[i] = distance, row


@compiled
def nearest(tree: PointTree, q: Reals, seed: int, k: int, scratch: Scratch) -> None:
    """Leaves in `scratch.row` the seed, which lies at q, and its k - 1 nearest live records."""
    stack, bounds, distances, rows = scratch.node, scratch.bound, scratch.distance, scratch.row
    for i in range(k):
        distances[i], rows[i] = np.inf, NOBODY
    distances[k - 1], rows[k - 1] = -1.0, seed
    stack[0], bounds[0] = 0, 0.0
    top = 1
    while top > 0:
        top -= 1
        v, bound = stack[top], bounds[top]
        if bound > distances[0] or (bound == distances[0] and tree.lowest[v] > rows[0]):
            continue
        if v >= tree.leaves - 1:
            for s in range(tree.start[v], tree.start[v] + tree.held[v]):
                distance, row = squared(tree.width, tree.points, s, q), tree.rows[s]
                if row != seed and (
                    distance < distances[0] or (distance == distances[0] and row < rows[0])
                ):
                    replace_worst(scratch, k, distance, row)
        else:
            near, far = 2 * v + 1, 2 * v + 2
            low = least(tree.width, tree.node, near, q)
            high = least(tree.width, tree.node, far, q)
            if low > high:
                near, far, low, high = far, near, high, low
            if high <= distances[0]:
                stack[top], bounds[top] = far, high
                top += 1
            if low <= distances[0]:
                stack[top], bounds[top] = near, low
                top += 1


@compiled
def add(sums: Sums, j: int, value: float, sign: int) -> None:
    rest = value * GRAIN
    for part in range(GRAINS):
        whole = np.int64(rest)
        sums[part, j] += sign * whole
        rest = (rest - whole) * GRAIN


@compiled
def centroid(sums: Sums, count: int, centre: Reals) -> None:
    for j in range(centre.size):
        top = sums[0, j] * 2.0**-32 + sums[1, j] * 2.0**-64
        centre[j] = (top + sums[2, j] * 2.0**-96) / count


@compiled
def remove(tree: PointTree, row: int) -> None:
    """Takes a record out of its leaf; the last live record of the leaf moves into its slot."""
    s, v = tree.slot[row], tree.leaf[row]
    tree.held[v] -= 1
    last = tree.start[v] + tree.held[v]
    if s != last:
        for j in range(tree.points.shape[1]):
            tree.points[s, j] = tree.points[last, j]
        tree.reach[s] = tree.reach[last]
        tree.rows[s] = tree.rows[last]
        tree.slot[tree.rows[s]] = s


@compiled
def refit(tree: PointTree, v: int) -> None:
    """Fits a leaf, and the nodes above it, to the live records."""
    tighten(tree, v)
    while v > 0:
        v = (v - 1) >> 1
        if not join(tree, v):
            break


@compiled
def form(
    tree: PointTree, s: int, k: int, label: int, labels: Numbers, sums: Sums, scratch: Scratch
) -> None:
    """The group of the record in slot s leaves the tree, and `sums`."""
    for j in range(scratch.seed.size):
        scratch.seed[j] = tree.points[s, j]
    nearest(tree, scratch.seed, tree.rows[s], k, scratch)
    for i in range(k):
        row = scratch.row[i]
        labels[row] = label
        for j in range(sums.shape[1]):
            add(sums, j, tree.points[tree.slot[row], j], -1)
        remove(tree, row)
    touched = -1
    for i in range(k):
        v = tree.leaf[scratch.row[i]]
        if v != touched:
            touched = v
            refit(tree, v)


@compiled
def room(columns: int, k: int) -> Scratch:
    away, seed = np.empty(columns), np.empty(columns)
    node, bound = np.empty(128, np.int64), np.empty(128)
    return Scratch(node, bound, away, seed, np.empty(k), np.empty(k, np.int64))


@compiled
def _mdav(points: Reals, width: tuple[int, ...], k: int) -> Numbers:
    n, columns = points.shape
    sums = np.zeros((GRAINS, columns), np.int64)
    for i in range(n):
        for j in range(columns):
            add(sums, j, points[i, j], 1)
    tree = grow(points, width)
    scratch = room(columns, k)
    labels = np.full(n, -1, np.int64)
    centre, q = np.empty(columns), np.empty(columns)
    live, label, renewed = n, 0, 2 * n
    while live >= 2 * k:
        centroid(sums, live, centre)
        if live < RENEW * renewed:
            renew(tree, centre)
            renewed = live
        first = farthest(tree, centre, scratch)
        for j in range(columns):
            q[j] = tree.points[first, j]
        second = tree.rows[farthest(tree, q, scratch)]
        seeds = 2 if live >= 3 * k else 1
        for turn in range(seeds):
            slot = first
            if turn == 1:
                slot = tree.slot[second]
                if labels[second] >= 0:
                    slot = farthest(tree, q, scratch)
            form(tree, slot, k, label, labels, sums, scratch)
            label += 1
        live -= seeds * k
        if seeds == 1:
            break
    for i in range(n):
        if labels[i] < 0:
            labels[i] = label
    return labels


@compiled
def _v_mdav(
    points: Reals, width: tuple[int, ...], seeds: Numbers, k: int, squared_gain: float
) -> Numbers:
    n, columns = points.shape
    where = points.copy()
    tree = grow(points, width)
    renew(tree, np.zeros(columns))
    scratch = room(columns, max(k, 2))
    labels = np.full(n, -1, np.int64)
    sums = np.zeros((GRAINS, 0), np.int64)
    members, neighbour = np.empty(2 * k, np.int64), np.empty(2 * k, np.int64)
    distance = np.empty(2 * k)
    free, label, place = n, 0, 0
    while free >= k:
        while labels[seeds[place]] >= 0:
            place += 1
        form(tree, tree.slot[seeds[place]], k, label, labels, sums, scratch)
        free -= k
        size = k
        for i in range(k):
            members[i], neighbour[i] = scratch.row[i], -1
        while size < 2 * k - 1 and free > 0 and free != k:
            closest = 0
            for i in range(size):
                if neighbour[i] < 0 or labels[neighbour[i]] >= 0:
                    # Nobody is in row -1: a search for two finds the nearest live record.
                    nearest(tree, where[members[i]], -1, 2, scratch)
                    distance[i], neighbour[i] = scratch.distance[0], scratch.row[0]
                if distance[i] < distance[closest] or (
                    distance[i] == distance[closest] and neighbour[i] < neighbour[closest]
                ):
                    closest = i
            candidate = neighbour[closest]
            nearest(tree, where[candidate], candidate, 2, scratch)
            if not distance[closest] < squared_gain * scratch.distance[0]:
                break
            labels[candidate] = label
            remove(tree, candidate)
            refit(tree, tree.leaf[candidate])
            free -= 1
            members[size], neighbour[size] = candidate, -1
            size += 1
        label += 1
    return labels


def mdav(points: Points, k: int) -> Numbers:
    """The groups of `mdav_reference.mdav` for these points, record by record."""
    return _mdav(*_padded(points), k)


def v_mdav(points: Points, seeds: NDArray[np.intp], k: int, squared_gain: float) -> Numbers:
    """The groups of `mdav.grow` for these points; `seeds` are all rows, the farthest first."""
    return _v_mdav(*_padded(points), seeds, k, squared_gain)


def _padded(points: Points) -> tuple[Reals, tuple[int, ...]]:
    """Up to four columns become four, and the compiler knows it, which saves a third of the time.

    The columns that fill up hold zeros; they change no distance.
    """
    n, columns = points.shape
    padded = np.zeros((n, max(columns, 4)))
    padded[:, :columns] = points
    return padded, (0, 0, 0, 0) if columns <= 4 else ()


two_ended = compiled(_two_ended)
optimal = compiled(_optimal)
least_errors = compiled(_least_errors)
