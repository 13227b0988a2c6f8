"""Random tables with awkward values, their schemas, and requests that fit them."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from tenue.engine.computed_column import All, Among, Any_, Missing, Not, Within
from tenue.engine.request import (
    Bin,
    Calendar,
    Factor,
    Group,
    Measure,
    People,
    Pieces,
    RankRequest,
    Request,
    Window,
)
from tenue.schema import (
    Boolean,
    Bounded,
    Category,
    Column,
    Date,
    Datetime,
    Identifier,
    Number,
    Schema,
)

__all__ = [
    "Example",
    "arrow_of",
    "examples",
    "moments",
    "numbers",
    "people",
    "rank_requests",
    "requests",
    "row_of",
]

INTEGERS = {
    str(kind): (kind, 0 if unsigned else -(2 ** (bits - 1)), 2 ** (bits - 1 + unsigned) - 1)
    for bits in (8, 16, 32, 64)
    for unsigned, kind in enumerate([getattr(pa, f"int{bits}")(), getattr(pa, f"uint{bits}")()])
}
FLOATS = [math.nan, math.inf, -math.inf, 1e308, -1e308, -0.0, 5e-324, 0.5, 2.5, 0.49999999999999994]
FLOATS += [2.0**52 + 1, 2.0**53, -(2.0**62), 1.005, 0.1, 0.3]
GRIDS = ["1", "5", "0.01", "0.25", "0.3", "2.5", "0.001", "100", "1099511627776", "1E-18"]
GRIDS += ["12345678901234567890", "1.00000000000000000001"]
WORDS = ["a", "b", "it's", 'say "x"', "Ü", "A", " a", "7", "true", "line\nbreak"]


@dataclass(frozen=True)
class Example:
    """A schema, how each column is stored, and rows of Python values."""

    schema: Schema
    types: dict[str, pa.DataType]
    rows: list[dict[str, Any]]


def arrow_of(example: Example, rows: list[dict[str, Any]] | None = None) -> pa.Table:
    """The rows as an Arrow table."""
    rows = example.rows if rows is None else rows
    return pa.table(
        {
            name: pa.array([row[name] for row in rows], kind, from_pandas=False)
            for name, kind in example.types.items()
        }
    )


@st.composite
def numbers(draw: Any) -> tuple[dict[str, Any], pa.DataType, st.SearchStrategy[Any]]:
    """What is stated of a number column, how it is stored, and values that may be in it."""
    grid = Fraction(draw(st.sampled_from(GRIDS)))
    largest = draw(st.sampled_from([3, 1000, 2**31, 2**53, 2**62]))
    low = draw(st.integers(-largest, largest - 1))
    high = draw(st.integers(low + 1, largest))
    stated: dict[str, Any] = {"type": "number", "bounds": [low * grid, high * grid], "grid": grid}
    if draw(st.booleans()):
        stated["missing"] = draw(st.integers(low, high)) * grid
    near = st.integers(low - 2, high + 2).map(lambda n: n * grid)
    halves = st.tuples(near, st.sampled_from([0, 1, -1])).map(lambda n: n[0] + n[1] * grid / 2)
    kind = draw(st.sampled_from(["double", "float", "decimal", "bool", *INTEGERS]))
    if kind == "bool":
        return stated, pa.bool_(), st.booleans()
    if kind in INTEGERS:
        stored, least, most = INTEGERS[kind]
        values = st.integers(least, most) | st.sampled_from([least, most])
        close = halves.map(lambda x: min(max(math.floor(x), least), most))
        return stated, stored, values | close
    if kind == "decimal":
        width = draw(st.integers(1, 20))
        scale = draw(st.integers(0, width))
        unit = Fraction(10**scale)
        near_units = halves.map(lambda x: math.floor(x * unit))
        units = st.integers(-(10**width) + 1, 10**width - 1) | near_units
        inside = units.map(lambda n: min(max(n, -(10**width) + 1), 10**width - 1))
        stored = pa.decimal128(width, scale)
        return stated, stored, inside.map(lambda n: Decimal(n).scaleb(-scale))
    floats = st.floats() | st.sampled_from(FLOATS) | halves.map(_float)
    if kind == "float":
        return stated, pa.float32(), floats.map(_single)
    return stated, pa.float64(), floats


def _float(x: Fraction) -> float:
    return float(x)


def _single(x: float) -> float:
    try:
        return float(struct.unpack("f", struct.pack("f", x))[0])
    except OverflowError:
        return math.copysign(math.inf, x)


@st.composite
def dates(draw: Any) -> tuple[dict[str, Any], pa.DataType, st.SearchStrategy[Any]]:
    grid, steps = draw(st.integers(1, 9)), draw(st.integers(1, 900))
    low = date(1970, 1, 1) + timedelta(days=draw(st.integers(-700000, 2900000)))
    bounds = [low, low + timedelta(days=grid * steps)]
    stated = {"type": "date", "bounds": bounds, "grid": grid}
    if draw(st.booleans()):
        stated["missing"] = low + timedelta(days=grid * draw(st.integers(0, steps)))
    near = st.dates(low, bounds[1])
    moments = st.datetimes() | near.map(lambda day: datetime(day.year, day.month, day.day, 23, 59))
    stored, values = draw(
        st.sampled_from(
            [
                (pa.date32(), st.dates() | near),
                (pa.timestamp("us"), moments),
                (pa.timestamp("s"), moments.map(lambda moment: moment.replace(microsecond=0))),
            ]
        )
    )
    return stated, stored, values


@st.composite
def datetimes(draw: Any) -> tuple[dict[str, Any], pa.DataType, st.SearchStrategy[Any]]:
    grid = draw(st.sampled_from(["1", "60", "0.001", "0.000007", "86400"]))
    micros = int(Fraction(grid) * 10**6)
    low = datetime(1970, 1, 1) + timedelta(microseconds=draw(st.integers(-(10**16), 10**16)))
    high = low + timedelta(microseconds=micros * draw(st.integers(1, 900)))
    stated = {"type": "datetime", "bounds": [low, high], "grid": Decimal(grid)}
    near = st.datetimes(low - timedelta(seconds=2), high + timedelta(seconds=2))
    nanos = st.datetimes(datetime(1680, 1, 1), datetime(2260, 1, 1))
    stored, values = draw(
        st.sampled_from(
            [
                (pa.timestamp("us"), near | st.datetimes()),
                (pa.timestamp("us", "UTC"), near | st.datetimes()),
                (pa.timestamp("ms"), near.map(_millis) | st.datetimes().map(_millis)),
                (pa.timestamp("s"), st.datetimes().map(lambda x: x.replace(microsecond=0))),
                (pa.timestamp("ns"), nanos),
                (pa.timestamp("ns", "UTC"), nanos),
                (pa.date32(), st.dates() | near.map(datetime.date)),
            ]
        )
    )
    return stated, stored, values


def _millis(moment: datetime) -> datetime:
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


@st.composite
def categories(draw: Any) -> tuple[dict[str, Any], pa.DataType, st.SearchStrategy[Any]]:
    names = draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=5, unique=True))
    stated: dict[str, Any] = {"type": "category", "categories": names}
    if draw(st.booleans()):
        stated["missing"] = names[-1]
    texts = st.sampled_from([*WORDS, "undeclared", "", "a "])
    stored, values = draw(
        st.sampled_from(
            [
                (pa.string(), texts),
                (pa.dictionary(pa.int8(), pa.string()), texts),
                (pa.large_string(), texts),
                (pa.int32(), st.sampled_from([7, 8, -7])),
                (pa.bool_(), st.booleans()),
            ]
        )
    )
    return stated, stored, values


@st.composite
def booleans(draw: Any) -> tuple[dict[str, Any], pa.DataType, st.SearchStrategy[Any]]:
    stated: dict[str, Any] = {"type": "boolean"}
    if draw(st.booleans()):
        stated["missing"] = draw(st.booleans())
    stored, values = draw(
        st.sampled_from(
            [
                (pa.bool_(), st.booleans()),
                (pa.int64(), st.integers(-1, 2)),
                (pa.float64(), st.sampled_from([0.0, -0.0, 1.0, 2.0, math.nan, math.inf])),
                (pa.string(), st.sampled_from([" Yes", "NO", "1", "0", "maybe", "", "t", "False"])),
            ]
        )
    )
    return stated, stored, values


@st.composite
def identifiers(draw: Any) -> tuple[dict[str, Any], pa.DataType, st.SearchStrategy[Any]]:
    texts = st.sampled_from(["ann", "Ann", "ann ", "", "17", "017", "\u00e9", "e\u0301"])
    stored, values = draw(
        st.sampled_from(
            [
                (pa.string(), texts),
                (pa.dictionary(pa.int8(), pa.string()), texts),
                (pa.int64(), st.sampled_from([0, 1, -(2**63), 2**63 - 1])),
                (pa.float64(), st.sampled_from([0.0, -0.0, 1.0, math.nan, math.inf])),
                (pa.bool_(), st.booleans()),
                (pa.date32(), st.sampled_from([date(2000, 1, 1), date(2000, 1, 2)])),
            ]
        )
    )
    return {"type": "identifier"}, stored, values


def row_of(strategies: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[dict[str, Any]]:
    """A row, with missing values."""
    return st.fixed_dictionaries({name: st.none() | made for name, made in strategies.items()})


@st.composite
def examples(draw: Any, most_rows: int = 12) -> Example:
    """A table of every type of column."""
    made = {
        "n": draw(numbers()),
        "m": draw(numbers()),
        "day": draw(dates()),
        "seen": draw(datetimes()),
        "kind": draw(categories()),
        "flag": draw(booleans()),
        "who": draw(identifiers()),
    }
    columns = {name: stated for name, (stated, _, _) in made.items()}
    operators = draw(st.lists(st.sampled_from("+-*/"), min_size=2, max_size=2))
    columns["Derived"] = {
        "type": "number",
        "expression": f"n {operators[0]} (0.1 - m) {operators[1]} 3",
        "bounds": [-1000, 1000],
        "grid": Decimal("0.5"),
    }
    table = {"name": "t", "unit": "record", "neighbours": "replace"}
    schema = Schema.from_dict({"table": table, "columns": columns})
    rows = draw(
        st.lists(row_of({n: values for n, (_, _, values) in made.items()}), max_size=most_rows)
    )
    return Example(schema, {name: stored for name, (_, stored, _) in made.items()}, rows)


def _ends(column: Bounded) -> tuple[int, int]:
    low = int(column.low / column.grid) if isinstance(column, Number) else 0
    return low, low + column.steps


def _visible(schema: Schema) -> list[Column]:
    return [column for column in schema.columns.values() if not isinstance(column, Identifier)]


def _leaves(draw: Any, schema: Schema) -> Any:
    column = draw(st.sampled_from(_visible(schema)))
    if draw(st.integers(0, 4)) == 0:
        return Missing(column.name)
    if isinstance(column, Bounded):
        low, high = _ends(column)
        end = st.none() | st.integers(low - 1, high + 1)
        return Within(column.name, draw(end), draw(end))
    words = [*WORDS, "undeclared"] if isinstance(column, Category) else [False, True]
    chosen = draw(st.lists(st.sampled_from(words), max_size=3, unique=True))
    return Among(column.name, tuple(chosen))


@st.composite
def predicates(draw: Any, schema: Schema, depth: int = 2) -> Any:
    shape = draw(st.sampled_from(["leaf", "not", "all", "any"])) if depth else "leaf"
    if shape == "leaf":
        return _leaves(draw, schema)
    if shape == "not":
        return Not(draw(predicates(schema, depth - 1)))
    parts = tuple(draw(st.lists(predicates(schema, depth - 1), max_size=3)))
    return All(parts) if shape == "all" else Any_(parts)


def _pieces(draw: Any, column: Column) -> Pieces:
    if isinstance(column, Bounded):
        low, high = _ends(column)
        starts = draw(st.lists(st.integers(low - 1, high + 1), max_size=9, unique=True))
        if draw(st.booleans()):  # equally wide
            first = low + draw(st.integers(0, 2))  # each start is above the one before
            starts = [first + 2 * i for i in range(len(starts))]
        return Pieces(column.name, len(starts) + 2, starts=tuple(sorted(starts)))
    many = len(column.categories) if isinstance(column, Category) else 2
    classes = draw(st.lists(st.integers(0, 3), min_size=many, max_size=many))
    return Pieces(column.name, 5, classes=tuple(classes))


@st.composite
def keys(draw: Any, schema: Schema) -> Any:
    column = draw(st.sampled_from(_visible(schema)))
    if draw(st.integers(0, 3)) == 0:
        return _pieces(draw, column)
    if isinstance(column, Category):
        return Group(column.name, len(column.categories))
    if isinstance(column, Boolean):
        return Group(column.name, 2)
    first = draw(st.integers(-3, 3))
    # as many as a question may have, or far more than memory would hold; between them an engine
    # that counts cells in an array runs out of memory or not, by chance
    cells = draw(st.integers(1, 100_000) | st.just(2**62))
    if isinstance(column, Date | Datetime) and draw(st.booleans()):
        part = draw(st.sampled_from(["year", "quarter", "month", "week", "day", "hour"]))
        return Calendar(column.name, part, draw(st.sampled_from([first, -(10**9)])), cells)
    low, high = _ends(column)
    width = draw(st.integers(1, high - low + 2) | st.just(10**40))
    whole = st.just((low // width, high // width - low // width + 1))
    some = st.tuples(st.integers(low // width - 1, high // width + 1), st.integers(1, 9))
    return Bin(column.name, width, *draw(whole | some))


@st.composite
def moments(draw: Any, schema: Schema) -> Measure:
    """A product that is small enough: each column has a share of the 86 bits that there are."""
    bounded = [column for column in _visible(schema) if isinstance(column, Bounded)]
    chosen = draw(st.lists(st.sampled_from(bounded), max_size=3))
    factors = []
    for column in chosen:
        low, high = _ends(column)
        shift = draw(st.sampled_from([low, high, 0]) | st.integers(low - 5, high + 5))
        bits = max(abs(low - shift), abs(high - shift)).bit_length()
        most = 86 // (len(chosen) * bits)
        factors.append(Factor(column.name, shift, draw(st.integers(0, min(most, 4)))))
    return Measure("moment", factors=tuple(factors))


def people(most: int = 3) -> st.SearchStrategy[People]:
    """Limits for the unit `who`."""
    few = st.integers(1, most)
    return st.builds(People, st.just("who"), few, st.none() | few)


@st.composite
def requests(draw: Any, schema: Schema) -> Request:
    """A request that fits the schema: every measure of every column that has it."""
    measures = [Measure("rows")]
    for column in _visible(schema):
        measures.append(Measure("present", column.name))
        if isinstance(column, Bounded):
            measures.append(Measure("total", column.name))
    where = draw(st.none() | predicates(schema))
    return Request(tuple(measures), where, tuple(draw(st.lists(keys(schema), max_size=2))))


@st.composite
def windows(draw: Any) -> Window:
    """Windows of quantiles and of fixed ranks, in whole rows and in fine parts of them."""
    b = draw(st.integers(1, 6) | st.just(10**30))
    a = draw(st.integers(0, b) | st.sampled_from([0, b, b // 2]))
    offset = st.integers(-3 * b, 3 * b)
    return Window(b, a, draw(offset), draw(offset), draw(st.integers(0, 4 * b) | st.just(10**50)))


@st.composite
def rank_requests(draw: Any, schema: Schema) -> RankRequest:
    """A request for ranks that fits the schema."""
    bounded = [column.name for column in _visible(schema) if isinstance(column, Bounded)]
    chosen = tuple(draw(st.lists(windows(), max_size=3)))
    where = draw(st.none() | predicates(schema))
    found = tuple(draw(st.lists(keys(schema), max_size=1)))
    return RankRequest(draw(st.sampled_from(bounded)), chosen, where, found)
