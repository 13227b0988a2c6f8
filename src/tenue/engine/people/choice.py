"""Few rows of each unit, chosen uniformly.

Guarantee
    Of each unit at most `limit` rows are kept, whatever is drawn. Given the random words, what is
    kept of a unit depends on the words and the order of its own rows only; and each set of `limit`
    of its rows is as likely as any other, independently of other units. So the kept rows with and
    without a unit can be drawn together such that all other units keep the same.

Every row gets a random tag, and rows are sorted by unit and tag, packed with the row's place into
one 64-bit word: sorting words is the fastest exact way that was tried, by far. Where two tags of a
unit are equal, their order is drawn anew with more bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ...noise.source import Source

Words = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]

_BITS = 64
_TAG = 32
_FEWEST_TAG = 12  # with fewer bits, most tags would have to be drawn again
_BLOCK = 1 << 16  # what stays in the processor's cache
_ODD = np.uint64(0x9E3779B97F4A7C15)  # multiplying by it is one-to-one, and stirs the high bits


def few(units: npt.NDArray[Any], limit: int, source: Source) -> Mask:
    """Which rows are kept: `limit` of each unit, or all if it has fewer.

    Parameters
        units: whose each row is, as numbers that are not negative.
        limit: at least 1.
        source: where the tags come from.
    """
    rows = len(units)
    kept = np.ones(rows, dtype=np.bool_)
    if rows <= limit:
        return kept
    place = (rows - 1).bit_length()
    if _free(units, place) < _FEWEST_TAG:
        units = dense(units)
    tag = min(_free(units, place), _TAG)
    keys = _tagged(units, tag, place, source)
    keys.sort()
    _untie(keys, place, source)
    kept[:] = False
    for first in range(0, rows, _BLOCK):
        block = keys[first : first + _BLOCK]
        near = block if first >= limit else block[max(limit - first, 0) :]
        far = keys[max(first - limit, 0) : max(first + len(block) - limit, 0)]
        other = np.ones(len(block), dtype=np.bool_)
        other[len(block) - len(near) :] = near >> _shift(tag + place) != far >> _shift(tag + place)
        kept[_places(block[other], place)] = True
    return kept


def few_cells(units: npt.NDArray[Any], cells: npt.NDArray[Any], limit: int, source: Source) -> Mask:
    """Which rows are in one of the cells kept of their unit: `limit` cells of each, or all.

    Each set of a unit's cells is as likely as any other, however many rows are in them.

    Parameters
        units, limit, source: as in `few`.
        cells: which cell each row is in, as numbers that are not negative.
    """
    if not len(units):
        return np.ones(0, dtype=np.bool_)
    order = _by_both(units, cells)
    whose, where = units[order], cells[order]
    fresh = np.ones(len(order), dtype=np.bool_)
    np.not_equal(where[1:], where[:-1], out=fresh[1:])
    fresh[1:] |= whose[1:] != whose[:-1]
    chosen = few(whose[fresh], limit, source)
    kept = np.empty(len(order), dtype=np.bool_)
    kept[order] = chosen[np.cumsum(fresh) - 1]
    return kept


def dense(values: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """0, 1, 2, … in place of whole numbers of 64 bits: equal ones, and only those, get the same.

    Example
        >>> len(set(dense(np.array([5, 2**63, 5, 0], dtype=np.uint64)).tolist()))
        3
    """
    rows = len(values)
    words: Words = values.astype(np.int64).view(np.uint64) if values.dtype.kind == "i" else values
    words = words.astype(np.uint64, copy=False)
    place = max(rows - 1, 0).bit_length()
    keys = words * _ODD
    keys >>= _shift(place)
    keys <<= _shift(place)
    keys |= np.arange(rows, dtype=np.uint64)
    keys.sort()
    order = _places(keys, place)
    found = words[order]
    keys >>= _shift(place)
    alike = keys[1:] == keys[:-1]
    if np.any(alike & (found[1:] != found[:-1])):  # two values share their high bits
        again = np.lexsort((found, keys))
        order, found = order[again], found[again]
    rank = np.zeros(rows, dtype=np.int64)
    np.cumsum(found[1:] != found[:-1], out=rank[1:])
    codes = np.empty(rows, dtype=np.int64)
    codes[order] = rank
    return codes


def _shift(bits: int) -> np.uint64:
    return np.uint64(bits)


def _width(numbers: npt.NDArray[Any]) -> int:
    return int(numbers.max()).bit_length()


def _free(units: npt.NDArray[Any], place: int) -> int:
    return _BITS - _width(units) - place


def _places(keys: Words, place: int) -> npt.NDArray[np.int64]:
    """The place of each row, from the low bits of its word."""
    return (keys & np.uint64((1 << place) - 1)).view(np.int64)


def _tagged(units: npt.NDArray[Any], tag: int, place: int, source: Source) -> Words:
    """For each row its unit, a random tag, and its place."""
    keys = np.empty(len(units), dtype=np.uint64)
    places = np.arange(min(_BLOCK, len(units)), dtype=np.uint64)
    for first in range(0, len(units), _BLOCK):
        block = keys[first : first + _BLOCK]
        block[:] = units[first : first + _BLOCK]
        block <<= _shift(tag)
        block |= source.words(len(block), 32) >> np.uint32(_TAG - tag)
        block <<= _shift(place)
        block |= places[: len(block)] + _shift(first)
    return keys


def _untie(keys: Words, place: int, source: Source) -> None:
    """Puts rows with the same unit and tag, which stand side by side, into a random order."""
    ties = []
    for first in range(1, len(keys), _BLOCK):
        block = keys[first - 1 : first + _BLOCK] >> _shift(place)
        ties.append(np.flatnonzero(block[1:] == block[:-1]) + first)
    after = np.concatenate(ties)
    if not len(after):
        return
    tied = np.union1d(after, after - 1)
    heads = keys[tied] >> _shift(place)
    while True:
        words = source.words(len(tied), 64)
        order = np.lexsort((words, heads))
        drawn, whose = words[order], heads[order]
        if not np.any((drawn[1:] == drawn[:-1]) & (whose[1:] == whose[:-1])):
            keys[tied] = keys[tied][order]
            return


def _by_both(units: npt.NDArray[Any], cells: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """The places of rows sorted by unit and cell."""
    place = (len(units) - 1).bit_length()
    within = _width(cells)
    if _free(units, place) < within:
        return np.lexsort((cells, units))
    keys = units.astype(np.uint64)
    keys <<= _shift(within)
    keys |= cells.astype(np.uint64)
    keys <<= _shift(place)
    keys |= np.arange(len(units), dtype=np.uint64)
    keys.sort()
    return _places(keys, place)
