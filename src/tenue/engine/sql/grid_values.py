"""Stored values become whole grid steps; days and moments too.

What a step count *is*, on every engine alike, for a column with grid = p/q in lowest terms. Steps
count from 0 for numbers and from the low bound for dates and datetimes.

whole numbers and decimals
    exactly floor(x/grid + 1/2), then clamped to the bounds. Integer arithmetic throughout.
floating point (also 32-bit, widened; also numbers that are written as text, read as 64-bit)
    IEEE double operations in this order: y = x·q, then y = y/p (left out where q or p is 1; if p
    or q exceeds 2^53, instead y = x / the double nearest to the grid); v = floor(y + 0.5) if
    |y| < 2^52, else v = y; then v is compared with the bounds' step counts as exact numbers, and
    clamped. So ±infinity and overflow end on a bound, and NaN is missing. Every engine with IEEE
    doubles gives the same integer. Written numbers of a column with 2^52 steps or more, which
    doubles cannot tell apart, are read as decimals of 38 digits where the engine has them.
dates
    a day, or the day of a moment; floor((days − low)/grid + 1/2), clamped.
datetimes
    whole microseconds, finer digits dropped downwards; a day is its midnight; an instant with a
    zone is read in UTC; floor((x − low)/grid + 1/2), clamped.
missing
    NULL, NaN, and written values that cannot be read; then the declared `missing`, if there is one.

Each row's steps depend on that row alone. Every |step count| is at most 2^62 (the schema refuses
more) and a table has fewer than 2^63 rows, so a total is below 2^125: the 126 bits that hold it do
not overflow.

A value is computed in stages, each of which refers to the one before by name, so that no expression
is written, or computed, twice.

A dialect clamps days and moments in their own storage type first, where infinity and years that no
other type can hold still compare; from then on they are integers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from ...schema import Bounded, Column, Date, Datetime, Number
from ..storage import Day, Fixed, Floating, Integer, Moment, Nothing, Storage, Truth, Written
from .dialect import Counted, Dialect, Stage, too_wide
from .int_expr import Whole, integer

_EXACT = 2**53
_TINY = 1e-290
_HALVES = 2**52
_SPREAD = 2**49
_NARROW_DECIMAL = 18  # the product of two decimals of so few digits may overflow, and fail
_MICRO = 10**6
DAY = 24 * 60 * 60 * _MICRO
"""The microseconds of a day."""


def first_step(column: Bounded) -> int:
    """The step count of the low bound."""
    return int(column.low / column.grid) if isinstance(column, Number) else 0


def last_step(column: Bounded) -> int:
    """The step count of the high bound."""
    return first_step(column) + column.steps


def with_missing(column: Bounded, stages: list[Stage]) -> list[Stage]:
    """The stages, with the declared value for missing ones, if there is one."""
    if column.missing is None:
        return stages
    step = integer(first_step(column) + column.to_steps(column.missing))
    return [*stages, lambda name: f"COALESCE({name}, {step})"]


def number_stages(column: Number, stored: Storage, dialect: Dialect) -> list[Stage]:
    """How a stored number becomes steps."""
    if isinstance(stored, Integer):
        return _integer(column, stored, dialect)
    if isinstance(stored, Fixed):
        return _fixed(column, stored, dialect)
    if isinstance(stored, Truth):
        kind = dialect.bit or dict(dialect.signed).get(8, dialect.long)
        bit = Integer(kind, 0, 1)
        return [lambda name: f"CAST({name} AS {kind})", *_integer(column, bit, dialect)]
    if isinstance(stored, Nothing):
        return [lambda _: f"CAST(NULL AS {dialect.long})"]
    if isinstance(stored, Written):
        return _written(column, dialect)
    if stored == Floating():
        return _floating(column, dialect)
    return value_stages(column, lambda name: f"CAST({name} AS {dialect.double})", dialect)


def _written(column: Number, dialect: Dialect) -> list[Stage]:
    far = math.ceil(2 * max(abs(column.low), abs(column.high)) + column.grid)
    scale = dialect.digits - len(str(2 * column.grid.denominator)) - len(str(far))
    few = max(abs(first_step(column)), abs(last_step(column))) < _HALVES
    if few or dialect.huge is None or scale < len(str(column.grid.denominator)):
        return value_stages(column, lambda name: dialect.read(name, dialect.double), dialect)
    kind = f"DECIMAL({len(str(far)) + scale}, {scale})"

    def exact(name: str) -> str:
        # a text is a number exactly if it is one as a double, whatever it is as a decimal
        double = dialect.read(name, dialect.double)
        near = f"COALESCE({dialect.read(name, kind)}, {dialect.read(double, kind)})"
        cases = f"WHEN {dialect.is_nan(double)} THEN NULL "
        cases += f"WHEN {double} >= {dialect.number(float(far))} THEN CAST({far} AS {kind}) "
        cases += f"WHEN {double} <= {dialect.number(-float(far))} THEN CAST(-{far} AS {kind}) "
        return f"CASE {cases} WHEN {double} IS NOT NULL THEN {near} END"

    return [exact, *_fixed(column, Fixed(len(str(far)) + scale, scale), dialect)]


def value_stages(column: Number, value: Stage, dialect: Dialect) -> list[Stage]:
    """How a double that must first be computed becomes steps."""
    return [value, *_floating(column, dialect)]


def _scale(column: Number, dialect: Dialect) -> str:
    """What follows a double to make grid steps of it, not yet rounded."""
    p, q = column.grid.numerator, column.grid.denominator
    if max(p, q) > _EXACT:
        return f" / {dialect.number(float(column.grid))}"
    times = "" if q == 1 else f" * {dialect.number(float(q))}"
    return times if p == 1 else f"{times} / {dialect.number(float(p))}"


def _floor(column: Number, dialect: Dialect) -> Stage:
    scale, half = _scale(column, dialect), dialect.number(0.5)
    return lambda name: f"FLOOR({name}{scale} + {half})"


def _floating(column: Number, dialect: Dialect) -> list[Stage]:
    scale = _scale(column, dialect)
    guard = _guard(column, dialect)
    first, last = first_step(column), last_step(column)
    half, halves = dialect.number(0.5), dialect.number(float(_HALVES))
    if max(abs(first), abs(last)) < _HALVES:
        ends = _ends(column) if dialect.fails else None
        if ends is not None:
            return [
                lambda name: _inside(name, *ends, dialect, tiny=column.grid > 1),
                lambda name: f"CAST(FLOOR({name}{scale} + {half}) AS {dialect.long})",
            ]
        # values beyond 2^52 are clamped, so both kinds of rounding give the same
        return [
            *guard,
            _floor(column, dialect),
            lambda name: _bounded(name, float(first), float(last), dialect),
        ]
    below, above = _double_below(first), -_double_below(-last)
    return [
        *guard,
        lambda name: f"{name}{scale}",
        lambda name: (
            f"CASE WHEN abs({name}) < {halves} THEN FLOOR({name} + {half}) ELSE {name} END"
        ),
        lambda name: _bounded(name, below, above, dialect),
        lambda name: Whole(name, int(below), int(above), dialect).clamp(first, last).sql,
    ]


def _ends(column: Number) -> tuple[float, float] | None:
    """The bounds as doubles, if rounding takes these to the first and the last step.

    Rounding never reverses two doubles, so that clamping to these before it is clamping after it.
    """
    p, q = column.grid.numerator, column.grid.denominator
    if max(p, q) > _EXACT:
        return None
    low, high = float(column.low), float(column.high)
    steps = tuple(math.floor(end * float(q) / float(p) + 0.5) for end in (low, high))
    return (low, high) if steps == (first_step(column), last_step(column)) else None


def _inside(name: str, low: float, high: float, dialect: Dialect, *, tiny: bool) -> str:
    """A double clamped to two others; NULL if it is NaN. Each value is named as seldom as can be:
    an engine may put what a name stands for in every place of the name."""
    least, most, under, over, zero, infinity = map(
        dialect.number, (low, high, -_TINY, _TINY, 0.0, math.inf)
    )
    small = f"WHEN {name} > {under} AND {name} < {over} THEN {zero} "
    return (
        f"CASE WHEN {name} < {least} THEN {least} {small * (tiny and low <= 0 <= high)}"
        f"WHEN {name} <= {most} THEN {name} WHEN {name} <= {infinity} THEN {most} END"
    )


def _guard(column: Number, dialect: Dialect) -> list[Stage]:
    """Clamps a double far beyond the bounds, where later stages could fail; the steps stay the
    same."""
    if not dialect.fails:
        return []
    far = float(2 * max(abs(column.low), abs(column.high)) + 2 * column.grid)
    # only a grid above 1 makes a double smaller, and then tiny ones are nearest to 0
    return [lambda name: _inside(name, -far, far, dialect, tiny=column.grid > 1)]


def _bounded(name: str, first: float, last: float, dialect: Dialect) -> str:
    # an engine may order NaN above every number, so only the last condition catches it
    low, high = dialect.number(first), dialect.number(last)
    return (
        f"CAST(CASE WHEN {name} < {low} THEN {low} WHEN {name} <= {high} THEN {name} "
        f"WHEN NOT {dialect.is_nan(name)} THEN {high} END AS {dialect.long})"
    )


def _double_below(number: int) -> float:
    near = float(number)
    return near if near <= number else math.nextafter(near, -math.inf)


def _integer(column: Number, stored: Integer, dialect: Dialect) -> list[Stage]:
    low = max(math.floor(column.low), stored.low)
    high = min(math.ceil(column.high), stored.high)
    if low >= high:
        return _one_end(column, column.low >= stored.high, dialect)
    kind = dialect.holding(low, high)
    p, q = column.grid.numerator, column.grid.denominator

    def clamped(name: str) -> str:
        if (low, high) == (stored.low, stored.high):
            return f"CAST({name} AS {kind})"
        if dialect.arithmetic and _is_narrow(stored):
            # as fast whether or not values lie outside the bounds
            doubled = _from_middle(f"CAST({name} AS {dialect.double})", low, high, dialect)
            middle, half = dialect.number(float(low + high)), dialect.number(0.5)
            return f"CAST(({doubled} + {middle}) * {half} AS {kind})"
        ends = [f"CAST({end} AS {stored.type})" for end in (low, high)]
        return f"CAST({between(name, *ends)} AS {kind})"

    def rounded(name: str) -> Whole:
        value = Whole(name, low, high, dialect, kind)
        if p == 1:
            return value.times(q)
        if q == 1:
            return value.plus(p // 2).floor_divide(p)
        return value.times(2 * q).plus(p).floor_divide(2 * p)

    return [clamped, *finish(column, rounded)]


def _is_narrow(stored: Integer) -> bool:
    return stored.low > -(2**32) and stored.high < 2**32


def _from_middle(name: str, low: int, high: int, dialect: Dialect) -> str:
    """The doubled distance from the middle of two ends to the nearest whole number between them.

    |x − low| − |x − high| = 2·max(low, min(x, high)) − low − high, without a comparison. Exact in
    doubles for whole x below 2^52 and ends below 2^51, for no difference is above 2^53.
    """
    beyond = [f"{name} - {dialect.number(float(end))}" if end else name for end in (low, high)]
    return f"(abs({beyond[0]}) - abs({beyond[1]}))"


def spread_stages(
    column: Number, stored: Storage, dialect: Dialect
) -> tuple[list[Stage], list[Stage]] | None:
    """How a stored number becomes 2·steps − first step − last step, as a double.

    None where that takes longer than the steps, or is not exact. The first stages give a name that
    is NULL exactly where the number is missing; from it the others start.
    """
    first, last = first_step(column), last_step(column)
    exact = max(abs(first), abs(last)) < _SPREAD
    if not (dialect.arithmetic and exact) or column.missing is not None:
        return None

    def double(name: str) -> str:
        return f"CAST({name} AS {dialect.double})"

    def near(name: str) -> str:
        return _near(name, float(first), float(last), dialect)

    def middle(name: str) -> str:
        # all beyond 2^51 stays beyond 2^50, rounded or not, and the rest is exact
        return f"{_from_middle(name, -(2**51), 2**51, dialect)} * {dialect.number(0.5)}"

    def spread(name: str) -> str:
        return _from_middle(name, first, last, dialect)

    if isinstance(stored, Floating):
        return [*([double] * stored.single), _floor(column, dialect), near], [spread]
    if not isinstance(stored, Integer) or column.grid != 1 or max(-stored.low, stored.high) > 2**64:
        return None
    return [], [double, spread] if _is_narrow(stored) else [double, middle, spread]


def _near(name: str, first: float, last: float, dialect: Dialect) -> str:
    """A whole double, or the end on its side where it is 2^52 or more; NULL if it is NaN."""
    # the product is infinite from 2^52 on
    below = f"isfinite({name} * {dialect.number(2.0**972)})"
    cases = f"WHEN {below} THEN {name} WHEN {name} < {dialect.number(0.0)} "
    cases += f"THEN {dialect.number(first)} WHEN NOT {dialect.is_nan(name)}"
    return f"CASE {cases} THEN {dialect.number(last)} END"


def _fixed(column: Number, stored: Fixed, dialect: Dialect) -> list[Stage]:
    unit, most = 10**stored.scale, 10**stored.width - 1
    low = max(math.floor(column.low * unit), -most)
    high = min(math.ceil(column.high * unit), most)
    if low >= high:
        return _one_end(column, column.low * unit >= most, dialect)
    p, q = column.grid.numerator, column.grid.denominator
    width = max(len(str(max(abs(low), abs(high)))), stored.scale)
    factor = len(str(2 * q))
    if width + factor > dialect.digits:
        raise too_wide()
    if width + factor > _NARROW_DECIMAL:
        width = max(width, _NARROW_DECIMAL + 1)
    below, above = (math.floor(Fraction(2 * q * end, unit)) for end in (low, high))
    kind = dialect.holding(below, above)

    def clamped(name: str) -> str:
        own = f"DECIMAL({stored.width}, {stored.scale})"
        ends = [f"CAST('{_decimal(end, stored.scale)}' AS {own})" for end in (low, high)]
        return f"CAST({between(name, *ends)} AS DECIMAL({width}, {stored.scale}))"

    def doubled(name: str) -> str:
        return f"CAST(FLOOR({name} * CAST({2 * q} AS DECIMAL({factor}, 0))) AS {kind})"

    def rounded(name: str) -> Whole:
        # floor((2qx + p) / 2p) is the same of 2qx and of floor(2qx)
        return Whole(name, below, above, dialect, kind).plus(p).floor_divide(2 * p)

    return [clamped, doubled, *finish(column, rounded)]


def between(name: str, low: str, high: str) -> str:
    """The nearest value from `low` to `high`."""
    return f"CASE WHEN {name} < {low} THEN {low} WHEN {name} > {high} THEN {high} ELSE {name} END"


def _one_end(column: Number, below: bool, dialect: Dialect) -> list[Stage]:
    """The bounds lie beyond what the storage can hold: every value is clamped to one of them."""
    step = first_step(column) if below else last_step(column)
    return [lambda name: Whole(name, 0, 0, dialect).constant(step).sql]


def _decimal(units: int, scale: int) -> str:
    digits = str(abs(units)).rjust(scale + 1, "0")
    point = len(digits) - scale
    return f"{'-' * (units < 0)}{digits[:point]}{'.' * (scale > 0)}{digits[point:]}"


def finish(column: Bounded, rounded: Callable[[str], Whole]) -> list[Stage]:
    """Rounds, then clamps to the bounds in 64 bits; stages without effect are left out."""
    probe = rounded("x")
    stages: list[Stage] = [] if probe.sql == "x" else [lambda name: rounded(name).sql]

    def inside(name: str) -> Whole:
        value = Whole(name, probe.low, probe.high, probe.dialect, probe.type)
        clamped = value.clamp(first_step(column), last_step(column))
        return clamped if clamped.type == probe.dialect.long else clamped.narrow()

    return stages if inside("x").sql == "x" else [*stages, lambda name: inside(name).sql]


def rounded_where(column: Column, stored: Storage, raw: str, dialect: Dialect) -> str | None:
    """The SQL that is true where a stored value has a fraction that the assumed grid drops.

    None if that cannot be: a grid is stated, or the storage has whole numbers only. `raw` is the
    name of the stored value. Never NULL, so that it can be counted.
    """
    if not isinstance(column, Number) or not column.assumed_grid or column.expression is not None:
        return None
    if isinstance(stored, Fixed) and stored.scale > 0:
        return f"COALESCE({raw} <> FLOOR({raw}), FALSE)"
    if isinstance(stored, Floating):
        value = f"CAST({raw} AS {dialect.double})"
    elif isinstance(stored, Written):
        value = dialect.read(raw, dialect.double)
    else:
        return None
    # to an engine NaN may be equal to itself or not
    return f"COALESCE({value} <> FLOOR({value}) AND NOT {dialect.is_nan(value)}, FALSE)"


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
    """How a stored day or moment becomes days or microseconds, as in `counts`; values beyond `low`
    and `high` may be clamped to them."""
    if isinstance(stored, Nothing):
        return [lambda _: f"CAST(NULL AS {dialect.long})"], low, high
    if not isinstance(stored, Written):
        return (_days if isinstance(column, Date) else _micros)(low, high, stored, dialect)
    if isinstance(column, Date):
        kind, (stages, first, last) = dialect.day, dialect.days(low, high)
    else:
        kind = dialect.moment
        stages, first, last = dialect.micros(Moment(kind), low, high)
    return [lambda name: dialect.read(name, kind), *stages], first, last


def _days(low: int, high: int, stored: Storage, dialect: Dialect) -> Counted:
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
