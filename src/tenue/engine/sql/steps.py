"""Stored values become whole grid steps, in DuckDB's SQL.

What a step count *is*, on every engine alike, for a column with grid = p/q in lowest terms. Steps
count from 0 for numbers and from the low bound for dates and datetimes.

whole numbers and decimals
    exactly floor(x/grid + 1/2), then clamped to the bounds. Integer arithmetic throughout.
floating point (also 32-bit, widened; also numbers written in CSV and JSON, read as 64-bit)
    IEEE double operations in this order: y = x·q, then y = y/p (left out where q or p is 1; if p
    or q exceeds 2^53, instead y = x / the double nearest to the grid); v = floor(y + 0.5) if
    |y| < 2^52, else v = y; then v is compared with the bounds' step counts as exact numbers, and
    clamped. So ±infinity and overflow end on a bound, and NaN is missing. Every engine with IEEE
    doubles gives the same integer.
dates
    a day, or the day of a moment; floor((days − low)/grid + 1/2), clamped.
datetimes
    whole microseconds, finer digits dropped downwards; a day is its midnight; an instant with a
    zone is read in UTC; floor((x − low)/grid + 1/2), clamped.
missing
    NULL, NaN, and written values that cannot be read; then the declared `missing`, if there is one.

Each row's steps depend on that row alone. Every |step count| is at most 2^62 (the schema refuses
more) and a table has fewer than 2^63 rows, so a total is below 2^125: the HUGEINT that holds it
cannot overflow.

A value is made in stages, each of which knows the one before by name, so that no expression is
written, or computed, twice.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from ...schema import Bounded, Number
from ..storage import Fixed, Floating, Integer, Nothing, Storage, Truth, Written
from .whole import Whole, holding, integer, too_wide

Stage = Callable[[str], str]
"""The SQL of a value, given the name of the stage before."""

_EXACT = 2**53
_HALVES = 2**52
_WIDEST_DECIMAL = 38
_NARROW_DECIMAL = 18  # DuckDB multiplies two decimals of up to so many digits in as many, or fails


def first_step(column: Bounded) -> int:
    """The step count of the low bound."""
    return int(column.low / column.grid) if isinstance(column, Number) else 0


def last_step(column: Bounded) -> int:
    """The step count of the high bound."""
    return first_step(column) + column.steps


def with_missing(column: Bounded, stages: list[Stage]) -> list[Stage]:
    """The stages, with the holder's value where there is none, if the holder declared one."""
    if column.missing is None:
        return stages
    step = integer(first_step(column) + column.to_steps(column.missing))
    return [*stages, lambda name: f"COALESCE({name}, {step})"]


def double(number: float) -> str:
    """The literal of a double.

    Example
        >>> double(100.0), double(-1e-7), double(float("inf"))
        ('100.0e0', '(-1e-07)', "CAST('inf' AS DOUBLE)")
    """
    if not math.isfinite(number):
        return f"CAST('{number}' AS DOUBLE)"
    text = repr(number) if "e" in repr(number) else f"{number!r}e0"
    return text if number >= 0 else f"({text})"


def number_stages(column: Number, stored: Storage) -> list[Stage]:
    """How a stored number becomes steps."""
    if isinstance(stored, Integer):
        return _integer(column, stored)
    if isinstance(stored, Fixed):
        return _fixed(column, stored)
    if isinstance(stored, Truth):
        bit = Integer("TINYINT", 0, 1)
        return [lambda name: f"CAST({name} AS TINYINT)", *_integer(column, bit)]
    if isinstance(stored, Nothing):
        return [lambda _: "CAST(NULL AS BIGINT)"]
    if isinstance(stored, Written):
        return value_stages(column, lambda name: f"TRY_CAST({name} AS DOUBLE)")
    if stored == Floating():
        return _floating(column)
    return value_stages(column, lambda name: f"CAST({name} AS DOUBLE)")


def value_stages(column: Number, value: Stage) -> list[Stage]:
    """How a double that must first be computed becomes steps."""
    return [value, *_floating(column)]


def _floating(column: Number) -> list[Stage]:
    p, q = column.grid.numerator, column.grid.denominator
    times = "" if q == 1 else f" * {double(float(min(q, _EXACT)))}"
    over = "" if p == 1 else f" / {double(float(min(p, _EXACT)))}"
    if max(p, q) > _EXACT:
        times, over = "", f" / {double(float(column.grid))}"
    first, last = first_step(column), last_step(column)
    if max(abs(first), abs(last)) < _HALVES:
        # whatever is beyond 2^52 is clamped, so the two ways to round need not be told apart
        return [
            lambda name: f"FLOOR({name}{times}{over} + 0.5e0)",
            lambda name: _bounded(name, float(first), float(last)),
        ]
    below, above = _double_below(first), -_double_below(-last)
    halves = double(float(_HALVES))
    return [
        lambda name: f"{name}{times}{over}",
        lambda name: f"CASE WHEN abs({name}) < {halves} THEN FLOOR({name} + 0.5e0) ELSE {name} END",
        lambda name: _bounded(name, below, above),
        lambda name: Whole(name, int(below), int(above)).clamp(first, last).sql,
    ]


