"""A confidential value as what it means: l is never overstated by the way a value is written.

Whoever reads `Flu`, `flu` and `flu ` in a group knows that everybody there has the flu. Words are
therefore compared without regard to case, to spaces around them and to Unicode's ways of writing a
letter; numbers and days by value, also where some cell of the column is none; true and false as the
engine reads them. In a file of text a word of spaces only is as missing as none.

That is the opposite of `shown`, and both are careful: an intruder can tell two spellings apart to
find a row, and does not care about them to learn from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...schema import Boolean, Category, Column
from ..code import Codes, coded
from ..value import Values, is_text

_TRUE = ("1", "true", "t", "yes", "y")
_FALSE = ("0", "false", "f", "no", "n")
_NUMBER = r"^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?$"
_MIDNIGHT = r"^([0-9]{4}-[0-9]{2}-[0-9]{2})[t ]00:00(?::00(?:\.0+)?)?(?:z|\+00:00)?$"

Whole = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Meant:
    """One confidential column.

    codes: equal for values that mean the same; of numbers and times in their order.
    merged: whether some values that are written differently count as one.
    """

    codes: Codes
    merged: bool


def meant(values: Values, declared: Column | None = None, *, written: bool = False) -> Meant:
    """What the values of a column mean; `declared` says how they are read.

    Parameters
        written: the column is text from a file without types, where a blank is missing.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    array = values.array
    if not is_text(array.type):
        return Meant(values.coded(), merged=False)
    if pa.types.is_string_view(array.type):
        array = array.cast(pa.large_string())
    words = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    spelled = coded(words, ordered=False)
    if spelled.count == 0:
        return Meant(spelled, merged=False)
    where = np.full(spelled.count, -1, np.int64)
    rows = np.flatnonzero(spelled.codes >= 0)
    where[spelled.codes[rows]] = rows  # one row that has each word
    used = words.take(pa.array(where)).dictionary_decode()
    codes = word_codes(used, declared)
    if written:
        blank = pc.equal(pc.utf8_trim_whitespace(used), "")
        codes[blank.to_numpy(zero_copy_only=False)] = -1
    present = codes >= 0
    merged = np.unique(codes[present]).size < codes.size
    ranks = np.full(codes.size + 1, -1, np.int64)
    ranks[:-1][present] = np.unique(codes[present], return_inverse=True)[1].reshape(-1)
    return Meant(Codes(ranks[spelled.codes], int(ranks.max()) + 1), merged)


def word_codes(words: Any, declared: Column | None) -> Whole:
    """A number for each word of an Arrow array: equal for those that mean the same.

    Example
        >>> import pyarrow
        >>> word_codes(pyarrow.array(["flu", "Flu ", "7", "7.0"]), None).tolist()
        [0, 0, 1, 1]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    plain = pc.utf8_normalize(pc.cast(words, pa.large_string()), form="NFKC")
    plain = pc.utf8_lower(pc.utf8_trim_whitespace(plain))
    if isinstance(declared, Boolean):
        for name, spellings in (("true", _TRUE), ("false", _FALSE)):
            plain = pc.if_else(pc.is_in(plain, pa.array(spellings, plain.type)), name, plain)
        return coded(plain, ordered=False).codes
    if isinstance(declared, Category):  # 7 and 07 may be two codes
        return coded(plain, ordered=False).codes
    plain = pc.replace_substring_regex(plain, _MIDNIGHT, r"\1")
    codes = coded(plain, ordered=False).codes
    number = pc.match_substring_regex(plain, _NUMBER).to_numpy(zero_copy_only=False)
    if number.any():
        digits = plain.filter(pa.array(number)).to_pylist()
        values = np.array([float(text) for text in digits]) + 0.0  # -0 is 0
        first = np.unique(values, return_index=True, return_inverse=True)[1:]
        codes[number] = codes[number][first[0]][first[1]]
    return codes
