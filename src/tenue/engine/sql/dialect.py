"""The differences between SQL engines, and the form of days and moments in texts on all of them.

A day is a year from 0001 to 9999, a month and a day, with - or / between them. A moment is a day, a
space or T, hours and minutes, maybe seconds and a fraction of them. A moment that ends in Z, UTC or
an offset such as +02, +0230 or -05:00 is an instant, and read in UTC as stored instants are. Spaces
around do not count; infinity and -infinity, or inf, are beyond every bound. Everything else is no
day and no moment: another order of day and month, a year of another length, 24:00, AM or PM.

The patterns use only what every engine's regular expressions share. Whether a year has a 29th of
February is left to the engine.

The rest of this room writes SQL that every engine reads alike, and asks a dialect for everything
else. A new engine defines one dialect; nothing here changes.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from ...errors import Refused, refuse
from ..storage import Moment, Storage


def _months(between: str) -> str:
    long = f"(0?[13578]|1[02]){between}(0?[1-9]|[12][0-9]|3[01])"
    short = f"(0?[469]|11){between}(0?[1-9]|[12][0-9]|30)"
    return f"({long}|{short}|0?2{between}(0?[1-9]|[12][0-9]))"


_YEAR = "([0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)"  # there is no year 0
_DAY = f"{_YEAR}(-{_months('-')}|/{_months('/')})"
_TIME = "([01]?[0-9]|2[0-3]):[0-5]?[0-9](:[0-5]?[0-9]([.][0-9]+)?)?"
_ZONE = " ?(Z|UTC|[+-](0[0-9]|1[0-5])(:?[0-5][0-9])?)"

LOCAL = f"^{_DAY}([ T]{_TIME})?$"
"""A day, or a moment without a zone."""
INSTANT = f"^{_DAY}[ T]{_TIME}{_ZONE}$"
"""A moment with a zone."""
NEVER, EVER = ("-infinity", "-inf"), ("infinity", "inf")
"""In lower case, the words for a moment before, and after, every bound."""

Part = Literal["year", "quarter", "month", "week", "day", "doy"]
"""The fields of a day that an engine computes."""

Stage = Callable[[str], str]
"""The SQL of a value, given the name of the stage before."""

Counted = tuple[list[Stage], int, int]
"""Stages that end in an integer, and the range of that."""

SPACES = " \t\n\v\f\r"
"""Characters that do not count around a text."""

LONGEST = 1000
"""The most characters of a written number, without the spaces around it: some engines cannot read
more, and fail."""

_LONG = 2**63
_HUGE = 2**126


def too_wide() -> Refused:
    """The refusal of a column that exact arithmetic cannot hold."""
    return refuse("engine.grid-too-fine-stored")


@dataclass(frozen=True)
class Dialect(ABC):
    """How one engine spells SQL.

    Guarantee
        No value of a row makes a dialect's SQL fail; NULL stays NULL.

    Parameters
        long, huge: the types of whole numbers of 64 bits, and of at least 126, if there is one.
        double, text, day, moment: the types of IEEE doubles, texts, days, and moments without zone.
        signed, unsigned: narrower types by their bits, in which rows are handed over.
        collation: the one that compares texts byte by byte.
        divide: the operator that divides whole numbers that are not negative, rounded down.
        alias: follows a SELECT in brackets after FROM.
        trim: the function that removes given characters around a text.
        fails: whether a double that overflows, or underflows, is an error.
        logged: whether others may log statements; then no value of a row stands in any of them.
        scattered: whether rows lie on many machines, so that nothing can be sorted as a whole.
        digits: how many digits two decimals may have together whose product is exact.
        bit: the type that a boolean becomes as a number; the narrowest if none is stated.
        arithmetic: whether a step of arithmetic on doubles takes less time than a comparison, and
            never fails; then rows are clamped without comparing them.
        most_rows: how many rows a table may have, if that was checked when it was opened.
    """

    long: str
    huge: str | None
    double: str
    text: str
    day: str
    moment: str
    collation: str
    divide: str
    alias: str = ""
    trim: str = "trim"
    fails: bool = False
    logged: bool = False
    scattered: bool = False
    digits: int = 38
    bit: str = ""
    arithmetic: bool = False
    most_rows: int | None = None
    signed: tuple[tuple[int, str], ...] = ()
    unsigned: tuple[tuple[int, str], ...] = ()

    def literal(self, text: str) -> str:
        return "'" + text.replace("'", "''") + "'"

    def quoted(self, name: str) -> str:
        return '"' + name.replace('"', '""') + '"'

    def trimmed(self, text: str) -> str:
        """A text without the `SPACES` around it; the default set differs between engines."""
        return f"{self.trim}({text}, {self.literal(SPACES)})"

    def number(self, value: float) -> str:
        """The literal of a double, which may stand after any operator."""
        if not math.isfinite(value):
            return f"CAST('{value}' AS {self.double})"
        text = repr(value) if "e" in repr(value) else f"{value!r}e0"
        return text if value >= 0 else f"({text})"

    def holding(self, low: int, high: int) -> str:
        """The narrower of the integer types `long` and `huge` that holds this range."""
        if low >= -_LONG and high < _LONG:
            return self.long
        if self.huge is not None and low > -_HUGE and high < _HUGE:
            return self.huge
        raise too_wide()

    def nested(self, sql: str) -> str:
        """A SELECT, as it stands after FROM."""
        return f"({sql}){self.alias}"

    def fenced(self, sql: str) -> str:
        """The same, where an engine must not put expressions in place of this SELECT's names."""
        return self.nested(sql)

    def quotient(self, value: str, divisor: int | str, kind: str) -> str:
        """A whole number of this type, not negative, divided by one above 0, rounded down.

        divisor: a constant, or SQL of the same type.
        """
        return f"({value} {self.divide} {divisor})"

    def nearest(self, value: str, low: str, high: str) -> str:
        """The nearest number from `low` to `high`, of a value that is not NULL."""
        cut = f"WHEN {value} < {low} THEN {low} WHEN {value} > {high} THEN {high}"
        return f"CASE {cut} ELSE {value} END"

    def total(self, value: str, largest: int | None = None) -> str:
        """The exact sum of whole numbers, however large.

        largest: the largest absolute value of any of them, where that is known.
        """
        return f"SUM({value})"

    def stored(self, name: str, kind: Storage) -> str:
        """A stored value about which the engine assumes nothing: a double may be NaN."""
        return name

    def seen(self, name: str, kind: Storage) -> str:
        """A stored value as a reader of all rows sees it, compared byte by byte."""
        return name

    def place(self) -> str:
        """The number of a row, from 1, in the order in which rows are found."""
        return "row_number() OVER ()"

    def number_of_row(self) -> str:
        """A number from 0 for each row, by which every second, third, ... is found."""
        return f"{self.place()} - 1"

    def hidden(self, name: str) -> str:
        """A value whose statistics the engine does not use."""
        return name

    def unfiltered(self) -> Dialect:
        """The dialect of a SELECT without a condition, which skips no rows."""
        return self

    def is_nan(self, name: str) -> str:
        """Whether a double is NaN."""
        return f"({name} = {self.number(math.nan)})"

    def is_endless(self, name: str) -> str:
        """Whether a stored day or moment is infinite, on engines that have such."""
        return "FALSE"

    @abstractmethod
    def read(self, text: str, kind: str) -> str:
        """A text as a double, day or moment; NULL if it is none."""

    @abstractmethod
    def category(self, text: str, words: str) -> str:
        """The number of a text among the words, as the engine keeps them in `Held.words`."""

    @abstractmethod
    def hash(self, value: str) -> str:
        """A whole number of 64 bits, not negative: equal for equal values, rarely for others."""

    @abstractmethod
    def quantiles(self, value: str, places: Sequence[str]) -> str:
        """A list of the smallest values that at least these fractions of all do not exceed; the
        fractions are written as `number` writes them."""

    @abstractmethod
    def days(self, low: int, high: int) -> Counted:
        """How a stored day becomes days since 1970 began, clamped to `low` and `high`."""

    @abstractmethod
    def micros(self, stored: Moment, low: int, high: int) -> Counted:
        """How a stored moment becomes microseconds since 1970 began; values beyond `low` and `high`
        may be clamped to them."""

    @abstractmethod
    def date(self, days: str) -> str:
        """The day that comes so many after 1970 began."""

    @abstractmethod
    def part(self, part: Part, day: str) -> str:
        """The year of a day, its quarter, month, week of ISO 8601, day of the month or of the year,
        all from 1."""
