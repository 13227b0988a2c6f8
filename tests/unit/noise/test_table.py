"""Exact draws by table: thresholds, ties on injected words, and what one altered entry does."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from mpmath import floor as mp_floor
from mpmath import mp, mpf

from tenue.noise import DiscreteLaplace, Optimal, OptimalBox, Seeded
from tenue.noise.enclosure import Enclosure, exp_minus
from tenue.noise.optimal_steps import shape_table
from tenue.noise.samplers import geometric_tables, weighted
from tenue.noise.table import Table

Array = np.ndarray[Any, Any]
WORD = 1 << 64


class Scripted:
    """Gives the words it was told to, in order, and fails when they run out."""

    safe = False

    def __init__(self, *words: int) -> None:
        self.left = list(words)

    def words(self, count: int, bits: int = 64) -> Array:
        taken, self.left = self.left[:count], self.left[count:]
        assert len(taken) == count, "more words were asked for than the script holds"
        assert all(word < 1 << bits for word in taken)
        return np.array(taken, dtype=f"u{bits // 8}")


def thirds() -> Table:
    return weighted([1, 1, 1])


# -- the tie path ----------------------------------------------------------------------------------


def test_words_beside_a_threshold_decide_at_once() -> None:
    table = thirds()
    t = int(table.thresholds[0])
    assert t == WORD // 3
    assert table.decide(np.array([t - 1, t + 1], dtype=np.uint64), Scripted()).tolist() == [0, 1]


def test_a_word_equal_to_a_threshold_is_decided_by_the_next_word() -> None:
    """1/3 goes on as 0x5555…: the second word below, above, and equal (a second tie)."""
    table = thirds()
    first = int(table.thresholds[0])
    digits = 0x5555555555555555
    assert first == digits
    for more, outcome in (
        ([digits - 1], 0),
        ([digits + 1], 1),
        ([0], 0),
        ([WORD - 1], 1),
        ([digits, digits - 1], 0),
        ([digits, digits + 1], 1),
        ([digits, digits, digits, 0], 0),
        ([digits, digits, digits, WORD - 1], 1),
    ):
        source = Scripted(*more)
        assert table.decide(np.array([first], dtype=np.uint64), source).tolist() == [outcome]
        assert source.left == []


def test_a_tie_with_a_dyadic_threshold_belongs_to_the_upper_outcome() -> None:
    """F = 1/2 exactly: U = 1/2 means F ≤ U. Only an endless run of zero words stays undecided."""
    table = weighted([1, 1])
    half = np.array([1 << 63], dtype=np.uint64)
    assert table.decide(half, Scripted(1)).tolist() == [1]
    assert table.decide(half, Scripted(0, 0, 5)).tolist() == [1]
    assert table.decide(half - np.uint64(1), Scripted()).tolist() == [0]


def test_the_last_word_cannot_exceed_a_certain_outcome() -> None:
    """F = 1 (a zero weight at the end) is 2^64, which no word tells: the tie path must."""
    table = weighted([3, 1, 0])
    assert int(table.thresholds[-1]) == WORD - 1
    top = np.array([WORD - 1], dtype=np.uint64)
    assert table.decide(top, Scripted(WORD - 1)).tolist() == [1]
    never = weighted([0, 1])
    assert never.decide(np.array([0], dtype=np.uint64), Scripted(1)).tolist() == [1]


def test_ties_among_equal_thresholds_skip_the_outcomes_without_weight() -> None:
    table = weighted([1, 0, 0, 2])
    first = int(table.thresholds[0])
    digits = 0x5555555555555555
    assert table.thresholds.tolist() == [first] * 3
    decided = table.decide(np.array([first], dtype=np.uint64), Scripted(digits - 1))
    assert decided.tolist() == [0]
    decided = table.decide(np.array([first], dtype=np.uint64), Scripted(digits + 1))
    assert decided.tolist() == [3]


def test_a_draw_reaches_the_tie_path_through_its_first_bits() -> None:
    """Sixteen bits, then the other forty-eight, then further words."""
    table = thirds()
    first, rest = 0x5555, 0x555555555555
    digits = 0x5555555555555555
    assert table.draw(1, Scripted(first, rest, digits - 1)).tolist() == [0]
    assert table.draw(1, Scripted(first, rest, digits + 1)).tolist() == [1]
    assert table.draw(1, Scripted(first, rest - 1)).tolist() == [0]
    assert table.draw(1, Scripted(first, rest + 1)).tolist() == [1]
    assert table.draw(1, Scripted(first - 1)).tolist() == [0]
    assert table.draw(1, Scripted(first + 1)).tolist() == [1]
    # the bits above the forty-eight are ignored, for they were drawn already
    high = 0xFFFF << 48
    assert table.draw(1, Scripted(first, high | (rest - 1))).tolist() == [0]


def test_mutant_that_gives_ties_to_one_side_is_seen_by_the_script() -> None:
    """What floor thresholds without a tie path would do: 2^-64 of the law is decided wrongly."""
    table = thirds()
    word = np.array([table.thresholds[0]], dtype=np.uint64)
    careless = int(np.searchsorted(table.thresholds, word, side="right")[0])
    assert careless == 1
    assert table.decide(word, Scripted(0)).tolist() == [0]


def test_the_short_cut_agrees_with_the_full_word() -> None:
    rng = np.random.default_rng(5)
    for table in (thirds(), weighted(list(range(1, 60))), weighted([10**9, 1, 1, 10**9])):
        words = rng.integers(0, WORD, 4000, dtype=np.uint64)
        by_draw = []
        for word in words.tolist():
            script = Scripted(word >> 48, word & ((1 << 48) - 1))
            by_draw.append(int(table.draw(1, script)[0]))
        assert by_draw == table.decide(words, Scripted()).tolist()


# -- thresholds, against mpmath --------------------------------------------------------------------


def floors(values: list[mpf]) -> list[int]:
    return [int(mp_floor(value * WORD)) for value in values]


def open_geometric(x: Fraction, length: int) -> list[mpf]:
    rate = mpf(x.numerator) / x.denominator
    return [1 - mp.exp(-rate * (k + 1)) for k in range(length)]


def cut_geometric(x: Fraction) -> list[mpf]:
    rate = mpf(x.numerator) / x.denominator
    whole = 1 - mp.exp(-256 * rate)
    return [(1 - mp.exp(-rate * (k + 1))) / whole for k in range(255)]


@pytest.mark.parametrize(
    "x", [Fraction(1), Fraction(7, 3), Fraction(1, 100), Fraction(3, 10**7), Fraction(25)]
)
def test_geometric_thresholds_are_the_floors_of_the_law(x: Fraction) -> None:
    digits, top = geometric_tables(x)
    with mp.workdps(120):
        for n, table in enumerate(digits):
            assert table.thresholds.tolist() == floors(cut_geometric(x * 256**n))
        rate = x * 256 ** len(digits)
        assert top.thresholds.tolist() == floors(open_geometric(rate, len(top.thresholds)))


def shape_law(delta: int, d: int, epsilon: Fraction) -> list[mpf]:
    q = mp.exp(-mpf(epsilon.numerator) / epsilon.denominator)
    weights = [mpf(1)] * d + [q] * (delta - d)
    total = sum(weights, mpf(0))
    return [sum(weights[: k + 1], mpf(0)) / total for k in range(delta - 1)]


@pytest.mark.parametrize(
    ("delta", "d", "epsilon"),
    [(1, 1, Fraction(1)), (7, 3, Fraction(1, 10)), (10, 5, Fraction(1)), (64, 64, Fraction(2))],
)
def test_shape_thresholds_are_the_floors_of_the_law(delta: int, d: int, epsilon: Fraction) -> None:
    with mp.workdps(120):
        expected = floors(shape_law(delta, d, epsilon))
    assert shape_table(delta, d, epsilon).thresholds.tolist() == expected


def test_the_choice_of_a_ball_is_the_floors_of_the_law() -> None:
    for signs in ("any", "same"):
        law: Any = OptimalBox(
            sensitivities=[1, 2, 2], epsilon=Fraction(1, 7), signs=signs, core=[0, 0, 0]
        ).on_grid(1)
        counts = [law.ball.count(i) for i in range(4)]
        a = [counts[0]]
        a.append(counts[1] - counts[0])
        a.append(counts[2] - 2 * counts[1] + counts[0])
        a.append(counts[3] - 3 * counts[2] + 3 * counts[1] - counts[0])
        with mp.workdps(150):
            q = mp.exp(-mpf(1) / 7)
            weights = [c * q**k * (1 - q) ** (3 - k) for k, c in enumerate(a)]
            total = sum(weights)
            expected = floors([sum(weights[: k + 1]) / total for k in range(3)])
        assert law.tables.thresholds.tolist() == expected


# -- the mass function, from the sampler's own tables ----------------------------------------------


def table_masses(table: Table) -> list[Fraction]:
    edges = [0, *table.thresholds.tolist(), WORD]
    return [Fraction(b - a, WORD) for a, b in itertools.pairwise(edges)]


def geometric_masses(x: Fraction) -> Callable[[int], Fraction]:
    digits, top = geometric_tables(x)
    low = [table_masses(table) for table in digits]
    high = table_masses(top)
    last = len(high) - 1

    def mass(k: int) -> Fraction:
        result = Fraction(1)
        for table in low:
            k, digit = divmod(k, 256)
            result *= table[digit]
        rounds, rest = divmod(k, last)
        return result * high[last] ** rounds * high[rest]

    return mass


def close(one: Fraction, other: float, slack: int = 60) -> bool:
    return abs(one - Fraction(other)) < Fraction(1, 1 << slack) + abs(Fraction(other)) / (1 << 46)


def check_discrete_laplace(law: DiscreteLaplace, x: Fraction) -> None:
    """P(k) of a difference of two geometrics whose masses come from the tables."""
    g = geometric_masses(x)
    tail = math.ceil(45 / x)
    masses = [g(k) for k in range(tail)]
    for k in (0, 1, 2, 5, 8):
        total = sum((masses[i] * masses[i + k] for i in range(tail - k)), Fraction(0))
        assert close(total, law.mass(k))


@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(1, 9), Fraction(4)])
def test_discrete_laplace_masses_follow_from_its_tables(epsilon: Fraction) -> None:
    check_discrete_laplace(DiscreteLaplace(sensitivity=1, epsilon=epsilon), epsilon)


@pytest.mark.parametrize("x", [Fraction(1), Fraction(1, 50), Fraction(1, 1000), Fraction(1, 10**6)])
def test_geometric_masses_follow_from_their_tables_to_sixty_bits(x: Fraction) -> None:
    g = geometric_masses(x)
    with mp.workdps(60):
        rate = mpf(x.numerator) / x.denominator
        for k in (0, 1, 2, 13, 255, 256, 257, 700, 5000, 70_000):
            exact = mp.exp(-rate * k) * (1 - mp.exp(-rate))
            mine = g(k)
            assert abs(mpf(mine.numerator) / mine.denominator - exact) < mpf(2) ** -60


def optimal_masses(delta: int, d: int, epsilon: Fraction) -> Callable[[int], Fraction]:
    """|k| = place + Δ·G, a fair sign, −0 drawn again: all from the tables."""
    shape = table_masses(shape_table(delta, d, epsilon))
    g = geometric_masses(epsilon)
    kept = 1 - shape[0] * g(0) / 2

    def mass(k: int) -> Fraction:
        periods, place = divmod(abs(k), delta)
        return shape[place] * g(periods) / 2 / kept

    return mass


@pytest.mark.parametrize(("delta", "epsilon"), [(1, 1), (10, 1), (7, "0.3"), (33, 5)])
def test_optimal_masses_follow_from_its_tables_to_sixty_bits(delta: int, epsilon: Any) -> None:
    law: Any = Optimal(sensitivity=delta, epsilon=epsilon).on_grid(1)
    mine = optimal_masses(delta, law.d_steps, law.epsilon)
    for k in range(-4 * delta, 4 * delta + 1):
        assert close(mine(k), law.mass(k))
    with mp.workdps(60):  # and without doubles: the law itself
        e = mpf(law.epsilon.numerator) / law.epsilon.denominator
        q = mp.exp(-e)
        total = 2 * law.d_steps - 1 + 2 * delta * q / (1 - q)
        for k in range(3 * delta):
            level = max(0, -(-(k - law.d_steps + 1) // delta))
            told = mine(k)
            assert abs(mpf(told.numerator) / told.denominator - q**level / total) < mpf(2) ** -60


# -- one altered entry -----------------------------------------------------------------------------


def altered(table: Table, entry: int, by: int) -> Array:
    changed = table.thresholds.copy()
    changed[entry] = int(changed[entry]) + by
    return changed


@pytest.mark.parametrize("by", [1, -1])
@pytest.mark.parametrize("entry", [0, 3, 8])
def test_one_altered_entry_fails_the_comparison_with_the_law(
    entry: int, by: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """±1 in the last of 64 bits: no simulation could see it, the comparison above does."""
    delta, d, epsilon = 10, 5, Fraction(1)
    table = shape_table(delta, d, epsilon)
    with mp.workdps(120):
        expected = floors(shape_law(delta, d, epsilon))
    assert table.thresholds.tolist() == expected
    monkeypatch.setattr(table, "thresholds", altered(table, entry, by))
    assert table.thresholds.tolist() != expected
    monkeypatch.undo()
    assert table.thresholds.tolist() == expected


def test_draws_use_the_very_thresholds_that_are_compared() -> None:
    """Were draws made from a private copy, comparing `thresholds` would prove nothing."""
    table = weighted([1, 1, 1])
    before = np.bincount(table.draw(3000, Seeded(4)), minlength=3)
    table.thresholds = np.array([1 << 40, 1 << 41], dtype=np.uint64)
    after = np.bincount(table.draw(3000, Seeded(4)), minlength=3)
    assert (before > 800).all()
    assert after.tolist() == [0, 0, 3000]


def test_guard_bits_grow_until_the_floor_is_certain() -> None:
    """An enclosure that straddles a whole number at first must not be rounded by guess."""
    asked: list[int] = []

    def cumulative(bits: int) -> list[Enclosure]:
        asked.append(bits)
        exact = (1 << bits) // 4
        return (
            [Enclosure(exact - 1, exact + 1, bits)]
            if bits < 200
            else [Enclosure.of(Fraction(1, 4), bits)]
        )

    assert Table(cumulative).thresholds.tolist() == [1 << 62]
    assert len(asked) > 1
    assert asked == sorted(asked)


def test_a_law_near_certainty_is_tabled() -> None:
    """1 − e^-x for large x is 1 to hundreds of bits; the table must not give up nor round up."""
    for x in (40, 60, 700, 5000):
        table = Table(lambda bits, x=x: [exp_minus(Fraction(x), bits).from_one()])
        with mp.workdps(3000):
            assert table.thresholds.tolist() == floors([1 - mp.exp(-mpf(x))])
