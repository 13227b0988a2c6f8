"""Random tables, and random questions together with what they must become.

What a question must become is worked out here from the grid steps and categories that were chosen,
never by reading a text.
"""

# ruff: noqa: S608 - these texts are what is tested

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from tenue.ask.question import (
    Aggregate,
    Arithmetic,
    Comparison,
    Constant,
    Expression,
    KeyOutput,
    Order,
    Output,
    Question,
)
from tenue.engine.computed_column import All, Among, Any_, Missing, Not, Predicate, Within
from tenue.engine.request import Bin, Calendar, Group, Key
from tenue.schema import Boolean, Bounded, Category, Column, Date, Datetime, Number, Schema
from unit.schema.stated import COLUMNS

Draw = Callable[[st.SearchStrategy[Any]], Any]

NAMES = [
    *("age", "Income", "native-country", "año", "hours per week", "x.y", "_z", "a" * 128),
    *("date", "order", "select", "if", "next", "map", "values", "count", "bin", "nulls", "last"),
    *("timestamp", "all", "union", "interval", "true", "Group", "first", "current_date", "t"),
]
TABLES = ["census", "T_1", "index", "date", "c"]


@st.composite
def tables(draw: Draw) -> Schema:
    """A table with columns of every type, under names that SQL uses for other things."""
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=6, unique=True))
    columns = {name: draw(COLUMNS) for name in names}
    for column in columns.values():
        if column.get("role") == "identifier":
            del column["role"]
    table = {"name": draw(st.sampled_from(TABLES)), "unit": "record", "neighbours": "replace"}
    return Schema.from_dict({"table": table, "columns": columns})


@dataclass(frozen=True)
class Asked:
    """A question in SQL and what it must become."""

    sql: str
    becomes: Question


def value_text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, Fraction):
        return f"{float(value)!r}" if Fraction(repr(float(value))) == value else f"{value}"
    return str(value) if isinstance(value, int) else f"'{value}'"


@st.composite
def spelled(draw: Draw, name: str) -> str:
    """The name in quotes, in any case."""
    return '"' + draw(st.sampled_from([name, name.lower(), name.upper(), name.swapcase()])) + '"'


@st.composite
def leaves(draw: Draw, column: Column) -> tuple[str, Predicate]:
    """A condition on one column, and its predicate."""
    name = draw(spelled(column.name))
    if draw(st.integers(0, 5)) == 0:
        if draw(st.booleans()):
            return f"{name} IS NULL", Missing(column.name)
        return f"{name} IS NOT NULL", Not(Missing(column.name))
    if isinstance(column, Bounded):
        return draw(_spans(column, name))
    if isinstance(column, Boolean):
        value = draw(st.booleans())
        texts = [f"{name} = {value}", f"{name} <> {not value}", f"NOT {value} <> {name}"]
        texts.append(name if value else f"NOT ({name})")
        return draw(st.sampled_from(texts)), Among(column.name, (value,))
    assert isinstance(column, Category)
    declared = column.categories
    chosen = draw(st.lists(st.sampled_from(declared), min_size=1, unique=True))
    rest = [value for value in declared if value not in chosen]
    texts = [f"{name} IN ({', '.join(map(value_text, chosen))})"]
    texts.append(" OR ".join(f"{value_text(value)} = {name}" for value in chosen))
    if rest:
        texts.append(f"NOT {name} IN ({', '.join(map(value_text, rest))})")
    text = draw(st.sampled_from(texts))
    return f"({text})", Among(column.name, tuple(v for v in declared if v in chosen))


@st.composite
def _spans(draw: Draw, column: Bounded, name: str) -> tuple[str, Predicate]:
    first = draw(st.integers(0, column.steps))
    last = draw(st.integers(first, column.steps))
    low, high = (value_text(column.from_steps(step)) for step in (first, last))
    zero = int(column.low / column.grid) if isinstance(column, Number) else 0
    inside = Within(
        column.name,
        None if first == 0 else first + zero,
        None if last == column.steps else last + zero,
    )
    if first > 0 and last < column.steps and draw(st.booleans()):
        texts = [f"{name} NOT BETWEEN {low} AND {high}", f"({name} < {low} OR {high} < {name})"]
        if first == last:
            texts.append(f"{name} <> {low}")
        return draw(st.sampled_from(texts)), Not(inside)
    texts = [f"{name} BETWEEN {low} AND {high}", f"({low} <= {name} AND NOT {name} > {high})"]
    if first == last:
        texts += [f"{name} = {low}", f"{name} IN ({low})"]
    if last == column.steps:
        texts += [f"{name} >= {low}", f"NOT {name} < {low}"]
    if first == 0:
        texts += [f"{name} <= {high}", f"NOT ({high} < {name})"]
    return draw(st.sampled_from(texts)), inside


@st.composite
def conditions(draw: Draw, schema: Schema) -> tuple[str, Predicate]:
    """AND or OR of conditions on different columns, two levels deep."""
    names = draw(st.permutations(list(schema.columns)))[: draw(st.integers(1, 4))]
    every = draw(st.booleans())
    parts: list[tuple[str, Predicate]] = []
    while names:
        one = draw(leaves(schema.columns[names.pop()]))
        if names and draw(st.booleans()):
            other = draw(leaves(schema.columns[names.pop()]))
            joined = (one[1], other[1])
            text = f"({one[0]} {'OR' if every else 'AND'} {other[0]})"
            one = text, (Any_ if every else All)(tuple(sorted(joined, key=repr)))
        parts.append(one)
    if len(parts) == 1:
        return parts[0]
    text = (" AND " if every else " OR ").join(part[0] for part in parts)
    return text, (All if every else Any_)(tuple(sorted((p[1] for p in parts), key=repr)))


