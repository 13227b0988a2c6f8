"""How Spark spells SQL, and what its types mean.

Every text stands in a statement as its bytes in hexadecimal digits, so that no quote, backslash or
setting of a session can change its meaning. Everybody who watches the cluster sees statements: no
value of a row stands in any.
"""

from __future__ import annotations

import json
import math
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

from ..sql.dialect import EVER, INSTANT, LOCAL, LONGEST, NEVER, Counted, Dialect, Part, Stage
from ..sql.int_expr import Whole
from ..storage import Day, Fixed, Floating, Integer, Moment, Nothing, Opaque, Storage, Text, Truth

ZONED = "TIMESTAMP"
UNZONED = "TIMESTAMP_NTZ"
_LONG = 2**63
_INT = 2**31
_MOST_ROWS = 2**40
_CHUNK = 22  # bits; so many rows of numbers below 2^22 add up below 2^62
_FEW = 16  # up to this many words are compared one by one
_LISTED = 4  # words of a list, about
_DAY = 24 * 60 * 60 * 10**6

# what DuckDB reads, with spaces around it; `#` ends a text, for `$` may stand before a line's end
_DIGITS = "[0-9]+(_[0-9]+)*"
_NUMBER = f"^[+]?-?({_DIGITS}[.]?({_DIGITS})?|[.]{_DIGITS})([eE][+-]?{_DIGITS})?#$"
_ENDLESS = "^[+]?-?(inf|infinity)#$"
_NAN = "^[+]?-?nan#$"
_OFFSET = " ?([+-])([0-9]{2}):?([0-9]{2})?$"
_ZONE = " ?(Z|UTC|[+-][0-9]{2}(:?[0-9]{2})?)$"
_FARTHEST = 10**7  # days beyond every bound, on both sides


