"""Arrow columns that no value can break.

An engine that meets a value it cannot convert fails as a whole, so one row would decide whether a
question is answered. What a storage type allows and the engine does not is cut or left out here,
value by value: instants beyond every calendar are cut to the ends of it, texts that are not UTF-8
are missing. A column that has no such value is handed on as it is, without a copy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow


_SECONDS = 9 * 10**12
"""The calendar ends so many seconds before and after 1970: some 285,000 years."""
_DIGITS = 38
_TICKS = {"s": 1, "ms": 10**3}


def sound(column: pyarrow.ChunkedArray) -> tuple[pyarrow.ChunkedArray, int]:
    """The column as an engine can read it, and how many values were there and cannot be read."""
    import pyarrow
    import pyarrow.compute as pc
    import pyarrow.types as types

    kind = column.type
    if types.is_run_end_encoded(kind):
        return sound(_each(column, pc.run_end_decode, kind.value_type))
    if types.is_dictionary(kind):
        return _dictionary(column)
    if types.is_float16(kind):
        return column.cast(pyarrow.float32()), 0
    if types.is_decimal(kind):
        return _decimal(column), 0
    if types.is_date64(kind):
        return _cut(column, _SECONDS * 10**3), 0
    if types.is_timestamp(kind) and kind.unit in _TICKS:
        return _cut(column, _SECONDS * _TICKS[kind.unit]), 0
    if _is_text(kind):
        return _unicode(column)
    return column, 0


def _each(column: pyarrow.ChunkedArray, made: Any, kind: Any) -> pyarrow.ChunkedArray:
    import pyarrow

    return pyarrow.chunked_array([made(chunk) for chunk in column.chunks], kind)


def _dictionary(column: pyarrow.ChunkedArray) -> tuple[pyarrow.ChunkedArray, int]:
    """Only a dictionary of sound texts stays one."""
    import pyarrow

    value = column.type.value_type
    if not _is_text(value):
        return sound(_each(column, lambda chunk: chunk.dictionary_decode(), value))
    chunks = [_with_words(chunk) for chunk in column.chunks]
    if not chunks:
        return pyarrow.chunked_array([], pyarrow.large_string()), 0
    if all(chunk.dictionary.null_count == 0 for chunk in chunks):
        return pyarrow.chunked_array(chunks).unify_dictionaries(), 0
    plain = pyarrow.chunked_array([chunk.dictionary_decode() for chunk in chunks])
    return plain, plain.null_count - sum(chunk.indices.null_count for chunk in chunks)


def _with_words(chunk: Any) -> Any:
    """The same words in a type that every function of Arrow knows, None for a broken one."""
    import pyarrow

    words, _ = _unicode(pyarrow.chunked_array([chunk.dictionary]))
    return pyarrow.DictionaryArray.from_arrays(
        chunk.indices, words.cast(pyarrow.large_string()).combine_chunks()
    )


def _is_text(kind: Any) -> bool:
    import pyarrow.types as types

    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _decimal(column: pyarrow.ChunkedArray) -> pyarrow.ChunkedArray:
    """Of at most 38 digits, or as text: a type that an engine has not, but no digit less."""
    import pyarrow

    width, scale = column.type.precision, column.type.scale
    if scale < 0 and width - scale <= _DIGITS:
        return column.cast(pyarrow.decimal128(width - scale, 0))
    if not 0 <= scale <= width or width > _DIGITS:
        return column.cast(pyarrow.string())
    if column.type.bit_width > pyarrow.decimal128(1, 0).bit_width:
        return column.cast(pyarrow.decimal128(width, scale))
    return column


def _cut(column: pyarrow.ChunkedArray, most: int) -> pyarrow.ChunkedArray:
    import pyarrow
    import pyarrow.compute as pc

    ticks = _each(column, lambda chunk: chunk.view(pyarrow.int64()), pyarrow.int64())
    ends = pc.min_max(ticks)
    low, high = ends["min"].as_py(), ends["max"].as_py()
    if low is None or (-most <= low and high <= most):
        return column
    cut = pc.max_element_wise(
        pc.min_element_wise(ticks, most, skip_nulls=False), -most, skip_nulls=False
    )
    return _each(cut, lambda chunk: chunk.view(column.type), column.type)


def _is_valid(array: pyarrow.Array) -> bool:
    import pyarrow

    try:
        array.validate(full=True)
    except pyarrow.ArrowException:
        return False
    return True


def _unicode(column: pyarrow.ChunkedArray) -> tuple[pyarrow.ChunkedArray, int]:
    import pyarrow

    if all(map(_is_valid, column.chunks)):
        return column, 0
    lost = 0
    chunks = []
    for chunk in column.chunks:
        texts = []
        for value in _bytes(chunk):
            try:
                texts.append(None if value is None else value.decode())
            except UnicodeDecodeError:
                texts.append(None)
                lost += 1
        chunks.append(pyarrow.array(texts, column.type))
    return pyarrow.chunked_array(chunks, column.type), lost


def _bytes(chunk: pyarrow.Array) -> Any:
    import pyarrow

    kinds = {
        pyarrow.string(): pyarrow.binary(),
        pyarrow.large_string(): pyarrow.large_binary(),
        pyarrow.string_view(): pyarrow.binary_view(),
    }
    return chunk.view(kinds[chunk.type]).to_pylist()
