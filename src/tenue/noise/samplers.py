"""Exact choices and counters: integers only, vectorised.

Each function draws from precisely the law its docstring states. Tables are kept per parameter.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import refuse
from .enclosure import Enclosure, exp_minus, powers
from .source import Source
from .table import Table

Steps = npt.NDArray[np.int64]

LARGEST = 1 << 62
"""Steps beyond this do not fit the integers that are drawn."""

_DIGIT = 256
_LONGEST = 4096
# Counts up to this refuse fewer than one word of 2^12.
_SMALL = 1 << 20
# A table this many scales long leaves less than 2^-17 to the next round.
_SCALES = 12


def weighted(weights: Sequence[int]) -> Table:
    """A table that draws k with probability weights[k] / sum(weights), whole weights ≥ 0."""
    total = sum(weights)
    sums = [Fraction(sum(weights[: k + 1]), total) for k in range(len(weights) - 1)]
    return Table(lambda bits: [Enclosure.of(value, bits) for value in sums])


def geometric(x: Fraction, size: int, source: Source) -> Steps:
    """G ≥ 0 with P(G ≥ k) = e^(-x·k) exactly, x > 0.

    Large scales are drawn digit by digit in base 256: the digits of a geometric number are
    independent, the lowest a geometric cut at 256, the rest geometric with 256·x.
    """
    digits, top = geometric_tables(x)
    drawn = _unbounded(top, size, source)
    for table in reversed(digits):
        drawn *= _DIGIT
        drawn += table.draw(size, source)
    return drawn


@lru_cache(maxsize=256)
def geometric_tables(x: Fraction) -> tuple[tuple[Table, ...], Table]:
    """The tables behind `geometric`: the low digits, lowest first, then the top."""
    if x * LARGEST < 64:
        raise refuse("noise.noise-scale-too-large", value=float(1 / x), largest=LARGEST // 64)
    digits: list[Table] = []
    while x * _LONGEST < _SCALES:
        digits.append(_cut_geometric(x))
        x *= _DIGIT
    return tuple(digits), _open_geometric(x)


def _cut_geometric(x: Fraction) -> Table:
    def cumulative(bits: int) -> list[Enclosure]:
        # 1 − e^(-x(k+1)) is small when x is: keep its leading bits
        bits_kept = bits + (x.denominator // x.numerator).bit_length() + 16
        falls = [power.from_one() for power in powers(exp_minus(x, bits_kept), _DIGIT)]
        shift = bits_kept - bits
        ratios = [fall / falls[-1] for fall in falls[:-1]]
        return [Enclosure(r.low >> shift, -(-r.high >> shift), bits) for r in ratios]

    return Table(cumulative)


def _open_geometric(x: Fraction) -> Table:
    length = max(1, -(-_SCALES * x.denominator // x.numerator))

    def cumulative(bits: int) -> list[Enclosure]:
        return [power.from_one() for power in powers(exp_minus(x, bits), length)]

    return Table(cumulative)


def _unbounded(table: Table, size: int, source: Source) -> Steps:
    """A geometric number from a table whose last outcome means "at least this": memoryless."""
    drawn = table.draw(size, source).astype(np.int64)
    last = table.outcomes - 1
    open_ = np.flatnonzero(drawn == last)
    while open_.size:
        more = table.draw(open_.size, source)
        drawn[open_] += more
        open_ = open_[more == last]
    return drawn


def uniform(count: int | npt.NDArray[Any], size: int, source: Source) -> Steps:
    """A whole number of [0, count), each equally likely; `count` may differ for each draw."""
    if isinstance(count, int):
        if count & (count - 1) == 0:
            bits = _bits_for(count)
            low = source.words(size, bits) & (count - 1)
            return np.asarray(low.astype(np.int64))
        bits = _bits_for(count << 8)
        limit = (1 << bits) // count * count
        drawn = source.words(size, bits)
        open_ = np.flatnonzero(drawn >= limit) if limit < 1 << bits else drawn[:0]
        if open_.size:
            drawn = drawn.copy()
        while open_.size:
            again = source.words(open_.size, bits)
            drawn[open_] = again
            open_ = open_[again >= limit]
        return np.asarray((drawn % drawn.dtype.type(count)).astype(np.int64))
    counts = np.broadcast_to(count, (size,)).astype(np.uint64)
    if counts.size and int(counts.max()) <= _SMALL:
        return _small_uniform(counts, source)
    highest = np.uint64((1 << 64) - 1)
    words = source.words(size, 64).copy()
    # of 2^64 words the last 2^64 mod count would favour small numbers
    open_ = np.flatnonzero(words > highest - counts)
    excess = (highest % counts[open_] + np.uint64(1)) % counts[open_]
    refused = words[open_] > highest - excess
    open_, last = open_[refused], (highest - excess)[refused]
    while open_.size:
        again = source.words(open_.size, 64)
        words[open_] = again
        refused = again > last
        open_, last = open_[refused], last[refused]
    return (words % counts).astype(np.int64)


def _small_uniform(counts: npt.NDArray[np.uint64], source: Source) -> Steps:
    """The upper half of word · count, over the words whose lower half is at least 2^32 mod count.

    Those are equally many for each upper half; no division is needed where the lower half is at
    least the count itself.
    """
    half = np.uint64(32)
    product = source.words(counts.size, 32) * counts
    open_ = np.flatnonzero(product.astype(np.uint32) < counts)
    excess = np.uint64(1 << 32) % counts[open_]
    while open_.size:
        refused = product[open_].astype(np.uint32) < excess
        open_, excess = open_[refused], excess[refused]
        product[open_] = source.words(open_.size, 32) * counts[open_]
    return (product >> half).astype(np.int64)


def signs(size: int, source: Source) -> Steps:
    """+1 or −1, each with probability one half."""
    bits = np.unpackbits(source.words(-(-size // 8), 8), count=size)
    return np.asarray(1 - 2 * bits.astype(np.int64))


def _bits_for(count: int) -> Any:
    for bits in (8, 16, 32, 64):
        if count <= 1 << bits:
            return bits
    return 64
