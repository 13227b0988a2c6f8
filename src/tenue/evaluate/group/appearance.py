"""A quasi-identifier as an intruder sees it: two values are equal only if the file shows the same.

Who reads `30` in one row and `30.0`, `030` or ` 30` in another can tell the two rows apart,
whatever the number means. Merging them would overstate k, so nothing is read as a number or a date,
nothing is trimmed, and what the schema declares for missing values is not filled in.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from ...schema import Column
from ..code import Codes, coded
from ..value import is_text, kind_of, one_array

if TYPE_CHECKING:
    import pyarrow


_NUMBER = r"^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)$"
# each is applied to what the one before has made: +07.50 becomes 7.5
_SAME_NUMBER = (
    (r"^\+", ""),
    (r"^(-?)0+([0-9])", r"\1\2"),
    (r"^(-?)\.", r"\10."),
    (r"(\.[0-9]*?)0+$", r"\1"),
    (r"\.$", ""),
    (r"^-0$", "0"),
)
_MIDNIGHT = r"^([0-9]{4}-[0-9]{2}-[0-9]{2})[t ]00:00(?::00(?:\.0+)?)?(?:z|\+00:00)?$"


@dataclass(frozen=True, eq=False)
class Shown:
    """One column of quasi-identifiers.

    codes: equal for what looks equal.
    respelled: whether some value seems to be written in more than one way.
    """

    codes: Codes
    respelled: bool


def shown(name: str, column: pyarrow.ChunkedArray, declared: Column | None = None) -> Shown:
    """What the file shows of a column; `declared` only tells which spellings mean the same."""
    import pyarrow as pa
    import pyarrow.compute as pc

    array = one_array(column)
    kind = kind_of(array.type, name)
    if pa.types.is_floating(array.type):
        return _doubles(array, declared)
    if not is_text(array.type):
        codes = coded(array, ordered=kind != "category")
        return Shown(codes, _fills_a_blank(array, declared))
    if pa.types.is_string_view(array.type):
        array = pc.cast(array, pa.large_string())
    words = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    codes = coded(words, ordered=False)
    used = words.dictionary
    if codes.count < len(used):
        used = used.take(pc.drop_null(pc.unique(words.indices)))
    return Shown(codes, _fills_a_blank(words, declared) or _respelled(used))


def _doubles(array: Any, declared: Column | None) -> Shown:
    """By their bits: the two zeros look different, and NaN is no blank."""
    import pyarrow as pa

    blank = array.is_null().to_numpy(zero_copy_only=False)
    values = array.to_numpy(zero_copy_only=False).copy()
    nan = np.isnan(values)
    values[nan] = np.nan  # all NaN look alike
    bits = values.view(f"i{values.dtype.itemsize}")
    codes = coded(pa.array(bits, mask=blank if blank.any() else None), ordered=True)
    zeros = values == 0
    signs = np.signbit(values[zeros])
    two_zeros = bool(signs.any() and not signs.all())
    two_blanks = bool(blank.any() and (nan & ~blank).any())
    return Shown(codes, two_zeros or two_blanks or _fills_a_blank(array, declared))


def _fills_a_blank(array: Any, declared: Column | None) -> bool:
    """Whether there are blanks, and beside them the value that the schema says they stand for."""
    import pyarrow.compute as pc

    if declared is None or declared.missing is None or not array.null_count:
        return False
    value: Any = declared.missing
    if isinstance(value, Fraction):
        value = int(value) if value.denominator == 1 else float(value)
    values = pc.drop_null(pc.unique(array)).to_pylist()
    return value in values or str(value) in values


def _respelled(words: Any) -> bool:
    import pyarrow as pa
    import pyarrow.compute as pc

    words = pc.cast(words, pa.large_string())
    plain = pc.utf8_lower(pc.utf8_trim_whitespace(words))
    numbers = pc.fill_null(pc.match_substring_regex(plain, _NUMBER), False)
    same = plain.filter(numbers)
    for pattern, replacement in _SAME_NUMBER:
        same = pc.replace_substring_regex(same, pattern, replacement)
    others = pc.replace_substring_regex(plain.filter(pc.invert(numbers)), _MIDNIGHT, r"\1")
    return len(pc.unique(same)) < len(same) or len(pc.unique(others)) < len(others)