@st.composite
def keys(draw: Draw, column: Column) -> tuple[str, Key]:
    """A key of the column, and how it is written."""
    name = draw(spelled(column.name))
    if isinstance(column, Category):
        return name, Group(column.name, len(column.categories))
    if isinstance(column, Boolean):
        return name, Group(column.name, 2)
    if isinstance(column, Number):
        width = draw(st.integers(1, column.steps))
        low, high = (int(end / column.grid) for end in (column.low, column.high))
        cells = {math.floor(Fraction(step, width)) for step in range(low, high + 1)}
        text = f"BIN({name}, {value_text(width * column.grid)})"
        return text, Bin(column.name, width, min(cells), len(cells))
    assert isinstance(column, Date | Datetime)
    part = draw(st.sampled_from(["year", "month", "week", "day"]))
    ends = [column.from_steps(step) for step in (0, column.steps)]
    first, last = (_calendar_index(part, end) for end in ends)
    return f"DATE_TRUNC('{part}', {name})", Calendar(column.name, part, first, last - first + 1)


def _calendar_index(part: str, moment: Any) -> int:
    days = moment.toordinal() - 719_163  # 1970-01-01
    iso = moment.isocalendar()
    monday = moment.toordinal() - iso.weekday + 1 - 719_163
    return {
        "year": moment.year,
        "month": moment.year * 12 + moment.month - 1,
        "week": (monday + 3) // 7,
        "day": days,
    }[part]


@st.composite
def expressions(draw: Draw, schema: Schema) -> tuple[str, Expression]:
    """An aggregate, or a ratio of two."""
    numbers = [column for column in schema.columns.values() if isinstance(column, Number)]
    column = draw(st.sampled_from(list(schema.columns.values())))
    choices: list[tuple[str, Expression]] = [
        ("COUNT(*)", Aggregate("count")),
        (f"count({draw(spelled(column.name))})", Aggregate("count", column.name)),
    ]
    for number in numbers:
        name = draw(spelled(number.name))
        choices.append((f"SUM({name})", Aggregate("sum", number.name)))
        choices.append((f"Avg({name})", Aggregate("avg", number.name)))
    one, other = draw(st.sampled_from(choices)), draw(st.sampled_from(choices))
    factor = draw(st.fractions(-9, 9, max_denominator=9).filter(bool))
    return draw(
        st.sampled_from(
            [
                one,
                (f"{one[0]} / {other[0]}", Arithmetic("/", one[1], other[1])),
                (f"({one[0]}) - {other[0]}", Arithmetic("-", one[1], other[1])),
                (
                    f"({factor.numerator} / {factor.denominator}) * {one[0]}",
                    Arithmetic("*", one[1], Constant(factor)),
                ),
            ]
        )
    )


@st.composite
def asked(draw: Draw, schema: Schema) -> Asked:
    """A question with any of the clauses, and what it must become."""
    chosen: list[tuple[str, Key]] = []
    for name in draw(st.permutations(list(schema.columns)))[: draw(st.integers(0, 2))]:
        key = draw(keys(schema.columns[name]))
        if math.prod(each.cells for _, each in [*chosen, key]) <= 100_000:
            chosen.append(key)
    values = draw(st.lists(expressions(schema), min_size=1, max_size=3))
    outputs: list[KeyOutput | Output] = [
        *(KeyOutput(f"k{place}", place) for place in range(len(chosen))),
        *(Output(f"v{place}", value) for place, (_, value) in enumerate(values)),
    ]
    texts = [text for text, _ in chosen] + [text for text, _ in values]
    selected = [f"{text} AS {out.alias}" for text, out in zip(texts, outputs, strict=True)]
    table = draw(spelled(schema.name))
    sql = f"SELECT {', '.join(selected)} FROM {table}"
    if draw(st.booleans()):
        sql = f"WITH w AS (SELECT * FROM {table}) SELECT {', '.join(selected)} FROM w"
    where = None
    if draw(st.booleans()):
        text, where = draw(conditions(schema))
        sql += f" WHERE {text}"
    if chosen:
        groups = [[text, f"k{place}", str(place + 1)] for place, (text, _) in enumerate(chosen)]
        sql += " GROUP BY " + ", ".join(
            draw(st.permutations([draw(st.sampled_from(g)) for g in groups]))
        )
    first = next(o for o in outputs if isinstance(o, Output))
    having: tuple[Comparison, ...] = ()
    if draw(st.booleans()):
        sql += f" HAVING {first.alias} >= 3"
        having = (Comparison(first.alias, ">=", Fraction(3)),)
    order: tuple[Order, ...] = ()
    limit = None
    if chosen and draw(st.booleans()):
        order = (Order(first.alias, True), Order("k0"))
        sql += f" ORDER BY {first.alias} DESC, k0"
    cells = math.prod(key.cells for _, key in chosen)
    if draw(st.booleans()):
        limit = draw(st.integers(1, 50))
        sql += f" LIMIT {limit}"
        limit = limit if limit < cells else None
    return Asked(
        sql,
        Question(
            schema.name, tuple(outputs), tuple(k for _, k in chosen), where, having, order, limit
        ),
    )
