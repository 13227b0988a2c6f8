"""Stored days and moments become whole grid steps. See `steps.py` for the rules.

A dialect clamps each in its own storage type first, where infinity and years that no other type can
hold still compare; what comes out is integers from then on.
"""

from __future__ import annotations

from ...schema import Date, Datetime
from ..storage import Day, Moment, Nothing, Storage, Written
from .dialect import Counted, Dialect, Stage
from .steps import finish
from .whole import Whole

_MICRO = 10**6
DAY = 24 * 60 * 60 * _MICRO
"""The microseconds of a day."""


def counts(column: Date | Datetime) -> tuple[int, int, int]:
    """The bounds and the grid, in days for a date and in microseconds for a datetime."""
    unit = 1 if isinstance(column, Date) else _MICRO
    return int(column.low * unit), int(column.high * unit), int(column.grid * unit)


def time_stages(column: Date | Datetime, stored: Storage, dialect: Dialect) -> list[Stage]:
    """How a stored day or moment becomes steps."""
    low, high, grid = counts(column)
    stages, first, last = counted_stages(column, stored, low, high, dialect)

    def rounded(name: str) -> Whole:
        return Whole(name, first, last, dialect).plus(-low).plus(grid // 2).floor_divide(grid)

    return [*stages, *finish(column, rounded)]


def counted_stages(
    column: Date | Datetime, stored: Storage, low: int, high: int, dialect: Dialect
) -> Counted:
    """How a stored day or moment becomes days or microseconds, as `counts` has them; what is beyond
    `low` and `high` may be cut to them."""
    if isinstance(stored, Nothing):
        return [lambda _: f"CAST(NULL AS {dialect.long})"], low, high
    reader = _days if isinstance(column, Date) else _micros
    if isinstance(stored, Written):
        typed: Storage = Moment(dialect.moment)
        kind = dialect.moment
        if isinstance(column, Date):
            kind, typed = dialect.day, Day()
        stages, first, last = reader(low, high, typed, dialect)
        return [lambda name: dialect.read(name, kind), *stages], first, last
    return reader(low, high, stored, dialect)


def _days(low: int, high: int, stored: Storage, dialect: Dialect) -> Counted:
    """Days since 1970 began."""
    if isinstance(stored, Day):
        return dialect.days(low, high)
    stages, first, last = _micros(low * DAY, high * DAY, stored, dialect)

    def whole_days(name: str) -> str:
        return Whole(name, first, last, dialect).floor_divide(DAY).sql

    return [*stages, whole_days], first // DAY, last // DAY


def _micros(low: int, high: int, stored: Storage, dialect: Dialect) -> Counted:
    """Microseconds since 1970 began; the range covers `low` to `high`."""
    if isinstance(stored, Moment):
        return dialect.micros(stored, low, high)
    stages, first, last = dialect.days(low // DAY, -(-high // DAY))

    def midnight(name: str) -> str:
        return Whole(name, first, last, dialect).times(DAY).sql

    return [*stages, midnight], first * DAY, last * DAY
