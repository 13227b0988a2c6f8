"""What is released in place of many answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenue.ask.workload import least_squares as module
from tenue.ask.workload.level import PLACES, Level, Runs, length, residuals, whole
from tenue.ask.workload.marginals import Marginals, TableRows, TableStrategy
from tenue.ask.workload.measured_quantity import FINE, Quantity
from tenue.ask.workload.range_strategies import groups, hats
from tenue.ask.workload.select_strategy import _shares
from tenue.ask.workload.strategy import AtomStrategy, BlockStrategy, PricedStrategy
from tenue.engine.request import Measure
from tenue.errors import Fault, Refused
from tenue.noise.laplace_sum_tail import relative
from tenue.noise.source import SYSTEM
from tenue.privacy.loss import EpsilonDelta
from unit.ask.small import planned, schema, thresholds


def test_sides_hold_count_and_sum() -> None:
    pair = Quantity("pair", "x", -2, 6)
    measured = {Measure("present", "x"): 3, Measure("total", "x"): 7}
    above, below = pair.sides(measured)
    assert (above, below) == (6 * 3 - 7, 7 + 2 * 3)
    assert above + below == 3 * pair.span
    assert Quantity("total", "x", -2, 6).sides(measured) == (7,)
    assert Quantity("rows").sides({Measure("rows"): 5}) == (5,)


def test_a_block_that_costs_too_much_is_a_fault() -> None:
    (block,) = planned(*thresholds()).blocks
    with pytest.raises(Fault):
        replace(block, prices=tuple(price * 2 for price in block.prices))
    with pytest.raises(Fault):
        replace(block, swap=Fraction(1, 2))


def test_prices_use_nearly_all_of_the_price() -> None:
    for described in (schema(), schema("replace"), schema("replace", 3)):
        for block in planned(*thresholds(), described=described).blocks:
            top, bottom = block.strategy.largest_cost(block.prices)
            assert 0.999 * block.price.units <= top / bottom <= block.price.units


def test_too_little_is_refused_and_not_rounded_to_nothing() -> None:
    from tenue.ask.workload.measured_quantity import make_block
    from tenue.ask.workload.strategy import PricedStrategy

    (block,) = planned(*thresholds()).blocks
    tents = PricedStrategy(block.strategy, (0.5,) * len(block.prices), block.rows, block.labels)
    with pytest.raises(Refused):
        make_block(
            block.quantity, block.slices, tents, EpsilonDelta(1), replace=False, rows_per_unit=1
        )


def test_what_is_released_is_whole_and_estimates_are_near() -> None:
    (block,) = planned(*thresholds(), price=EpsilonDelta.of(50)).blocks
    measured = {cell: {Measure("rows"): cell + 1} for cell in range(len(block.labels))}
    drawn = block.release(measured, SYSTEM)
    assert all(type(v) is int for side in drawn for level in side for v in level)
    truth, near = block.truth(measured), block.estimates(drawn)[0]
    assert block.estimates(truth)[0][3] == pytest.approx((1 + 2 + 3 + 4) * FINE, abs=9)
    assert near[3] / FINE == pytest.approx(10, abs=3)
    assert all(0 < parts < FINE // 1000 for parts in block.slack(drawn))


def test_other_prices_have_another_name() -> None:
    one, other = planned(*thresholds()).blocks[0], planned(*thresholds(29)).blocks[0]
    assert one.digest == planned(*thresholds()).blocks[0].digest != other.digest


def test_the_largest_price_leaves_errors_that_floats_hold() -> None:
    """Mutant: weights 1/variance of noise whose variance is 0 in floats."""
    chosen = planned(*thresholds(), price=EpsilonDelta.of(10_000))
    assert any(way.blocks for way in chosen.ways)
    for block in (block for way in chosen.ways for block in way.blocks):
        atoms = list(range(1 + int(block.labels.max())))
        (found,) = block.estimates([block.strategy.answers(atoms)])
        assert found == [FINE * total for total in block.rows.whole_sums(atoms)]
        assert 0 < block.variances.max() < 1e-5


def test_a_public_number_of_rows_is_released_and_met() -> None:
    (block,) = planned(*thresholds(), described=schema("replace")).blocks
    assert block.has_outside
    measured = {cell: {Measure("rows"): cell + 1} for cell in range(len(block.labels))}
    rows = sum(own[Measure("rows")] for own in measured.values()) + 17
    (levels,) = block.release(measured, SYSTEM, rows)
    assert levels[-1] == [rows]
    assert len(levels) == len(block.laws) + 1
    every = block.estimator.estimate([np.array(level, dtype=np.float64) for level in levels])
    assert every.sum() == pytest.approx(rows)
    assert block.digest != replace(block, strategy=replace(block.strategy, sum_public=False)).digest
    for other in (schema(), schema("replace", 2)):
        assert not any(b.has_outside for b in planned(*thresholds(), described=other).blocks)


# -- Rows of runs add up as the table of zeros and ones that they stand for ------------------------

TABLES = st.integers(1, 7).flatmap(
    lambda many: st.lists(st.lists(st.booleans(), min_size=many, max_size=many), min_size=1)
)


@given(TABLES)
def test_runs_are_the_table(given: list[list[bool]]) -> None:
    members = np.array(given)
    changes = [np.diff([0, *row, 0]) for row in members.astype(int)]
    rows = Runs(
        members.shape[1],
        np.cumsum([0, *((change == 1).sum() for change in changes)]),
        np.concatenate([np.nonzero(change == 1)[0] for change in changes]),
        np.concatenate([np.nonzero(change == -1)[0] for change in changes]),
    )
    assert len(rows) == len(members)
    assert (rows.dense() == members).all()
    assert (rows.sizes == members.sum(axis=1)).all()
    assert (rows.covered == members.any(axis=0)).all()
    values = np.arange(1.0, 2 * rows.atoms + 1).reshape(rows.atoms, 2)
    assert np.allclose(rows.sums(values), members @ values)


def test_whole_sums_are_exact_beyond_words() -> None:
    rows = Runs.of_ends(3, [(0, 3), (1, 2), (2, 2)])
    large = [2**70, -(2**69), 5]
    assert rows.whole_sums(large) == [sum(large), -(2**69), 0]
    assert rows.whole_sums([1, 2, 3]) == [6, 2, 0]


# What floats miss is bounded: against least squares in Fractions, well conditioned or not.

MANY = 7
PREFIXES = Runs.of_ends(MANY, [(0, k + 1) for k in range(MANY)])
ROUNDING_LEVELS = Level.leaves(MANY), hats(MANY, 3, 1, 1), groups(MANY, 4)
TABLE = Marginals((2, 3))
CELLS = TableRows(TABLE, ((0,), (1, 0), ()), ((2,), (3, 2), ()))
SETS = frozenset({0, 1}), frozenset({0}), frozenset[int]()
ONES = np.ones(2, dtype=np.int64)
OVERLAPPING = Level.of_rows([(np.array([i, i + 1]), ONES) for i in range(MANY - 1)], MANY)
PAIRS = Runs.of_ends(MANY, [(i, i + 2) for i in range(MANY - 1)])

PLAIN = AtomStrategy("tents", ROUNDING_LEVELS)
PUBLIC = AtomStrategy("tents", ROUNDING_LEVELS, sum_public=True)
MARGINALS = TableStrategy("marginals", TABLE, SETS)
WITH_LEAVES = [(PLAIN, PREFIXES), (PUBLIC, PREFIXES), (MARGINALS, CELLS)]
NOISES = [
    (2.0, 40.0, 5.0),
    (1e9, 1e-3, 7.0),
    (3e-7, 1e8, 1e-7),
    (1e14, 1.0, 1e-2),
]


def exact_rows(strategy: BlockStrategy) -> list[list[list[Fraction]]]:
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
    strategy: BlockStrategy, noise: Sequence[float], row: Sequence[int]
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


def drawn(strategy: BlockStrategy, scale: int, known: int) -> list[list[int]]:
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


def off(
    strategy: BlockStrategy, rows: Any, noise: Any, released: Any, estimator: Any
) -> list[Fraction]:
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
    strategy: BlockStrategy, rows: Any, noise: tuple[float, ...], scale: int
) -> None:
    off(strategy, rows, noise, drawn(strategy, scale, 5 * scale), strategy.estimator(noise))


@pytest.mark.parametrize(("strategy", "rows"), WITH_LEAVES)
@pytest.mark.parametrize("noise", NOISES)
def test_weights_are_within_what_is_said(
    strategy: BlockStrategy, rows: Any, noise: tuple[float, ...]
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
def test_refined_atoms_are_nearer(strategy: BlockStrategy, rows: Any) -> None:
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
    strategy: BlockStrategy, rows: Any, monkeypatch: pytest.MonkeyPatch
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


# -- What one row of the table can cost is exact, and so are the true answers of a level -----------


def test_answers_are_whole_sums_of_any_size() -> None:
    level = Level.of_rows([(np.array([0, 2]), np.array([1, 3])), (np.array([1]), np.array([2]))], 3)
    assert level.answers([2**70, 5, 1]) == [2**70 + 3, 10]
    assert level.column_sums.tolist() == [1, 2, 3]
    assert level.height == 3
    vector = np.array([1.0, 2.0, 4.0])
    assert level.times(vector).tolist() == (level.dense() @ vector).tolist()
    back = np.array([1.0, 10.0])
    assert level.transposed(back).tolist() == (level.dense().T @ back).tolist()
    assert Level.leaves(3).answers([7, 8, 9]) == [7, 8, 9]


@pytest.mark.parametrize("levels", [[groups(9, 4)], [Level.leaves(9), hats(9, 3, 1, True)]])
def test_costs_are_those_of_the_definition(levels: list[Level]) -> None:
    strategy, prices = AtomStrategy("", tuple(levels)), [7, 11][: len(levels)]
    tables = [p * level.dense() / level.height for level, p in zip(levels, prices, strict=True)]
    columns = list(np.concatenate(tables).T)
    alone = max(np.abs(column).sum() for column in columns)
    assert float(Fraction(*strategy.largest_cost(prices))) == pytest.approx(alone)
    every = [*columns, np.zeros_like(columns[0])]
    pairs = max(np.abs(a - b).sum() for a in every for b in every)
    assert float(Fraction(*strategy.swap_cost(prices))) == pytest.approx(pairs)
    free = [0] * len(levels)
    assert strategy.largest_cost(free) == strategy.swap_cost(free) == (0, 1)


def test_the_outside_is_among_the_swaps() -> None:
    """A total alone costs nothing between atoms, and its whole price to leave them."""
    total = Level.of_rows([(np.arange(4), np.ones(4, dtype=np.int64))], 4)
    assert Fraction(*AtomStrategy("", (total,)).swap_cost([5])) == 5


def test_other_rows_have_other_names() -> None:
    assert Level.leaves(4).digest == Level.leaves(4).digest != Level.leaves(5).digest
    assert hats(9, 3, 1, True).digest != hats(9, 3, 1, False).digest


# -- A strategy of levels says what its levels say -------------------------------------------------

LEVELS = Level.leaves(6), groups(6, 3)


def test_levels_are_told_together() -> None:
    one = AtomStrategy("tree", LEVELS)
    assert (one.heights, one.lengths) == ((1, 1), (6, 2))
    assert one.answers([1, 2, 3, 4, 5, 6]) == [[1, 2, 3, 4, 5, 6], [6, 15]]
    assert Fraction(*one.largest_cost((2, 3))) == 5
    assert Fraction(*one.swap_cost((2, 3))) == 10
    assert one.digest != AtomStrategy("tree", LEVELS[:1]).digest


def test_where_pairs_are_many_a_swap_costs_twice() -> None:
    large = AtomStrategy("atoms", (Level.leaves(2000),))
    assert Fraction(*large.swap_cost((3,))) == 6


def test_a_candidate_carries_rows_and_labels() -> None:
    rows = Runs.of_ends(6, [(0, 6)])
    strategy = AtomStrategy("tree", tuple(LEVELS))
    found = PricedStrategy(strategy, (0.5, 0.5), rows, np.arange(6))
    assert found.strategy.heights == tuple(level.height for level in LEVELS)
    assert found.strategy.estimator([2.0, 2.0]).variances(found.rows).shape == (1,)


# -- Which strategy a block gets, and how blocks share the price -----------------------------------


def names(*texts: str, **terms: object) -> list[str]:
    return [block.strategy.name for block in planned(*texts, **terms).blocks]  # type: ignore[arg-type]


def test_every_shape_has_its_strategy() -> None:
    assert names(*thresholds()) == ["tents"]
    tables = [
        "SELECT c, COUNT(*) FROM t GROUP BY c",
        "SELECT BIN(x, 10), COUNT(*) FROM t GROUP BY 1",
        "SELECT c, BIN(x, 10), COUNT(*) FROM t GROUP BY 1, 2",
    ]
    assert names(*tables, minimise="mean") in (["marginals"], ["atoms"])
    total = ["SELECT COUNT(*) FROM t", "SELECT BIN(x, 2), COUNT(*) FROM t GROUP BY 1"]
    assert names(*total) == ["questions and atoms"]
    assert names(*total, minimise="mean") == ["atoms"]


def test_blocks_share_by_need_and_by_what_it_is_worth() -> None:
    even = _shares([(1.0, 0.1), (1.0, 0.1)], 1.0, bounded=True)
    assert even == pytest.approx([0.5, 0.5])
    heavy = _shares([(8.0, 0.0), (1.0, 0.0)], 1.0, bounded=False)
    assert heavy == pytest.approx([2 / 3, 1 / 3])
    needy = _shares([(8.0, 0.1), (1.0, 0.6)], 1.0, bounded=True)
    assert needy == pytest.approx([0.4, 0.6])
    assert sum(_shares([(1.0, 0.9), (1.0, 0.8)], 1.0, bounded=True)) == pytest.approx(1)


def test_shares_are_all_that_is_paid() -> None:
    texts = [
        "SELECT c, COUNT(*), SUM(y) FROM t GROUP BY c",
        "SELECT COUNT(*), SUM(y), AVG(x) FROM t",
    ]
    for neighbours in ("add-or-remove", "replace"):
        workload = planned(*texts, minimise="mean", described=schema(neighbours))
        for way in workload.ways:
            if way.blocks:
                assert sum(block.price.units for block in way.blocks) == 10**9
