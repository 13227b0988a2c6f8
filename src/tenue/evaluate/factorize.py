"""Values as integer codes: equal for equal values, and in their order if they have one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Real = NDArray[np.float64]
Whole = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Codes:
    """An integer for each row: equal for equal values, -1 if missing; all below `count` occur."""

    codes: Whole
    count: int


def coded(array: Any, *, ordered: bool) -> Codes:
    """The codes of an Arrow array; `ordered` if they must follow the order of the values.

    Example
        >>> import pyarrow
        >>> coded(pyarrow.array([30, None, 10, 30]), ordered=True).codes.tolist()
        [1, -1, 0, 1]
    """
    if ordered and (pa.types.is_integer(array.type) or pa.types.is_floating(array.type)):
        if (counted := _counted(array)) is not None:
            return counted
        codes = np.full(len(array), -1, np.int64)
        present = array.is_valid().to_numpy(zero_copy_only=False)
        numbers = pc.drop_null(array).to_numpy(zero_copy_only=False)
        values, codes[present] = np.unique(numbers, return_inverse=True)
        return Codes(codes, values.size)
    return _dictionary(array, ordered=ordered)


def _counted(array: Any) -> Codes | None:
    """Codes of integers in a small range, by counting; None of others."""
    if not pa.types.is_integer(array.type) or array.null_count == len(array):
        return None
    ends = pc.min_max(array).as_py()
    span = ends["max"] - ends["min"] + 1
    if span > 4 * len(array) + 1000:
        return None
    values = pc.fill_null(array, ends["min"]).to_numpy(zero_copy_only=False)
    wide = np.uint64 if pa.types.is_uint64(array.type) else np.int64
    codes = (values.astype(wide) - wide(ends["min"])).astype(np.int64)
    if array.null_count:
        codes[array.is_null().to_numpy(zero_copy_only=False)] = -1
    return used(codes, span)


def used(codes: Whole, span: int) -> Codes:
    """The same codes without gaps; -1 stays."""
    seen = np.zeros(span + 1, np.bool_)
    seen[codes] = True  # a missing value sets the last flag
    seen[span] = False
    if seen[:span].all():
        return Codes(codes, span)
    rank = np.cumsum(seen) - 1
    count = int(rank[-1]) + 1
    rank[span] = -1
    return Codes(rank[codes], count)


def _each_once(array: Any) -> Any:
    """The same values, each in the dictionary once, and NULL as a missing value."""
    words = array.dictionary
    if pa.types.is_string_view(words.type):
        words = words.cast(pa.large_string())
    encoded = words.dictionary_encode()
    if len(encoded.dictionary) == len(words):
        return array
    indices = encoded.indices.take(array.indices)
    return pa.DictionaryArray.from_arrays(indices, encoded.dictionary)


def _dictionary(array: Any, *, ordered: bool) -> Codes:
    if not pa.types.is_dictionary(array.type):
        if pa.types.is_string_view(array.type):
            array = pc.cast(array, pa.large_string())
        if pa.types.is_null(array.type):
            return Codes(np.full(len(array), -1, np.int64), 0)
        array = array.dictionary_encode()
    else:
        array = _each_once(array)
    indices = array.indices
    if indices.null_count:
        indices = pc.fill_null(pc.cast(indices, pa.int64()), -1)
    codes = indices.to_numpy(zero_copy_only=False).astype(np.int64)
    count = len(array.dictionary)
    if ordered:
        order = pc.sort_indices(array.dictionary).to_numpy(zero_copy_only=False)
        rank = np.empty(count + 1, np.int64)
        rank[order] = np.arange(count)
        rank[count] = -1
        codes = rank[codes]
    return used(codes, count)
