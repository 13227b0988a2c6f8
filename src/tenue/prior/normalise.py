"""Turns masses into whole weights over one total, exactly; and exact draws from such weights."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import islice
from typing import Any

from ..arguments import exact, whole
from ..errors import InvalidPrior, refuse
from ..noise.enclosure import Enclosure
from ..noise.source import Source
from ..noise.table import Table

# A table takes some milliseconds to make, which does not pay for fewer draws.
_FEW = 512
_MOST_DRAWS = 10**7


def checked_size(size: object) -> int:
    """The number of draws; None means one."""
    count = 1 if size is None else whole(size, "size")
    if count > _MOST_DRAWS:
        raise refuse("prior.too-many-prior-draws", count=count, most_draws=_MOST_DRAWS)
    return count


def uniform_below(bound: int, size: int, source: Source) -> list[int]:
    """Equally likely whole numbers in [0, bound), for a `bound` of any size."""
    words = (bound.bit_length() + 7) // 64 + 1
    limit = (1 << 64 * words) // bound * bound
    drawn: list[int] = []
    while len(drawn) < size:
        stream = source.words(words * (size - len(drawn)), 64).tobytes()
        numbers = (
            int.from_bytes(stream[start : start + 8 * words], "little")
            for start in range(0, len(stream), 8 * words)
        )
        drawn += [number % bound for number in numbers if number < limit]
    return drawn


def picks(cumulative: Sequence[int], size: int, source: Source) -> list[int]:
    """Places k with probability (cumulative[k] − cumulative[k−1]) / cumulative[-1], exactly."""
    total = cumulative[-1]
    if size <= _FEW or len(cumulative) == 1:
        return [bisect_right(cumulative, u) for u in uniform_below(total, size, source)]

    def enclosed(bits: int) -> list[Enclosure]:
        floors = [divmod(part << bits, total) for part in cumulative[:-1]]
        return [Enclosure(low, low + (rest > 0), bits) for low, rest in floors]

    places: list[int] = Table(enclosed).draw(size, source).tolist()
    return places


# -- Masses as whole weights over one total: exact, with a sum of exactly 1 ------------------------

MOST_POINTS = 4096
"""A prior that is refined has at most this many points."""

_LEAST = Fraction(1, 2**1022)  # below it a double is subnormal
_LARGEST = 10**100
_MOST_BITS = 4096


def listed(given: object, name: str, most: int = MOST_POINTS) -> list[Any]:
    """`given` as a list, refused unless it is a short enough sequence."""
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise refuse("prior.belief-not-a-list", name=name, type=type(given).__name__)
    items = list(islice(given, most + 1))
    if len(items) > most:
        raise refuse("prior.belief-too-many-points", most_points=MOST_POINTS)
    if not items:
        raise refuse("prior.belief-values-empty", name=name)
    return items


def paired(given: object, name: str = "masses") -> list[tuple[Any, Any]]:
    """(value, mass) pairs from a mapping or from a list of pairs."""
    if isinstance(given, Mapping):
        if not given:
            raise refuse("prior.belief-empty", name=name)
        return listed(given.items(), name)
    items = listed(given, name)
    for item in items:
        if not isinstance(item, tuple | list) or len(item) != 2:
            said = f"`{name}` holds {item!r}"[:80]
            raise refuse("prior.not-a-mass-mapping", said=said, name=name)
    return [(value, mass) for value, mass in items]


def common_denominator(numbers: Sequence[Fraction], name: str) -> int:
    """The least common denominator, refused where it would fill the memory."""
    bottom = 1
    for number in numbers:
        bottom = math.lcm(bottom, number.denominator)
        if bottom.bit_length() > _MOST_BITS:
            raise refuse("prior.denominator-too-large", name=name, most_bits=_MOST_BITS)
    return bottom


def exact_place(value: object, name: str) -> Fraction:
    """A possible value of a belief: finite, and at most 1e100 in size."""
    number = exact(value, name, refusal=InvalidPrior)
    if abs(number) > _LARGEST:
        raise refuse("prior.belief-number-too-large", name=name)
    return number


def whole_weights(masses: Sequence[object], name: str = "masses") -> tuple[tuple[int, ...], int]:
    """Whole weights and their total, with mass = weight / total.

    Guarantee
        The weights add up to the total exactly. Masses below 0, masses that are subnormal doubles,
        and masses that do not add up to exactly 1 are refused.

    Example
        >>> whole_weights([0.7, "0.2", 0.1])
        ((7, 2, 1), 10)
    """
    numbers = [exact(mass, name, refusal=InvalidPrior) for mass in masses]
    for number in numbers:
        if number < 0:
            raise refuse("prior.mass-negative", short=_short(number))
        if 0 < number < _LEAST:
            raise refuse("prior.mass-too-small")
    bottom = common_denominator(numbers, name)
    weights = tuple(number.numerator * (bottom // number.denominator) for number in numbers)
    total = sum(weights)
    if total != bottom:
        raise refuse("prior.masses-not-one", short=_short(Fraction(total, bottom)))
    return weights, bottom


def normalised(weights: Mapping[Any, object] | Iterable[object]) -> Any:
    """Weights divided by their sum, as exact fractions that add up to exactly 1.

    Parameters
        weights: a list of numbers ≥ 0, or a mapping from value to number; not all 0.

    Example
        >>> normalised({"flu": 2, "none": 1})
        {'flu': Fraction(2, 3), 'none': Fraction(1, 3)}
    """
    mapped = isinstance(weights, Mapping)
    pairs = paired(weights, "weights") if mapped else [(0, w) for w in listed(weights, "weights")]
    numbers = [exact(weight, "weights", refusal=InvalidPrior) for _, weight in pairs]
    total = sum(numbers)
    if min(numbers) < 0 or total == 0:
        raise refuse("prior.weights-not-positive")
    shares = [number / total for number in numbers]
    if not mapped:
        return shares
    return {value: share for (value, _), share in zip(pairs, shares, strict=True)}


def _short(number: Fraction) -> str:
    text = str(number)
    return text if len(text) <= 24 else f"about {float(number):.17g}"
