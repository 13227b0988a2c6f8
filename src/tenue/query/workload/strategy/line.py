"""Strategies for atoms in a row: thresholds and ranges of one column.

* trees: leaves, and groups of neighbours, and groups of these;
* tents: leaves, and levels of overlapping hats. A hat of half-width s is 1, 2, …, s, …, 2, 1 over
  neighbouring atoms, and at every atom the hats of a level add up to s. A range is then made of
  hats and few leaves at its ends, with weights that fall off smoothly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .least_squares import least_squares
from .level import Level
from .runs import Places, Reals, Runs

FEWEST = 6
"""Fewer atoms are as well off one by one."""
_SAMPLED = 400
_RADIX = (11, 14, 18)
_TREES = 2500
"""Beyond so many atoms tents are better by a third, and trees take long to judge."""

Weighted = tuple[tuple[Level, ...], tuple[float, ...]]
"""The levels of a strategy, and the prices of its levels, which add up to 1."""


@dataclass(frozen=True)
class _Tents:
    """Levels of hats: half-widths, where the first hat stands in parts of that, and prices.

    merged: at how many ends, the lower one first, two hats are one. No threshold tells the two at
        the lower end apart; nor, where the sum of all atoms is public, at the upper end.
    """

    widths: tuple[float, ...]
    places: tuple[float, ...]
    prices: tuple[float, ...]
    merged: int

    def made(self, atoms: int) -> Weighted | None:
        left = 1 - sum(self.prices)
        if min(*self.prices, left) < 0.03 or min(self.widths) < 2:
            return None
        widths = [int(width) for width in self.widths]
        pairs = zip(widths, self.places, strict=True)
        levels = [hats(atoms, width, int(place % 1 * width), self.merged) for width, place in pairs]
        return (Level.leaves(atoms), *levels), (left, *self.prices)

    def moves(self, size: float) -> Iterator[_Tents]:
        """Tents that differ a little in one number."""
        for name, by in (("widths", 0.25), ("places", 0.2), ("prices", 0.06)):
            numbers = getattr(self, name)
            for i, number in enumerate(numbers):
                for sign in (1, -1):
                    step = sign * by * size
                    moved = number * (1 + step) if name == "widths" else number + step
                    changed: dict[str, Any] = {name: (*numbers[:i], moved, *numbers[i + 1 :])}
                    yield replace(self, **changed)


def hats(atoms: int, width: int, first: int, merged: int) -> Level:
    """One level of hats; the first with its top at or above `first`."""
    places = np.arange(atoms)
    rows: list[tuple[Places, Places]] = []
    for top in range(first - width, atoms + width, width):
        low, high = max(0, top - width + 1), min(atoms, top + width)
        if low < high:
            over = places[low:high]
            rows.append((over, width - np.abs(over - top)))
    for end in (slice(None, 2), slice(-2, None))[:merged]:
        if len(rows) > 1:
            both = np.zeros(atoms, dtype=np.int64)
            for one, values in rows[end]:
                both[one] += values
            over = np.nonzero(both)[0]
            rows[end] = [(over, both[over])]
    return Level.of_rows(rows, atoms)


def groups(atoms: int, width: int) -> Level:
    """One level of groups of so many neighbours."""
    rows = [np.arange(start, min(start + width, atoms)) for start in range(0, atoms, width)]
    return Level.of_rows([(row, np.ones(len(row), dtype=np.int64)) for row in rows], atoms)


def lines(rows: Runs, allowed: Reals, *, sum_public: bool = False) -> list[tuple[str, Weighted]]:
    """Trees and tents for questions over atoms in a row, each at its best for the mean.

    Parameters
        allowed: the variance that an answer may have; errors are counted in it.
        sum_public: whether the sum of all atoms is known, without noise.
    """
    atoms = rows.atoms
    if atoms < FEWEST:
        return []
    some, bars = sampled(rows), allowed[_chosen(rows)]

    def error(one: Weighted | None) -> float:
        if one is None:
            return np.inf
        levels, prices = one
        noise = [2 * (level.height / p) ** 2 for level, p in zip(levels, prices, strict=True)]
        found = least_squares(levels, noise, sum_public=sum_public)
        return float((found.variances(some) / bars).mean())

    found = []
    tree = min((one for one in _trees(atoms)), key=error, default=None)
    if tree is not None:
        found.append(("tree", tree))
    effort = 40 if atoms <= 400 else 14 if atoms <= _TREES else 3
    starts = sorted(_starts(atoms, sum_public), key=lambda one: error(one.made(atoms)))
    tents = _nearby(starts[0], lambda one: error(one.made(atoms)), effort).made(atoms)
    if tents is not None:
        found.append(("tents", tents))
    return found


def _chosen(rows: Runs) -> Places:
    return np.unique(np.linspace(0, len(rows) - 1, _SAMPLED).astype(np.int64))


def sampled(rows: Runs) -> Runs:
    """Some of the rows, by which strategies are compared."""
    chosen = _chosen(rows)
    runs = [np.arange(rows.offsets[i], rows.offsets[i + 1]) for i in chosen]
    offsets = np.concatenate([[0], np.cumsum([len(run) for run in runs])]).astype(np.int64)
    every = np.concatenate(runs)
    return Runs(rows.atoms, offsets, rows.first[every], rows.last[every])


def _trees(atoms: int) -> Iterator[Weighted]:
    for radix in _RADIX if atoms <= _TREES else ():
        if atoms > radix:
            yield (Level.leaves(atoms), groups(atoms, radix)), (0.5, 0.5)
        if atoms > radix**2:
            levels = Level.leaves(atoms), groups(atoms, radix), groups(atoms, radix**2)
            yield levels, (1 / 3, 1 / 3, 1 / 3)


def _starts(atoms: int, sum_public: bool) -> Sequence[_Tents]:
    """Tents that are good for thresholds or ranges of so many atoms: found by search, as powers."""
    third = atoms ** (1 / 3)
    found = []
    thresholds = 1, 0.9 * atoms**0.65, 1.6 * third, 0.5 * atoms**0.87
    if sum_public:
        thresholds = 2, 0.6 * atoms**0.65, 1.2 * third, 0.35 * atoms**0.87
    for merged, one, near, far in (
        thresholds,
        (0, 0.62 * atoms**0.66, 1.1 * third, 0.45 * atoms**0.81),
    ):
        if atoms <= _TREES:
            found.append(_Tents((max(2.0, one),), (0.8,), (0.5,), merged))
        if atoms > 60:
            widths = max(2.0, near), max(3.0, far)
            found.append(_Tents(widths, (0.9, 0.75), (0.33, 0.33), merged))
    return found


def _nearby(start: _Tents, error: Callable[[_Tents], float], effort: int) -> _Tents:
    """The best that small steps reach, with so many looks."""
    best, least, size = start, error(start), 1.0
    while effort > 0:
        better = False
        for other in best.moves(size):
            if effort <= 0:
                break
            effort -= 1
            seen = error(other)
            if seen < least:
                best, least, better = other, seen, True
                break
        if not better:
            size /= 2
            if size < 0.2:
                break
    return best
