"""A data frame as Arrow data, without a copy where its own storage allows that."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from ...errors import Refused, refuse

if TYPE_CHECKING:
    import pyarrow


def arrow_table(data: Any, wanted: Collection[str] | None) -> pyarrow.Table:
    """The columns whose names, in lower case, are `wanted`, or all; refused if it is no table."""
    import narwhals
    import pyarrow
    from narwhals.exceptions import NarwhalsError

    try:
        frame = narwhals.from_native(data, pass_through=True)
        if isinstance(frame, narwhals.LazyFrame):
            raise refuse("engine.data-frame-is-lazy")
        if isinstance(frame, narwhals.DataFrame):
            chosen = _chosen(frame.columns, wanted)
            return _typed({name: _column(frame, name) for name in chosen})
        if hasattr(data, "__arrow_c_stream__"):
            table = pyarrow.table(data)
            chosen = _chosen(table.column_names, wanted)
            return _typed({name: table.column(name) for name in chosen})
    except Refused:
        raise
    except (NarwhalsError, pyarrow.ArrowException, TypeError, ValueError, OverflowError):
        pass
    raise refuse("engine.source-is-of-type-and-its-columns", type=type(data).__name__)


def _chosen(names: list[str], wanted: Collection[str] | None) -> list[str]:
    texts = [name for name in names if isinstance(name, str)]
    chosen = [name for name in texts if wanted is None or name.lower() in wanted]
    folded = [name.lower() for name in chosen]
    for name in chosen:
        if folded.count(name.lower()) > 1:
            raise refuse("engine.data-frame-has-more-than-one-column", name=name)
    return chosen


def _column(frame: Any, name: str) -> Any:
    import pyarrow

    try:
        return pyarrow.table(frame.select(name).to_native()).column(name)
    except (pyarrow.ArrowException, TypeError, ValueError, OverflowError):
        pass
    # raised out of reach of the error above, which quotes a value
    raise refuse("engine.column-of-data-frame-holds-values-of", column=name)


def _typed(columns: dict[str, Any]) -> pyarrow.Table:
    import pyarrow

    for name, column in columns.items():
        if pyarrow.types.is_float16(column.type):
            columns[name] = column.cast(pyarrow.float32())
    return pyarrow.table(columns).unify_dictionaries()
