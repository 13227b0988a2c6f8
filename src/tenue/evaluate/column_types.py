"""Columns as numbers, times or categories.

NULL, NaN and missing-value markers of the schema are missing, unless it declares `missing = v`.
Negative zero is zero. Text is equal byte by byte.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as types

from ..errors import refuse
from ..schema import Boolean, Bounded, Category, Column, Date, Datetime, Number, Table
from .factorize import Codes, Real, coded

Kind = Literal["number", "time", "category"]

_DAY = 24 * 60 * 60
_LARGEST = 1e100
_GLANCE = 1000
_LONG = r"[0-9](?:\.?[0-9]){15}"  # so many digits may be more than a double can hold
_WHOLE = 2**53


def column_of(schema: Table | None, name: str) -> Column | None:
    """The declaration of a column."""
    return None if schema is None else schema.columns.get(name)


@dataclass(frozen=True, eq=False)
class Values:
    """One column as numbers, times or categories."""

    name: str
    kind: Kind
    array: pa.Array

    def coded(self) -> Codes:
        """The codes; of numbers and times they follow the order of the values."""
        return coded(self.array, ordered=self.kind != "category")

    @property
    def days(self) -> bool:
        """Whether these are dates without a time."""
        return bool(types.is_date(self.array.type))

    @property
    def least_of_large(self) -> int:
        """The least value, as a double, if some are whole or decimal numbers beyond 2^53, which
        doubles cannot all hold; otherwise 0."""
        kind = self.array.type
        if not (types.is_integer(kind) or types.is_decimal(kind)):
            return 0
        ends = pc.min_max(self.array).as_py()
        if ends["min"] is None or max(-ends["min"], ends["max"]) <= _WHOLE:
            return 0
        return int(float(ends["min"]))

    def numbers(self, *, days: bool = False, origin: int = 0) -> Real:
        """The values as doubles, NaN if missing; infinite and huge ones are refused.

        Parameters
            days: times in days since 1970, otherwise in seconds.
            origin: is subtracted before the values become doubles.
        """
        if origin:
            values = self.array.to_pylist()
            return np.array(
                [math.nan if one is None else float(Fraction(one) - origin) for one in values]
            )
        array = _seconds(self.array) if self.kind == "time" else self.array
        numbers: Real
        numbers = pc.cast(array, pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        if (np.abs(numbers) > _LARGEST).any():
            raise refuse("evaluate.value-not-finite", column=self.name, largest=_LARGEST)
        return numbers / _DAY if days and self.kind == "time" else numbers

    def words(self) -> list[Any]:
        """The values as text, None if missing."""
        words: list[Any] = pc.cast(decoded(self.array), pa.large_string()).to_pylist()
        return words


def typed(
    name: str,
    column: pa.ChunkedArray,
    declared: Column | None = None,
    *,
    written: bool = False,
    guess: bool = True,
) -> Values:
    """A stored column as declared, or as stored if undeclared.

    Parameters
        written: the column is text from a file without types.
        guess: whether undeclared text is read as numbers or dates if all of it can be.
    """
    array = one_array(column)
    if declared is not None and declared.marks:
        array = _without_texts(array, declared)
    if is_text(array.type) and not types.is_dictionary(array.type):
        array = _parsed(array, _wanted(declared, written and guess))
    blank = array.null_count == len(array) and is_text(array.type)
    if isinstance(declared, Bounded) and (blank or types.is_null(array.type)):
        number = pa.float64() if isinstance(declared, Number) else pa.timestamp("us")
        array = pa.nulls(len(array), number)
    if types.is_floating(array.type):
        array = _finite_or_missing(array)
    if isinstance(declared, Number) and declared.marks:
        array = _without_numbers(array, declared)
    if declared is not None and declared.missing is not None and array.null_count:
        array = _filled(array, declared)
    kind = kind_of(array.type, name)
    if isinstance(declared, Category | Boolean):
        kind = "category"
    return Values(name, kind, array)


def one_array(column: pa.ChunkedArray) -> Any:
    """The column in one piece."""
    array = column.combine_chunks()
    if isinstance(array, pa.ChunkedArray):  # no chunk at all, or too long for one
        array = pa.concat_arrays(array.chunks) if array.chunks else pa.nulls(0)
    return array


def decoded(array: Any) -> Any:
    """The array, without a dictionary."""
    return array.dictionary_decode() if types.is_dictionary(array.type) else array


def _wanted(declared: Column | None, guess: bool) -> list[Any]:
    numbers = [pa.int64(), pa.float64()]
    times = [pa.date32(), pa.timestamp("us")]
    if isinstance(declared, Number):
        return numbers
    if isinstance(declared, Date | Datetime):
        return times
    return numbers + times if guess and declared is None else []


def _parsed(array: Any, wanted: list[Any]) -> Any:
    """Text as the first of the wanted types that fits all of it; otherwise unchanged.

    Long numbers are read digit by digit, if decimals of 38 digits can hold them: as doubles 2^53
    and 2^53 + 1 would be equal.
    """
    if not wanted or array.null_count == len(array):
        return array
    trimmed = pc.utf8_trim_whitespace(array)
    beginning = trimmed.slice(0, _GLANCE)  # rules out most types at once
    for kind in wanted:
        read = _cast(trimmed, kind) if can_be(beginning, kind) else None
        if read is None:
            continue
        if types.is_floating(kind) and pc.any(pc.match_substring_regex(trimmed, _LONG)):
            decimals = (_cast(trimmed, wide) for wide in _wide())
            return next((one for one in decimals if one is not None), read)
        return read
    return array


def counterexamples(parts: Iterable[Any]) -> Any:
    """A few of many texts, beside which others are read as beside all of them.

    A type is used only if all texts can be read as such, so one counterexample of each type
    suffices. The parts are not kept.
    """
    found, doubtful, present, long = [], [*_wanted(None, True), *_wide()], False, False
    for part in parts:
        words = pc.drop_null(pc.cast(part, pa.large_string()))
        if not present and len(words):
            present = True
            found.append(words.slice(0, 1))
        trimmed = pc.utf8_trim_whitespace(words)
        if not long:
            matching = words.filter(pc.match_substring_regex(trimmed, _LONG))
            long = len(matching) > 0
            found.append(matching.slice(0, 1))
        for kind in list(doubtful):
            index = _first_unlike(trimmed, kind)
            if index is not None:
                doubtful.remove(kind)
                found.append(words.slice(index, 1))
    return pa.concat_arrays(found) if found else pa.array([], pa.large_string())


def _first_unlike(words: Any, kind: Any) -> int | None:
    """The index of the first text that is not of this type; None if there is none."""
    if can_be(words, kind):
        return None
    begins = range(len(words))
    return bisect_left(begins, True, key=lambda last: not can_be(words.slice(0, last + 1), kind))


def can_be(values: Any, kind: Any) -> bool:
    """Whether all values of an Arrow array can be read as this type."""
    return _cast(values, kind) is not None


def _cast(values: Any, kind: Any) -> Any:
    try:
        return pc.cast(values, kind)
    except pa.ArrowException:
        return None


def _wide() -> list[Any]:
    """Decimals of 38 digits, with fewer and fewer before the point."""
    return [pa.decimal128(38, scale) for scale in (0, 6, 18)]


def is_text(kind: Any) -> bool:
    """Whether this Arrow type is text, plain or encoded."""
    return bool(
        types.is_string(kind)
        or types.is_large_string(kind)
        or types.is_string_view(kind)
        or (types.is_dictionary(kind) and is_text(kind.value_type))
    )


def kind_of(kind: Any, name: str) -> Kind:
    """The kind of an Arrow type; other types are refused."""
    if types.is_dictionary(kind):
        kind_of(kind.value_type, name)
        return "category"
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return "number"
    if types.is_date(kind) or types.is_timestamp(kind):
        return "time"
    if is_text(kind) or types.is_boolean(kind) or types.is_null(kind):
        return "category"
    raise refuse("evaluate.unsupported-column-values", column=name)


def _finite_or_missing(array: Any) -> Any:
    values = array.to_numpy(zero_copy_only=False)
    missing = np.isnan(values)
    # adding zero turns negative zero into zero
    return pa.array(values + values.dtype.type(0), mask=missing if missing.any() else None)


def _without_texts(array: Any, declared: Column) -> Any:
    """The array with NULL for markers that are text."""
    marks = [mark for mark in declared.marks if isinstance(mark, str)]
    code = types.is_integer(array.type) and isinstance(declared, Category)
    if not marks or not (is_text(array.type) or code):
        return array
    array = decoded(array)
    words = pc.utf8_trim(pc.cast(array, pa.large_string()), " ")
    marked = pc.is_in(words, pa.array(marks, pa.large_string()))
    return pc.if_else(marked, pa.scalar(None, array.type), array)


def _without_numbers(array: Any, declared: Number) -> Any:
    """The array with NULL for markers that are numbers."""
    kind = array.type
    marks = [mark for mark in declared.marks if isinstance(mark, Fraction)]
    if not marks or kind_of(kind, declared.name) != "number":
        return array
    for mark in marks:
        value: Any = pa.scalar(float(mark)).cast(pa.float64())
        numbers = array
        if types.is_floating(kind):
            value = pa.scalar(float(mark)).cast(kind, safe=False)
        elif types.is_integer(kind) and mark.denominator == 1 and abs(mark) < 2**63:
            value = int(mark)
        else:
            numbers = pc.cast(array, pa.float64(), safe=False)
        marked = pc.fill_null(pc.equal(numbers, value), False)
        array = pc.if_else(marked, pa.scalar(None, kind), array)
    return array


def stated_missing(declared: Column) -> Any:
    """The value that the schema declares for missing ones; a number as Python has it."""
    value: Any = declared.missing
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 else float(value)
    return value


def _filled(array: Any, declared: Column) -> Any:
    value, array = stated_missing(declared), decoded(array)
    if types.is_null(array.type):
        return pa.array([value] * len(array))
    if isinstance(value, float):
        array = pc.cast(array, pa.float64(), safe=False)
    try:
        scalar = pa.scalar(str(value) if is_text(array.type) else value, array.type)
    except (pa.ArrowException, TypeError, ValueError):
        raise refuse("evaluate.missing-marker-mismatch", column=declared.name) from None
    return pc.fill_null(array, scalar)


def _seconds(array: Any) -> Any:
    if types.is_date(array.type):
        days = pc.cast(pc.cast(array, pa.date32()), pa.int32())
        return pc.multiply(pc.cast(days, pa.int64()), _DAY)
    ticks = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[array.type.unit]
    return pc.divide(pc.cast(pc.cast(array, pa.int64()), pa.float64(), safe=False), ticks)
