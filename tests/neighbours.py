"""Neighbouring tables with awful rows, and SQL questions with awful constants.

A world is a schema, how each column is stored, benign rows D, and adversarial rows: values at and
beyond every bound, the ends of every storage type, what is no number. Its neighbour has one person
more, or another one, made of adversarial rows; the worst table has all of them. A `Pair` asks one
question of all three, plans it once, pays and draws three times, and compares what came out: an
answer, or a refusal. Whatever is neither is a failure, and so is a difference.

Values are texts that the engine casts to the type of the column, so that one pool serves all.
"""

# ruff: noqa: S608 - these texts are what is tested

from __future__ import annotations

import itertools
import math
import random
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from hypothesis import settings

import tenue as tn
from chance import SYSTEM
from tenue.ask.dataset import Dataset
from tenue.ask.paid_request import Inquiry
from tenue.ask.session import HOLDER, Session
from tenue.ask.sql.parse import parse
from tenue.engine.contract import Engine
from tenue.schema import Schema

Row = dict[str, str | None]
Outcome = tuple[str, ...]

EPSILON = Decimal("0.001")
LOOKUP = "k,part,beds\np,north,4000000000\nq,south,-3\nx,far,9007199254740993\nr,north,\n"
"""A public table with a key that no row has, a number that is missing, and large ones."""

# -- worlds ----------------------------------------------------------------------------------------

DAYS = ["2019-11-20", "2021-03-10"]
COLUMNS: dict[str, dict[str, Any]] = {
    "w": {"type": "number", "bounds": [-(2**31), 2**31]},
    "v": {"type": "number", "bounds": [-(2**53), 2**53]},
    "u": {"type": "number", "bounds": [-(2**62), 2**62]},
    "f": {"type": "number", "bounds": [-1000, 1000], "grid": Decimal("0.001")},
    "g": {"type": "number", "bounds": [0, 4], "grid": Decimal("1e-9")},
    "h": {"type": "number", "bounds": [-3, 3], "grid": Decimal("0.3")},
    "n": {"type": "number", "bounds": [0, 12]},
    "m": {"type": "number", "bounds": [-3, 5], "missing": 0},
    "a": {"type": "number", "bounds": [0, 10**6]},
    "c": {"type": "category", "categories": ["A", "a", "Ä"]},
    "k": {"type": "category", "categories": ["p", "q", "r"], "missing": "r"},
    "b": {"type": "boolean"},
    "ill": {"type": "boolean"},
    "d": {"type": "date", "bounds": DAYS},
    "s": {"type": "datetime", "bounds": [f"{day}T00:00:00" for day in DAYS]},
    "who": {"type": "identifier"},
}
NUMBERS = ("w", "v", "u", "f", "g", "h", "n", "m", "a")
DERIVED: dict[str, dict[str, Any]] = {
    "e": {
        "type": "number",
        "expression": "w * 3 / (n - 5)",
        "bounds": [-1000, 1000],
        "grid": Decimal("0.5"),
    },
    "z": {"type": "number", "expression": "v * v - h / m", "bounds": [-(2**40), 2**40]},
}
APPROVED = "SELECT MEDIAN(m) FROM t"

TYPED = "w:int64 v:double u:huge f:double g:fine h:double n:int8 m:int16 a:int64 c:text k:text "
TYPED += "b:bool ill:bool d:date s:stamp who:text"
OTHER = "w:double v:int64 u:uint64 f:float g:double h:float n:double m:float a:int32 c:text k:text "
OTHER += "b:double ill:text d:stamp s:date who:int64"
WIDE = "w:huge v:decimal u:decimal f:fine g:text h:text n:uint64 m:decimal a:huge c:text k:text "
WIDE += "b:int8 ill:bool d:zoned s:zoned who:text"
WRITTEN = " ".join(f"{name}:text" for name in COLUMNS)
KINDS = {"typed": TYPED, "other": OTHER, "wide": WIDE, "written": WRITTEN}


@dataclass(frozen=True)
class World:
    """A schema, how each column is stored, and whether one is added or replaced.

    stored: the kind of each column's storage, of `KINDS`.
    persons: the limits of the table; none where the unit is a record.
    file: whether DuckDB reads it from a file, in its own sandbox.
    """

    name: str
    stored: str
    neighbours: str
    persons: Mapping[str, int] = field(default_factory=dict)
    columns: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    file: bool = False

    @cached_property
    def kinds(self) -> dict[str, str]:
        return dict(part.split(":") for part in KINDS[self.stored].split())  # type: ignore[misc]

    @property
    def replaces(self) -> bool:
        return self.neighbours == "replace"

    @cached_property
    def stated(self) -> dict[str, Any]:
        columns = {n: {**given, **self.columns.get(n, {})} for n, given in COLUMNS.items()}
        table: dict[str, Any] = {"name": "t", "unit": "record", "neighbours": self.neighbours}
        if self.persons:
            table |= {"unit": "who", **self.persons}
            columns["w"]["bounds_per_unit"] = [-(2**33), 2**32]
            columns["a"]["bounds_per_unit"] = [0, 10**6]
            columns["h"]["bounds_per_unit"] = [-6, 3]
        return {
            "table": table,
            "columns": columns | DERIVED,
            "budget": {"total": 10**6, "individual": 10**6},
            "questions": {
                "middle": {
                    "sql": APPROVED,
                    "promise": "individual",
                    "epsilon": 0.0001,
                    "times": 10**6,
                }
            },
            "lookups": {
                "region": {
                    "source": "region.csv",
                    "key": "k",
                    "columns": ["part", "beds"],
                    "numbers": ["beds"],
                }
            },
        }

    @cached_property
    def schema(self) -> Schema:
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "region.csv").write_text(LOOKUP)
            return Schema.from_dict(self.stated, folder=Path(folder))

    def span(self, name: str) -> tuple[Fraction, Fraction, Fraction]:
        """Bounds and grid of a number."""
        given = DERIVED.get(name) or {**COLUMNS[name], **self.columns.get(name, {})}
        low, high = map(Fraction, given["bounds"])
        return low, high, Fraction(given.get("grid", 1))


FILLED: dict[str, dict[str, Any]] = {
    "w": {"missing": 0},
    "a": {"missing": 7},
    "n": {"missing": 3},
    "c": {"missing": "a"},
    "d": {"missing": "2020-06-01"},
}
"""Declared values for what is missing: then individual DP answers, and counts are public."""

WORLDS = (
    World("records", "typed", "add-or-remove", file=True),
    World("records replaced", "other", "replace", columns=FILLED),
    World(
        *("people", "wide", "add-or-remove"),
        {"rows_per_unit": 2, "groups_per_unit": 1},
        file=True,
    ),
    World("people replaced", "typed", "replace", {"rows_per_unit": 3}, file=True),
    World("records written", "written", "add-or-remove", file=True),
    World(
        *("people in a relation", "other", "add-or-remove"),
        {"rows_per_unit": 2, "groups_per_unit": 2},
    ),
)

# -- rows ------------------------------------------------------------------------------------------

