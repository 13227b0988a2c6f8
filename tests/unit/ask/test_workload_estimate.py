"""Strategies for ranges and marginals, and what follows from them."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

from tenue.ask.workload.least_squares import least_squares
from tenue.ask.workload.level import Level, Runs
from tenue.ask.workload.marginals import Marginals, TableRows, TableStrategy, choose_marginals
from tenue.ask.workload.range_strategies import descend, grouped, groups, hats, lines, sampled
from tenue.ask.workload.strategy import AtomStrategy
from tenue.noise import DiscreteLaplace
from tenue.noise.laplace_sum import LaplaceSum
from tenue.noise.laplace_sum_tail import MOST_RATE, LaplaceCombination, Reals

LEAST_SQUARES_ROWS = Runs.of_ends(9, [(0, k + 1) for k in range(9)])
ONES = np.ones(2, dtype=np.int64)
PAIRS = Level.of_rows([(np.array([2 * i, 2 * i + 1]), ONES) for i in range(4)], 9)


@pytest.mark.parametrize(
    "levels",
    [
        [Level.leaves(9)],
        [Level.leaves(9), hats(9, 3, 1, True), groups(9, 5)],
        [groups(9, 3), Level.leaves(9)],
    ],
)
def test_estimates_are_least_squares(levels: list[Level]) -> None:
    noise = [3.0, 40.0, 5.0][: len(levels)]
    a = np.concatenate([level.dense() for level in levels])
    v = np.concatenate([np.full(len(level), x) for level, x in zip(levels, noise, strict=False)])
    m = a.T @ (a / v[:, None])
    found = least_squares(levels, noise)
    w = LEAST_SQUARES_ROWS.dense()
    assert np.allclose(found.variances(LEAST_SQUARES_ROWS), np.diag(w @ np.linalg.inv(m) @ w.T))
    y = np.cos(np.arange(len(a)))
    parts = np.split(y, np.cumsum([len(level) for level in levels])[:-1])
    assert np.allclose(found.estimate(parts), np.linalg.solve(m, a.T @ (y / v)))
    weights = np.concatenate(found.weights(LEAST_SQUARES_ROWS, 4))
    assert np.allclose(weights, w[4] @ np.linalg.solve(m, a.T / v))
    assert np.allclose(weights @ a, w[4]), "unbiased"


def test_what_is_not_told_has_no_variance() -> None:
    found = least_squares([PAIRS], [1.0]).variances(Runs.of_ends(9, [(0, 2), (0, 1), (8, 9)]))
    assert found[0] == pytest.approx(1)
    assert np.isinf(found[1:]).all()


@pytest.mark.parametrize(
    "levels",
    [
        [Level.leaves(9)],
        [Level.leaves(9), hats(9, 3, 1, 2), groups(9, 5)],
        [groups(9, 3), Level.leaves(9)],
        [groups(9, 3), hats(9, 1, 0, 0)],
    ],
)
def test_a_public_sum_is_a_row_without_noise(levels: list[Level]) -> None:
    noise = [3.0, 40.0, 5.0][: len(levels)]
    nothing = 1e-9
    a = np.concatenate([*(level.dense() for level in levels), np.ones((1, 9))])
    v = np.concatenate([np.full(len(l), x) for l, x in zip(levels, noise, strict=False)])
    v = np.concatenate([v, [nothing]])
    m = a.T @ (a / v[:, None])
    found = least_squares(levels, noise, sum_public=True)
    w = LEAST_SQUARES_ROWS.dense()
    assert np.allclose(
        found.variances(LEAST_SQUARES_ROWS), np.diag(w @ np.linalg.inv(m) @ w.T), atol=1e-6
    )
    assert found.variances(LEAST_SQUARES_ROWS)[-1] == pytest.approx(0, abs=1e-9)
    y = np.cos(np.arange(len(a)))
    parts = np.split(y, np.cumsum([len(level) for level in levels]))
    assert np.allclose(found.estimate(parts), np.linalg.solve(m, a.T @ (y / v)), atol=1e-5)
    assert found.estimate(parts).sum() == pytest.approx(y[-1])
    weights = np.concatenate(found.weights(LEAST_SQUARES_ROWS, 4))
    assert np.allclose(weights, (w[4] @ np.linalg.solve(m, a.T / v))[:-1], atol=1e-5)
    variance = found.variances(LEAST_SQUARES_ROWS)[4]
    assert (weights**2 * v[:-1]).sum() == pytest.approx(variance), "weights are those of the error"


def test_a_public_sum_tells_what_no_level_tells() -> None:
    rows = Runs.of_ends(9, [(8, 9), (0, 1)])
    found = least_squares([PAIRS], [1.0], sum_public=True).variances(rows)
    assert found[0] == pytest.approx(4), "the rest of the sum"
    assert np.isinf(found[1])


# -- Bounds on tails against sums over the masses themselves ---------------------------------------

CASES = [
    ([1], [1]),
    ([1, 1], [1, 1]),
    ([1, 2, 3], [1, Fraction(1, 2), 2]),
    ([1] * 12, [Fraction(1, 4)] * 12),
    ([3, -1, 1, 1], [Fraction(1, 10), Fraction(1, 3), 1, 1]),
]


def built(weights: list[int], rates: list[Fraction]) -> tuple[LaplaceCombination, LaplaceSum]:
    pairs = zip(weights, rates, strict=True)
    laws = [(Fraction(w), DiscreteLaplace(sensitivity=1, epsilon=r)) for w, r in pairs]
    bound = LaplaceCombination(np.array(weights, float), np.array([float(r) for r in rates]))
    return bound, LaplaceSum(laws)


@pytest.mark.parametrize(("weights", "rates"), CASES)
@pytest.mark.parametrize("level", [Fraction(1, 2), Fraction(19, 20), Fraction(999, 1000)])
def test_intervals_are_never_too_short(
    weights: list[int], rates: list[Fraction], level: Fraction
) -> None:
    bound, masses = built(weights, rates)
    true = masses.half_width(level)  # the least whole number that holds so much
    assert bound.half_width(level) >= true - 1
    assert (
        bound.half_width(level)
        <= bound.chernoff(float(1 - level))
        == pytest.approx(bound.quick_half_width(level))
    )
    # what is inside holds at least the level
    unit, values = masses._masses  # type: ignore[misc]
    places = np.abs(np.arange(values.size) - values.size // 2) * float(unit)
    assert values[places <= bound.half_width(level)].sum() >= float(level) - 1e-9


@pytest.mark.parametrize(("weights", "rates"), CASES)
def test_moments_are_those_of_the_sum(weights: list[int], rates: list[Fraction]) -> None:
    bound, masses = built(weights, rates)
    assert bound.variance == pytest.approx(masses.variance)
    assert bound.mean_absolute_error == pytest.approx(masses.mean_absolute_error, rel=0.01)


def test_many_alike_terms_are_close_to_normal() -> None:
    bound = LaplaceCombination(np.ones(10), np.full(10, 0.2))
    normal = 1.959964 * math.sqrt(bound.variance)
    assert normal < bound.half_width(Fraction(19, 20)) <= 1.12 * normal


def test_no_noise_has_no_width() -> None:
    none = LaplaceCombination(np.zeros(3), np.ones(3))
    assert none.half_width(Fraction(1, 2)) == none.variance == none.mean_absolute_error == 0


def test_small_terms_are_bounded_apart_and_change_little() -> None:
    weights = np.concatenate([np.linspace(1, 2, 20), np.geomspace(1e-6, 1e-9, 500)])
    rates = np.full(520, 0.3)
    both = LaplaceCombination(weights, rates)
    main, rest = both._apart
    assert rest is not None
    assert main.variance + rest.variance == pytest.approx(both.variance)
    large = LaplaceCombination(weights[:20], rates[:20]).half_width(Fraction(19, 20))
    assert large <= both.half_width(Fraction(19, 20)) <= 1.002 * large


def test_doubts_widen_by_what_they_can_move_and_no_more() -> None:
    """Mutant: the weights as floats found them, whatever they may be off by."""
    weights, rates = np.linspace(1, 2, 20), np.full(20, 0.3)
    level = Fraction(19, 20)
    plain = LaplaceCombination(weights, rates)
    doubted = LaplaceCombination(weights, rates, np.full(20, 1e-6))
    least = 20 * 1e-6 / 0.3 * math.log(2 * 20 / 0.05)
    wider = doubted.half_width(level) - plain.half_width(level)
    assert least < wider < 8 * least
    assert plain.variance < doubted.variance < plain.variance * 1.001
    assert doubted.quick_half_width(level) > plain.quick_half_width(level)


def test_weights_that_are_nothing_but_rounding_have_an_interval() -> None:
    """As those of a total that is public anyway."""
    law = LaplaceCombination(np.full(900, 1e-17), np.full(900, 0.3), np.full(900, 1e-13))
    assert 0 < law.half_width(Fraction(19, 20)) < 1e-6


def test_rates_that_are_told_as_the_largest_are_bounded_by_chernoff() -> None:
    """They may be larger: no other bound holds for all of these."""
    law = LaplaceCombination(np.ones(12), np.full(12, MOST_RATE))
    assert law.half_width(Fraction(19, 20)) == law.chernoff(0.05)


# -- Prices descend to the least mean error, and stay within what every answer may have ------------


def descent_errors(p: Reals) -> tuple[Reals, Callable[[Reals], Reals]]:
    """Two answers, each with noise of its own: allowed 8 and 8, weights far apart."""
    return 1 / (4 * p**2), lambda weights: -2 * weights / (4 * p**3)


MEANS = np.array([0.9, 0.1])


def test_the_least_mean_is_found() -> None:
    value, prices = descend(descent_errors, np.array([0.5, 0.5]), MEANS, 300, bounded=False)
    best = np.cbrt(MEANS) / np.cbrt(MEANS).sum()
    assert prices == pytest.approx(best, abs=0.01)
    assert value == pytest.approx(float(MEANS @ descent_errors(best)[0]), rel=1e-3)


def test_no_answer_gets_more_than_it_may() -> None:
    _, prices = descend(descent_errors, np.array([0.5, 0.5]), MEANS, 300, bounded=True)
    assert descent_errors(prices)[0].max() <= 1.02


# Hats add up to their width at every atom; trees and tents beat leaves where they should.


@pytest.mark.parametrize("first", range(5))
@pytest.mark.parametrize("merged", [0, 1, 2])
def test_hats_of_a_level_add_up_to_their_width(first: int, merged: int) -> None:
    level = hats(23, 5, first, merged)
    assert set(level.column_sums) == {5}
    assert len(level) == len(hats(23, 5, first, 0)) - merged
    assert (np.diff(level.atoms[: level.offsets[1]]) == 1).all()


def test_groups_hold_every_atom_once() -> None:
    assert set(groups(23, 5).column_sums) == {1}
    assert len(groups(23, 5)) == 5


@pytest.mark.parametrize("many", [60, 300])
def test_thresholds_and_ranges_are_better_than_from_leaves(many: int) -> None:
    for ends in ([(0, k + 1) for k in range(many)], [(k, many - k) for k in range(many // 2)]):
        rows = Runs.of_ends(many, ends)
        leaves = least_squares([Level.leaves(many)], [2.0]).variances(rows).mean()
        found = dict(lines(rows, np.ones(len(rows))))
        assert set(found) == {"tree", "tents"}
        for levels, prices in found.values():
            assert sum(prices) == pytest.approx(1)
            noise = [2 * (level.height / p) ** 2 for level, p in zip(levels, prices, strict=False)]
            assert least_squares(levels, noise).variances(rows).mean() < 0.95 * leaves


def test_few_atoms_need_no_levels() -> None:
    assert lines(Runs.of_ends(3, [(0, 2)]), np.ones(1)) == []


def test_a_sample_is_of_the_rows() -> None:
    rows = Runs.of_ends(5000, [(0, k + 1) for k in range(5000)])
    some = sampled(rows)
    assert len(some) == 400
    assert set(some.sizes) <= set(rows.sizes)
    assert some.sizes[-1] == 5000


def test_where_the_sum_is_public_tents_use_it() -> None:
    """Mutant: tents that are best without it, read with it."""
    rows = Runs.of_ends(100, [(0, k + 1) for k in range(99)])

    def mean(sum_public: bool) -> float:
        levels, prices = dict(lines(rows, np.ones(99), sum_public=sum_public))["tents"]
        noise = [2 * (level.height / p) ** 2 for level, p in zip(levels, prices, strict=False)]
        return float(least_squares(levels, noise, sum_public=True).variances(rows).mean())

    assert mean(True) < 21.5 < 23 < mean(False)


# -- Questions beside atoms: a total and its parts, and conditions that overlap --------------------


def errors(rows: Runs, of: list[int], allowed: float, bounded: bool) -> Reals:
    bars = np.full(len(rows), allowed)
    ((_, (levels, prices)),) = grouped(rows, np.array(of), bars, bounded=bounded)
    strategy = AtomStrategy("", levels)
    top, bottom = strategy.largest_cost([int(p * 10**6) for p in prices])
    assert top / bottom <= 1.001 * 10**6
    noise = [2 * (level.height / p) ** 2 for level, p in zip(levels, prices, strict=True)]
    return least_squares(levels, noise).variances(rows) / allowed


@pytest.mark.parametrize("many", [10, 400])
def test_a_total_is_no_worse_than_alone(many: int) -> None:
    rows = Runs.of_ends(many, [(0, many), *((i, i + 1) for i in range(many))])
    of = [0] + [1] * many
    fair = errors(rows, of, 8.0, bounded=True)
    free = errors(rows, of, 8.0, bounded=False)
    assert fair.max() <= 1
    assert free.mean() < fair.mean() < 1
    assert free.max() > 1, "the least mean is paid for by the total"


def test_what_is_asked_by_atoms_alone_needs_nothing_else() -> None:
    rows = Runs.of_ends(3, [(0, 1), (1, 2), (2, 3)])
    assert grouped(rows, np.zeros(3, dtype=np.int64), np.ones(3), bounded=True) == []


# -- Marginals: variances, weights and estimates are those of least squares, written out -----------

MARGINAL_TABLE = Marginals((2, 3, 2))


def written(precisions: Reals) -> tuple[Reals, Reals]:
    rows, noise = [], []
    for columns, precision in zip(MARGINAL_TABLE.sets, precisions, strict=True):
        for cell in product(*(range(MARGINAL_TABLE.sizes[i]) for i in sorted(columns))):
            one = np.zeros(MARGINAL_TABLE.sizes)
            place = dict(zip(sorted(columns), cell, strict=True))
            one[tuple(place.get(i, slice(None)) for i in range(3))] = 1
            if precision:
                rows.append(one.ravel())
                noise.append(1 / precision)
    return np.array(rows), np.array(noise)


@pytest.mark.parametrize("released", [(0, 1, 2, 3, 4, 5, 6, 7), (4, 5), (7,), (1, 6)])
def test_everything_is_least_squares(released: tuple[int, ...]) -> None:
    precisions = np.array([0.3 + i / 10 if i in released else 0.0 for i in range(8)])
    a, v = written(precisions)
    pseudo = np.linalg.pinv(a.T @ (a / v[:, None]))
    columns = frozenset({0, 1})
    w = np.zeros(MARGINAL_TABLE.sizes)
    w[1, 2] = 1
    told = np.allclose(w.ravel() @ pseudo @ (a.T @ (a / v[:, None])), w.ravel())
    (variance,) = MARGINAL_TABLE.variances([columns], precisions)
    assert np.isfinite(variance) == told
    if told:
        assert variance == pytest.approx(w.ravel() @ pseudo @ w.ravel())
        weights = MARGINAL_TABLE.weights(columns, (1, 2), precisions)
        used = np.concatenate([x for x, p in zip(weights, precisions, strict=False) if p])
        assert np.allclose(used, w.ravel() @ pseudo @ (a.T / v))
    y = np.sin(np.arange(len(a)))
    tables, start = {}, 0
    for one, precision in zip(MARGINAL_TABLE.sets, precisions, strict=True):
        if precision:
            tables[one] = y[start : start + MARGINAL_TABLE.cells(one)]
            start += MARGINAL_TABLE.cells(one)
    assert np.allclose(MARGINAL_TABLE.estimate(tables, precisions).ravel(), pseudo @ a.T @ (y / v))


def test_two_tables_are_replaced_by_one_where_that_is_better() -> None:
    small = Marginals((2, 2, 2))
    asked = [frozenset(pair) for pair in combinations(range(3), 2)]
    prices = choose_marginals(small, asked, np.full(3, 18.0), np.full(3, 1 / 3), bounded=False)
    assert max(prices, key=lambda one: prices[one]) == frozenset({0, 1, 2})
    assert sum(prices.values()) == pytest.approx(1, abs=0.05)


# Released marginals are exact sums, and answers come in the order of the question's keys.

TABLE = Marginals((2, 3, 2))
TRUTH = [3**i for i in range(12)]
CUBE = np.array(TRUTH).reshape(2, 3, 2)
ROWS = TableRows(TABLE, ((1, 0), (2,)), ((2, 2), (2,)))


def test_answers_are_marginals() -> None:
    strategy = TableStrategy("marginals", TABLE, (frozenset({0}), frozenset({1, 2}), frozenset()))
    one, two, total = strategy.answers(TRUTH)
    assert one == CUBE.sum(axis=(1, 2)).tolist()
    assert two == CUBE.sum(axis=0).ravel().tolist()
    assert total == [sum(TRUTH)]
    assert strategy.lengths == (2, 6, 1)
    assert strategy.largest_cost((5, 6, 7)) == (18, 1), "a row is in one cell of each"
    assert strategy.answers([2**70] * 12)[2] == [12 * 2**70]


def test_rows_follow_the_keys_and_leave_out_what_is_missing() -> None:
    wanted = [*CUBE.sum(axis=2).T[:2].ravel().tolist(), *CUBE.sum(axis=(0, 1)).tolist()]
    assert ROWS.whole_sums(TRUTH) == wanted
    total = TableRows(TABLE, ((), (2,)), ((), (2,)))
    assert total.whole_sums([2**70] * 12) == [12 * 2**70, 6 * 2**70, 6 * 2**70], "of any size"
    assert total.sizes.tolist() == [12, 6, 6]
    assert len(ROWS) == 6
    assert ROWS.cell(2) == (frozenset({0, 1}), (0, 1)), "second value of column 1, first of 0"
    assert ROWS.cell(5) == (frozenset({2}), (1,))


def test_an_estimator_has_the_variances_of_its_weights() -> None:
    strategy = TableStrategy("marginals", TABLE, (frozenset({0, 1, 2}), frozenset({0})))
    noise = (2.0, 5.0)
    found = strategy.estimator(noise)
    spread = np.concatenate([np.full(n, v) for n, v in zip(strategy.lengths, noise, strict=True)])
    for place in range(len(ROWS)):
        weights = np.concatenate(found.weights(ROWS, place))
        assert np.isclose(found.variances(ROWS)[place], (weights**2) @ spread)
