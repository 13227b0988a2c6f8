"""When two cells are equal: quasi-identifiers by their text, confidential values by their meaning.

An intruder who reads `30` in one row and `30.0`, `030` or ` 30` in another can distinguish the two
rows, whatever the number means. Merging them would overstate k, so quasi-identifiers are not read
as numbers or dates, not trimmed, and the value declared for missing ones is not filled in.

A reader who finds `Flu`, `flu` and `flu ` in a group knows that everybody there has the flu. So
that l is never overstated, words are compared regardless of case, of spaces around them and of
their Unicode form; numbers and days by value, even if other cells of the column are neither; true
and false as the engine reads them. In a text file a cell of spaces only is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...schema import Boolean, Category, Column
from ...text import named
from ..column_types import Values, is_text, kind_of, one_array, stated_missing
from ..factorize import Codes, Whole, coded

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
_TRUE = ("1", "true", "t", "yes", "y")
_FALSE = ("0", "false", "f", "no", "n")
_VALUE = r"^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?$"


@dataclass(frozen=True, eq=False)
class Cells:
    """A column by codes, equal for equal cells.

    respelled: whether some cells that count as one, or may mean the same, are written differently.
    """

    codes: Codes
    respelled: bool


def shown(name: str, column: pa.ChunkedArray, declared: Column | None = None) -> Cells:
    """A quasi-identifier by its texts; `declared` only decides what else may mean the same."""
    array = one_array(column)
    kind = kind_of(array.type, name)
    if pa.types.is_floating(array.type):
        return _doubles(array, declared)
    if not is_text(array.type):
        codes = coded(array, ordered=kind != "category")
        return Cells(codes, _fills_a_blank(array, declared))
    if pa.types.is_string_view(array.type):
        array = pc.cast(array, pa.large_string())
    words = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    codes = coded(words, ordered=False)
    used = words.dictionary
    if codes.count < len(used):
        used = used.take(pc.drop_null(pc.unique(words.indices)))
    return Cells(codes, _fills_a_blank(words, declared) or _respelled(used))


def _doubles(array: Any, declared: Column | None) -> Cells:
    """By their bits: the two zeros are different texts, and NaN is not a missing value."""
    blank = array.is_null().to_numpy(zero_copy_only=False)
    values = array.to_numpy(zero_copy_only=False).copy()
    nan = np.isnan(values)
    values[nan] = np.nan  # every NaN is written alike
    bits = values.view(f"i{values.dtype.itemsize}")
    codes = coded(pa.array(bits, mask=blank if blank.any() else None), ordered=True)
    zeros = values == 0
    signs = np.signbit(values[zeros])
    two_zeros = bool(signs.any() and not signs.all())
    two_blanks = bool(blank.any() and (nan & ~blank).any())
    return Cells(codes, two_zeros or two_blanks or _fills_a_blank(array, declared))


def _fills_a_blank(array: Any, declared: Column | None) -> bool:
    """Whether there are missing values beside the value that the schema declares for them."""
    if declared is None or declared.missing is None or not array.null_count:
        return False
    value = stated_missing(declared)
    values = pc.drop_null(pc.unique(array)).to_pylist()
    return value in values or str(value) in values


def _respelled(words: Any) -> bool:
    words = pc.cast(words, pa.large_string())
    plain = pc.utf8_lower(pc.utf8_trim_whitespace(words))
    numbers = pc.fill_null(pc.match_substring_regex(plain, _NUMBER), False)
    same = plain.filter(numbers)
    for pattern, replacement in _SAME_NUMBER:
        same = pc.replace_substring_regex(same, pattern, replacement)
    others = pc.replace_substring_regex(plain.filter(pc.invert(numbers)), _MIDNIGHT, r"\1")
    return len(pc.unique(same)) < len(same) or len(pc.unique(others)) < len(others)


def meant(values: Values, declared: Column | None = None, *, written: bool = False) -> Cells:
    """A confidential column by its meanings, read as `declared`; numbers and times in order.

    Parameters
        written: the column is text from a file without types, where a blank is missing.
    """
    array = values.array
    if not is_text(array.type):
        return Cells(values.coded(), respelled=False)
    if pa.types.is_string_view(array.type):
        array = array.cast(pa.large_string())
    words = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    spelled = coded(words, ordered=False)
    if spelled.count == 0:
        return Cells(spelled, respelled=False)
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
    return Cells(Codes(ranks[spelled.codes], int(ranks.max()) + 1), merged)


def word_codes(words: Any, declared: Column | None) -> Whole:
    """A number for each word of an Arrow array, equal for equal meanings.

    Example
        >>> import pyarrow
        >>> word_codes(pyarrow.array(["flu", "Flu ", "7", "7.0"]), None).tolist()
        [0, 0, 1, 1]
    """
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
    number = pc.match_substring_regex(plain, _VALUE).to_numpy(zero_copy_only=False)
    if number.any():
        digits = plain.filter(pa.array(number)).to_pylist()
        first: dict[Decimal, int] = {}  # 7 and 7.0 are equal, 2^53 and 2^53 + 1 are not
        same = [first.setdefault(Decimal(text), index) for index, text in enumerate(digits)]
        codes[number] = codes[number][same]
    return codes


RESPELLED = (
    "Some values of {} are written in more than one way, such as 7 and 07, or a missing value "
    "and the value declared for it. An intruder can distinguish them, so they count as "
    "different; k may be larger if they are written alike."
)
RENAMED = (
    "Some values of {} may be two spellings of one person's name, such as 17 and 017, or Ann "
    "and ann. Names are compared as stored, so each spelling counts as a person: k and l may "
    "be smaller."
)
MERGED = (
    "Some values of {} are written in more than one way, such as flu and Flu, or 7 and 7.0. "
    "They have the same meaning, so they count as one for l and t."
)


def noted(text: str, names: Sequence[str]) -> list[str]:
    """One of these notes about some columns; none about no column."""
    return [text.format(named(names))] if names else []
