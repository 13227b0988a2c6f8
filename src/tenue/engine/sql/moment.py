"""Stored days and moments become whole grid steps, in DuckDB's SQL. See `steps.py` for the rules.

Everything is clamped in its own storage type first, where infinity and years that no other type
can hold still compare, and is integers from then on.
"""

from __future__ import annotations

from ...schema import Date, Datetime
from ..storage import Day, Moment, Nothing, Storage, Written
from .steps import Stage, finish
from .whole import Whole, integer

_MICRO = 10**6
DAY = 24 * 60 * 60 * _MICRO
"""The microseconds of a day."""

_COARSE = {"TIMESTAMP_S": _MICRO, "TIMESTAMP_MS": 1000}
# how an instant of nanoseconds is told from infinity: its coarser type, and that type's 1970
_NANOS = {
    "TIMESTAMP_NS": ("TIMESTAMP", "make_timestamp(0)"),
    "TIMESTAMPTZ_NS": ("TIMESTAMP WITH TIME ZONE", "make_timestamptz(0)"),
}
_LATEST = 2**63 - 2


def counts(column: Date | Datetime) -> tuple[int, int, int]:
    """The bounds and the grid, in days for a date and in microseconds for a datetime."""
    unit = 1 if isinstance(column, Date) else _MICRO
    return int(column.low * unit), int(column.high * unit), int(column.grid * unit)


def time_stages(column: Date | Datetime, stored: Storage) -> list[Stage]:
    """How a stored day or moment becomes steps."""
    if isinstance(stored, Nothing):
        return [lambda _: "CAST(NULL AS BIGINT)"]
    if isinstance(stored, Written):
        whole_day = isinstance(column, Date)
        kind, typed = ("DATE", Day()) if whole_day else ("TIMESTAMP", Moment("TIMESTAMP"))
        return [lambda name: f"TRY_CAST({name} AS {kind})", *time_stages(column, typed)]
    low, high, grid = counts(column)
    reader = _days if isinstance(column, Date) else _micros
    stages, first, last = reader(low, high, stored)

    def rounded(name: str) -> Whole:
        return Whole(name, first, last).plus(-low).plus(grid // 2).floor_divide(grid)

    return [*stages, *finish(column, rounded)]


Counted = tuple[list[Stage], int, int]
"""Stages that end in an integer, and the range of that."""


def _days(low: int, high: int, stored: Storage) -> Counted:
    """Days since 1970 began."""
    if isinstance(stored, Day):
        ends = [f"make_date({integer(end)})" for end in (low, high)]
        return [lambda name: _between(name, *ends), _day_number], low, high
    stages, first, last = _micros(low * DAY, high * DAY, stored)

    def whole_days(name: str) -> str:
        return Whole(name, first, last).floor_divide(DAY).sql

    return [*stages, whole_days], first // DAY, last // DAY


def _micros(low: int, high: int, stored: Storage) -> Counted:
    """Microseconds since 1970 began; the range covers `low` to `high`."""
    if isinstance(stored, Day):
        return _midnights(low // DAY, -(-high // DAY))
    kind = stored.type if isinstance(stored, Moment) else ""
    if kind in _NANOS:
        return _nanos(*_NANOS[kind])
    if kind == "TIMESTAMP WITH TIME ZONE":
        ends = [f"make_timestamptz({integer(end)})" for end in (low, high)]
        return [lambda name: _between(name, *ends), _micro_number], low, high
    unit = _COARSE.get(kind, 1)
    low, high = low // unit * unit, -(-high // unit) * unit
    ends = [f"CAST(make_timestamp({integer(end)}) AS {kind})" for end in (low, high)]
    clamped: Stage = lambda name: f"CAST({_between(name, *ends)} AS TIMESTAMP)"  # noqa: E731
    return [clamped, _micro_number], low, high


def _midnights(first: int, last: int) -> Counted:
    ends = [f"make_date({integer(end)})" for end in (first, last)]

    def midnight(name: str) -> str:
        return Whole(name, first, last).times(DAY).sql

    return [lambda name: _between(name, *ends), _day_number, midnight], first * DAY, last * DAY


def _nanos(coarse: str, zero: str) -> Counted:
    def number(name: str) -> str:
        # epoch_ns is NULL for infinity
        infinite = f"CASE WHEN CAST({name} AS {coarse}) > {zero} THEN {_LATEST} "
        return f"COALESCE(epoch_ns({name}), {infinite}WHEN {name} IS NOT NULL THEN -{_LATEST} END)"

    def micros(name: str) -> str:
        return Whole(name, -_LATEST - 2, _LATEST + 1).floor_divide(1000).sql

    return [number, micros], (-_LATEST - 2) // 1000, (_LATEST + 1) // 1000


def _between(name: str, low: str, high: str) -> str:
    return f"CASE WHEN {name} < {low} THEN {low} WHEN {name} > {high} THEN {high} ELSE {name} END"


def _day_number(name: str) -> str:
    return f"({name} - make_date(0))"


def _micro_number(name: str) -> str:
    return f"epoch_us({name})"
