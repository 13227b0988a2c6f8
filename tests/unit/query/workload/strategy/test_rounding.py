"""What floats miss is bounded: against least squares in Fractions, well conditioned or not."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tenue.query.workload.strategy import least_squares as module
from tenue.query.workload.strategy.contract import AtomStrategy, Strategy
from tenue.query.workload.strategy.level import Level
from tenue.query.workload.strategy.line import groups, hats
from tenue.query.workload.strategy.marginal import Marginals
from tenue.query.workload.strategy.rounding import PLACES, length, relative, residuals, whole
from tenue.query.workload.strategy.runs import Runs
from tenue.query.workload.strategy.tables import TableRows, TableStrategy

MANY = 7
PREFIXES = Runs.of_ends(MANY, [(0, k + 1) for k in range(MANY)])
LEVELS = Level.leaves(MANY), hats(MANY, 3, 1, 1), groups(MANY, 4)
TABLE = Marginals((2, 3))
CELLS = TableRows(TABLE, ((0,), (1, 0), ()), ((2,), (3, 2), ()))
SETS = frozenset({0, 1}), frozenset({0}), frozenset[int]()
ONES = np.ones(2, dtype=np.int64)
OVERLAPPING = Level.of_rows([(np.array([i, i + 1]), ONES) for i in range(MANY - 1)], MANY)
PAIRS = Runs.of_ends(MANY, [(i, i + 2) for i in range(MANY - 1)])

PLAIN = AtomStrategy("tents", LEVELS)
PUBLIC = AtomStrategy("tents", LEVELS, sum_public=True)
MARGINALS = TableStrategy("marginals", TABLE, SETS)
WITH_LEAVES = [(PLAIN, PREFIXES), (PUBLIC, PREFIXES), (MARGINALS, CELLS)]
NOISES = [
    (2.0, 40.0, 5.0),
    (1e9, 1e-3, 7.0),
    (3e-7, 1e8, 1e-7),
    (1e14, 1.0, 1e-2),
]


def exact_rows(strategy: Strategy) -> list[list[list[Fraction]]]:
    """Every level as a matrix, read off the answers for each atom alone."""
    units = [[int(i == j) for i in range(strategy.atoms)] for j in range(strategy.atoms)]
    columns = [strategy.answers(unit) for unit in units]
    return [
        [[Fraction(column[level][row]) for column in columns] for row in range(many)]
        for level, many in enumerate(strategy.lengths)
    ]


def solve(matrix: list[list[Fraction]], right: list[Fraction]) -> list[Fraction]:
    """Gauss and Jordan; the matrix is not singular."""
    many = len(matrix)
    work = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for i in range(many):
        pivot = next(k for k in range(i, many) if work[k][i])
        work[i], work[pivot] = work[pivot], work[i]
        work[i] = [value / work[i][i] for value in work[i]]
        for k in range(many):
            if k != i and work[k][i]:
                work[k] = [a - work[k][i] * b for a, b in zip(work[k], work[i], strict=True)]
    return [row[-1] for row in work]


def exact_weights(
    strategy: Strategy, noise: Sequence[float], row: Sequence[int]
) -> tuple[list[list[Fraction]], Fraction]:
    """The least squares weights of a row on every level, and on the public sum."""
    levels, many = exact_rows(strategy), strategy.atoms
    spread = [Fraction(v) for v in noise]
    pairs = list(zip(levels, spread, strict=True))
    m = [
        [
            sum((r[i] * r[j] / v for level, v in pairs for r in level), Fraction(0))
            for j in range(many)
        ]
        for i in range(many)
    ]
    wanted = [Fraction(value) for value in row]
    if strategy.sum_public:  # minimise under 1·s = 0: one equation more
        m = [[*line, Fraction(1)] for line in m] + [[Fraction(1)] * many + [Fraction(0)]]
        wanted.append(Fraction(0))
    *solved, every = [*solve(m, wanted), *([] if strategy.sum_public else [Fraction(0)])]
    weights = [
        [sum((a * s for a, s in zip(r, solved, strict=True)), Fraction(0)) / v for r in level]
        for level, v in pairs
    ]
    return weights, every


def dense(rows: Any, atoms: int) -> list[list[int]]:
    columns = [rows.whole_sums([int(i == j) for i in range(atoms)]) for j in range(atoms)]
    return [[column[place] for column in columns] for place in range(len(rows))]


def drawn(strategy: Strategy, scale: int, known: int) -> list[list[int]]:
    """Numbers as they may be released; they need not fit together."""
    found = [
        [(7 * k + 3 * level) ** 3 % 1009 * scale - 400 * scale for k in range(many)]
        for level, many in enumerate(strategy.lengths)
    ]
    return [*found, *([[known]] if strategy.sum_public else [])]


def told(weights: Sequence[Sequence[Any]], released: Sequence[Sequence[int]]) -> Fraction:
    pairs = zip(weights, released, strict=True)
    return sum(
        (Fraction(w) * y for own, level in pairs for w, y in zip(own, level, strict=True)),
        Fraction(0),
    )


def off(strategy: Strategy, rows: Any, noise: Any, released: Any, estimator: Any) -> list[Fraction]:
    """How far each row's estimate really is off the exact one, and the bound below it."""
    noisy = [np.array(level, dtype=np.float64) for level in released]
    atoms = whole(estimator.estimate(noisy))
    bounds = estimator.missed(rows, released, atoms)
    sums = rows.whole_sums(atoms)
    found = []
    for place, row in enumerate(dense(rows, strategy.atoms)):
        weights, every = exact_weights(strategy, noise, row)
        both = [*weights, *([[every]] if strategy.sum_public else [])]
        missed = abs(Fraction(sums[place], 1 << PLACES) - told(both, released))
        assert missed <= Fraction(float(bounds[place])), (place, float(missed), bounds[place])
        found.append(missed)
    return found


