"""How DuckDB spells SQL, and what its types mean."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version

from ..sql.dialect import EVER, INSTANT, LOCAL, LONGEST, NEVER, Counted, Dialect, Part, Stage
from ..sql.grid_values import between
from ..sql.int_expr import Whole, integer
from ..storage import Day, Fixed, Floating, Integer, Moment, Nothing, Opaque, Storage, Text, Truth

UUID = Text("UUID")
_UNITS = {"TIMESTAMP_S": 10**6, "TIMESTAMP_MS": 1000}
# for telling an instant of nanoseconds from infinity: its coarser type, and the 1970 of that type
_NANOS = {
    "TIMESTAMP_NS": ("TIMESTAMP", "make_timestamp(0)"),
    "TIMESTAMPTZ_NS": ("TIMESTAMP WITH TIME ZONE", "make_timestamptz(0)"),
}
_LATEST = 2**63 - 2


@dataclass(frozen=True)
class _DuckDB(Dialect):
    """
    believed: whether somebody compared the statistics of a source with its values.
    skipping: whether a statement has a condition, for which DuckDB may skip row groups.
    """

    believed: bool = True
    skipping: bool = True

    def stored(self, name: str, kind: Storage) -> str:
        # the statistics of Parquet know no NaN; DuckDB would skip the row groups that have it
        doubted = not self.believed or (self.skipping and isinstance(kind, Floating))
        # texts are compared with words, never with ends
        return self.hidden(name) if doubted and not isinstance(kind, Text) else name

    def seen(self, name: str, kind: Storage) -> str:
        return f"CAST({name} AS {self.text})" if kind == UUID else self.stored(name, kind)

    def hidden(self, name: str) -> str:
        return f"TRY({name})"

    def unfiltered(self) -> Dialect:
        return replace(self, skipping=False)

    def is_nan(self, name: str) -> str:
        return f"isnan({name})"

    def is_endless(self, name: str) -> str:
        return f"isinf({name})"

    def read(self, text: str, kind: str) -> str:
        if kind not in (self.day, self.moment):
            word = f"CAST({text} AS {self.text})"
            short = f"strlen({word}) <= {LONGEST} OR strlen({self.trimmed(word)}) <= {LONGEST}"
            return f"CASE WHEN {short} THEN TRY_CAST({text} AS {kind}) END"
        early, late = (", ".join(map(self.literal, words)) for words in (NEVER, EVER))
        word, quick = self.trimmed(text), ""
        if kind == self.day:  # most texts, which need no regular expression
            quick = f"WHEN {text} LIKE '____-__-__' AND {text} >= '0001' AND {text} < ':' "
            quick += f"THEN TRY_CAST({text} AS DATE) "
        folded = f"translate({word}, 'FINTY', 'finty')"  # lower() makes an i of more than I
        # to trim a text takes longer than all else
        return (
            f"CASE {quick}{_times(text, kind)} {_times(word, kind)} "
            f"WHEN {folded} IN ({late}) THEN CAST('infinity' AS {kind}) "
            f"WHEN {folded} IN ({early}) THEN CAST('-infinity' AS {kind}) END"
        )

    def category(self, text: str, words: str) -> str:
        return f"CAST(enum_code(TRY_CAST({text} AS {words})) AS INTEGER)"

    def hash(self, value: str) -> str:
        return f"hash({value})"

    def quantiles(self, value: str, places: Sequence[str]) -> str:
        return f"quantile_disc({value}, [{', '.join(places)}])"

    def days(self, low: int, high: int) -> Counted:
        ends = [f"make_date({integer(end)})" for end in (low, high)]
        made: list[Stage] = [lambda day: between(day, *ends), lambda day: f"({day} - make_date(0))"]
        return made, low, high

    def micros(self, stored: Moment, low: int, high: int) -> Counted:
        if stored.type in _NANOS:
            return self._nanos(*_NANOS[stored.type])
        zoned, unit = stored.type == "TIMESTAMP WITH TIME ZONE", _UNITS.get(stored.type, 1)
        low, high = low // unit * unit, -(-high // unit) * unit

        def end(micros: int) -> str:
            if zoned:
                return f"make_timestamptz({integer(micros)})"
            return f"CAST(make_timestamp({integer(micros)}) AS {stored.type})"

        def clamped(name: str) -> str:
            inside = between(name, end(low), end(high))
            return inside if zoned else f"CAST({inside} AS TIMESTAMP)"

        return [clamped, lambda name: f"epoch_us({name})"], low, high

    def _nanos(self, coarse: str, zero: str) -> Counted:
        first, last = -_LATEST - 2, _LATEST + 1

        def number(name: str) -> str:
            # epoch_ns is NULL for infinity
            infinite = f"CASE WHEN CAST({name} AS {coarse}) > {zero} THEN {_LATEST} "
            infinite += f"WHEN {name} IS NOT NULL THEN -{_LATEST} END"
            return f"COALESCE(epoch_ns({name}), {infinite})"

        def micros(name: str) -> str:
            return Whole(name, first, last, self).floor_divide(1000).sql

        return [number, micros], first // 1000, last // 1000

    def date(self, days: str) -> str:
        return f"make_date(CAST({days} AS INTEGER))"

    def part(self, part: Part, day: str) -> str:
        return f"{'dayofyear' if part == 'doy' else part}({day})"


def _times(word: str, kind: str) -> str:
    """The cases of a text that is a day, a moment or an instant."""
    # DuckDB drops the offset of a timestamp without zone, and reads no space before one
    tight = f"regexp_replace(replace({word}, 'UTC', 'Z'), ' ([Z+-])', '\\1')"
    instant = f"make_timestamp(epoch_us(TRY_CAST({tight} AS TIMESTAMP WITH TIME ZONE)))"
    return (
        f"WHEN regexp_matches({word}, '{LOCAL}') "
        f"THEN CAST(TRY_CAST({word} AS TIMESTAMP) AS {kind}) "
        f"WHEN regexp_matches({word}, '{INSTANT}') THEN CAST({instant} AS {kind})"
    )


_MOST_ROWS = 2**35
"""The most rows of a table; files of more are refused when they are opened."""
VERSION = tuple(int(part) for part in version("duckdb").split(".")[:2])
_SEVERAL_DOUBLES = (2, 0)
"""The version from which on DuckDB computes with several doubles at a time."""

DUCKDB = _DuckDB(
    long="BIGINT",
    huge="HUGEINT",
    double="DOUBLE",
    text="VARCHAR",
    day="DATE",
    moment="TIMESTAMP",
    collation='"binary"',
    divide="//",
    arithmetic=VERSION >= _SEVERAL_DOUBLES,
    most_rows=_MOST_ROWS,
    signed=((8, "TINYINT"), (16, "SMALLINT"), (32, "INTEGER")),
    unsigned=((8, "UTINYINT"), (16, "USMALLINT"), (32, "UINTEGER"), (64, "UBIGINT")),
)
DOUBTED = replace(DUCKDB, believed=False, most_rows=None)
"""The same for a source with unchecked statistics, whose rows may become more."""

_BITS = {"TINYINT": 8, "SMALLINT": 16, "INTEGER": 32, "BIGINT": 64, "HUGEINT": 128}
_DECIMAL = re.compile(r"DECIMAL\((\d+),\s*(\d+)\)")
_MOMENTS = ("TIMESTAMP", *_UNITS, *_NANOS, "TIMESTAMP WITH TIME ZONE")
_NAMED: dict[str, Storage] = {
    **{name: Integer(name, -(1 << bits - 1), (1 << bits - 1) - 1) for name, bits in _BITS.items()},
    **{f"U{name}": Integer(f"U{name}", 0, (1 << bits) - 1) for name, bits in _BITS.items()},
    "FLOAT": Floating(single=True),
    "DOUBLE": Floating(),
    "VARCHAR": Text(),
    "UUID": UUID,
    "BOOLEAN": Truth(),
    "DATE": Day(),
    '"NULL"': Nothing(),
    "NULL": Nothing(),
    **{name: Moment(name) for name in _MOMENTS},
}


def storage(type_name: str) -> Storage:
    """The storage that a DuckDB type name means.

    Example
        >>> storage("DECIMAL(18,2)"), storage("UTINYINT")
        (Fixed(width=18, scale=2), Integer(type='UTINYINT', low=0, high=255))
    """
    if type_name in _NAMED:
        return _NAMED[type_name]
    decimal = _DECIMAL.fullmatch(type_name)
    if decimal:
        return Fixed(int(decimal[1]), int(decimal[2]))
    return Text("ENUM") if type_name.startswith("ENUM(") else Opaque()
