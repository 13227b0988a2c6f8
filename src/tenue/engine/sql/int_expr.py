"""Whole numbers in SQL whose range is known, so that no operation on them can overflow.

An overflow would be an error that depends on one row. Every operation here computes the range of
its result first, from the schema and the storage type alone, and widens the type where it must.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from .dialect import Dialect


def integer(value: int) -> str:
    """The literal of a whole number, which may stand after any operator."""
    return str(value) if value >= 0 else f"({value})"


@dataclass(frozen=True)
class Whole:
    """An integer expression: NULL where the value is missing, else from `low` to `high`.

    type: the expression's SQL type, `long` (the default) or `huge` of `dialect`.
    before: the summand of a constant, and that constant. Two constants in a row are added here: an
        engine may add them itself, in 64 bits, and fail where their sum is larger.
    """

    sql: str
    low: int
    high: int
    dialect: Dialect
    type: str = ""
    before: tuple[Whole, int] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "type", self.type or self.dialect.long)

    def plus(self, number: int) -> Whole:
        if self.before is not None:
            start, added = self.before
            return start.plus(added + number)
        if number == 0:
            return self
        low, high = self.low + number, self.high + number
        wide = self._able(low, high, number)
        sign = "+" if number > 0 else "-"
        sql = f"({wide.sql} {sign} {abs(number)})"
        return Whole(sql, low, high, self.dialect, wide.type, (self, number))

    def times(self, number: int) -> Whole:
        """The product with a constant above 0."""
        if number == 1:
            return self
        low, high = self.low * number, self.high * number
        wide = self._able(low, high, number)
        return Whole(f"({wide.sql} * {number})", low, high, self.dialect, wide.type)

    def floor_divide(self, divisor: int) -> Whole:
        """The quotient by a constant above 0, rounded down. (SQL's own rounds towards 0.)"""
        if divisor == 1:
            return self
        low, high = self.low // divisor, self.high // divisor
        if low == high:
            return self.constant(low)
        if low + 1 == high:
            # the divisor itself may be beyond every integer type
            border = integer(high * divisor)
            cases = f"WHEN {self.sql} < {border} THEN {integer(low)} "
            cases += f"WHEN {self.sql} >= {border} THEN {integer(high)}"
            return self._typed(f"CASE {cases} END", low, high)
        shift = -min(low, 0)
        raised = self.plus(shift * divisor)
        sql = self.dialect.quotient(raised.sql, divisor, raised.type)
        return Whole(sql, low + shift, high + shift, self.dialect, raised.type).plus(-shift)

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
        return self._typed(sql, max(self.low, low), min(self.high, high))

    def constant(self, value: int) -> Whole:
        """One number wherever the value is present."""
        sql = f"CASE WHEN {self.sql} IS NOT NULL THEN {integer(value)} END"
        return self._typed(sql, value, value)

    def narrow(self) -> Whole:
        """The same numbers in the narrowest type."""
        return self._typed(self.sql, self.low, self.high)

    def _typed(self, sql: str, low: int, high: int) -> Whole:
        kind = self.dialect.holding(low, high)
        return Whole(f"CAST({sql} AS {kind})", low, high, self.dialect, kind)

    def _able(self, low: int, high: int, number: int) -> Whole:
        ends = min(low, self.low, -abs(number)), max(high, self.high, abs(number))
        kind = self.dialect.holding(*ends)
        if kind in (self.dialect.long, self.type):
            return self
        return Whole(f"CAST({self.sql} AS {kind})", self.low, self.high, self.dialect, kind)
