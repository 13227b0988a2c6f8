"""The cells of an answer: their labels, their order, and other shapes of the table they make."""

from __future__ import annotations

import abc
import csv
import io
import json
import operator
from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any

from ..arguments import Number as Given
from ..engine.request import Bin, Calendar, Group, Key
from ..schema import Boolean, Category, Date, Datetime, Number, Schema
from .question import Comparison, GroupingSets, Question, seen_by

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

Cell = Fraction | int | float | str | bool | date | datetime | None
Row = tuple[int, dict[str, Cell]]
"""The number of a cell, and its values by alias."""

_COMPARE = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_EPOCH = date(1970, 1, 1)
_MONTHS = {"year": 12, "quarter": 3, "month": 1}


def cell_labels(question: Question, schema: Schema) -> list[tuple[Cell, ...]]:
    """The labels of the keys of every declared cell; the last key runs fastest."""
    seen = seen_by(question, schema)
    return list(product(*(question.labels(key) or key_labels(key, seen) for key in question.keys)))


def arranged(
    rows: list[Row],
    question: Question | GroupingSets,
    too_noisy: Callable[[int, str], bool] = lambda number, alias: False,
) -> list[Row]:
    """The rows after HAVING, ORDER BY and LIMIT. Undefined values satisfy no comparison, and stand
    last; before them those that are too noisy.

    too_noisy: of a row, by its number, and an alias.
    """
    rows = [r for r in rows if all(_holds(r[1][c.alias], c) for c in question.having)]
    for order in reversed(question.order):
        known = [r for r in rows if r[1][order.alias] is not None]
        unknown = [r for r in rows if r[1][order.alias] is None]
        known.sort(key=lambda r: r[1][order.alias], reverse=order.descending)  # type: ignore[arg-type,return-value]
        noisy = {r[0] for r in known if too_noisy(r[0], order.alias)}
        rows = [r for r in known if r[0] not in noisy]
        rows += [r for r in known if r[0] in noisy] + unknown
    return rows if question.limit is None else rows[: question.limit]


def in_64_bits(table: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """The table with doubles in columns that have a whole number beyond 64 bits, as sums may; Arrow
    has none."""
    return {
        name: [float(v) if type(v) is int else v for v in values]
        if any(type(v) is int and not -(1 << 63) <= v < 1 << 63 for v in values)
        else values
        for name, values in table.items()
    }


def shaped(rows: Sequence[dict[str, Any]], question: Question) -> Any:
    """A scalar if one cell, a dict by alias if one row, else a list of dicts."""
    if question.keys:
        return list(rows)
    if not rows:
        return []
    (row,) = rows
    return next(iter(row.values())) if len(row) == 1 else row


def _holds(value: Any, wanted: Comparison) -> bool:
    if value is None:
        return False
    if isinstance(value, datetime):
        value = Fraction((value - datetime(1970, 1, 1)) // timedelta(microseconds=1), 10**6)
    elif isinstance(value, date):
        value = Fraction((value - _EPOCH).days)
    return bool(_COMPARE[wanted.operator](value, wanted.value))


def key_labels(key: Key, schema: Schema) -> list[Cell]:
    """The labels of the cells of a key, in order: categories, booleans, starts of bins."""
    column = schema.column(key.column)
    if isinstance(key, Group):
        if isinstance(column, Boolean):
            return [False, True]
        assert isinstance(column, Category)  # noqa: S101 - narrows the type
        return list(column.categories)
    if isinstance(key, Bin):
        if isinstance(column, Date | Datetime):
            return [_start(column, key.first + i) for i in range(key.cells)]
        assert isinstance(column, Number)  # noqa: S101 - narrows the type
        starts = [(key.first + i) * key.width * column.grid for i in range(key.cells)]
        return [int(s) if s.denominator == 1 else s for s in starts]
    whole_day = isinstance(column, Date) or key.part != "hour"
    return [_moment(key, key.first + i, whole_day) for i in range(key.cells)]


def _start(column: Date | Datetime, step: int) -> date | datetime:
    """The value of a step."""
    number = column.low + step * column.grid
    if isinstance(column, Date):
        return _EPOCH + timedelta(days=int(number))
    return datetime(1970, 1, 1) + timedelta(microseconds=int(number * 10**6))


def _moment(key: Calendar, index: int, whole_day: bool) -> date | datetime:
    if key.part in _MONTHS:
        month = index * _MONTHS[key.part]
        return date(month // 12, month % 12 + 1, 1)
    if key.part == "week":
        return _EPOCH + timedelta(days=7 * index - 3)
    if whole_day:
        return _EPOCH + timedelta(days=index)
    return datetime(1970, 1, 1) + timedelta(hours=index)


# -- Other shapes ----------------------------------------------------------------------------------


def as_json(value: object) -> Any:
    """The value as JSON holds it; anything that JSON does not know as text."""
    return json.loads(json.dumps(value, default=str))


class Shown(abc.ABC):
    """A value that people see as text, and programs as JSON."""

    @abc.abstractmethod
    def to_dict(self) -> dict[str, Any]: ...

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def __repr__(self) -> str:
        return str(self)


class Tabular(Shown):
    """The same of an answer, which is a table."""

    @abc.abstractmethod
    def _table(self) -> dict[str, list[Any]]: ...

    @property
    @abc.abstractmethod
    def caveats(self) -> list[str]:
        """What no rendering may leave out, a sentence each: limits that may have truncated."""

    @abc.abstractmethod
    def _table_with_ends(self, level: Given) -> dict[str, list[Any]]:
        """The table, each aggregate followed by the ends of its confidence interval."""

    @abc.abstractmethod
    def _source(self) -> str:
        """The question and its price, on one line."""

    def to_arrow(self) -> pa.Table:
        """A pyarrow table: keys and aggregates in the order asked. The `caveats` are in the
        metadata of its schema."""
        import pyarrow as pa

        table, caveats = pa.table(in_64_bits(self._table())), self.caveats
        return table.replace_schema_metadata({"caveats": "\n".join(caveats)}) if caveats else table

    def to_pandas(self) -> pd.DataFrame:
        """A pandas data frame; `.attrs["caveats"]` has the `caveats`, if there are any."""
        return self._frame(self._table())

    def _frame(self, table: dict[str, list[Any]]) -> pd.DataFrame:
        import pandas as pd

        frame, caveats = pd.DataFrame(table), self.caveats
        if caveats:
            frame.attrs["caveats"] = caveats
        return frame

    def to_csv(self, interval: Given = "0.95") -> str:
        """The answer as text in CSV. Lines that begin with # come first: the question and its
        price, and the `caveats`; `pandas.read_csv(..., comment="#")` skips them.

        Parameters
            interval: the level of the confidence intervals, whose ends follow each aggregate.
        """
        table = self._table_with_ends(interval)
        text = io.StringIO()
        for line in (self._source(), *self.caveats):
            text.write(f"# {' '.join(line.split())}\n")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(table)
        writer.writerows(zip(*table.values(), strict=True))
        return text.getvalue()

    def to_polars(self) -> pl.DataFrame:
        """A polars data frame."""
        import polars as pl

        return pl.DataFrame(in_64_bits(self._table()))
