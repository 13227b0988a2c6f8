"""What whoever knows members of a group guesses of another one: facts of k and t alone.

In the group that is farthest from the table, with as many of one bucket as t allows, an intruder
who knows the buckets of m members drawn at random names the most frequent one of the rest.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from .cut import buckets_for


def farthest_group(k: int, t: Fraction) -> tuple[int, ...]:
    """The counts of a group of at least k units that has most of one of equally large buckets.

    Example
        >>> farthest_group(30, Fraction(2))
        (20, 5, 5)
    """
    many = buckets_for(t)
    size = max(k, many)
    while True:  # at the latest, the next multiple of their number will do
        least, most = math.ceil(Fraction(size, many) / t), math.floor(size * t / many)
        if many * least <= size <= many * most:
            break
        size += 1
    first = min(most, size - (many - 1) * least)
    rest, more = divmod(size - first, many - 1)
    return (first, *(rest + (place < more) for place in range(many - 1)))


def right_guess(counts: Sequence[int], known: int) -> Fraction:
    """How likely the guess is right, of one who knows all but one, all but two, or no members.

    The two that are unknown are equally likely any two: the guess is right for sure if they have
    one bucket, and half of the time if not.

    Example
        >>> [round(float(right_guess((20, 5, 5), known)), 2) for known in (0, 28, 29)]
        [0.67, 0.74, 1.0]
    """
    size = sum(counts)
    if known == size - 1:
        return Fraction(1)
    if known == size - 2:
        alike = Fraction(sum(n * (n - 1) for n in counts), size * (size - 1))
        return (1 + alike) / 2
    if known == 0:
        return Fraction(max(counts), size)
    raise ValueError("known is 0, or all but one or two")