NINES = "9" * 38
KIND_VALUES: dict[str, tuple[str, ...]] = {
    "int8": ("-128", "127"),
    "int16": ("-32768", "32767"),
    "int32": ("-2147483648", "2147483647"),
    "int64": ("-9223372036854775808", "9223372036854775807"),
    "uint64": ("0", "18446744073709551615"),
    "huge": (str(-(2**127)), str(2**127 - 1), str(2**64), str(-(2**63) - 1)),
    "decimal": (NINES, f"-{NINES}"),
    "fine": (f"{'9' * 26}.{'9' * 12}", f"-{'9' * 26}.{'9' * 12}", "0.000000000001"),
    "double": ("NaN", "Infinity", "-Infinity", "1e308", "-1e308", "5e-324", "-0.0", "1e-300"),
    "float": ("NaN", "Infinity", "-Infinity", "3.4e38", "-3.4e38", "1e-45", "-0.0"),
    "bool": ("true", "false"),
    "text": (
        *("inf", "-inf", "nan", "1e999", "-1e999", "1e-999", "9" * 1000, "-" + "9" * 999),
        *("9" * 1001, "0." + "1" * 998, " 12 ", "", "-", ".", "0x10", "1_000", "١", "1,5", NINES),
        *("-170141183460469231731687303715884105729", "1e38", "\n", "NULL", "+.5e+5", "1e"),
    ),
}
NAMES = ("A", "Ä", "a", "ä", "A ", "", "undeclared", "p", "q", "r", "P", "x", "9" * 1000, "'", "\\")
TRUTHS = ("true", "no", "T", "1", "2", "", "maybe", "FALSE", "y", "9" * 1000)
WRITTEN_DAYS = (
    *("2021-03-10", "2019-11-20", "9999-12-31", "0001-01-01", "infinity", "2020-13-45", ""),
    *("2020-02-30", "2021-03-10T23:59:59.999999", "0000-00-00", "-2020-01-01", "9" * 1000),
    *("2020-01-01 00:00:00+99", "1970-01-01", "2019-11-19 23:59:60", "99999-01-01"),
)
DAY_VALUES: dict[str, dict[str, tuple[str, ...]]] = {
    "duckdb": {
        "date": ("infinity", "-infinity", "5881580-07-10", "5877642-06-25 (BC)"),
        "stamp": (
            *("infinity", "-infinity", "294247-01-10 04:00:54.775806"),
            "290309-12-22 (BC) 00:00:00",
        ),
    },
    "postgres": {
        "date": ("infinity", "-infinity", "5874897-12-31", "4714-11-24 BC"),
        "stamp": (
            *("infinity", "-infinity", "294276-12-31 23:59:59.999999"),
            "4714-11-24 00:00:00 BC",
        ),
    },
    "spark": {
        "date": ("9999-12-31", "0001-01-01", "+5881580-07-11", "-5877641-06-23"),
        "stamp": (
            *("9999-12-31 23:59:59.999999", "0001-01-01 00:00:00"),
            *("+294247-01-10 04:00:54.775807", "-290308-12-21 19:59:06"),
        ),
    },
}
SQL_TYPES: dict[str, dict[str, str]] = {
    "duckdb": {
        "int8": "TINYINT",
        "int16": "SMALLINT",
        "int32": "INTEGER",
        "int64": "BIGINT",
        "uint64": "UBIGINT",
        "huge": "HUGEINT",
        "decimal": "DECIMAL(38, 0)",
        "fine": "DECIMAL(38, 12)",
        "double": "DOUBLE",
        "float": "FLOAT",
        "bool": "BOOLEAN",
        "text": "VARCHAR",
        "date": "DATE",
        "stamp": "TIMESTAMP",
        "zoned": "TIMESTAMPTZ",
    },
    "postgres": {
        "int8": "smallint",
        "int16": "smallint",
        "int32": "integer",
        "int64": "bigint",
        "uint64": "numeric",
        "huge": "numeric",
        "decimal": "numeric(38, 0)",
        "fine": "numeric(38, 12)",
        "double": "double precision",
        "float": "real",
        "bool": "boolean",
        "text": "text",
        "date": "date",
        "stamp": "timestamp",
        "zoned": "timestamptz",
    },
    "spark": {
        "int8": "TINYINT",
        "int16": "SMALLINT",
        "int32": "INT",
        "int64": "BIGINT",
        "uint64": "DECIMAL(20, 0)",
        "huge": "DECIMAL(38, 0)",
        "decimal": "DECIMAL(38, 0)",
        "fine": "DECIMAL(38, 12)",
        "double": "DOUBLE",
        "float": "FLOAT",
        "bool": "BOOLEAN",
        "text": "STRING",
        "date": "DATE",
        "stamp": "TIMESTAMP_NTZ",
        "zoned": "TIMESTAMP",
    },
}
FINITE = ("int8", "int16", "int32", "int64", "uint64", "huge", "decimal")


def values_of(world: World, name: str, engine: str) -> list[str | None]:
    """Every awful value of a column: its bounds and beyond, and the ends of what stores it."""
    kind, stated = world.kinds[name], COLUMNS[name]["type"]
    if stated == "number":
        return [None, *_near(world, name, kind), *_extremes(kind, engine)]
    if stated == "category":
        return [None, *NAMES]
    if stated == "boolean":
        if kind == "text":
            return [None, *TRUTHS]
        numbers = ("1", "0", "2", *KIND_VALUES[kind])
        return [None, *(KIND_VALUES["bool"] if kind == "bool" else numbers)]
    if stated in ("date", "datetime"):
        if kind == "text":
            return [None, *WRITTEN_DAYS]
        known = DAY_VALUES[engine]["date" if kind == "date" else "stamp"]
        return [None, *DAYS, "2019-11-19", "2021-03-11", *known]
    extremes = ("-9223372036854775808", "9223372036854775807", "17", "-1", "0")
    texts = ("adv", "", "ann ", "9" * 1000, "17", "017", "é", "e\u0301", "NULL")
    return [None, *(extremes if kind == "int64" else texts)]


def _extremes(kind: str, engine: str) -> tuple[str, ...]:
    if engine == "postgres" and kind in ("int8", "uint64", "huge"):
        wide = (*("NaN", "Infinity", "-Infinity"), "9" * 1000, "-" + "9" * 1000, "1e-1000")
        return KIND_VALUES["int16"] if kind == "int8" else (*KIND_VALUES[kind], *wide)
    if engine == "spark" and kind == "huge":
        return KIND_VALUES["decimal"]
    if engine == "spark" and kind == "uint64":
        return ("0", "9" * 20, "-" + "9" * 20)
    return KIND_VALUES[kind]


def _near(world: World, name: str, kind: str) -> Iterator[str]:
    """The bounds, a step inside, and half a step and one step beyond."""
    low, high, grid = world.span(name)
    for end, out in ((high, 1), (low, -1)):
        for steps in (0, Fraction(1, 2), 1, -1):
            value = end + out * steps * grid
            if kind in FINITE:
                least, most = _ends(kind)
                if value.denominator == 1 and least <= value <= most:
                    yield str(int(value))
            else:
                yield f"{Decimal(value.numerator) / Decimal(value.denominator):f}"
    yield "0"


def _ends(kind: str) -> tuple[int, int]:
    if kind == "uint64":
        return 0, 2**64 - 1
    bits = {"int8": 7, "int16": 15, "int32": 31, "int64": 63}.get(kind, 120)
    return -(2**bits), 2**bits - 1


def high_row(world: World, *, low: bool = False) -> Row:
    """Everything at its upper bound, or at its lower one; ill."""
    row: Row = {}
    for name, given in COLUMNS.items():
        if given["type"] == "number":
            least, most, _ = world.span(name)
            end = least if low else most
            if world.kinds[name] in FINITE:
                ends = _ends(world.kinds[name])
                end = min(max(end, Fraction(ends[0])), Fraction(ends[1]))
            row[name] = f"{Decimal(end.numerator) / Decimal(end.denominator):f}"
        elif given["type"] == "boolean":
            row[name] = _truth(world.kinds[name], name == "ill" or not low)
        else:
            row[name] = {"c": "Ä", "k": "q", "d": DAYS[not low], "s": DAYS[not low]}.get(name)
    row["who"] = "41" if low else "42"
    return row


def _truth(kind: str, value: bool) -> str:
    return str(value).lower() if kind in ("bool", "text") else str(int(value))


def adversarial(world: World, engine: str = "duckdb") -> list[Row]:
    """Rows in which every awful value of every column occurs, and the ends of all at once."""
    pools = {name: values_of(world, name, engine) for name in COLUMNS}
    made: list[Row] = [high_row(world), high_row(world, low=True)]
    for at in range(max(map(len, pools.values()))):
        row: Row = {
            name: pool[(at + place) % len(pool)] for place, (name, pool) in enumerate(pools.items())
        }
        made.append(row)
    made.append(dict.fromkeys(COLUMNS))
    mixed = high_row(world)
    mixed |= {name: high_row(world, low=True)[name] for name in ("w", "u", "h", "m", "b", "s")}
    made += [mixed, {**high_row(world), "n": made[2]["n"], "ill": None, "who": "43"}]
    return made


