"""Strategies made of the questions themselves: each is released too, beside the atoms.

A total and its parts, several tables of the same rows, conditions that overlap: what is asked for
directly has little noise, and what atoms say besides makes it better.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from .descent import descend
from .least_squares import least_squares
from .level import Level
from .line import Weighted
from .runs import Places, Reals, Runs

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
        questions: the number of the question that each row belongs to.
        allowed: the variance that each row's answer may have.
        bounded: whether none may have more.
        replace: whether a row may leave one atom for another, or for the outside.
        sum_public: whether the sum of all atoms is known, without noise.
        signed: whether atoms may be negative; they are released then, at a low price at least, for
            nothing else would bound what rounding does to answers (`least_squares.py`).
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
    """The leaves, and a level for each question that is something else."""
    found = [Level.leaves(rows.atoms)]
    for number in np.unique(questions)[: _MOST_LEVELS + 2]:
        places = np.nonzero((questions == number) & (rows.sizes > 0))[0]
        if len(places) and not (rows.sizes[places] == 1).all():
            own = [np.nonzero(rows.row(int(i)))[0] for i in places]
            ones = [np.ones(len(atoms), dtype=np.int64) for atoms in own]
            found.append(Level.of_rows(list(zip(own, ones, strict=True)), rows.atoms))
    return found


def _costs(levels: Sequence[Level]) -> Reals:
    """What each level costs at each atom, in parts of its price."""
    return np.array([level.column_sums / level.height for level in levels])


def _swaps(levels: Sequence[Level]) -> Reals:
    """What each level costs for each pair of atoms, and for each atom and the outside."""
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
            told = solved.T @ (solved * (weights / allowed)[:, None])
            fall = squares @ told.ravel()
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
    """Where atoms are many: so much for them, and the same for each question."""
    costs = _costs(levels)
    best, chosen = np.inf, np.ones(len(levels))
    for share in np.linspace(0.05, 0.95, 19):
        prices = np.full(len(levels), (1 - share) / (len(levels) - 1))
        prices[0] = share
        prices /= (costs.T @ prices).max()
        noise = [2 * (l.height / p) ** 2 for l, p in zip(levels, prices, strict=True)]
        estimator = least_squares(levels, noise, sum_public=sum_public)
        found = estimator.variances(rows) / allowed
        value = found.mean() + (1e3 * max(0.0, found.max() - 0.997) if bounded else 0)
        if value < best:
            best, chosen = value, prices
    return chosen
