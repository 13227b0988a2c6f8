"""Whole numbers in SQL whose range is known, so that no operation on them can overflow.

An overflow would be an error that depends on one row. Every operation here computes the range of
its result first, from the schema and the storage type alone, and widens the type where it must.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ...errors import Refused, refuse

_LONG = 2**63
_HUGE = 2**126


def integer(value: int) -> str:
    """The literal of a whole number, which may stand after any operator."""
    return str(value) if value >= 0 else f"({value})"


def too_wide() -> Refused:
    """The refusal of a column that exact arithmetic cannot hold."""
    return refuse("engine.column-s-storage-and-its-grid-together")


def holding(low: int, high: int) -> str:
    """The narrowest integer type, of the two that are used, for this range.

    Example
        >>> holding(0, 255), holding(0, 2**63)
        ('BIGINT', 'HUGEINT')
    """
    if low >= -_LONG and high < _LONG:
        return "BIGINT"
    if low > -_HUGE and high < _HUGE:
        return "HUGEINT"
    raise too_wide()


@dataclass(frozen=True)
class Whole:
    """An integer expression: NULL where the value is missing, else from `low` to `high`.

    type: the expression's SQL type, BIGINT or HUGEINT.
    before: what a constant was added to, and that constant. Two constants in a row are added here:
        DuckDB would add them itself, in BIGINT, and fail where their sum is larger.

    Example
        >>> Whole("x", -10, 10).plus(1).floor_divide(4).sql
        '(((x + 13) // 4) - 3)'
    """

    sql: str
    low: int
    high: int
    type: str = "BIGINT"
    before: tuple[Whole, int] | None = field(default=None, repr=False)

    def plus(self, number: int) -> Whole:
        """The sum with a constant."""
        if self.before is not None:
            start, added = self.before
            return start.plus(added + number)
        if number == 0:
            return self
        low, high = self.low + number, self.high + number
        wide = self._able(low, high, number)
        sign = "+" if number > 0 else "-"
        sql = f"({wide.sql} {sign} {abs(number)})"
        return Whole(sql, low, high, wide.type, (self, number))

    def times(self, number: int) -> Whole:
        """The product with a constant above 0."""
        if number == 1:
            return self
        low, high = self.low * number, self.high * number
        wide = self._able(low, high, number)
        return Whole(f"({wide.sql} * {number})", low, high, wide.type)

    def floor_divide(self, divisor: int) -> Whole:
        """The quotient by a constant above 0, rounded down. (SQL's own cuts towards 0.)"""
        if divisor == 1:
            return self
        low, high = self.low // divisor, self.high // divisor
        if low == high:
            return self.constant(low)
        if low + 1 == high:
            # the divisor itself may be beyond every integer type
            cut = integer(high * divisor)
            cases = f"WHEN {self.sql} < {cut} THEN {integer(low)} "
            cases += f"WHEN {self.sql} >= {cut} THEN {integer(high)}"
            kind = holding(low, high)
            return Whole(f"CAST(CASE {cases} END AS {kind})", low, high, kind)
        shift = -min(low, 0)
        raised = self.plus(shift * divisor)
        quotient = f"({raised.sql} // {divisor})"
        return Whole(quotient, low + shift, high + shift, raised.type).plus(-shift)

    def clamp(self, low: int, high: int) -> Whole:
        """The nearest number from `low` to `high`."""
        if self.high <= low or self.low >= high:
            return self.constant(low if self.high <= low else high)
        cases = []
        if self.low < low:
            cases.append(f"WHEN {self.sql} < {integer(low)} THEN {integer(low)}")
        if self.high > high:
            cases.append(f"WHEN {self.sql} > {integer(high)} THEN {integer(high)}")
        if not cases:
            return self
        sql = f"CASE {' '.join(cases)} ELSE {self.sql} END"
        return Whole(sql, max(self.low, low), min(self.high, high), self.type).narrow()

    def constant(self, value: int) -> Whole:
        """One number wherever the value is not missing."""
        sql = f"CASE WHEN {self.sql} IS NOT NULL THEN {integer(value)} END"
        return Whole(f"CAST({sql} AS {holding(value, value)})", value, value, holding(value, value))

    def narrow(self) -> Whole:
        """The same numbers in the narrowest type."""
        kind = holding(self.low, self.high)
        return Whole(f"CAST({self.sql} AS {kind})", self.low, self.high, kind)

    def _able(self, low: int, high: int, number: int) -> Whole:
        kind = holding(min(low, self.low, -abs(number)), max(high, self.high, abs(number)))
        if kind == "BIGINT" or kind == self.type:
            return self
        return Whole(f"CAST({self.sql} AS {kind})", self.low, self.high, kind)