def benign(world: World, at: int) -> Row:
    """A row like any other, far from every bound."""
    row: Row = {name: str(2 + (at * 3 + place) % 3) for place, name in enumerate(NUMBERS)}
    row |= {"h": "0.9", "f": "1.25", "g": "0.5", "m": "1", "c": "A", "k": "p", "d": "2020-06-15"}
    row |= {"s": "2020-06-15 10:30:00", "who": str(100 + at // 2)}
    row |= {name: _truth(world.kinds[name], False) for name in ("b", "ill")}
    return row


@dataclass(frozen=True)
class Tables:
    """Rows of D, of the neighbours that can be chosen, and of the worst table of all."""

    plain: list[Row]
    one: list[list[Row]]
    worst: list[Row]
    awful: list[Row]

    @classmethod
    def of(cls, world: World, engine: str = "duckdb") -> Tables:
        awful = adversarial(world, engine)
        if world.persons:  # somebody has several rows, one of them the awful one
            awful = [{**row, "who": "44" if row["who"] is None else row["who"]} for row in awful]
            many = 1 + world.persons["rows_per_unit"]
            groups = [
                [{**awful[(at + i) % len(awful)], "who": row["who"]} for i in range(many)]
                for at, row in enumerate(awful)
            ]
        else:
            groups = [[row] for row in awful]
        if not world.replaces:
            plain = [benign(world, at) for at in range(6)]
            return cls(plain, [plain + rows for rows in groups], plain + awful, awful)
        if world.persons:
            people = list(dict.fromkeys(row["who"] for row in awful))
            own = [[row for row in awful if row["who"] == who] for who in people]
            plain_groups = [
                [benign(world, 2 * at), benign(world, 2 * at)] for at in range(len(own))
            ]
            rest = list(itertools.chain.from_iterable(plain_groups[1:]))
            plain = [*plain_groups[0], *rest]
            return cls(plain, [rows + rest for rows in groups], awful, awful)
        plain = [benign(world, at) for at in range(len(awful))]
        return cls(plain, [rows + plain[1:] for rows in groups], awful, awful)


class Opener(Protocol):
    """How the rows of a table get into an engine.

    engine: which one, of `SQL_TYPES`.
    """

    @property
    def engine(self) -> str: ...

    def __call__(self, world: World, rows: Sequence[Row]) -> Engine: ...


def select(world: World, rows: Sequence[Row], engine: str) -> str:
    """The rows as a SELECT without a table."""
    types = SQL_TYPES[engine]

    def cell(name: str, value: str | None) -> str:
        text = "NULL" if value is None else _literal(value, engine)
        return f"CAST({text} AS {types[world.kinds[name]]})"

    listed = ("(" + ", ".join(cell(name, row[name]) for name in COLUMNS) + ")" for row in rows)
    return f"SELECT * FROM (VALUES {', '.join(listed)}) AS given({', '.join(COLUMNS)})"


def _literal(value: str, engine: str) -> str:
    if engine == "spark":
        value = value.replace("\\", "\\\\")
        return "'" + value.replace("'", "\\'") + "'"
    return "'" + value.replace("'", "''") + "'"


# -- questions -------------------------------------------------------------------------------------

CONSTANTS = tuple(
    map(
        Decimal,
        (
            *(0, 1, -1, 2, 3, 7, -7, 127, 128, 255, 2**15 - 1, 2**15, 2**16, 2**31 - 1, 2**31),
            *(-(2**31), 2**32, 3000000001, 4000000000, -4000000000, 2**53, 2**53 + 1, 10**18),
            *("0.5", "1.5", "-0.25", "0.001", "1e-9", "0.3", 2**62, -(2**62), 2**61, 3 * 10**9),
        ),
    )
)
LARGE = tuple(value for value in CONSTANTS if abs(value) > 2**30)
MOST = 2**61
ON_THE_WAY = 2**117
FAR = Decimal(4000000000)


def sql_number(value: Decimal | Fraction | int) -> str:
    if isinstance(value, Fraction):
        value = Decimal(value.numerator) / Decimal(value.denominator)
    return f"{Decimal(value):f}"


def coarsest(*values: Fraction) -> Fraction:
    """The largest number of which all are multiples."""
    bottom = math.lcm(*(value.denominator for value in values))
    top = math.gcd(*(int(value * bottom) for value in values))
    return Fraction(top, bottom) if top else Fraction(1)


@dataclass(frozen=True)
class Made:
    """An expression, and about what it may be: so that most questions are answered.

    largest: in steps, on the way to it.
    """

    text: str
    low: Fraction
    high: Fraction
    grid: Fraction
    largest: int = 0
    reads: bool = True

    @property
    def steps(self) -> int:
        return int(max(abs(self.low), abs(self.high)) / self.grid)

    @property
    def peak(self) -> int:
        return max(self.largest, self.steps, 1)


@dataclass(frozen=True)
class Asked:
    """One call of a session.

    call: ask, ask_many, limits, bounds or workload.
    sql: its text or texts; of a workload, what it is made of.
    """

    call: str
    sql: tuple[str, ...]
    options: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.options.items())
        return f"{self.call}({'; '.join(self.sql)}) {given}"

    def __call__(self, session: Session) -> Any:
        given: dict[str, Any] = {"epsilon": EPSILON, **self.options}
        if self.call == "ask":
            return session.ask(self.sql[0], **given)
        if self.call == "many":
            return session.ask_many(list(self.sql), **given)
        if self.call == "limits":
            return session.suggest_limits(**given)
        if self.call == "bounds":
            return session.suggest_bounds(self.sql[0], **given)
        kind, *words = self.sql
        where = given.pop("where", None)
        if kind == "marginals":
            declared = tn.workload.marginals(words, ways=2, where=where)
        else:
            made = tn.workload.prefixes if kind == "prefixes" else tn.workload.ranges
            declared = made(words[0], width=given.pop("width", None), where=where)  # type: ignore[assignment]
        return session.ask_many(declared, **given)


class Writer:
    """Random questions about one world."""

    def __init__(self, chosen: random.Random, world: World, depth: int = 1) -> None:
        self.chosen = chosen
        self.world = world
        self.depth = depth

    def pick(self, *things: Any) -> Any:
        return self.chosen.choice(things)

    def sometimes(self, share: float) -> bool:
        return self.chosen.random() < share

    # -- conditions

    def pin(self) -> str:
        """What few rows are, and no benign one."""
        name = self.pick(*NUMBERS)
        low, high, grid = self.world.span(name)
        end = sql_number(self.pick(high, low, high - grid, low + grid))
        return self.pick(
            *("ill = TRUE", "ill", "b", "c = 'Ä'", "c <> 'A'", "k = 'q'", "c IS NULL"),
            f"{name} = {end}",
            f"{name} >= {sql_number(high)}",
            f"{name} <= {sql_number(low)}",
            f"{name} IS NULL",
            f"d = DATE '{self.pick(*DAYS)}'",
            f"s <= TIMESTAMP '{DAYS[0]} 00:00:00'",
        )

    def pinned(self) -> str:
        parts = [self.pin() for _ in range(self.pick(1, 1, 2))]
        return " AND ".join(parts)

    def condition(self, depth: int = 1) -> str:
        if depth and self.sometimes(0.3):
            parts = [self.condition(depth - 1) for _ in range(2)]
            return self.pick("({} AND {})", "({} OR {})", "NOT ({} AND {})").format(*parts)
        shape = self.chosen.randrange(8)
        if shape < 3:
            return self.pin()
        if shape < 5:
            made = self.value(self.depth - 1, limit=2 ** self.pick(4, 30, 40, 61))
            bound = self.pick(made.low, made.high, Fraction(self.pick(*CONSTANTS)))
            bound = Fraction(int(bound / made.grid)) * made.grid
            return f"{made.text} {self.pick('>', '<=', '=', '<>', '<')} {sql_number(bound)}"
        if shape == 5:
            return (
                f"{self.choice()} {self.pick('>', '=', '<=')} {sql_number(self.pick(*CONSTANTS))}"
            )
        name = self.pick(*NUMBERS)
        given = sql_number(self.pick(*CONSTANTS))
        return self.pick(
            f"{name} BETWEEN -{sql_number(abs(self.pick(*CONSTANTS)))} AND {given}",
            f"{name} > {given}",
            f"{name} IN (1, {given})",
            f"{self.labels()} = 'hit'",
            "c LIKE 'A%'",
            "b IS NOT FALSE",
            "c IN ('a', 'Ä')",
            f"EXTRACT({self.pick('month', 'isodow', 'year', 'quarter')} FROM d) >= 3",
            "EXTRACT(hour FROM s) = 0",
            "d >= DATE '2021-03-01'",
        )

    # -- what is computed of a row

    def choice(self) -> str:
        """A CASE between constants, of which one is large and chosen by few rows."""
        return self._choice().text

    def _choice(self) -> Made:
        some = [Fraction(self.pick(*(LARGE if self.sometimes(0.6) else CONSTANTS)))]
        some.append(Fraction(self.pick(Decimal(1), Decimal(7), *CONSTANTS)))
        text = f"CASE WHEN {self.pinned()} THEN {sql_number(some[0])}"
        if self.sometimes(0.2):
            some.append(Fraction(self.pick(*CONSTANTS)))
            text += f" WHEN {self.pin()} THEN {sql_number(some[2])}"
        if self.sometimes(0.85):
            text += f" ELSE {sql_number(some[1])}"
        else:
            del some[1]
        return Made(f"{text} END", min(some), max(some), coarsest(*some))

    def labels(self) -> str:
        """A CASE between names."""
        last = self.pick("", " ELSE 'rest'", " ELSE 'A'")
        return f"CASE WHEN {self.pinned()} THEN 'hit' WHEN {self.pin()} THEN 'a'{last} END"

    def leaf(self) -> Made:
        shape = self.chosen.randrange(12)
        if shape < 5:
            name = self.pick(*NUMBERS, *DERIVED)
            return Made(name, *self.world.span(name))
        if shape < 8:
            return self._choice()
        if shape == 8:
            return Made(self.pick("b", "ill"), Fraction(0), Fraction(1), Fraction(1))
        if shape == 9:
            text, low, high = self.pick(
                *(("EXTRACT(month FROM d)", 1, 12), ("EXTRACT(hour FROM s)", 0, 23)),
                *(("YEAR(s)", 2019, 2021), ("EXTRACT(isodow FROM d)", 1, 7)),
                *(("WEEK(d)", 1, 53), ("DAYOFWEEK(s)", 0, 6), ("DAYOFYEAR(s)", 1, 366)),
                *(("DAY(d)", 1, 31), ("EXTRACT(minute FROM s)", 0, 59)),
            )
            return Made(text, Fraction(low), Fraction(high), Fraction(1))
        name = self.pick(*NUMBERS)
        low, high, grid = self.world.span(name)
        if shape == 10:
            with_ = Fraction(self.pick(*CONSTANTS))
            ends = min(low, with_), max(high, with_)
            return Made(f"COALESCE({name}, {sql_number(with_)})", *ends, coarsest(grid, with_))
        buckets = self.pick(1, 4, 100, 9999)
        ends_ = sorted({Fraction(self.pick(*CONSTANTS)), Fraction(self.pick(-8, 5))})
        if len(ends_) < 2:
            ends_ = [Fraction(0), Fraction(5)]
        text = f"WIDTH_BUCKET({name}, {sql_number(ends_[0])}, {sql_number(ends_[1])}, {buckets})"
        return Made(text, Fraction(0), Fraction(buckets + 1), Fraction(1), 2**66)

    def value(self, depth: int | None = None, limit: int = MOST) -> Made:
        """Something whose range has at most so many steps, with anything on the way."""
        return self.tamed(self.any(self.depth if depth is None else depth), limit)

    def any(self, depth: int) -> Made:
        if depth == 0:
            return self.leaf()
        one = self.any(depth - 1)
        shape = self.chosen.randrange(11)
        if shape > 9:
            return self.called(one, depth)
        if shape < 3:
            other = one if self.sometimes(0.3) else self.any(depth - 1)
            if one.peak * other.peak > ON_THE_WAY:
                other = self.tamed(other, max(1, ON_THE_WAY // one.peak))
            if one.peak * other.peak > ON_THE_WAY:
                return one
            corners = [x * y for x in (one.low, one.high) for y in (other.low, other.high)]
            text = f"({self.inside(one)} * {self.inside(other)})"
            largest = one.peak * other.peak
            return Made(text, min(corners), max(corners), one.grid * other.grid, largest)
        if shape < 6:
            other = self.tamed(self.any(depth - 1), 2**100)
            sign = self.pick("+", "-")
            low, high = (other.low, other.high) if sign == "+" else (-other.high, -other.low)
            grid = coarsest(one.grid, other.grid)
            largest = int(one.peak * (one.grid / grid) + other.peak * (other.grid / grid))
            text = f"({self.inside(one)} {sign} {self.inside(other)})"
            return Made(text, one.low + low, one.high + high, grid, largest)
        if shape == 6:
            by = Fraction(self.pick(*CONSTANTS)) or Fraction(1)
            ends = sorted((one.low * by, one.high * by))
            text = f"({self.inside(one)} * {sql_number(by)})"
            return Made(text, *ends, one.grid * abs(by), one.peak)
        if shape == 7:
            other = self.any(depth - 1)
            last = self.pick(f" ELSE {other.text}", f" ELSE {other.text}", "")
            others = [other] if last else []
            low = min(one.low, *(made.low for made in others), one.low)
            high = max(one.high, *(made.high for made in others), one.high)
            grid = coarsest(one.grid, *(made.grid for made in others))
            largest = max(int(made.peak * made.grid / grid) for made in [one, *others])
            text = f"CASE WHEN {self.pinned()} THEN {one.text}{last} END"
            return Made(text, low, high, grid, largest)
        if shape == 8:
            return self.zeroed(one)
        return self.floored(one, Fraction(self.pick(3, 7, 2**31, Fraction(1, 2), 1000)))

    def called(self, one: Made, depth: int) -> Made:
        """A function of it."""
        text = self.inside(one)
        word = self.pick("ABS", "LEAST", "GREATEST", "ROUND", "ROUND", "/", "/", "curve")
        if word == "curve":
            word = (
                self.pick("LN", "SQRT") if depth < self.depth else self.pick("LN", "EXP", "POWER")
            )
        if word == "ABS":
            high = max(abs(one.low), abs(one.high))
            return Made(f"ABS({text})", Fraction(0), high, one.grid, one.peak)
        if word in ("LEAST", "GREATEST"):
            other = self.pick(self.any(depth - 1), Made("n", *self.world.span("n")))
            other = self.tamed(other, 2**100)
            grid = coarsest(one.grid, other.grid)
            ends = min(one.low, other.low), max(one.high, other.high)
            largest = max(int(made.peak * made.grid / grid) for made in (one, other))
            return Made(f"{word}({text}, {self.inside(other)})", *ends, grid, largest)
        if word == "ROUND":
            digits = self.pick(0, 1, 2, -1, -3, -9)
            unit = Fraction(10) ** -digits
            if one.peak > 2**54:
                return self.floored(one, unit)
            ends = (one.low // unit - 1) * unit, (one.high // unit + 1) * unit
            largest = 8 * one.peak * one.peak
            return Made(f"ROUND({text}, {digits})", *ends, coarsest(unit, one.grid), largest)
        if word == "/":
            return self.ratio(self.tamed(one, 2**40), depth)
        return self.curve(word, self.tamed(one, 2 ** self.pick(8, 30, 60)))

    def ratio(self, one: Made, depth: int) -> Made:
        """A quotient whose divisor excludes 0, whatever it was."""
        by = self.tamed(self.any(depth - 1), 2**30)
        least = self.pick(by.grid, by.grid * 7, Fraction(1))
        divisor = self.pick(
            f"GREATEST({by.text}, {sql_number(least)})",
            f"LEAST({by.text}, -{sql_number(least)})",
            f"(1 + ABS({by.text}))",
            "NULLIF(n, 0)",
        )
        most = max(abs(one.low), abs(one.high)) / min(least, 1)
        step = Fraction(10) ** (len(str(int(most))) - 10)
        return Made(f"({self.inside(one)} / {divisor})", -most, most, step, 2**110)

    def curve(self, word: str, made: Made) -> Made:
        """A function, of a value that is brought to where it is defined."""
        text, high = made.text, max(abs(made.low), abs(made.high))
        if word == "LN":
            inner = f"GREATEST({text}, {sql_number(made.grid)})"
            word, most = self.pick("LN", "LOG10", "LOG2"), Fraction(150)
        elif word == "EXP":
            inner, most = f"LEAST({text}, {self.pick(1, 9, 30)})", Fraction(2**45)
        elif word == "SQRT" or high > 10**9:
            inner, most = f"ABS({text})", max(high, Fraction(1))
            word = "SQRT"
        else:
            exponent = self.pick("0.5", "1.5", "2.5", "-0.5", "-2", "0.3")
            inner, most = f"GREATEST(ABS({text}), {sql_number(made.grid)})", Fraction(10) ** 30
            return Made(f"POWER({inner}, {exponent})", -most, most, most / 10**8, 2**110)
        step = Fraction(10) ** (len(str(int(most))) - 10)
        return Made(f"{word}({inner})", -most, most, step, 2**110)

    def inside(self, made: Made) -> str:
        plain = made.text.startswith("(") or made.text.isidentifier()
        return made.text if plain else f"({made.text})"

    def zeroed(self, made: Made) -> Made:
        """0 in every row, though what is multiplied is not."""
        text = self.inside(made)
        boolean = self.pick("b", "ill", "n")
        shape = self.pick(
            f"({text} * 0)",
            f"({text} - {text})",
            f"({text} * ({boolean} - {boolean}))",
            f"(0 * {text})",
            f"(3 * {text} - 2 * {text} - {text})",
            f"({text} * (n - 1) - n * {text} + {text})",
        )
        many = 40 if "- n *" in shape else 8
        if made.peak * many > ON_THE_WAY:
            shape, many = f"({text} * 0)", 1
        return Made(shape, Fraction(0), Fraction(0), made.grid, made.peak * many)

    def floored(self, made: Made, by: Fraction) -> Made:
        word = self.pick("FLOOR", "CEIL")
        low, high = made.low / by, made.high / by
        text = f"{word}({self.inside(made)} / {sql_number(by)})"
        step = (made.grid / by).numerator
        largest = 2 * made.peak * step + 2 * (made.grid / by).denominator
        return Made(
            text, Fraction(math.floor(low)), Fraction(math.ceil(high)), Fraction(1), largest
        )

    def tamed(self, made: Made, limit: int) -> Made:
        """The same, or something made of it that is small enough."""
        if made.steps <= limit:
            return made
        if self.sometimes(0.4) or made.peak > 2**100:
            return self.zeroed(made)
        power = max(1, made.steps // max(limit // 4, 1)).bit_length() + 1
        found = self.floored(made, made.grid * 2**power)
        return found if found.largest <= ON_THE_WAY and found.steps <= limit else self.zeroed(made)

    def reading(self, limit: int = MOST) -> str:
        """A value that is no constant."""
        made = self.value(limit=max(1, limit // 2))
        return self.pick(made.text, f"n + {self.inside(made)}", f"{self.inside(made)} - m")

    def small(self, bits: int = 10) -> str:
        """A value of few steps, made of large ones."""
        by = self.value(limit=2**bits)
        if by.grid.denominator * 20 > 2**bits:  # n would be fine steps too
            return by.text
        return self.pick(by.text, f"n + {self.zeroed(by).text}", by.text)

    # -- aggregates and keys

    def filter(self, share: float = 0.3) -> str:
        return f" FILTER (WHERE {self.condition()})" if self.sometimes(share) else ""

    def where(self, share: float = 0.4) -> str:
        return f" WHERE {self.condition()}" if self.sometimes(share) else ""

    def additive(self) -> str:
        only = self.filter()
        value = self.reading(2 ** self.pick(10, 32, 53, 60))
        return self.pick(
            f"SUM({value}){only}",
            f"AVG({value}){only}",
            f"COUNT({value}){only}",
            f"COUNT(*) FILTER (WHERE {self.condition()})",
            f"SUM({self.choice()}){only}",
            f"AVG({self.choice()}){only}",
            f"COALESCE(SUM({value}){only}, 0) * 2 - 1",
            f"SUM({value}) / NULLIF(COUNT(*), 0)",
        )

    def key(self) -> str:
        """A key of few cells."""
        name = self.pick("w", "v", "u", "f", "a")
        low, high, _ = self.world.span(name)
        by = int(max(abs(low), high)) // self.pick(1, 3, 20) or 1
        return self.pick(
            *("c", "k", "b", "ill", "BIN(n, 5)", "DATE_TRUNC('month', d)", "FLOOR(n / 5) * 5"),
            *("EXTRACT(month FROM d)", "EXTRACT(hour FROM s)", "YEAR(s)", "FLOOR(n / 4)"),
            *("n", "m", "d", "DAYNAME(d)", "MONTHNAME(s)", "WEEK(s)", "ABS(m)", "LEAST(n, m, 4)"),
            *("FLOOR(LN(1 + ABS(w)))", "ROUND(SQRT(a), -2)", "FLOOR(w / NULLIF(n, 0) / 1e9)"),
            f"BIN({name}, {by})",
            f"FLOOR({name} / {by})",
            f"WIDTH_BUCKET({name}, -1, {sql_number(self.pick(4, *LARGE[:4]))}, 3)",
            self.labels(),
            self.choice(),
            self.choice(),
        )

    def shared(self, key: str) -> str:
        """An aggregate of the key's own text."""
        number = sql_number(self.pick(*CONSTANTS))
        return self.pick(
            f"COUNT(*) FILTER (WHERE {key} > {number})",
            f"SUM({key})",
            f"AVG({key})",
            f"SUM(CASE WHEN {key} > {number} THEN n ELSE {number} END)",
            f"SUM(n) FILTER (WHERE {key} = {number})",
            f"COUNT(*) FILTER (WHERE {key} * 2 <> {number})",
            f"SUM(({key}) * 0 + n)",
        )

    def grouped(self, key: str, what: str, after: str = "", where: str | None = None) -> Asked:
        where = self.where(0.25) if where is None else where
        group = self.pick("1", "ALL", key)
        return self.ask(f"SELECT {key} AS k0, {what} AS v0 FROM t{where} GROUP BY {group}{after}")

    def ask(self, sql: str, **options: Any) -> Asked:
        return Asked("ask", (sql,), options)

    def one(self, what: str, **options: Any) -> Asked:
        return self.ask(f"SELECT {what} AS v0 FROM t{self.where()}", **options)

    # -- forms: each feature of the grammar

    def count(self) -> Asked:
        return self.ask(f"SELECT COUNT(*) FROM t WHERE {self.condition(self.depth)}")

    def sum(self) -> Asked:
        return self.one(f"SUM({self.reading()}){self.filter()}")

    def avg(self) -> Asked:
        return self.one(f"AVG({self.reading()}){self.filter()}")

    def median(self) -> Asked:
        return self.one(f"MEDIAN({self.reading()})")

    def quantile(self) -> Asked:
        return self.one(f"QUANTILE({self.reading()}, {self.pick('0.9', '0.1', '0.5')})")

    def least(self) -> Asked:
        return self.one(f"MIN({self.reading()})")

    def most(self) -> Asked:
        return self.one(f"MAX({self.reading()})")

    def mode(self) -> Asked:
        return self.one(f"MODE({self.pick('c', 'k')})")

    def variance(self) -> Asked:
        return self.one(f"{self.pick('VARIANCE', 'VAR_POP')}({self.small()})")

    def stdev(self) -> Asked:
        return self.one(f"{self.pick('STDDEV', 'STDDEV_POP')}({self.small()})")

    def covariance(self) -> Asked:
        return self.one(f"COVAR_POP({self.small(6)}, {self.pick('n', 'm', self.small(6))})")

    def correlation(self) -> Asked:
        return self.one(
            f"{self.pick('CORR', 'REGR_SLOPE')}({self.small(5)}, {self.pick('n', 'm')})"
        )

    def distinct(self) -> Asked:
        what = self.pick(
            "n", "c", "b", "d", "m", "h", "FLOOR(n / 4)", self.small(12), self.choice()
        )
        if self.world.persons and self.sometimes(0.3):
            what = "who"
        return self.one(f"COUNT(DISTINCT {what})")

    def several(self) -> Asked:
        texts = ", ".join(f"{self.additive()} AS v{i}" for i in range(self.pick(2, 3)))
        return self.ask(f"SELECT {texts} FROM t{self.where()}")

    def function(self) -> Asked:
        """A function, or a quotient, of anything."""
        made = self.tamed(self.called(self.any(self.depth - 1), self.depth), 2**50)
        return self.one(
            self.pick(
                *(f"SUM({made.text})", f"AVG(n + {made.text})", f"MEDIAN(n + {made.text})"),
                f"COUNT(*) FILTER (WHERE n + {made.text} > 3)",
            )
        )

    def key_named(self) -> Asked:
        """A name of a field, or a column that is a key by itself."""
        key = self.pick("DAYNAME(d)", "MONTHNAME(d)", "DAYNAME(s)", "n", "m", "d", "WEEK(d)")
        return self.grouped(key, f"SUM({self.reading(2**50)})")

    def of_condition(self) -> Asked:
        return self.one(f"{self.pick('AVG', 'SUM')}({self.condition()})")

    def times_zero(self) -> Asked:
        made = self.zeroed(self.any(self.depth))
        return self.one(
            self.pick(
                *(f"SUM({made.text})", f"AVG(n + {made.text})", f"MEDIAN(n + {made.text})"),
                f"COUNT(*) FILTER (WHERE n + {made.text} > 3)",
            )
        )

    def squared(self) -> Asked:
        """A product of choices between constants that cancels, or is multiplied by 0.

        Most products are just beyond 63 bits: a type of one bit less would not hold them.
        """
        c = self.steep()
        other = self.pick(c, c, self.steep(), "w", "v", "f")
        square = f"({c}) * ({other})"
        shapes = (f"{square} * 0", f"n + {square} - {square}", f"{square} * (b - b)")
        made = self.pick(*shapes, f"n + FLOOR({square} / {2**40})")
        what = self.pick("SUM({})", "AVG({})", "MEDIAN({})", "COUNT(*) FILTER (WHERE {} > 5)")
        if self.sometimes(0.2):
            return self.ask(f"SELECT COUNT(*) FROM t WHERE {made} > 5")
        return self.ask(f"SELECT {what.format(made)} AS v0 FROM t{self.where(0.1)}")

    def steep(self) -> str:
        """A CASE that is large where everything is at its bound."""
        when = self.pick("ill", "ill = TRUE AND n = 12", "c = 'Ä'", f"w >= {2**31 - 1}", "m = 5")
        large = self.pick(4000000000, 3100000000, 4294967295, 2**32)
        return f"CASE WHEN {when} THEN {large} ELSE {self.pick(0, 1, 7)} END"

    def batch(self) -> Asked:
        """Many aggregates in one statement, for an engine that takes long to begin."""
        texts: list[str] = []
        while len(texts) < 10:
            value = self.pick(self.reading(2**40), self.zeroed(self.any(self.depth)).text)
            what = self.pick("SUM({})", "AVG({})", "COUNT({})").format(value)
            text = self.pick(f"{what}{self.filter()}", self.shared(self.steep()))
            with suppress(tn.Refused):
                parse(f"SELECT {text} FROM t", self.world.schema)
                texts.append(text)
        return self.ask(f"SELECT {', '.join(f'{t} AS v{i}' for i, t in enumerate(texts))} FROM t")

    def key_text(self) -> Asked:
        return self.grouped(self.labels(), self.additive())

    def key_number(self) -> Asked:
        return self.grouped(self.choice(), self.additive())

    def key_shared(self) -> Asked:
        key = self.pick(self.choice, self.steep)()
        where = f" WHERE {key} <> 5" if self.sometimes(0.3) else None
        return self.grouped(key, self.shared(key), where=where)

    def key_shared_after(self) -> Asked:
        key = self.pick(self.choice, self.steep)()
        what = self.shared(key)
        if self.sometimes(0.5):
            return self.grouped(key, what, f" HAVING {what} > {self.pick(-9, 0, 5)}")
        after = f" ORDER BY {self.pick('v0', 'k0')} DESC"
        return self.grouped(key, what, f" HAVING {what} > -10{after}")

    def key_bin(self) -> Asked:
        name = self.pick("n", "w", "v", "u", "f", "a")
        low, high, grid = self.world.span(name)
        by = max(grid, Fraction(int((high - low) // self.pick(1, 7, 90)) or 1))
        return self.grouped(f"BIN({name}, {sql_number(by)})", self.additive())

    def key_trunc(self) -> Asked:
        unit, name = self.pick("year", "quarter", "month", "week", "day"), self.pick("d", "s")
        return self.grouped(f"DATE_TRUNC('{unit}', {name})", self.additive())

    def key_floor(self) -> Asked:
        made = self.floored(self.tamed(self.any(1), 2**61), Fraction(2 ** self.pick(52, 60)))
        return self.grouped(made.text, self.additive())

    def key_extract(self) -> Asked:
        unit = self.pick("year", "quarter", "month", "isodow")
        return self.grouped(f"EXTRACT({unit} FROM {self.pick('d', 's')})", self.additive())

    def key_boolean(self) -> Asked:
        return self.grouped(self.pick("b", "ill"), self.additive())

    def key_category(self) -> Asked:
        return self.grouped(self.pick("c", "k"), self.additive())

    def key_bucket(self) -> Asked:
        name = self.pick(*NUMBERS)
        high = sql_number(Decimal(self.pick(4, 2**31, 2**53)))
        return self.grouped(f"WIDTH_BUCKET({name}, -1, {high}, {self.pick(1, 5)})", self.additive())

    def key_of_computed(self) -> Asked:
        return self.grouped(self.small(8), self.additive())

    def two_keys(self) -> Asked:
        keys = f"{self.key()} AS k0, {self.pick('c', 'b', self.labels())} AS k1"
        return self.ask(
            f"SELECT {keys}, {self.additive()} AS v0 FROM t{self.where()} GROUP BY 1, 2"
        )

    def grouped_ranks(self) -> Asked:
        what = self.pick("MEDIAN({})", "MAX({})", "QUANTILE({}, 0.2)").format(self.reading())
        return self.grouped(self.key(), what)

    def having(self) -> Asked:
        after = f" HAVING v0 > {self.pick(-5, 0, 2**31)}"
        return self.grouped(self.key(), self.additive(), after)

    def order(self) -> Asked:
        after = f" ORDER BY {self.pick('v0', '1', 'k0')} {self.pick('', 'DESC')}"
        return self.grouped(self.key(), self.additive(), after)

    def limit(self) -> Asked:
        return self.grouped(self.key(), self.additive(), f" ORDER BY v0 LIMIT {self.pick(1, 2)}")

    def sets(self, sort: str) -> Asked:
        first = self.choice() if self.sometimes(0.5) else self.key()
        second = self.pick("c", "b", "ill")
        if first in (second, "b", "ill", "c"):
            first, second = "k", "c"
        group = {
            "rollup": f"ROLLUP ({first}, {second})",
            "cube": f"CUBE ({first}, {second})",
            "sets": f"GROUPING SETS (({first}), ({second}), ())",
        }[sort]
        what = self.shared(first) if first.startswith("CASE") and "'" not in first else "COUNT(*)"
        what = self.pick(what, what, self.additive())
        return self.ask(
            f"SELECT {first} AS k0, {second} AS k1, {what} AS v0 FROM t{self.where(0.2)} "
            f"GROUP BY {group}"
        )

    def rollup(self) -> Asked:
        return self.sets("rollup")

    def cube(self) -> Asked:
        return self.sets("cube")

    def grouping_sets(self) -> Asked:
        return self.sets("sets")

    def people(self) -> Asked:
        own = self.pick(
            f"SUM({self.pick('w', 'a', 'h', 'n', 'u', self.reading(2**40))})",
            f"COUNT({self.pick('*', 'w', 'c')})",
            f"{self.pick('MAX', 'MIN')}({self.reading()})",
            f"SUM({self.choice()})",
            f"AVG({self.pick('n', 'f', 'w')})",
        )
        source = f"(SELECT who, {own} AS v FROM t{self.where(0.4)} GROUP BY who)"
        what = self.pick(
            *("SUM(v)", "AVG(v)", "COUNT(*)", "COUNT(v)", "MEDIAN(v)", "MAX(v)", "SUM(v * 0 + 1)"),
            *("SUM(v * v * 0)", f"SUM(v - v + {FAR})", "COUNT(*) FILTER (WHERE v * 2 > 7)"),
        )
        return self.ask(f"SELECT {what} AS v0 FROM {source}" + self.pick("", " WHERE v > 3"))

    def people_by(self) -> Asked:
        source = (
            f"(SELECT who, {self.pick('SUM(n)', 'COUNT(*)', 'MAX(m)')} AS v FROM t GROUP BY who)"
        )
        large = sql_number(self.pick(*LARGE))
        key = f"CASE WHEN v > {self.pick(2, 4)} THEN {large} ELSE 7 END"
        what = self.pick(f"COUNT(*) FILTER (WHERE {key} > 7)", f"SUM({key})", "COUNT(*)")
        return self.ask(f"SELECT {key} AS k0, {what} AS v0 FROM {source} GROUP BY 1")

    def lookup(self) -> Asked:
        join = self.pick("JOIN", "LEFT JOIN") + " region USING (k)"
        made = self.pick(
            "beds", "beds * 0 + n", "beds * beds * 0", "beds * w - w * beds", "beds - m"
        )
        what = self.pick("COUNT(*)", f"SUM({made})", f"AVG({made})", f"MEDIAN({made})")
        where = self.pick("", " WHERE beds > 5", " WHERE beds * 2 > 8000000000", self.where())
        if self.sometimes(0.4):
            return self.ask(f"SELECT part AS k0, {what} AS v0 FROM t {join}{where} GROUP BY part")
        return self.ask(f"SELECT {what} AS v0 FROM t {join}{where}")

    def derived_table(self) -> Asked:
        made = self.value()
        computed = (
            f"{self.inside(made)} + 0" if made.text.startswith(("(", "COAL", "WID")) else made.text
        )
        inner = f"SELECT {computed} AS x, c, n FROM t{self.where()}"
        what = self.pick("SUM(x)", "AVG(x * 0 + n)", "MEDIAN(x)", "COUNT(*) FILTER (WHERE x > 1)")
        return self.ask(f"WITH i AS ({inner}) SELECT c, {what} AS v0 FROM i GROUP BY c")

    def derived_column(self) -> Asked:
        name = self.pick(*DERIVED)
        made = self.pick(name, f"{name} * {name} * 0 + n", f"{name} - {name}", f"{name} * m")
        return self.one(self.pick("SUM({})", "AVG({})", "MEDIAN({})").format(made))

    def many(self) -> Asked:
        key = self.choice()
        texts = [
            f"SELECT COUNT(*) FROM t WHERE {self.condition()}",
            f"SELECT {key} AS k0, COUNT(*) FROM t GROUP BY 1",
            f"SELECT SUM({key}) FROM t",
            f"SELECT COUNT(*) FROM t WHERE {key} > 7",
            f"SELECT SUM({self.reading(2**40)}) FROM t",
            f"SELECT {self.key()} AS k0, COUNT(*) FROM t GROUP BY 1",
            f"SELECT AVG({self.zeroed(self.any(1)).text} + n) FROM t",
            f"SELECT MEDIAN({self.reading()}) FROM t",
        ]
        return Asked("many", tuple(self.chosen.sample(texts, self.pick(2, 2, 3, 3, 4, 5))))

    def workload(self) -> Asked:
        where = self.pick(None, self.condition())
        if self.sometimes(0.4):
            keys = self.chosen.sample(["c", "b", "k", "ill", "BIN(n, 4)"], 2)
            return Asked("workload", ("marginals", *keys), {"where": where})
        name, width = self.pick(("n", None), ("m", 2), ("a", 10**5), ("w", 2**30), ("v", 2**51))
        options = {"where": where, "width": width}
        return Asked("workload", (self.pick("prefixes", "ranges"), name), options)

    def clip(self) -> Asked:
        what = self.pick("SUM(a)", "AVG(a)", "SUM(n)", "AVG(n)", "SUM(a) FILTER (WHERE ill)")
        return self.one(what, clip="auto", epsilon=Decimal(self.pick("0.01", 1)))

    def interval(self) -> Asked:
        value = self.pick("n", "m", "w", "a", "f", "h", self.small(20), self.choice())
        what = self.pick("MEDIAN({})", "QUANTILE({}, 0.9)", "MAX({})", "MIN({})").format(value)
        return self.one(what, interval=0.9)

    def measure_cut(self) -> Asked:
        what = self.pick("COUNT(*)", "SUM(a)", "AVG(n)", f"SUM({self.small()})", "MEDIAN(n)")
        return self.one(what, measure_cut=0.1)

    def individual(self) -> Asked:
        name = self.pick("w", "a", "n", "m")
        what = self.pick("MEDIAN({0})", "MIN({0})", "MAX({0})", "AVG({0})", "SUM({0})").format(name)
        what = self.pick(what, what, "VAR_POP(n)", "CORR(n, m)", "MODE(c)", "REGR_SLOPE(m, n)")
        return self.ask(f"SELECT {what} FROM t", individual=True, epsilon=Decimal("0.01"))

    def approved(self) -> Asked:
        return self.ask(APPROVED, individual=True, epsilon=Decimal("0.01"))

    def believed(self) -> Asked:
        prior = tn.prior.Points({0: "0.5", 3: "0.25", 5: "0.25"})
        value = self.pick("n", "m", f"n + {self.zeroed(self.any(1)).text}")
        what = self.pick("COUNT(*)", f"SUM({value})", f"AVG({value})")
        return self.one(what, prior=prior, epsilon=Decimal("0.01"))

    def person(self) -> Asked:
        """About one person, who may be there or not."""
        who = self.pick(*(f"'{name}'" for name in ("adv", "42", "", "nobody", "017")), "42", "-1")
        if self.sometimes(0.5):
            prior = tn.prior.Points({0: "0.5", 3: "0.25", 5: "0.25"})
            name = self.pick("n", "m")
        else:
            name = "c"
            prior = tn.prior.Categorical({"A": "0.5", "a": "0.25", "Ä": "0.25"})
        return self.ask(f"SELECT {name} FROM t WHERE who = {who}", prior=prior, epsilon=1)

    def limits(self) -> Asked:
        options: dict[str, Any] = {"epsilon": 1, "most": self.pick(2, 9), "quantiles": [0.5]}
        options["column"] = self.pick(None, "w", "u", "h", "a")
        options["by"] = self.pick((), ("c",), ("BIN(n, 5)",))
        return Asked("limits", (), options)

    def bounds(self) -> Asked:
        return Asked("bounds", (self.pick("w", "v", "f", "h", "n", "m", "a", "g"),), {"epsilon": 1})


Form = Callable[[Writer], Asked]
FORMS: dict[str, Form] = {
    form.__name__: form
    for form in (
        *(Writer.times_zero, Writer.squared, Writer.key_shared, Writer.key_shared_after),
        *(Writer.function, Writer.key_named, Writer.of_condition),
        *(Writer.count, Writer.sum, Writer.avg, Writer.median, Writer.quantile, Writer.least),
        *(Writer.most, Writer.mode, Writer.variance, Writer.stdev, Writer.covariance),
        *(Writer.correlation, Writer.distinct, Writer.several),
        *(Writer.key_text, Writer.key_number),
        *(Writer.key_bin, Writer.key_trunc, Writer.key_floor, Writer.key_extract),
        *(Writer.key_boolean, Writer.key_category, Writer.key_bucket, Writer.key_of_computed),
        *(Writer.two_keys, Writer.grouped_ranks, Writer.having, Writer.order, Writer.limit),
        *(Writer.rollup, Writer.cube, Writer.grouping_sets, Writer.people, Writer.people_by),
        *(Writer.lookup, Writer.derived_table, Writer.derived_column, Writer.many),
        *(Writer.workload, Writer.clip, Writer.interval, Writer.measure_cut, Writer.individual),
        *(Writer.approved, Writer.believed, Writer.person, Writer.limits, Writer.bounds),
    )
}
CORE = ("times_zero", "squared", "key_shared", "key_shared_after")
"""Those that are nearest to what was broken once: the quick run asks more of them."""
BATCH = "batch"
HEAVY = ("rollup", "cube", "grouping_sets", "many", "key_floor", "clip", "covariance", "several")
HEAVY += ("function", "key_named")
"""Those that take long to plan or to draw: the quick run asks fewer of them."""
OF_PEOPLE = ("people", "people_by", "measure_cut", "limits")
OF_REPLACED_RECORDS = ("individual", "approved")


ALL_FORMS: dict[str, Form] = {**FORMS, BATCH: Writer.batch}


def fits(form: str, world: World) -> bool:
    """Whether a world has what a form is about."""
    if form in OF_PEOPLE:
        return bool(world.persons)
    return form not in OF_REPLACED_RECORDS or (world.replaces and not world.persons)


# -- three tables, one question --------------------------------------------------------------------


class Trio(Session):
    """A session that plans a question once, and pays, draws and reads of several tables."""

    engines: Sequence[Engine] = ()

    def __init__(self, schema: Schema, engine: Engine) -> None:
        ledger = tn.ledger.Memory()
        budget = schema.budget
        assert budget is not None
        ledger.open_dataset(
            schema.name,
            budget.total,
            neighbours=schema.neighbours,  # type: ignore[arg-type]
            individual=budget.individual,
            schema_digest=schema.digest,
        )
        super().__init__(Dataset(schema, engine, ledger), HOLDER)
        self.found: list[Outcome] = []

    def outcomes(self, engines: Sequence[Engine], asked: Asked) -> list[Outcome]:
        """What comes of a question on each table; a refusal before any is read is that of all."""
        self.engines, self.found = engines, []
        try:
            asked(self)
        except Unanswered:
            pass
        except tn.Refused as refused:
            if not self.found:
                return [outcome_of(refused)] * len(engines)
            self.found[-1] = ("failed", "refused after the answer", str(refused))
        except Exception as failed:
            self.found = [("failed", *_said_by(failed))] * len(engines)
        return self.found

    def _settled(self, wanted: Inquiry[Any], key: str | None, fresh: bool) -> Any:
        answer = None
        for engine in self.engines:
            self._dataset._engine = engine  # type: ignore[attr-defined]
            try:
                answer = super()._settled(wanted, None, True)
                getattr(answer, "value", None)
            except tn.Refused as refused:
                self.found.append(outcome_of(refused))
            except Exception as failed:
                self.found.append(("failed", *_said_by(failed)))
            else:
                self.found.append(("answer",))
        if answer is None:
            raise Unanswered
        return answer


def _said_by(failed: Exception) -> Outcome:
    """What went wrong, where, and what the engine said: it is hidden from those who ask."""
    where = traceback.extract_tb(failed.__traceback__)[-1]
    behind = failed.__cause__ or failed.__context__
    place = f"{Path(where.filename).name}:{where.lineno}"
    return (repr(failed)[:300], place, "" if behind is None else repr(behind)[:600])


class Unanswered(Exception):
    """No table gave an answer."""


def outcome_of(refused: tn.Refused) -> Outcome:
    """A refusal with its words: these must not tell of rows either."""
    return ("refused", refused.code, str(refused))


class Broken(AssertionError):
    """Neighbours that can be told apart by what went wrong."""


class Pair:
    """One world with its tables open: D, some neighbours, and the worst."""

    def __init__(
        self, world: World, opener: Opener, most: int | None, chosen: random.Random
    ) -> None:
        self.world, self._opener = world, opener
        self.tables = Tables.of(world, opener.engine)
        places = list(range(len(self.tables.one)))
        self.places = places if most is None else chosen.sample(places, min(most, len(places)))
        self._engines: dict[int, Engine] = {}
        self.plain = opener(world, self.tables.plain)
        self.worst = opener(world, self.tables.worst)
        self.session = Trio(world.schema, self.plain)

    def _engine(self, name: str, place: int) -> Engine:
        if name != "D'":
            return self.plain if name == "D" else self.worst
        if place not in self._engines:
            self._engines[place] = self._opener(self.world, self.tables.one[place])
        return self._engines[place]

    def ask(self, asked: Asked, chosen: random.Random, *, quick: bool = False) -> Outcome:
        """What comes of it, on every table; raises if that differs, or if it is a failure.

        quick: of the worst table and one other, not of all three.
        """
        place = chosen.choice(self.places)
        others = (chosen.choice(("D", "D", "D'")),) if quick else ("D", "D'")
        tables = ("D''", *others)
        found = self.session.outcomes([self._engine(name, place) for name in tables], asked)
        if len(set(found)) > 1 or found[0][0] == "failed":
            raise Broken(self._told(asked, place, dict(zip(tables, found, strict=True))))
        return found[0]

    def _told(self, asked: Asked, place: int, found: Mapping[str, Outcome]) -> str:
        told = "\n".join(f"  {name}: {what}" for name, what in found.items())
        own = [row for row in self.tables.one[place] if row not in self.tables.plain]
        return (
            f"{asked}\n{told}\nworld {self.world.name!r}: {self.world.stated}\n"
            f"stored {self.world.kinds}\nD' has {_short(own)}"
        )

    def close(self) -> None:
        for engine in (self.plain, self.worst, *self._engines.values()):
            engine.close()


def _short(rows: Iterable[Row]) -> list[Row]:
    """Rows with long texts cut."""
    return [
        {n: v if v is None or len(v) < 60 else f"{v[:9]}… ({len(v)})" for n, v in row.items()}
        for row in rows
    ]


@dataclass
class Told:
    """What came of many questions."""

    asked: int = 0
    answered: Counter[str] = field(default_factory=Counter)
    refused: Counter[tuple[str, str]] = field(default_factory=Counter)
    pairs: int = 0

    def add(self, other: Told) -> None:
        self.asked += other.asked
        self.answered += other.answered
        self.refused += other.refused
        self.pairs += other.pairs

    @property
    def share(self) -> float:
        return self.answered.total() / max(self.asked, 1)


def ask_all(
    pairs: Sequence[Pair],
    seed: int,
    many: int,
    forms: Sequence[str] = tuple(FORMS),
    *,
    depth: int = 1,
    quick: bool = False,
) -> Told:
    """So many generated questions that are answered, form by form, world by world.

    What the parser refuses costs nothing, and another one of the form is written in its place.
    """
    chosen, told = random.Random(seed), Told()
    turns = {form: chosen.randrange(60) for form in forms}
    for number in range(many):
        form = forms[number % len(forms)]
        fitting = [pair for pair in pairs if fits(form, pair.world)]
        if not fitting:
            continue
        pair = fitting[turns[form] % len(fitting)]
        turns[form] += 1
        for _ in range(40):
            asked = ALL_FORMS[form](Writer(chosen, pair.world, depth))
            told.asked += 1
            try:
                outcome = pair.ask(asked, chosen, quick=quick)
            except Broken as broken:
                raise Broken(f"question {told.asked} of seed {seed}, {form}:\n{broken}") from None
            if outcome == ("answer",):
                told.answered[form] += 1
                told.pairs += 1 if quick else 2
                break
            told.refused[form, outcome[2]] += 1
    return told


def seed_now() -> int:
    """Follows from the test's name; with Hypothesis' fresh examples, from the system."""
    if settings().derandomize:
        return random.getrandbits(48)  # seeded for each test by its name (`chance.py`)
    return int.from_bytes(SYSTEM(6), "big")
