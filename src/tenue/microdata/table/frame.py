"""The published table as the kind of data frame that came in; nothing of the original in it."""

from __future__ import annotations

import os
from typing import Any


def kind_of(source: object) -> str:
    """Which kind of table was given: "pandas", "polars", "csv" or "arrow"."""
    room = type(source).__module__.split(".")[0]
    if room in ("pandas", "polars"):
        return room
    if not isinstance(source, str | os.PathLike):
        return "arrow"
    name = str(source).lower().removesuffix(".gz")
    return "csv" if name.endswith((".csv", ".tsv")) else "arrow"


def native(table: Any, source: Any, kind: str) -> Any:
    """The Arrow table as a data frame of the source's kind; from a path, as it is."""
    if kind == "polars":
        return _polars(table, source)
    if kind == "pandas":
        return _pandas(table, source)
    return table


def _polars(table: Any, source: Any) -> Any:
    import polars

    frame = polars.DataFrame(table)
    stored = {name.lower(): dtype for name, dtype in source.schema.items()}
    for name in frame.columns:
        if stored.get(name.lower()) in (polars.Categorical, polars.Enum):
            # categories of its own: all others of a process share theirs with the source
            words = sorted(set(frame[name].drop_nulls().to_list()))
            frame = frame.with_columns(polars.col(name).cast(polars.Enum(words)))
    return frame


def _pandas(table: Any, source: Any) -> Any:
    import pandas

    frame = table.to_pandas()
    stored = {str(name).lower(): source[name].dtype for name in source.columns}
    for name in frame.columns:
        dtype = stored.get(name.lower())
        if dtype is None or frame[name].dtype == dtype:
            continue
        # a source's own categories may name what is in no row that leaves
        kind = "category" if isinstance(dtype, pandas.CategoricalDtype) else dtype
        try:
            kept = frame[name].astype(kind)
        except (TypeError, ValueError):
            continue
        # a whole number that does not fit would become another one without a word
        if getattr(dtype, "kind", "") not in "iu" or (kept == frame[name]).all():
            frame[name] = kept
    return frame
