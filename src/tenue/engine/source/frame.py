"""A data frame as Arrow data that no value can break.

An engine that meets a value it cannot convert fails as a whole, so one row would decide whether a
question is answered. Values that a storage type allows and the engine does not are changed here,
one by one: instants beyond every calendar are clamped to its ends, texts that are not UTF-8 are
missing. A column that has no such value is handed on as it is, without a copy.

How a column is read is decided by its storage type alone, never by a value; `objects_to_text.py`
reads columns of Python objects. Columns that nobody declared are not read.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ...errors import Refused, refuse
from .objects_to_text import texts

if TYPE_CHECKING:
    import pyarrow


_SECONDS = 9 * 10**12
"""The calendar covers this many seconds before and after 1970: some 285,000 years."""
_DIGITS = 38
_TICKS = {"s": 1, "ms": 10**3}


def sound(column: pyarrow.ChunkedArray) -> tuple[pyarrow.ChunkedArray, int]:
    """The column as an engine can read it, and how many values are present and cannot be read."""
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
        return _clamped(column, _SECONDS * 10**3), 0
    if types.is_timestamp(kind) and kind.unit in _TICKS:
        return _clamped(column, _SECONDS * _TICKS[kind.unit]), 0
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
    """With at most 38 digits, or as text: no digit is lost, though no engine has the type."""
    import pyarrow

    width, scale = column.type.precision, column.type.scale
    if scale < 0 and width - scale <= _DIGITS:
        return column.cast(pyarrow.decimal128(width - scale, 0))
    if not 0 <= scale <= width or width > _DIGITS:
        return column.cast(pyarrow.string())
    if column.type.bit_width > pyarrow.decimal128(1, 0).bit_width:
        return column.cast(pyarrow.decimal128(width, scale))
    return column


def _clamped(column: pyarrow.ChunkedArray, most: int) -> pyarrow.ChunkedArray:
    import pyarrow
    import pyarrow.compute as pc

    ticks = _each(column, lambda chunk: chunk.view(pyarrow.int64()), pyarrow.int64())
    ends = pc.min_max(ticks).as_py()
    if ends["min"] is None or (-most <= ends["min"] and ends["max"] <= most):
        return column
    inside = pc.max_element_wise(
        pc.min_element_wise(ticks, most, skip_nulls=False), -most, skip_nulls=False
    )
    return _each(inside, lambda chunk: chunk.view(column.type), column.type)


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
    raw = {
        pyarrow.string(): pyarrow.binary(),
        pyarrow.large_string(): pyarrow.large_binary(),
        pyarrow.string_view(): pyarrow.binary_view(),
    }[column.type]
    chunks = [
        pyarrow.array(map(_decoded, chunk.view(raw).to_pylist()), column.type)
        for chunk in column.chunks
    ]
    readable = pyarrow.chunked_array(chunks, column.type)
    return readable, readable.null_count - column.null_count


def _decoded(value: bytes | None) -> str | None:
    try:
        return None if value is None else value.decode()
    except UnicodeDecodeError:
        return None


# -- A data frame as Arrow data, without a copy where its own storage allows that ------------------

Column = Callable[[str], "tuple[pyarrow.ChunkedArray, int]"]


def arrow_table(data: Any, wanted: Collection[str] | None) -> pyarrow.Table:
    """The columns whose names, in lower case, are `wanted`, or all; refused if it is no table."""
    return convert(data, wanted)[0]


def convert(data: Any, wanted: Collection[str] | None) -> tuple[pyarrow.Table, dict[str, int]]:
    """The same; and for the holder, how many values of a column were present and could not be
    converted, where there are any. They are missing.

    Guarantee
        Each value is converted by itself, whatever the others are: a row that is added, removed or
        replaced changes no other one. No value makes it refuse. A stream is read to its end.
    """
    import pyarrow

    try:
        names, column = _opened(data, wanted)
        columns = {name: column(name) for name in names}
        table = pyarrow.table({name: values for name, (values, _) in columns.items()})
        return table, {name: lost for name, (_, lost) in columns.items() if lost}
    except Refused:
        raise
    except Exception:  # noqa: S110 - any object may be given, and may raise anything
        pass
    # raised out of reach of the error above, which may quote a value
    raise refuse("engine.unreadable-source-type", type=type(data).__name__)


def _opened(data: Any, wanted: Collection[str] | None) -> tuple[list[str], Column]:
    """The chosen names, and how a column is read."""
    import narwhals
    import pyarrow

    frame = narwhals.from_native(data, pass_through=True)
    if isinstance(frame, narwhals.LazyFrame):
        chosen = _chosen(frame.collect_schema().names(), wanted)
        return chosen, _column_of(frame.select(*chosen).collect())
    if isinstance(frame, narwhals.DataFrame):
        return _chosen(frame.columns, wanted), _column_of(frame)
    if hasattr(data, "__arrow_c_stream__"):
        table = pyarrow.table(data)
    elif hasattr(data, "__arrow_c_array__"):
        table = pyarrow.Table.from_batches([pyarrow.record_batch(data)])
    else:
        raise TypeError
    return _chosen(table.column_names, wanted), lambda name: sound(table.column(name))


def _chosen(names: Sequence[str], wanted: Collection[str] | None) -> list[str]:
    words = [name for name in names if isinstance(name, str)]
    chosen = [name for name in words if wanted is None or name.lower() in wanted]
    folded = [name.lower() for name in chosen]
    for name in chosen:
        if folded.count(name.lower()) > 1:
            raise refuse("engine.duplicate-frame-columns", name=name)
    return chosen


def _column_of(frame: Any) -> Column:
    kind = frame.implementation
    reader = _pandas if kind.is_pandas() else _polars if kind.is_polars() else _plain

    def column(name: str) -> tuple[pyarrow.ChunkedArray, int]:
        with suppress(Exception):
            return reader(frame, name)
        # raised out of reach of the error above, which quotes a value
        raise refuse("engine.untyped-frame-column", column=name)

    return column


def _plain(frame: Any, name: str) -> tuple[pyarrow.ChunkedArray, int]:
    import pyarrow

    return sound(pyarrow.table(frame.select(name).to_native()).column(name))


def _pandas(frame: Any, name: str) -> tuple[pyarrow.ChunkedArray, int]:
    import pandas

    series = frame.get_column(name).to_native()
    if isinstance(series.dtype, pandas.SparseDtype):
        series = series.sparse.to_dense()
    kind = series.dtype
    if isinstance(kind, pandas.CategoricalDtype):
        return _categories(series.array)
    if kind == "object" or (isinstance(kind, pandas.StringDtype) and kind.storage == "python"):
        return texts(series.tolist())
    if kind.kind == "f" and kind.itemsize > 8:
        series = series.astype("float64")
    return sound(_of_series(series))


def _of_series(series: Any) -> pyarrow.ChunkedArray:
    import pyarrow

    return pyarrow.Table.from_pandas(series.to_frame("x"), preserve_index=False).column("x")


def _categories(coded: Any) -> tuple[pyarrow.ChunkedArray, int]:
    """Each category is read like a value of its own type, whatever the others are."""
    import numpy as np
    import pandas
    import pyarrow

    words = coded.categories
    if words.dtype == "object":
        named, _ = texts(words.tolist())
    else:
        named, _ = sound(_of_series(pandas.Series(words)))
    codes = np.asarray(coded.codes)
    indices = pyarrow.array(codes, mask=codes < 0)
    pairs = pyarrow.DictionaryArray.from_arrays(indices, named.combine_chunks())
    column, _ = sound(pyarrow.chunked_array([pairs]))
    return column, column.null_count - indices.null_count


def _polars(frame: Any, name: str) -> tuple[pyarrow.ChunkedArray, int]:
    import polars
    import pyarrow

    series = frame.get_column(name).to_native()
    if series.dtype == polars.Object:
        return texts(series.to_list())
    if series.dtype in (polars.Int128, polars.UInt128):
        most = 10**_DIGITS - 1
        least = 0 if series.dtype == polars.UInt128 else -most
        series = series.clip(least, most).cast(polars.Decimal(_DIGITS, 0))
        return sound(pyarrow.table(series.to_frame()).column(name))
    return _plain(frame, name)