@dataclass(frozen=True)
class _Spark(Dialect):
    def literal(self, text: str) -> str:
        return f"CAST(X'{text.encode('utf-8', 'surrogatepass').hex()}' AS {self.text})"

    def quoted(self, name: str) -> str:
        return "`" + name.replace("`", "``") + "`"

    def number(self, value: float) -> str:
        if not math.isfinite(value):
            return super().number(value)
        return f"{value!r}D" if value >= 0 else f"({value!r}D)"

    def quotient(self, value: str, divisor: int | str, kind: str) -> str:
        if kind == self.long:
            return super().quotient(value, divisor, kind)
        # `div` gives 64 bits, and the quotient of decimals is rounded
        own = f"CAST({divisor} AS {self.huge})"
        return f"CAST(({value} - {value} % {own}) / {own} AS {self.huge})"

    def total(self, value: str, largest: int | None = None) -> str:
        if largest is None or largest >= _LONG:
            return f"SUM(CAST({value} AS {self.huge}))"
        if largest * _MOST_ROWS < _LONG:
            return f"SUM({value})"
        # several sums of few bits are much faster than one of decimals
        parts, shift, left = [], 0, largest
        while left * _MOST_ROWS >= _LONG:
            low = f"(shiftright({value}, {shift}) & {(1 << _CHUNK) - 1})"
            parts.append((low, shift))
            shift, left = shift + _CHUNK, left >> _CHUNK
        parts.append((f"shiftright({value}, {shift})", shift))
        return "(" + " + ".join(f"CAST(SUM({p}) AS {self.huge}) * {1 << s}" for p, s in parts) + ")"

    def stored(self, name: str, kind: Storage) -> str:
        # values of special types are compared as texts
        return f"CAST({name} AS {self.text})" if isinstance(kind, Text) and kind.type else name

    def read(self, text: str, kind: str) -> str:
        word = self.trimmed(f"CAST({text} AS {self.text})")
        if kind in (self.day, self.moment):
            return _read_time(word, kind, self)
        # without the signs that Spark does not read: underscores, and + before -
        plain = f"trim(LEADING '+' FROM replace({word}, '_', ''))"
        number = f"WHEN length({word}) <= {LONGEST} AND {_like(word, _NUMBER)} "
        number += f"THEN try_cast({plain} AS {kind}) "
        if kind != self.double:
            return f"CASE {number}END"
        endless = f"WHEN {_like(f'lower({word})', _ENDLESS)} THEN "
        endless += f"CASE WHEN {plain} LIKE '-%' THEN {self.number(-math.inf)} "
        endless += f"ELSE {self.number(math.inf)} END "
        nan = f"WHEN {_like(f'lower({word})', _NAN)} THEN {self.number(math.nan)} "
        return f"CASE {number}{endless}{nan}END"

    def category(self, text: str, words: str) -> str:
        return words.replace(_TEXT, text)

    def words(self, categories: Sequence[str]) -> str:
        """The words that `category` needs to number these.

        Many words are found by a checksum in lists of few, which stand in the statement as one
        text: Spark parses it once, while a comparison for each word would take seconds.
        """
        if not categories:
            return f"CASE WHEN {_TEXT} IS NULL THEN 0 END"  # never: NULL is not numbered
        if len(categories) <= _FEW:
            tests = " ".join(f"WHEN {self.literal(w)} THEN {i}" for i, w in enumerate(categories))
            return f"CASE {_TEXT} {tests} END"
        lists: list[list[int]] = [[] for _ in range(-(-len(categories) // _LISTED))]
        for i, word in enumerate(categories):
            lists[zlib.crc32(word.encode()) % len(lists)].append(i)
        words = self.literal(json.dumps([[categories[i] for i in listed] for listed in lists]))
        numbers = self.literal(json.dumps(lists))
        which = f"[CAST(pmod(crc32({_TEXT}), {len(lists)}) AS INT)]"
        own = f"from_json({words}, 'array<array<string>>'){which}"
        place = f"CAST(nullif(array_position({own}, {_TEXT}), 0) AS INT)"
        return f"element_at(from_json({numbers}, 'array<array<int>>'){which}, {place})"

    def seen(self, name: str, kind: Storage) -> str:
        if isinstance(kind, Fixed):
            return f"CAST({name} AS {self.double})"
        if isinstance(kind, Text) and kind.type:  # without a collation, which takes A and a for one
            return f"CAST(CAST({name} AS BINARY) AS {self.text})"
        return name

    def place(self) -> str:
        return "row_number() OVER (ORDER BY monotonically_increasing_id())"

    def number_of_row(self) -> str:
        return "monotonically_increasing_id()"  # of each part, so that nothing is sorted

    def hash(self, value: str) -> str:
        return f"(xxhash64({value}) & {_LONG - 1})"

    def quantiles(self, value: str, places: Sequence[str]) -> str:
        return f"percentile_disc(array({', '.join(places)})) WITHIN GROUP (ORDER BY {value})"

    def days(self, low: int, high: int) -> Counted:
        stages: list[Stage] = [
            lambda day: f"CAST(unix_date({day}) AS {self.long})",
            lambda name: Whole(name, -_INT, _INT - 1, self).clamp(low, high).sql,
        ]
        return stages, low, high

    def micros(self, stored: Moment, low: int, high: int) -> Counted:
        def counted(name: str) -> str:
            if stored.type == ZONED:
                return f"unix_micros({name})"
            # casting a moment without zone would use the session's zone, so it is not cast; its
            # first possible day begins before 64 bits do; if it is NULL, so are its minutes
            day = f"CAST(unix_date(CAST({name} AS {self.day})) AS {self.long})"
            day = f"greatest({low // _DAY - 1}, least({day}, {high // _DAY + 1})) * {_DAY}"
            second = f"CAST(EXTRACT(SECOND FROM {name}) * 1000000 AS {self.long})"
            minutes = f"CAST(hour({name}) * 60 + minute({name}) AS {self.long}) * 60000000"
            return f"({day} + {minutes} + {second})"

        def clamped(name: str) -> str:
            return Whole(name, -_LONG, _LONG - 1, self).clamp(low, high).sql

        return [counted, clamped], low, high

    def date(self, days: str) -> str:
        return f"date_from_unix_date(CAST({days} AS INTEGER))"

    def part(self, part: Part, day: str) -> str:
        name = {"week": "weekofyear", "doy": "dayofyear"}.get(part, part)
        return f"CAST({name}({day}) AS {self.long})"


_TEXT = "\0"
"""Stands for the text in the words of a category."""


def _like(text: str, pattern: str) -> str:
    return f"concat({text}, '#') RLIKE '{pattern}'"


def _read_time(word: str, kind: str, dialect: Dialect) -> str:
    """A text as a day or moment. Spark itself would drop the offset of an instant."""
    local, instant = (_like(word, f"{pattern[:-1]}#$") for pattern in (LOCAL, INSTANT))
    early, late = (", ".join(map(dialect.literal, words)) for words in (NEVER, EVER))

    def cast(text: str) -> str:
        return f"try_cast(replace({text}, '/', '-') AS {dialect.moment})"

    def offset(part: int) -> str:
        return f"regexp_extract({word}, '{_OFFSET}', {part})"

    def whole(part: int) -> str:
        return f"coalesce(try_cast({offset(part)} AS INTEGER), 0)"

    minutes = f"(60 * {whole(2)} + {whole(3)})"
    ahead = f"CASE {offset(1)} WHEN '-' THEN -{minutes} ELSE {minutes} END"
    without = cast(f"regexp_replace({word}, '{_ZONE}', '')")
    return (
        f"CASE WHEN {local} THEN CAST({cast(word)} AS {kind}) "
        f"WHEN {instant} THEN CAST({without} - make_dt_interval(0, 0, {ahead}) AS {kind}) "
        f"WHEN lower({word}) IN ({late}) THEN CAST(date_from_unix_date({_FARTHEST}) AS {kind}) "
        f"WHEN lower({word}) IN ({early}) THEN CAST(date_from_unix_date(-{_FARTHEST}) AS {kind}) "
        "END"
    )


SPARK = _Spark(
    long="BIGINT",
    huge="DECIMAL(38, 0)",
    double="DOUBLE",
    text="STRING",
    day="DATE",
    moment=UNZONED,
    collation="UTF8_BINARY",
    divide="div",
    trim="btrim",
    alias=" AS nested",  # without it `WHERE (FALSE)` is read as an alias
    fails=True,
    logged=True,
    scattered=True,
    digits=37,
    bit="INTEGER",
    signed=((8, "TINYINT"), (16, "SMALLINT"), (32, "INTEGER")),
    unsigned=((7, "TINYINT"), (15, "SMALLINT"), (31, "INTEGER"), (63, "BIGINT")),
)

_BITS = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}
_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")
_NAMED: dict[str, Storage] = {
    **{
        name: Integer(name.upper(), -(1 << bits - 1), (1 << bits - 1) - 1)
        for name, bits in _BITS.items()
    },
    "float": Floating(single=True),
    "double": Floating(),
    "string": Text(),
    "boolean": Truth(),
    "date": Day(),
    "timestamp": Moment(ZONED),
    "timestamp_ntz": Moment(UNZONED),
    "void": Nothing(),
}


def storage(type_name: str) -> Storage:
    """The storage that a type of Spark means, by the name that a data frame gives it.

    Example
        >>> storage("decimal(18,2)"), storage("tinyint")
        (Fixed(width=18, scale=2), Integer(type='TINYINT', low=-128, high=127))
    """
    decimal = _DECIMAL.fullmatch(type_name)
    if decimal:
        return Fixed(int(decimal[1]), int(decimal[2]))
    if type_name.startswith(("char(", "varchar(", "string collate ")):
        return Text("other")
    return _NAMED.get(type_name, Opaque())
