"""Whether a CSV file is well formed as a whole, and how many rows it has.

What is accepted here has one reading only, which DuckDB's and Python's readers share: fields are
plain, or quoted from their first byte to their last; every row has as many as the first line; every
line ends like the first; all of it is UTF-8. What readers understand differently is refused: a
quote behind a space, text behind a closing quote, a carriage return alone, one field too many
although it is empty.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, cast

import numpy as np

LONGEST_ROW = 2_000_000
"""A row may have this many bytes; DuckDB's reader keeps to the same."""

_SMALL = 2**20  # below, plain Python is done before numba is imported

# the places of a state
_AT, _BEFORE, _FIELDS, _WIDTH, _ROWS, _LINE, _BEGIN, _LENGTH, _ENDING = range(9)
_MORE, _LOW, _HIGH = range(9, 12)
# where in a field: at its begin, in plain text, behind leading spaces, in quotes, behind a quote in
# quotes, behind a carriage return
_FRESH, _PLAIN, _SPACED, _QUOTED, _CLOSED, _RETURN = range(6)
_LF, _CRLF = 1, 2
_WRONG = (
    "",
    "has too many or too few values",
    "has something behind a closing quote",
    "has a quote behind a space",
    "has a carriage return that ends no line",
    "ends unlike the first line",
    "has bytes that are not UTF-8",
    "is longer than a row may be",
    "opens a quote that is never closed",
    "is empty and should name the columns",
)
_COUNT, _BEHIND, _SPACE, _BARE, _UNLIKE, _BYTES, _LONG, _OPEN, _NAMELESS = range(1, 10)


class Scan:
    """Reads a file block by block.

    Parameters
        separator: the sign between fields.
        size: how many bytes there may be; few are not worth a compiler.
    """

    def __init__(self, separator: str, size: int) -> None:
        self._separator = ord(separator)
        self._kernel = _compiled() if size >= _SMALL else None
        self._state: Any = [0] * 12
        self._state[_LINE] = self._state[_BEGIN] = 1
        if self._kernel is not None:
            self._state = np.array(self._state, dtype=np.int64)

    @property
    def rows(self) -> int:
        """How many rows there were so far, without the first line."""
        return max(int(self._state[_ROWS]) - 1, 0)

    @property
    def line(self) -> int:
        """The line on which the row begins that is being read."""
        return int(self._state[_BEGIN])

    def feed(self, block: bytes) -> str:
        """Reads on; says why a line is no row, or nothing."""
        if self._kernel is None:
            wrong = advance(block, self._state, self._separator)
        else:
            held = np.frombuffer(block, dtype=np.uint8)
            wrong = self._kernel(held, self._state, self._separator)
        return _WRONG[wrong]

    def finish(self) -> str:
        """The same, of a last line that the end of the file ends."""
        state, wrong = self._state, 0
        if state[_MORE]:
            wrong = _BYTES
        elif state[_AT] == _QUOTED:
            wrong = _OPEN
        elif state[_AT] == _RETURN:
            wrong = _BARE
        elif state[_AT] != _FRESH or state[_FIELDS]:
            return self.feed(b"\r\n" if state[_ENDING] == _CRLF else b"\n")
        elif not state[_WIDTH]:
            wrong = _NAMELESS
        return _WRONG[wrong]


@cache
def _compiled() -> Callable[..., int] | None:
    """`advance`, compiled and kept on disk; None where numba is not installed."""
    try:
        from numba import njit
    except ImportError:
        return None
    try:
        return cast("Callable[..., int]", njit(advance, cache=True, nogil=True))
    except RuntimeError:  # there is no place to keep it
        return cast("Callable[..., int]", njit(advance, nogil=True))


def advance(block: Any, state: Any, separator: int) -> int:
    """Reads a block; the number of what is wrong with the row it stopped at, or 0.

    One loop over bytes, so that numba can compile it as it stands.
    """
    at, before, fields, width = state[_AT], state[_BEFORE], state[_FIELDS], state[_WIDTH]
    rows, line, begin, length = state[_ROWS], state[_LINE], state[_BEGIN], state[_LENGTH]
    ending, more, low, high = state[_ENDING], state[_MORE], state[_LOW], state[_HIGH]
    wrong = 0
    for byte in block:
        length += 1
        if at == _PLAIN and 44 < byte < 128 and byte != separator and more == 0:
            continue
        if more:
            if byte < low or byte > high:
                wrong = _BYTES
                break
            more -= 1
            low, high = 128, 191
        elif byte >= 128:
            if at >= _CLOSED or byte < 194 or byte > 244:
                wrong = _BEHIND if at == _CLOSED else _BARE if at == _RETURN else _BYTES
                break
            # what may follow is narrower where it would be too long, a surrogate or too large
            low = 160 if byte == 224 else 144 if byte == 240 else 128
            high = 159 if byte == 237 else 143 if byte == 244 else 191
            more = 1 if byte < 224 else 2 if byte < 240 else 3
            if at != _QUOTED:
                at = _PLAIN
        elif at == _QUOTED:
            if byte == 34:
                at = _CLOSED
            elif byte == 10:
                line += 1
        elif at == _RETURN and byte != 10:
            wrong = _BARE
            break
        elif byte == separator:
            fields += 1
            at = _FRESH
        elif byte == 34:
            if at == _SPACED:
                wrong = _SPACE
                break
            if at != _PLAIN:
                at = _QUOTED
        elif byte == 13:
            if ending == _LF:
                wrong = _BARE
                break
            before, at = at, _RETURN
        elif byte != 10:
            if at == _CLOSED:
                wrong = _BEHIND
                break
            at = _SPACED if byte == 32 and at != _PLAIN else _PLAIN
        else:
            ended = _LF
            if at == _RETURN:
                ended, at = _CRLF, before
            blank = fields == 0 and at == _FRESH
            if width == 0:
                ending, width = ended, fields + 1
                wrong = _NAMELESS if blank else 0
            # a blank line is no row, unless a row is one value, which may be missing
            if not blank or width == 1:
                wrong = wrong if fields + 1 == width else _COUNT
                rows += 1
            if ended != ending:
                wrong = _UNLIKE
            if length > LONGEST_ROW:
                wrong = _LONG
            if wrong:
                break
            line += 1
            begin, fields, at, length = line, 0, _FRESH, 0
    if not wrong and length > LONGEST_ROW:
        wrong = _LONG
    state[_AT], state[_BEFORE], state[_FIELDS], state[_WIDTH] = at, before, fields, width
    state[_ROWS], state[_LINE], state[_BEGIN], state[_LENGTH] = rows, line, begin, length
    state[_ENDING], state[_MORE], state[_LOW], state[_HIGH] = ending, more, low, high
    return wrong
