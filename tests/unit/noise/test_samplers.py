"""Exact choices and counters, and words that follow from a key."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tenue.errors import Refused
from tenue.noise import Seeded
from tenue.noise.keyed_stream import numbered_words
from tenue.noise.samplers import LARGEST, geometric, geometric_tables, signs, uniform, weighted
from tenue.noise.source import SYSTEM

Array = np.ndarray[Any, Any]
WORD = 1 << 64


class Scripted:
    """Gives the words it was told to, in order."""

    safe = False

    def __init__(self, words: Any) -> None:
        self.left = list(words)
        self.widths: list[int] = []

    def words(self, count: int, bits: int = 64) -> Array:
        self.widths.append(bits)
        taken, self.left = self.left[:count], self.left[count:]
        assert len(taken) == count, "more words were asked for than the script holds"
        return np.array(taken, dtype=f"u{bits // 8}")


# -- weights ---------------------------------------------------------------------------------------


def test_weights_are_the_law() -> None:
    table = weighted([2, 0, 5, 1])
    assert [int(t) for t in table.thresholds] == [WORD // 4, WORD // 4, WORD // 8 * 7]
    assert table.outcomes == 4
    drawn = np.bincount(table.draw(8000, Seeded(1)), minlength=4)
    assert drawn[1] == 0


# -- uniform ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2, 64, 128, 256])
def test_powers_of_two_use_every_byte_equally(count: int) -> None:
    drawn = uniform(count, 256, Scripted(range(256)))
    assert np.bincount(drawn, minlength=count).tolist() == [256 // count] * count


@pytest.mark.parametrize("count", [3, 5, 7, 100, 200, 255])
def test_other_counts_reject_the_excess_and_no_more(count: int) -> None:
    """All 65,536 words at once, then (for the rejected) all again: equal shares each time."""
    words = list(range(65536))
    excess = 65536 % count
    source = Scripted(words + words[:excess])
    drawn = uniform(count, 65536, source)
    assert source.left == []
    accepted = drawn[: 65536 - excess]
    assert np.bincount(accepted, minlength=count).tolist() == [65536 // count] * count
    assert drawn.dtype == np.int64


def test_a_rejected_word_is_drawn_again_until_it_fits() -> None:
    assert uniform(3, 1, Scripted([65535, 65535, 7])).tolist() == [1]


@pytest.mark.parametrize(
    "count",
    [(1 << 56) + 1, (1 << 62) - 1, 1 << 62, (1 << 62) + 1, 3 << 61, (1 << 63) - 1],
)
@pytest.mark.parametrize("as_array", [False, True])
def test_counts_near_the_largest_integers(count: int, as_array: bool) -> None:
    """64-bit words: multiples of count below 2^64 are kept, the rest rejected, no overflow."""
    limit = WORD // count * count
    asked: Any = np.array([count], dtype=np.uint64) if as_array else count
    for word in (0, 1, count - 1, count, limit - 1):
        assert uniform(asked, 1, Scripted([word])).tolist() == [word % count]
    if limit < WORD:
        for word in (limit, WORD - 1):
            source = Scripted([word, 5])
            assert uniform(asked, 1, source).tolist() == [5]
            assert source.left == []


@pytest.mark.parametrize("count", [1, 2, 3, 5, 10, 1000, 65537, (1 << 20) - 1, 1 << 20])
def test_small_counts_keep_equally_many_words_for_each_number(count: int) -> None:
    """For each number the words run from one bound to the next; the first few may be refused."""
    half = 1 << 32
    asked = np.array([count])
    for number in {0, 1 % count, count // 2, count - 1}:
        first = -(-number * half // count)
        after = -(-(number + 1) * half // count)
        refused = 0
        source = Scripted([first, first + 1 if first + 1 < after else first, 0, 0])
        if uniform(asked, 1, source).tolist() != [number] or len(source.left) < 3:
            refused = 1
        assert after - first - refused == half // count
        assert uniform(asked, 1, Scripted([after - 1, 0, 0])).tolist() == [number]


def test_one_refused_word_of_many_is_drawn_again_alone() -> None:
    source = Scripted([0, 1 << 31, 0xFFFFFFFF, 1 << 31])
    # 2^32 mod 3 = 1: the word 0 has lower half 0 and is refused
    assert uniform(np.array([3, 2, 10]), 3, source).tolist() == [1, 1, 9]
    assert source.left == []
    assert set(source.widths) == {32}


def test_each_draw_may_have_its_own_count() -> None:
    counts = np.array([1, 2, 3, 10, 1 << 40, (1 << 62) + 3])
    words = [WORD - 1, 5, WORD - 1, 29, 123, 7]
    # 2^64 − 1 is a multiple of 3 plus 0: the excess above the last multiple is one word, rejected
    source = Scripted([*words, 4])
    assert uniform(counts, 6, source).tolist() == [0, 1, 1, 9, 123, 7]
    drawn = uniform(np.repeat(counts, 500), 3000, Seeded(8))
    assert (drawn >= 0).all()
    assert (drawn < np.repeat(counts, 500)).all()


def test_a_small_system_draw_can_be_rejected_too() -> None:
    """Few words come as a read-only buffer; redrawing must not write into it."""
    for _ in range(200):
        assert (uniform(65535 // 2 + 2, 20, SYSTEM) < 65535 // 2 + 2).all()
        assert (uniform(np.full(20, (1 << 62) + 1), 20, SYSTEM) < (1 << 62) + 1).all()


def test_signs_are_the_bits() -> None:
    assert signs(8, Scripted([0b10110000])).tolist() == [-1, 1, -1, -1, 1, 1, 1, 1]
    assert signs(3, Scripted([0b01000000])).tolist() == [1, -1, 1]
    assert signs(0, Scripted([])).shape == (0,)
    source = Scripted(range(256))
    assert signs(2048, source).sum() == 0


# -- geometric -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("x", "digits"),
    [(Fraction(1), 0), (Fraction(1, 100), 0), (Fraction(1, 1000), 1), (Fraction(1, 10**6), 2)],
)
def test_large_scales_are_drawn_digit_by_digit(x: Fraction, digits: int) -> None:
    low, top = geometric_tables(x)
    assert len(low) == digits
    assert all(table.outcomes == 256 for table in low)
    assert top.outcomes <= 4097


def test_digits_are_put_together_lowest_first() -> None:
    """Two digits and a top: the script chooses the outcome of each table by its first bits."""
    x = Fraction(1, 10**6)
    (lowest, middle), top = geometric_tables(x)

    def word(table: Any, outcome: int) -> int:
        edges = [0, *table.thresholds.tolist(), WORD]
        return (edges[outcome] + edges[outcome + 1]) // 2

    def script(*pairs: tuple[Any, int]) -> Scripted:
        words = []
        for table, outcome in pairs:
            full = word(table, outcome)
            words.append(full >> 48)
            undecided = any(int(t) >> 48 == full >> 48 for t in table.thresholds.tolist())
            words += [full & ((1 << 48) - 1)] if undecided else []
        return Scripted(words)

    source = script((top, 3), (middle, 200), (lowest, 17))
    assert geometric(x, 1, source).tolist() == [(3 * 256 + 200) * 256 + 17]
    assert source.left == []


def test_the_last_outcome_means_go_on() -> None:
    """Memoryless: "at least K" draws again and adds."""
    x = Fraction(4)
    _, top = geometric_tables(x)
    last = top.outcomes - 1
    sure = [0xFFFF, (1 << 48) - 2]
    for rounds in (1, 2, 3, 5):
        source = Scripted([*sure * rounds, 0])
        assert geometric(x, 1, source).tolist() == [rounds * last]
        assert source.left == []


def test_scales_beyond_the_integers_are_refused() -> None:
    with pytest.raises(Refused) as refusal:
        geometric(Fraction(63, LARGEST), 1, Seeded(1))
    assert "coarser grid" in refusal.value.fix
    widest = geometric(Fraction(64, LARGEST), 1000, Seeded(1))
    assert (widest >= 0).all()
    assert int(widest.max()) > 1 << 55


@pytest.mark.parametrize("x", [10**3, 5000, 10**4])
def test_a_geometric_that_is_all_but_certain_is_zero(x: int) -> None:
    """A large epsilon is not an error: P(G ≥ 1) = e^-x, however small."""
    assert geometric(Fraction(x), 3, Seeded(1)).tolist() == [0, 0, 0]


# -- Words that follow from a key, wherever and however often they are drawn -----------------------


def test_words_of_numbers_follow_from_key_and_number_alone() -> None:
    """Not from the batch in which a number comes, nor from its place there."""
    key, numbers = b"k" * 32, np.array([5, 1 << 50, 0, 7])
    words = numbered_words(key, numbers)
    assert words.shape == (4, 2)
    assert (numbered_words(key, numbers[::-1]) == words[::-1]).all()
    assert (numbered_words(key, numbers[2:3]) == words[2:3]).all()
    assert numbered_words(key, numbers[:0]).shape == (0, 2)
    assert (numbered_words(b"l" * 32, numbers) != words).all()
    many = numbered_words(key, np.arange(10_000))
    assert len(np.unique(many, axis=0)) == 10_000
    assert abs(np.mean(many[:, 0] >= 1 << 63) - 0.5) < 0.05
