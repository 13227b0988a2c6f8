"""Exact draws from whole weights of any size."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from ..errors import refuse
from ..noise.enclosure import Enclosure
from ..noise.source import Source
from ..noise.table import Table
from ..number import whole

# A table costs some milliseconds to make; below this many draws it does not pay.
_FEW = 512
_MOST_DRAWS = 10**7


def checked_size(size: object) -> int:
    """How many draws; None means one."""
    count = 1 if size is None else whole(size, "size")
    if count > _MOST_DRAWS:
        raise refuse("prior.too-many-prior-draws", count=count, most_draws=_MOST_DRAWS)
    return count


def uniform_below(bound: int, size: int, source: Source) -> list[int]:
    """Whole numbers of [0, bound), each equally likely, whatever the size of `bound`."""
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
