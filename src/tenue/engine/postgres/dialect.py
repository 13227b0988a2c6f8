"""How PostgreSQL spells SQL, and what its types mean.

PostgreSQL has no cast that gives NULL instead of an error, and an error would reveal a row. So a
text is checked first: it is cast only if the cast is certain to succeed.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from ..sql.dialect import EVER, INSTANT, LOCAL, LONGEST, NEVER, Counted, Dialect, Part, Stage
from ..sql.grid_values import between
from ..storage import Day, Fixed, Floating, Integer, Moment, Opaque, Storage, Text, Truth, Written

_MICRO = timedelta(microseconds=1)
_FIRST = datetime.min - datetime(1970, 1, 1)
_CYCLE = timedelta(days=146097)  # 400 years
_WHOLE_DIGITS, _DECIMALS = 400, 550  # beyond every double; both together less than LONGEST
_FEW = 32  # up to this many words are compared one by one; more are looked up

# the numbers that DuckDB reads, with spaces around and underscores between digits
_DIGITS = "[0-9]+(_[0-9]+)*"
_NUMBER = f"^[+]?-?({_DIGITS}[.]?({_DIGITS})?|[.]{_DIGITS})([eE][+-]?{_DIGITS})?$"
_HUGE = "^[+]?-?(inf|infinity)$"
_NAN = "^[+]?-?nan$"
_EXPONENT = "[eE][+]?0*[1-9][0-9]{3}"
_SMALL = "[eE]-0*[1-9][0-9]{3}"


@dataclass(frozen=True)
class _Postgres(Dialect):
    def literal(self, text: str) -> str:
        if "\0" in text:  # which no text of the server can hold
            return f"CAST(NULL AS {self.text})"
        return super().literal(text)

    def number(self, value: float) -> str:
        word = "NaN" if value != value else repr(value).replace("inf", "Infinity")
        return f"CAST('{word}' AS {self.double})"

    def fenced(self, sql: str) -> str:
        # without it a formula of four levels over texts is an expression that takes minutes
        return self.nested(f"{sql} OFFSET 0")

    def quotient(self, value: str, divisor: int | str, kind: str) -> str:
        if kind == self.long:
            return super().quotient(value, divisor, kind)
        return f"div({value}, {divisor})"  # the quotient of decimals is not whole

    def nearest(self, value: str, low: str, high: str) -> str:
        return f"LEAST(GREATEST({value}, {low}), {high})"  # computes the value once

    def stored(self, name: str, kind: Storage) -> str:
        if isinstance(kind, Fixed) or kind == DECIMAL:
            name = f"NULLIF({name}, CAST('NaN' AS numeric))"
        if kind == DECIMAL:  # 1 and 1.00 are one number, and must be one text
            name = f"trim_scale({name})"
        if kind == WRITTEN_DECIMAL:
            # it has up to 131,072 digits before its point and 16,383 behind, and a text of so many
            # is not read; what is cut off is beyond every bound, or decides no rounding
            number = f"NULLIF({name}, CAST('NaN' AS numeric))"
            far = f"1e{_WHOLE_DIGITS}"
            near = f"CASE WHEN {number} > {far} THEN {far} WHEN {number} < -{far} THEN -{far}"
            name = f"trim_scale(trunc({near} ELSE {number} END, {_DECIMALS}))"
        if isinstance(kind, Written) or (isinstance(kind, Text) and kind.type):
            return f"CAST({name} AS {self.text}) COLLATE {self.collation}"
        return name

    def seen(self, name: str, kind: Storage) -> str:
        if kind == DECIMAL:
            nan = f"{name} = CAST('NaN' AS numeric)"
            return f"CASE WHEN {nan} THEN {self.number(math.nan)} ELSE {_double_of(name, self)} END"
        if isinstance(kind, Fixed):
            return f"CAST({name} AS {self.double})"
        if isinstance(kind, Text):
            return f"CAST({name} AS {self.text}) COLLATE {self.collation}"
        return name

    def is_endless(self, name: str) -> str:
        return f"(NOT isfinite({name}))"

    def read(self, text: str, kind: str) -> str:
        if kind == self.double:
            return _read_double(text, self)
        if kind in (self.day, self.moment):
            return _read_time(text, kind, self)
        return _read_decimal(text, kind, self)

    def category(self, text: str, words: str) -> str:
        if words.startswith("WHEN "):
            return f"CASE {text} {words} END"
        return f"CAST(CAST({words} AS jsonb) ->> CAST({text} AS {self.text}) AS INTEGER)"

    def words(self, categories: Sequence[str]) -> str:
        """The words that `category` needs to number these."""
        if len(categories) <= _FEW:
            numbered = enumerate(map(self.literal, categories))
            return " ".join(f"WHEN {word} THEN {i}" for i, word in numbered) or "WHEN NULL THEN 0"
        known = {word: i for i, word in enumerate(categories) if "\0" not in word}
        return self.literal(json.dumps(known, ensure_ascii=False))

    def hash(self, value: str) -> str:
        return f"(hashtextextended(CAST({value} AS {self.text}), 0) & {2**63 - 1})"

    def quantiles(self, value: str, places: Sequence[str]) -> str:
        return f"percentile_disc(ARRAY[{', '.join(places)}]) WITHIN GROUP (ORDER BY {value})"

    def days(self, low: int, high: int) -> Counted:
        ends = [f"(DATE '1970-01-01' + ({end}))" for end in (low, high)]
        stages: list[Stage] = [
            lambda day: between(day, *ends),  # infinity has no distance
            lambda day: f"CAST({day} - DATE '1970-01-01' AS {self.long})",
        ]
        return stages, low, high

    def micros(self, stored: Moment, low: int, high: int) -> Counted:
        ends = [self.moment_literal(end, stored) for end in (low, high)]
        stages: list[Stage] = [
            lambda name: between(name, *ends),
            lambda name: f"CAST(EXTRACT(EPOCH FROM {name}) * 1000000 AS {self.long})",
        ]
        return stages, low, high

    def moment_literal(self, micros: int, stored: Moment) -> str:
        """The moment `micros` microseconds after 1970 began, as the column is stored."""
        # the calendar repeats; Python's ends with the year 9999
        cycles, rest = divmod(micros * _MICRO - _FIRST, _CYCLE)
        moment = datetime.min + rest
        year = moment.year + 400 * cycles
        day = f"{year if year > 0 else 1 - year:04d}-{moment:%m-%d %H:%M:%S.%f}"
        zone = "+00" if stored.type == ZONED else ""
        return f"{stored.type} '{day}{zone}{'' if year > 0 else ' BC'}'"

    def date(self, days: str) -> str:
        return f"(DATE '1970-01-01' + CAST({days} AS INTEGER))"

    def part(self, part: Part, day: str) -> str:
        return f"CAST(EXTRACT({part} FROM {day}) AS {self.long})"


def _plain(word: str) -> str:
    """A number without the signs that PostgreSQL does not read: underscores, and + before -."""
    return f"ltrim(replace({word}, '_', ''), '+')"


def _double_of(exact: str, dialect: _Postgres) -> str:
    """A decimal as a double; one beyond the range of doubles is infinite or 0, and no failure."""
    low, high = (f"CAST('{sign}1.7976931348623157e308' AS numeric)" for sign in ("-", ""))
    tiny, infinite = "CAST('4.94e-324' AS numeric)", dialect.number(math.inf)
    return (
        f"CASE WHEN {exact} > {high} THEN {infinite} WHEN {exact} < {low} THEN -{infinite} "
        f"WHEN abs({exact}) < {tiny} THEN {dialect.number(0.0)} "
        f"ELSE CAST({exact} AS {dialect.double}) END"
    )


def _read_double(text: str, dialect: _Postgres) -> str:
    """A text as a double: through a decimal that is clamped first, for an exponent may be beyond
    both.

    A number with an exponent of four digits or more is infinite or 0, whatever its digits are.
    """
    shape, infinite = dialect.trimmed(text), dialect.number(math.inf)
    word = _plain(shape)
    exact = f"CAST({word} AS numeric)"
    clamped = _double_of(exact, dialect)
    negative = f"CASE WHEN {word} ~ '^[+]?-' THEN -{infinite} ELSE {infinite} END"
    zero = f"{word} ~ '^[+-]*[0.]*([eE]|$)'"
    return (
        f"CASE WHEN length({shape}) > {LONGEST} THEN NULL "
        f"WHEN {shape} ~ '{_NUMBER}' THEN CASE WHEN {zero} THEN {dialect.number(0.0)} "
        f"WHEN {word} ~ '{_EXPONENT}' THEN {negative} "
        f"WHEN {word} ~ '{_SMALL}' THEN {dialect.number(0.0)} ELSE {clamped} END "
        f"WHEN {shape} ~* '{_HUGE}' THEN {negative} "
        f"WHEN {shape} ~* '{_NAN}' THEN {dialect.number(math.nan)} END"
    )


def _read_decimal(text: str, kind: str, dialect: _Postgres) -> str:
    """A text or a double as a decimal of this kind; NULL if it does not fit."""
    found = re.search(r"\((\d+), (\d+)\)", kind)
    assert found is not None  # noqa: S101 - nothing else is read
    whole = int(found[1]) - int(found[2])
    shape = dialect.trimmed(f"CAST({text} AS {dialect.text})")
    word = _plain(shape)
    exact = f"CAST({word} AS numeric)"
    return (
        f"CASE WHEN length({shape}) <= {LONGEST} AND {shape} ~ '{_NUMBER}' "
        f"AND NOT {word} ~ '{_EXPONENT}' AND NOT {word} ~ '{_SMALL}' "
        f"THEN CASE WHEN abs({exact}) < 1e{whole} - 1 THEN CAST({exact} AS {kind}) END END"
    )


def _read_time(text: str, kind: str, dialect: _Postgres) -> str:
    """A text as a day or moment: cast where that is certain to succeed, and clamped before."""
    word = dialect.trimmed(text)
    # finer digits are dropped downwards, where a cast would round them
    plain = f"regexp_replace(replace({word}, '/', '-'), '([.][0-9]{{6}})[0-9]+', '\\1')"
    early, late = (", ".join(map(dialect.literal, words)) for words in (NEVER, EVER))
    year = f"CAST(substr({word}, 1, 4) AS INTEGER)"
    has_29 = f"({year} % 4 = 0 AND ({year} % 100 <> 0 OR {year} % 400 = 0))"
    leap = f"({word} !~ '^[0-9]{{4}}[-/]0?2[-/]29' OR {has_29})"
    instant = f"(CAST({plain} AS timestamptz) AT TIME ZONE 'UTC')"
    return (
        f"CASE WHEN {word} ~ '{LOCAL}' OR {word} ~ '{INSTANT}' THEN "
        f"CASE WHEN NOT {leap} THEN NULL "
        f"WHEN {word} ~ '{LOCAL}' THEN CAST(CAST({plain} AS timestamp) AS {kind}) "
        f"ELSE CAST({instant} AS {kind}) END "
        f"WHEN lower({word}) IN ({late}) THEN CAST('infinity' AS {kind}) "
        f"WHEN lower({word}) IN ({early}) THEN CAST('-infinity' AS {kind}) END"
    )


ZONED = "timestamp with time zone"
POSTGRES = _Postgres(
    long="BIGINT",
    huge="NUMERIC",
    double="DOUBLE PRECISION",
    text="text",
    day="date",
    moment="timestamp",
    collation='"C"',
    divide="/",
    alias=" AS nested",
    trim="btrim",
    fails=True,
    logged=True,
    bit="INTEGER",
    signed=((16, "SMALLINT"), (32, "INTEGER")),
    unsigned=((15, "SMALLINT"), (31, "INTEGER"), (63, "BIGINT")),
)

DECIMAL = Text("numeric")
WRITTEN_DECIMAL = Written(DECIMAL.type)
"""Decimals of any number of digits, or infinite: their text is read as a number."""
_BITS = {"smallint": 16, "integer": 32, "bigint": 64}
_DECIMAL = re.compile(r"numeric\((\d+),(-?\d+)\)")
_NAMED: dict[str, Storage] = {
    **{name: Integer(name, -(1 << bits - 1), (1 << bits - 1) - 1) for name, bits in _BITS.items()},
    "real": Floating(single=True),
    "double precision": Floating(),
    "text": Text(),
    "character varying": Text(),
    "character": Text("character"),
    "uuid": Text("UUID"),
    "boolean": Truth(),
    "date": Day(),
    "timestamp without time zone": Moment("timestamp"),
    ZONED: Moment(ZONED),
    "numeric": DECIMAL,
}


def storage(type_name: str, *, enumeration: bool = False) -> Storage:
    """The storage that a PostgreSQL type name means.

    Example
        >>> storage("numeric(18,2)"), storage("smallint")
        (Fixed(width=18, scale=2), Integer(type='smallint', low=-32768, high=32767))
    """
    decimal = _DECIMAL.fullmatch(type_name)
    if decimal and 0 <= int(decimal[2]) <= int(decimal[1]) <= 38:
        return Fixed(int(decimal[1]), int(decimal[2]))
    if enumeration:
        return Text("ENUM")
    plain = re.sub(r"\(\d+\)", "", type_name)
    return _NAMED.get(plain, DECIMAL if decimal else Opaque())
