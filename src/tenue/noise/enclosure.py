"""Real numbers held between two integers.

An `Enclosure` says that a non-negative real lies in [low, high] / 2^bits. Sums, products, quotients
and e^-x keep that true by rounding outwards, so a comparison that the enclosure decides is decided
for the real number itself. No float is involved.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Enclosure:
    """A non-negative real between `low` and `high`, both over 2^`bits`."""

    low: int
    high: int
    bits: int

    @classmethod
    def of(cls, value: Fraction | int, bits: int) -> Enclosure:
        """The tightest enclosure of a rational; exact where 2^bits · value is whole."""
        scaled = Fraction(value) * (1 << bits)
        return cls(math.floor(scaled), math.ceil(scaled), bits)

    def __add__(self, other: Enclosure) -> Enclosure:
        return Enclosure(self.low + other.low, self.high + other.high, self.bits)

    def __mul__(self, other: Enclosure) -> Enclosure:
        product = self.high * other.high
        return Enclosure((self.low * other.low) >> self.bits, -(-product >> self.bits), self.bits)

    def __truediv__(self, other: Enclosure) -> Enclosure:
        return Enclosure(
            (self.low << self.bits) // other.high,
            -((-self.high << self.bits) // other.low),
            self.bits,
        )

    def times(self, factor: int) -> Enclosure:
        """Multiplied by a non-negative whole number, exactly."""
        return Enclosure(self.low * factor, self.high * factor, self.bits)

    def from_one(self) -> Enclosure:
        """1 minus this, for a number known to be at most 1."""
        one = 1 << self.bits
        return Enclosure(max(0, one - self.high), one - self.low, self.bits)


def exp_minus(x: Fraction, bits: int) -> Enclosure:
    """e^-x for x ≥ 0, enclosed to within a few units of 2^-bits.

    Example
        >>> e = exp_minus(Fraction(1), 30)
        >>> e.low <= 2**30 / 2.718281828459045 <= e.high and e.high - e.low <= 2
        True
    """
    if x == 0:
        return Enclosure(1 << bits, 1 << bits, bits)
    if x >= Fraction(7, 10) * bits:  # e^-x < 2^-bits, since 7/10 exceeds ln 2
        return Enclosure(0, 1, bits)
    halvings = max(0, math.floor(x).bit_length() + 8)
    work = bits + halvings + 24
    y = math.floor(x * (1 << work)) >> halvings  # e^-y is squared `halvings` times below
    total = term = 1 << work
    count = 0
    while term:
        count += 1
        term = (term * y >> work) // count
        total += -term if count % 2 else term
    # y is low by less than 2 units, each term by less than 2, the rest of the series by less than 1
    error = 2 * count + 4
    for _ in range(halvings):
        total = total * total >> work
        error = 2 * error + 2
    shift = work - bits
    return Enclosure(max(0, total - error) >> shift, (total + error >> shift) + 1, bits)


def powers(base: Enclosure, count: int) -> Sequence[Enclosure]:
    """base^1 … base^count, each enclosed; the error grows by a few units a step."""
    result = [base]
    for _ in range(count - 1):
        result.append(result[-1] * base)
    return result