def _bounded(name: str, first: float, last: float) -> str:
    # DuckDB orders NaN above every number, so only the last condition stops it
    low, high = double(first), double(last)
    return (
        f"CAST(CASE WHEN {name} < {low} THEN {low} WHEN {name} <= {high} THEN {name} "
        f"WHEN NOT isnan({name}) THEN {high} END AS BIGINT)"
    )


def _double_below(number: int) -> float:
    near = float(number)
    return near if near <= number else math.nextafter(near, -math.inf)


def _integer(column: Number, stored: Integer) -> list[Stage]:
    low = max(math.floor(column.low), stored.low)
    high = min(math.ceil(column.high), stored.high)
    if low >= high:
        return _one_end(column, column.low >= stored.high)
    kind = holding(low, high)
    p, q = column.grid.numerator, column.grid.denominator

    def clamped(name: str) -> str:
        if (low, high) == (stored.low, stored.high):
            return f"CAST({name} AS {kind})"
        if stored.low > -(2**32) and stored.high < 2**32:
            # max(low, min(x, high)) = (|x − low| − |x − high| + low + high) / 2 needs no branch:
            # faster than CASE, and equally fast whether or not values lie outside the bounds
            far = [f"abs(CAST({name} AS BIGINT) - {integer(end)})" for end in (low, high)]
            return f"(({far[0]} - {far[1]} + {integer(low + high)}) >> 1)"
        ends = [f"CAST({end} AS {stored.type})" for end in (low, high)]
        return f"CAST({_between(name, *ends)} AS {kind})"

    def rounded(name: str) -> Whole:
        value = Whole(name, low, high, kind)
        if p == 1:
            return value.times(q)
        if q == 1:
            return value.plus(p // 2).floor_divide(p)
        return value.times(2 * q).plus(p).floor_divide(2 * p)

    return [clamped, *finish(column, rounded)]


def _fixed(column: Number, stored: Fixed) -> list[Stage]:
    unit, most = 10**stored.scale, 10**stored.width - 1
    low = max(math.floor(column.low * unit), -most)
    high = min(math.ceil(column.high * unit), most)
    if low >= high:
        return _one_end(column, column.low * unit >= most)
    p, q = column.grid.numerator, column.grid.denominator
    width = max(len(str(max(abs(low), abs(high)))), stored.scale)
    factor = len(str(2 * q))
    if width + factor > _WIDEST_DECIMAL:
        raise too_wide()
    if width + factor > _NARROW_DECIMAL:
        width = max(width, _NARROW_DECIMAL + 1)
    below, above = (math.floor(Fraction(2 * q * end, unit)) for end in (low, high))
    kind = holding(below, above)

    def clamped(name: str) -> str:
        own = f"DECIMAL({stored.width}, {stored.scale})"
        ends = [f"CAST('{_decimal(end, stored.scale)}' AS {own})" for end in (low, high)]
        return f"CAST({_between(name, *ends)} AS DECIMAL({width}, {stored.scale}))"

    def doubled(name: str) -> str:
        return f"CAST(FLOOR({name} * CAST({2 * q} AS DECIMAL({factor}, 0))) AS {kind})"

    def rounded(name: str) -> Whole:
        # floor((2qx + p) / 2p) is the same of 2qx and of floor(2qx)
        return Whole(name, below, above, kind).plus(p).floor_divide(2 * p)

    return [clamped, doubled, *finish(column, rounded)]


def _between(name: str, low: str, high: str) -> str:
    return f"CASE WHEN {name} < {low} THEN {low} WHEN {name} > {high} THEN {high} ELSE {name} END"


def _one_end(column: Number, below: bool) -> list[Stage]:
    """The bounds lie beyond what the storage can hold: every value is clamped to one of them."""
    step = first_step(column) if below else last_step(column)
    return [lambda name: Whole(name, 0, 0).constant(step).sql]


def _decimal(units: int, scale: int) -> str:
    digits = str(abs(units)).rjust(scale + 1, "0")
    point = len(digits) - scale
    return f"{'-' * (units < 0)}{digits[:point]}{'.' * (scale > 0)}{digits[point:]}"


def finish(column: Bounded, rounded: Callable[[str], Whole]) -> list[Stage]:
    """Rounds, then clamps to the bounds as BIGINT; what would change nothing is left out."""
    probe = rounded("x")
    stages: list[Stage] = [] if probe.sql == "x" else [lambda name: rounded(name).sql]

    def inside(name: str) -> Whole:
        value = Whole(name, probe.low, probe.high, probe.type)
        clamped = value.clamp(first_step(column), last_step(column))
        return clamped if clamped.type == "BIGINT" else clamped.narrow()

    return stages if inside("x").sql == "x" else [*stages, lambda name: inside(name).sql]
