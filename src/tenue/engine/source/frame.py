"""A data frame as Arrow data, without a copy where its own storage allows that.

How a column is read is decided by its storage type alone, never by a value: see `text.py` for
columns of Python objects, and `arrow.py` for what else a value could break. Columns that nobody
declared are not looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...errors import Refused, refuse
from ...frozen import dataclass
from .arrow import sound
from .text import texts

if TYPE_CHECKING:
    import pyarrow


_DIGITS = 38


@dataclass(frozen=True, eq=False)
class Converted:
    """A data frame as Arrow data.

    unreadable: for the holder, how many values of a column were there and could not be converted,
        where there are any. They are missing.
    """

    table: pyarrow.Table
    unreadable: Mapping[str, int]


def arrow_table(data: Any, wanted: Collection[str] | None) -> pyarrow.Table:
    """The columns whose names, in lower case, are `wanted`, or all; refused if it is no table."""
    return convert(data, wanted).table


def convert(data: Any, wanted: Collection[str] | None) -> Converted:
    """The same, with how many values could not be converted.

    Guarantee
        Each value is converted by itself, whatever the others are: a row that is added, taken away
        or replaced changes no other one. No value makes it refuse. A stream is read to its end.
    """
    import pyarrow

    try:
        names, column = _opened(data, wanted)
        found = {name: column(name) for name in names}
        table = pyarrow.table({name: one for name, (one, _) in found.items()})
        return Converted(table, {name: lost for name, (_, lost) in found.items() if lost})
    except Refused:
        raise
    except Exception:  # noqa: S110 - a frame may be anything, and fail at anything
        pass
    # raised out of reach of the error above, which may quote a value
    raise refuse("engine.unreadable-source-type", type=type(data).__name__)


Column = Callable[[str], "tuple[pyarrow.ChunkedArray, int]"]


def _opened(data: Any, wanted: Collection[str] | None) -> tuple[list[str], Column]:
    """The chosen names, and how a column is had."""
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
    reader = _plain
    if frame.implementation.is_pandas():
        reader = _pandas
    elif frame.implementation.is_polars():
        reader = _polars

    def column(name: str) -> tuple[pyarrow.ChunkedArray, int]:
        try:
            return reader(frame, name)
        except Exception:  # noqa: S110
            pass
        # raised out of reach of the error above, which quotes a value
        raise refuse("engine.untyped-frame-column", column=name)

    return column


def _plain(frame: Any, name: str) -> tuple[pyarrow.ChunkedArray, int]:
    import pyarrow

    return sound(pyarrow.table(frame.select(name).to_native()).column(name))


def _pandas(frame: Any, name: str) -> tuple[pyarrow.ChunkedArray, int]:
    import pandas

    series = frame.get_column(name).to_native()
    kind = series.dtype
    if isinstance(kind, pandas.SparseDtype):
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
    places = pyarrow.array(codes, mask=codes < 0)
    pairs = pyarrow.DictionaryArray.from_arrays(places, named.combine_chunks())
    column, _ = sound(pyarrow.chunked_array([pairs]))
    return column, column.null_count - places.null_count


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
