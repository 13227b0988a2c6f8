"""Given masses become whole weights over one total: exact, summing to exactly 1."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from ..errors import InvalidPrior
from ..number import exact

__all__ = [
    "MOST_POINTS",
    "common_denominator",
    "exact_place",
    "listed",
    "normalised",
    "paired",
    "whole_weights",
]

MOST_POINTS = 4096
"""A prior that is refined has at most this many points."""

_LEAST = Fraction(1, 2**1022)  # below it a double is subnormal
_LARGEST = 10**100
_MOST_BITS = 4096


def listed(given: object, name: str, most: int = MOST_POINTS) -> list[Any]:
    """`given` as a list, refused unless it is a short enough sequence."""
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise InvalidPrior(
            f"`{name}` is of type {type(given).__name__}",
            f"`{name}` is a list",
            f"Give {name}=[...]",
        )
    items = []
    for item in given:
        items.append(item)
        _check_count(len(items), most)
    if not items:
        raise InvalidPrior(f"`{name}` is empty", "A belief has at least one point", "Add one")
    return items


def paired(given: object, name: str = "masses") -> list[tuple[Any, Any]]:
    """(value, mass) pairs from a mapping or from a list of pairs."""
    items = given.items() if isinstance(given, Mapping) else listed(given, name)
    pairs = []
    for item in items:
        if not isinstance(item, tuple | list) or len(item) != 2:
            raise InvalidPrior(
                f"`{name}` holds {item!r}"[:80],
                f"`{name}` maps each value to its mass",
                'Give {"flu": 0.7, "none": 0.3}, or a list of (value, mass) pairs',
            )
        pairs.append((item[0], item[1]))
        _check_count(len(pairs))
    if not pairs:
        raise InvalidPrior(f"`{name}` is empty", "A belief has at least one point", "Add one")
    return pairs


def _check_count(count: int, most: int = MOST_POINTS) -> None:
    if count > most:
        raise InvalidPrior(
            f"The belief has more than {MOST_POINTS} points",
            f"A belief has at most {MOST_POINTS} points, or is a named family",
            "Merge points, or use Uniform, Normal or Histogram",
        )


def common_denominator(numbers: Sequence[Fraction], name: str) -> int:
    """The least common denominator, refused where it would fill the memory."""
    bottom = 1
    for number in numbers:
        bottom = math.lcm(bottom, number.denominator)
        if bottom.bit_length() > _MOST_BITS:
            raise InvalidPrior(
                f"The `{name}` have no common denominator of reasonable size",
                f"Their common denominator has at most {_MOST_BITS} bits",
                "Give decimals; for masses, whole weights through tn.prior.normalised",
            )
    return bottom


def exact_place(value: object, name: str) -> Fraction:
    """A number somebody believes possible: finite, and at most 1e100 in size."""
    number = exact(value, name, refusal=InvalidPrior)
    if abs(number) > _LARGEST:
        raise InvalidPrior(
            f"`{name}` holds a number above 1e100",
            "Numbers are at most 1e100 in size",
            "Measure in other units",
        )
    return number


def whole_weights(masses: Sequence[object], name: str = "masses") -> tuple[tuple[int, ...], int]:
    """Whole weights and their total, with mass = weight / total.

    Guarantee
        The weights add up to the total exactly. Refused are masses below 0, masses that a double
        could hold only as a subnormal, and masses that do not add up to exactly 1.

    Example
        >>> whole_weights([0.7, "0.2", 0.1])
        ((7, 2, 1), 10)
    """
    numbers = [exact(mass, name, refusal=InvalidPrior) for mass in masses]
    for number in numbers:
        if number < 0:
            raise InvalidPrior(
                f"A mass is {_short(number)}", "Masses are at least 0", "Leave the point out"
            )
        if 0 < number < _LEAST:
            raise InvalidPrior(
                "A mass lies below 2^-1022",
                "A mass is 0, or large enough for a double to hold in full",
                "Give the point mass 0, or leave it out",
            )
    bottom = common_denominator(numbers, name)
    weights = tuple(number.numerator * (bottom // number.denominator) for number in numbers)
    total = sum(weights)
    if total != bottom:
        raise InvalidPrior(
            f"The masses add up to {_short(Fraction(total, bottom))}",
            "Masses add up to exactly 1; a float means the decimal it prints",
            'Give exact fractions such as "1/3", or weights through tn.prior.normalised',
        )
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
        raise InvalidPrior(
            "A weight is below 0, or all are 0",
            "Weights are at least 0 and not all 0",
            "Correct them",
        )
    shares = [number / total for number in numbers]
    if not mapped:
        return shares
    return {value: share for (value, _), share in zip(pairs, shares, strict=True)}


def _short(number: Fraction) -> str:
    text = str(number)
    return text if len(text) <= 24 else f"about {float(number):.17g}"
