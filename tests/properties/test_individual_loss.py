"""The exact loss of individual differential privacy, over every small table and its neighbours.

κ_D is what `calibrate` makes of the actual table D. Its answers for D and for each neighbour D′ are
compared mass by mass: rationally where the noise has whole answer steps, in double precision where
it is finer. Wrong implementations, written here, must be caught.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from tenue.mechanism.individual_calibration import (
    Calibrated,
    ModeChoice,
    calibrate,
    calibrate_mode,
    winner,
)
from tenue.mechanism.individual_statistic import Columns, Statistic, columns_of
from unit.sensitivity.oracle import neighbours

EPSILON = Fraction(3, 2)
TOP = 3
NUMBERS = range(TOP + 1)
PAIRS = tuple(product(range(3), range(3)))

STATISTICS = [
    Statistic("median"),
    Statistic("quantile", q="1/4"),
    Statistic("quantile", q="0.9"),
    Statistic("max"),
    Statistic("min"),
    Statistic("second-max"),
    Statistic("kth-largest", k=1),
    Statistic("kth-smallest", k=2),
    Statistic("mean"),
    Statistic("sum"),
    Statistic("variance"),
    Statistic("range-count", between=(1, 2)),
]
OF_PAIRS = [Statistic("correlation"), Statistic("slope", ridge="1/2")]


def least_rows(statistic: Statistic) -> int:
    return 2 if statistic.name in ("second-max", "kth-smallest", "correlation", "slope") else 1


def columns(statistic: Statistic, table: Sequence) -> Columns:
    if statistic in OF_PAIRS:
        return columns_of(statistic.name, list(table), ((0, 2), (0, 2)))
    return columns_of(statistic.name, list(table), (0, TOP))


def pairs(statistic: Statistic) -> Iterator[tuple[Columns, Columns]]:
    """Every table with up to four rows (three of two columns) beside each of its neighbours."""
    domain, most = (PAIRS, 3) if statistic in OF_PAIRS else (NUMBERS, 4)
    known: dict[tuple, Columns] = {}

    def of(table: tuple) -> Columns:
        key = tuple(sorted(table))
        if key not in known:
            known[key] = columns(statistic, key)
        return known[key]

    for rows in range(least_rows(statistic), most + 1):
        for table in combinations_with_replacement(domain, rows):
            for other in {tuple(sorted(near)) for near in neighbours(table, domain)}:
                yield of(table), of(other)


def distribution(mechanism: Calibrated, truth: int) -> dict[int, float]:
    """The masses of all answers that have any, from the law's own masses; tails by its cdf."""
    law = mechanism.law
    if law is None:
        return {mechanism.settle(truth): 1.0}
    answers = range(mechanism.low, mechanism.high + 1)
    # an answer y holds the working steps from `start` on; the first and the last hold all beyond
    starts = [-((mechanism.finer - 2 * mechanism.finer * y) // 2) for y in answers[1:]]
    assert all(mechanism.settle(s) == y for s, y in zip(starts, answers[1:], strict=True))
    assert all(mechanism.settle(s - 1) == y for s, y in zip(starts, answers, strict=False))
    below = [0.0, *(float(law.cdf(s - 1 - truth)) for s in starts), 1.0]
    above = [1.0, *(float(law.cdf(truth - s)) for s in starts), 0.0]
    # the smaller of the two ways to subtract loses no digits
    return {y: max(below[i + 1] - below[i], above[i] - above[i + 1]) for i, y in enumerate(answers)}


def loss(one: dict[int, float], other: dict[int, float]) -> float:
    worst = 0.0
    for answer in one.keys() | other.keys():
        p, q = one.get(answer, 0.0), other.get(answer, 0.0)
        if p != q:
            worst = max(worst, abs(math.log(p / q)) if p and q else math.inf)
    return worst


def rational_loss(mechanism: Calibrated, truth: int, other: int) -> Fraction | float:
    """For noise in whole answer steps: the log-mass of y is -rate·|y - truth| and a constant.

    The constant is the same for both truths: one for answers inside, one for the two ends, which
    hold a tail from |y - truth| on. Both truths lie between the ends.
    """
    assert mechanism.finer == 1
    if mechanism.law is None:
        return 0 if mechanism.settle(truth) == mechanism.settle(other) else math.inf
    assert mechanism.low <= min(truth, other)
    assert max(truth, other) <= mechanism.high
    if mechanism.low == mechanism.high:
        return 0
    answers = range(mechanism.low, mechanism.high + 1)
    rate = mechanism.epsilon / mechanism.spread
    return max(rate * abs(abs(y - truth) - abs(y - other)) for y in answers)


Make = Callable[[Statistic, Columns, Fraction], Calibrated]
Truth = Callable[[Statistic, Columns, Fraction], int]


def ours(statistic: Statistic, table: Columns, grid: Fraction) -> Calibrated:
    return calibrate(statistic, table, epsilon=EPSILON, grid=grid, finer=1, truncated=False)


def true_value(statistic: Statistic, table: Columns, grid: Fraction) -> int:
    return statistic.nearest(table, grid)


def worst(
    statistic: Statistic, grid: Fraction, make: Make = ours, truth: Truth = true_value
) -> Fraction | float:
    known: dict[int, tuple[Calibrated, int]] = {}

    def of(table: Columns) -> tuple[Calibrated, int]:
        if id(table) not in known:
            known[id(table)] = make(statistic, table, grid), truth(statistic, table, grid)
        return known[id(table)]

    return max(rational_loss(*of(one), of(other)[1]) for one, other in pairs(statistic))


def name(statistic: Statistic) -> str:
    return f"{statistic.name}-{statistic.k or statistic.q or statistic.between or ''}"


class TestNumbers:
    @pytest.mark.parametrize("grid", [Fraction(1), Fraction(1, 2), Fraction(2, 3)])
    @pytest.mark.parametrize("statistic", STATISTICS, ids=name)
    def test_every_table_keeps_epsilon_exactly(self, statistic, grid):
        most = worst(statistic, grid)
        assert most <= EPSILON
        if statistic.name in ("median", "max", "sum") and grid != Fraction(2, 3):
            assert most == EPSILON  # nothing is given away

    @pytest.mark.parametrize("statistic", OF_PAIRS, ids=name)
    def test_every_table_of_two_columns(self, statistic):
        assert worst(statistic, Fraction(1, 7)) <= EPSILON

    @pytest.mark.parametrize(
        ("statistic", "truncated"),
        [(s, False) for s in (*STATISTICS, *OF_PAIRS)] + [(STATISTICS[-1], True)],
        ids=str,
    )
    def test_finer_noise(self, statistic, truncated):
        grid, finer = Fraction(1, 2), 4
        known: dict[int, tuple[Calibrated, int]] = {}

        def of(table: Columns) -> tuple[Calibrated, int]:
            if id(table) not in known:
                mechanism = calibrate(
                    statistic, table, epsilon=EPSILON, grid=grid, finer=finer, truncated=truncated
                )
                known[id(table)] = mechanism, statistic.nearest(table, grid / finer)
            return known[id(table)]

        met = {(*of(one), of(other)[1]) for one, other in pairs(statistic)}
        losses = set()
        for mechanism, truth, other in met:
            here, there = distribution(mechanism, truth), distribution(mechanism, other)
            assert sum(here.values()) == pytest.approx(1, abs=1e-12)
            losses.add(loss(here, there))
        assert 0 < max(losses) <= float(EPSILON) + 1e-9

    def test_truncated_counts(self):
        statistic, grid = Statistic("range-count", between=(1, 2)), Fraction(1)
        widths = set()
        for one, other in pairs(statistic):
            mechanism = calibrate(
                statistic, one, epsilon=EPSILON, grid=grid, finer=1, truncated=True
            )
            widths.add(mechanism.high - mechanism.low)
            truths = statistic.nearest(one, grid), statistic.nearest(other, grid)
            assert rational_loss(mechanism, *truths) <= EPSILON
        assert widths == {1, 2}

    def test_the_rational_loss_is_that_of_the_law(self):
        statistic, grid = Statistic("max"), Fraction(1, 2)
        for one, other in pairs(statistic):
            mechanism = ours(statistic, one, grid)
            truths = statistic.nearest(one, grid), statistic.nearest(other, grid)
            wanted = loss(*(distribution(mechanism, truth) for truth in truths))
            assert float(rational_loss(mechanism, *truths)) == pytest.approx(wanted, abs=1e-10)


def of_another_rank(statistic: Statistic, table: Columns, grid: Fraction) -> Calibrated:
    """The printed formula: the odd median read one rank too low."""
    rank = max(1, (table[0].rows - 1) // 2)
    wrong = Statistic("kth-smallest", k=rank).local(table)
    return Calibrated(math.ceil(wrong / grid), EPSILON, 1, 0, math.ceil(TOP / grid))


def rounded_down(statistic: Statistic, table: Columns, grid: Fraction) -> Calibrated:
    move = statistic.local(table)
    spread = max(math.floor(move / grid), 1 if move else 0)
    low, high = (math.floor(end / grid + Fraction(1, 2)) for end in statistic.ends(table))
    return Calibrated(spread, EPSILON, 1, low, high)


def half_to_even(statistic: Statistic, table: Columns, grid: Fraction) -> int:
    return round(statistic._value(table) / grid)


def without_the_ends(statistic: Statistic, table: Columns, grid: Fraction) -> Calibrated:
    """The maximum as if the domain ended at the largest row."""
    rows = np.sort(table[0].steps)
    gap = int(rows[-1] - rows[-2]) if len(rows) > 1 else 0
    return Calibrated(math.ceil(gap / grid), EPSILON, 1, 0, math.ceil(TOP / grid))


class TestMutants:
    @pytest.mark.parametrize(
        ("statistic", "grid", "make"),
        [
            (Statistic("median"), Fraction(1), of_another_rank),
            (Statistic("mean"), Fraction(2, 3), rounded_down),
            (Statistic("variance"), Fraction(1, 2), rounded_down),
            (Statistic("median"), Fraction(2, 3), rounded_down),
            (Statistic("max"), Fraction(1), without_the_ends),
        ],
    )
    def test_too_little_noise_is_caught(self, statistic, grid, make):
        assert worst(statistic, grid, make=make) > EPSILON

    def test_rounding_half_to_even_is_caught(self):
        assert worst(Statistic("median"), Fraction(1), truth=half_to_even) > EPSILON

    def test_it_is_not_differential_privacy(self):
        """κ_D(D) and κ_D′(D′) are not close: the certificate says so, and here it is seen."""
        statistic, grid = Statistic("median"), Fraction(1)
        gap = 0.0
        for one, other in pairs(statistic):
            here, there = (
                distribution(ours(statistic, table, grid), statistic.nearest(table, grid))
                for table in (one, other)
            )
            gap = max(gap, loss(here, there))
        assert gap == math.inf


def votes_of(table: Sequence[int], categories: int) -> list[int]:
    return [list(table).count(place) for place in range(categories)]


def mode_masses(choice: ModeChoice, truth: int) -> dict[int, Fraction | float]:
    """Log-masses but for the normaliser, which must be one for all truths."""
    assert truth in choice.candidates
    return {c: Fraction(0) if c == truth else -choice.epsilon for c in choice.candidates}


def mode_loss(choice: ModeChoice, truth: int, other: int) -> Fraction | float:
    if other not in choice.candidates:
        return math.inf
    here, there = mode_masses(choice, truth), mode_masses(choice, other)
    return max(abs(here[c] - there[c]) for c in here)


def mode_pairs(categories: int, most: int) -> Iterator[tuple[list[int], list[int]]]:
    for rows in range(1, most + 1):
        for table in combinations_with_replacement(range(categories), rows):
            for near in neighbours(table, range(categories)):
                yield votes_of(table, categories), votes_of(near, categories)


class TestMode:
    @pytest.mark.parametrize("truncated", [False, True])
    def test_every_table_keeps_epsilon_exactly(self, truncated):
        most = max(
            mode_loss(calibrate_mode(one, EPSILON, truncated=truncated), winner(one), winner(other))
            for one, other in mode_pairs(4, 6)
        )
        assert most == EPSILON

    def test_the_two_strongest_are_not_enough(self):
        def top_two(votes: list[int]) -> ModeChoice:
            order = sorted(range(len(votes)), key=lambda place: (-votes[place], place))
            return ModeChoice(tuple(sorted(order[:2])), EPSILON)

        assert math.inf in {
            mode_loss(top_two(one), winner(one), winner(other)) for one, other in mode_pairs(3, 4)
        }

    def test_only_tables_without_ties_are_not_enough(self):
        def noiseless_unless_tied(votes: list[int]) -> ModeChoice:
            tied = votes.count(max(votes)) > 1
            return ModeChoice(tuple(range(3)) if tied else (winner(votes),), EPSILON)

        assert math.inf in {
            mode_loss(noiseless_unless_tied(one), winner(one), winner(other))
            for one, other in mode_pairs(3, 4)
        }