@pytest.mark.parametrize(("strategy", "rows"), WITH_LEAVES)
@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("scale", [1, 10**12])
def test_values_are_within_what_is_said(
    strategy: Strategy, rows: Any, noise: tuple[float, ...], scale: int
) -> None:
    off(strategy, rows, noise, drawn(strategy, scale, 5 * scale), strategy.estimator(noise))


@pytest.mark.parametrize(("strategy", "rows"), WITH_LEAVES)
@pytest.mark.parametrize("noise", NOISES)
def test_weights_are_within_what_is_said(
    strategy: Strategy, rows: Any, noise: tuple[float, ...]
) -> None:
    estimator = strategy.estimator(noise)
    for place, row in enumerate(dense(rows, strategy.atoms)):
        weights = estimator.weights(rows, place)
        doubts = estimator.doubts(rows, place, weights)
        exact, _ = exact_weights(strategy, noise, row)
        for ours, doubt, own in zip(weights, doubts, exact, strict=True):
            for one, most, meant in zip(ours.tolist(), doubt.tolist(), own, strict=True):
                assert abs(Fraction(one) - meant) <= Fraction(most)


@pytest.mark.parametrize(("strategy", "rows"), WITH_LEAVES[:2])
def test_refined_atoms_are_nearer(strategy: Strategy, rows: Any) -> None:
    noise = (1e9, 1e-3, 7.0)
    estimator, released = strategy.estimator(noise), drawn(strategy, 10**6, 5 * 10**6)
    atoms = whole(estimator.estimate([np.array(level, dtype=np.float64) for level in released]))
    before = estimator.missed(rows, released, atoms)
    after = estimator.missed(rows, released, estimator.refined(released, atoms))
    assert (after < before / 10).all()


def test_what_was_assumed_before_does_not_hold() -> None:
    """Mutants: a relative error of 2⁻⁴⁰ in the sum of all that was released; no residual at all."""
    noise = (1e14, 1.0, 1e-2)
    released = drawn(PLAIN, 1, 5)
    size = sum(abs(value) for level in released for value in level)
    most = max(off(PLAIN, PREFIXES, noise, released, PLAIN.estimator(noise)))
    assert most > Fraction(size, 1 << 40) + Fraction(MANY, 1 << PLACES)


