"""Strategies for thresholds and ranges of one column, and those made of the questions themselves.

Floats choose prices here, which are rounded down to whole prices and proved afterwards.

* trees: leaves, and groups of neighbours, and groups of these;
* tents: leaves, and levels of overlapping hats. A hat of half-width s is 1, 2, …, s, …, 2, 1 over
  neighbouring atoms, and at every atom the hats of a level add up to s. A range is then a sum of
  hats and few leaves at its ends, with weights that fall off smoothly.
* questions and atoms, for totals and their parts, several tables of the same rows, overlapping
  conditions: measured directly, answers have little noise, and atoms reduce it further.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...noise.laplace_sum_tail import Reals
from .least_squares import Estimator, least_squares
from .level import Level, Places, Runs

Errors = Callable[[Reals], tuple[Reals, Callable[[Reals], Reals]]]
"""Given the prices of levels: the error of each answer relative to the allowed one, and for weights
of answers the gradient of their weighted error in the prices."""

_RATE = 0.1
_KEEP, _KEEP_SQUARES = 0.9, 0.99
_FORBIDDEN = 1e3
_SPARE = 0.997


def descend(
    errors: Errors, prices: Reals, means: Reals, steps: int, *, bounded: bool
) -> tuple[float, Reals]:
    """The mean error and the best prices found, which add up to 1.

    Parameters
        prices: where to start; all above 0.
        means: the weights of answers in the mean.
        bounded: whether no answer may have an error above 1.
    """
    z = np.log(prices)
    moment, squares = np.zeros_like(z), np.zeros_like(z)
    best, chosen = np.inf, prices
    for step in range(1, steps + 1):
        e = np.exp(z - z.max())
        p = e / e.sum()
        found, gradient = errors(p)
        over = np.maximum(found - _SPARE, 0) if bounded else np.zeros_like(found)
        value = float(means @ found + _FORBIDDEN * (over**2).sum())
        if value < best:
            best, chosen = value, p
        slope = gradient(means + 2 * _FORBIDDEN * over)
        slope = p * (slope - p @ slope) / value
        moment = _KEEP * moment + (1 - _KEEP) * slope
        squares = _KEEP_SQUARES * squares + (1 - _KEEP_SQUARES) * slope**2
        size = np.sqrt(squares / (1 - _KEEP_SQUARES**step)) + 1e-12
        z = z - _RATE * (moment / (1 - _KEEP**step)) / size
    return best, chosen


# -- thresholds and ranges of one column -----------------------------------------------------------

FEWEST = 6
"""Fewer atoms are as accurate one by one."""
_SAMPLED = 400
_RADIX = (11, 14, 18)
_TREES = 2500
"""Beyond so many atoms tents are better by a third, and trees take long to evaluate."""

Weighted = tuple[tuple[Level, ...], tuple[float, ...]]
"""The levels of a strategy, and their prices, which add up to 1."""


@dataclass(frozen=True)
class _Tents:
    """Levels of hats: half-widths, the position of the first hat relative to that, and prices.

    merged: at how many ends, the lower one first, two hats are merged into one. No threshold needs
        the two at the lower end separately; nor, where the sum of all atoms is public, those at the
        upper end.
    """

    widths: tuple[float, ...]
    places: tuple[float, ...]
    prices: tuple[float, ...]
    merged: int

    def weighted(self, atoms: int) -> Weighted | None:
        left = 1 - sum(self.prices)
        if min(*self.prices, left) < 0.03 or min(self.widths) < 2:
            return None
        widths = [int(width) for width in self.widths]
        pairs = zip(widths, self.places, strict=True)
        levels = [hats(atoms, width, int(place % 1 * width), self.merged) for width, place in pairs]
        return (Level.leaves(atoms), *levels), (left, *self.prices)

    def moves(self, size: float) -> Iterator[_Tents]:
        for name, by in (("widths", 0.25), ("places", 0.2), ("prices", 0.06)):
            numbers = getattr(self, name)
            for i, number in enumerate(numbers):
                for step in (by * size, -by * size):
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
    rows = [np.arange(start, min(start + width, atoms)) for start in range(0, atoms, width)]
    return Level.of_rows([(row, np.ones_like(row)) for row in rows], atoms)


def lines(rows: Runs, allowed: Reals, *, sum_public: bool = False) -> list[tuple[str, Weighted]]:
    """The tree and the tents with the least mean error for questions over ordered atoms.

    Parameters
        allowed: the variance that an answer may have; errors are relative to it.
        sum_public: whether the sum of all atoms is public.
    """
    atoms = rows.atoms
    if atoms < FEWEST:
        return []
    some, bars = sampled(rows), allowed[_chosen(rows)]

    def error(one: Weighted | None) -> float:
        if one is None:
            return np.inf
        estimator = _estimator(*one, sum_public=sum_public)
        return float((estimator.variances(some) / bars).mean())

    found = []
    tree = min(_trees(atoms), key=error, default=None)
    if tree is not None:
        found.append(("tree", tree))
    effort = 40 if atoms <= 400 else 14 if atoms <= _TREES else 3
    starts = sorted(_starts(atoms, sum_public), key=lambda one: error(one.weighted(atoms)))
    tents = _nearby(starts[0], lambda one: error(one.weighted(atoms)), effort).weighted(atoms)
    if tents is not None:
        found.append(("tents", tents))
    return found


def _estimator(levels: Sequence[Level], prices: Iterable[float], *, sum_public: bool) -> Estimator:
    noise = [2 * (level.height / p) ** 2 for level, p in zip(levels, prices, strict=True)]
    return least_squares(levels, noise, sum_public=sum_public)


def _chosen(rows: Runs) -> Places:
    return np.unique(np.linspace(0, len(rows) - 1, _SAMPLED).astype(np.int64))


def sampled(rows: Runs) -> Runs:
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
    """Good tents for thresholds or ranges of so many atoms: powers that a search found."""
    third = atoms ** (1 / 3)
    found = []
    thresholds = 1, 0.9 * atoms**0.65, 1.6 * third, 0.5 * atoms**0.87
    if sum_public:
        thresholds = 2, 0.6 * atoms**0.65, 1.2 * third, 0.35 * atoms**0.87
    ranges = 0, 0.62 * atoms**0.66, 1.1 * third, 0.45 * atoms**0.81
    for merged, one, near, far in (thresholds, ranges):
        if atoms <= _TREES:
            found.append(_Tents((max(2.0, one),), (0.8,), (0.5,), merged))
        if atoms > 60:
            widths = max(2.0, near), max(3.0, far)
            found.append(_Tents(widths, (0.9, 0.75), (0.33, 0.33), merged))
    return found


def _nearby(start: _Tents, error: Callable[[_Tents], float], effort: int) -> _Tents:
    """The best tents that small steps reach, with so many evaluations."""
    best, least, size = start, error(start), 1.0
    while effort > 0 and size >= 0.2:
        before = best
        for other in itertools.islice(best.moves(size), effort):
            effort -= 1
            seen = error(other)
            if seen < least:
                best, least = other, seen
                break
        if best is before:
            size /= 2
    return best


# -- questions and atoms ---------------------------------------------------------------------------

_MOST_LEVELS = 24
_MOST_ATOMS = 160
_MOST_ROWS = 256
_STEPS = 100
_LEAST = 0.004


def grouped(
    rows: Runs,
    questions: Places,
    allowed: Reals,
    *,
    bounded: bool,
    replace: bool = False,
    sum_public: bool = False,
    signed: bool = False,
) -> list[tuple[str, Weighted]]:
    """Atoms and questions, at the prices with the least mean error.

    Parameters
        questions: the number of each row's question.
        allowed: the variance that each row's answer may have.
        bounded: whether none may have more.
        replace: whether a row may leave one atom for another, or for the outside.
        sum_public: whether the sum of all atoms is public.
        signed: whether atoms may be negative; then they are released, if only at a low price,
            because nothing else would bound rounding errors (`least_squares.py`).
    """
    levels = _levels(rows, questions)
    if len(levels) < 2 or len(levels) > _MOST_LEVELS + 1:
        return []
    if rows.atoms <= _MOST_ATOMS:
        costs = _swaps(levels) if replace else _costs(levels)
        prices = _descended(rows, levels, costs, allowed, bounded=bounded, sum_public=sum_public)
    elif sum(len(level) for level in levels[1:]) <= _MOST_ROWS:
        allowed = allowed / (4 if replace else 1)
        prices = _balanced(rows, levels, allowed, bounded=bounded, sum_public=sum_public)
    else:
        return []
    if signed:
        prices[0] = max(prices[0], _LEAST)
    kept = [(level, p) for level, p in zip(levels, prices, strict=True) if p >= _LEAST]
    return [("questions and atoms", (tuple(l for l, _ in kept), tuple(p for _, p in kept)))]


def _levels(rows: Runs, questions: Places) -> list[Level]:
    """The leaves, and a level for each question that is not only single atoms."""
    found = [Level.leaves(rows.atoms)]
    for number in np.unique(questions)[: _MOST_LEVELS + 2]:
        places = np.nonzero((questions == number) & (rows.sizes > 0))[0]
        if len(places) and not (rows.sizes[places] == 1).all():
            own = [np.nonzero(rows.row(int(i)))[0] for i in places]
            found.append(Level.of_rows([(row, np.ones_like(row)) for row in own], rows.atoms))
    return found


def _costs(levels: Sequence[Level]) -> Reals:
    """The cost of each level at each atom, as a fraction of its price."""
    return np.array([level.column_sums / level.height for level in levels])


def _swaps(levels: Sequence[Level]) -> Reals:
    """The cost of each level for each pair of atoms, and for each atom and the outside."""
    one, other = np.triu_indices(levels[0].many, 1)
    found = []
    for level in levels:
        table = level.dense()
        between = np.abs(table[:, one] - table[:, other]).sum(axis=0)
        found.append(np.concatenate([between, level.column_sums]) / level.height)
    return np.array(found)


def _descended(
    rows: Runs,
    levels: Sequence[Level],
    costs: Reals,
    allowed: Reals,
    *,
    bounded: bool,
    sum_public: bool,
) -> Reals:
    asked = rows.dense()
    heights = np.array([level.height for level in levels], dtype=np.float64)
    squares = np.array([(level.dense().T @ level.dense()).ravel() for level in levels])
    shape = rows.atoms, rows.atoms

    def errors(p: Reals) -> tuple[Reals, Callable[[Reals], Reals]]:
        precision = p**2 / 2 / heights**2
        inverse = np.linalg.inv((precision @ squares).reshape(shape))
        if sum_public:
            every = inverse.sum(axis=1)
            inverse = inverse - np.outer(every, every) / every.sum()
        solved = asked @ inverse
        at = costs.T @ p
        worst = int(at.argmax())
        found = (solved * asked).sum(axis=1) / allowed * at[worst] ** 2

        def gradient(weights: Reals) -> Reals:
            weighted = solved.T @ (solved * (weights / allowed)[:, None])
            fall = squares @ weighted.ravel()
            scale = 2 * costs[:, worst] / at[worst] * float(weights @ found)
            return np.asarray(scale - at[worst] ** 2 * p / heights**2 * fall)

        return found, gradient

    means = np.full(len(rows), 1 / len(rows))
    start = np.full(len(levels), 1 / len(levels))
    _, prices = descend(errors, start, means, _STEPS, bounded=bounded)
    return np.asarray(prices / (costs.T @ prices).max())


def _balanced(
    rows: Runs, levels: Sequence[Level], allowed: Reals, *, bounded: bool, sum_public: bool
) -> Reals:
    """For many atoms: one price for them, and the same price for each question."""
    costs = _costs(levels)
    best, chosen = np.inf, np.ones(len(levels))
    for share in np.linspace(0.05, 0.95, 19):
        prices = np.full(len(levels), (1 - share) / (len(levels) - 1))
        prices[0] = share
        prices /= (costs.T @ prices).max()
        found = _estimator(levels, prices, sum_public=sum_public).variances(rows) / allowed
        value = found.mean() + (1e3 * max(0.0, found.max() - 0.997) if bounded else 0)
        if value < best:
            best, chosen = value, prices
    return chosen