@pytest.mark.parametrize(("strategy", "rows"), WITH_LEAVES)
def test_a_wrong_solution_is_seen(
    strategy: Strategy, rows: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bound rests on the residual, not on how the estimate was found: it holds for any."""
    noise = (2.0, 40.0, 5.0)
    estimator = strategy.estimator(noise)
    right = estimator.estimate
    wrong = np.linspace(-1, 1, strategy.atoms) * 1e-3
    monkeypatch.setitem(estimator.__dict__, "estimate", lambda noisy: right(noisy) + wrong)
    seen = off(strategy, rows, noise, drawn(strategy, 1, 5), estimator)
    assert max(seen) > Fraction(1, 10_000), "a bound without the residual would be too small"


@pytest.mark.parametrize("strategy", [PLAIN, PUBLIC])
def test_wrong_weights_are_seen(strategy: AtomStrategy) -> None:
    noise = (2.0, 40.0, 5.0)
    estimator = strategy.estimator(noise)
    for place, row in enumerate(dense(PREFIXES, MANY)):
        exact, _ = exact_weights(strategy, noise, row)
        for level in range(3):
            wrong = [own.copy() for own in estimator.weights(PREFIXES, place)]
            wrong[level][0] += 1e-5
            doubts = estimator.doubts(PREFIXES, place, wrong)
            for ours, doubt, own in zip(wrong, doubts, exact, strict=True):
                for one, most, meant in zip(ours.tolist(), doubt.tolist(), own, strict=True):
                    assert abs(Fraction(one) - meant) <= Fraction(most)


@pytest.mark.parametrize("public", [False, True])
@pytest.mark.parametrize("noise", [(3.0,), (1e-7,), (1e10,)])
def test_without_atoms_of_their_own_the_whole_error_is_bounded(
    public: bool, noise: tuple[float, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """value − w·x = ŵ·e + what is bounded, for a singular M and a solution that is a little off."""
    strategy = AtomStrategy("questions", (OVERLAPPING,), sum_public=public)
    estimator = strategy.estimator(noise)
    assert isinstance(getattr(estimator, "_inner", estimator), module._Dense)
    truth = [3, 0, 10**6, 5, 0, 77, 10**9]
    error = [(-1) ** k * 5**k for k in range(MANY - 1)]
    (answers,) = strategy.answers(truth)
    released = [[a + e for a, e in zip(answers, error, strict=True)]]
    released += [[sum(truth)]] if public else []
    inner = getattr(estimator, "_inner", estimator)
    monkeypatch.setattr(inner, "_inverse", inner._inverse * (1 + 1e-9))
    noisy = [np.array(level, dtype=np.float64) for level in released]
    atoms = whole(estimator.estimate(noisy))
    bounds, sums = estimator.missed(PAIRS, released, atoms), PAIRS.whole_sums(atoms)
    largest = Fraction(0)
    for place, row in enumerate(dense(PAIRS, MANY)):
        weights = estimator.weights(PAIRS, place)
        doubts = estimator.doubts(PAIRS, place, weights)
        value = Fraction(sums[place], 1 << PLACES)
        true = sum(w * x for w, x in zip(row, truth, strict=True))
        left = abs(value - true - told(weights[:1], [error]))
        sizes = [[abs(e) for e in error]]
        most = Fraction(float(bounds[place])) + told(doubts[:1], sizes)
        assert left <= most
        largest = max(largest, left)
    assert largest > Fraction(1, 1 << 20), "a bound without what is not told would be too small"


def test_small_parts() -> None:
    assert whole(np.array([1.0, -0.5])) == [1 << PLACES, -(1 << (PLACES - 1))]
    assert residuals([3, 2**70], [5 << (PLACES - 1), 2**110]).tolist() == [0.5, 0.0]
    assert length(np.array([3.0, 4.0])) >= 5
    assert relative(10) >= 10 * 2.0**-53
