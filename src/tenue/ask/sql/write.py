"""From a question to SQL for people, in `explain` and on certificates.

`parse` reads the text as the same question again. No engine reads it.
"""

from __future__ import annotations

from fractions import Fraction

from ...engine.request import Bin, Calendar, Key
from ...schema import Date, Datetime, Number, Schema, Table
from ...schema.case_insensitive import COMPUTED
from ..question import (
    Aggregate,
    Applied,
    Arithmetic,
    Comparison,
    Constant,
    Expression,
    GroupingOutput,
    GroupingSets,
    KeyOutput,
    Order,
    Output,
    Over,
    Persons,
    Question,
    seen_by,
    with_columns,
)
from .aggregate import needs_parentheses
from .constant import sql_label, sql_name, sql_number, sql_value
from .logic import render_where
from .output import SECONDS_PER_DAY

_ZERO = Constant(Fraction(0))


def render(question: Question | GroupingSets, schema: Schema) -> str:
    """One SQL text for the question, which `parse` reads as the same question.

    Example
        >>> from tenue.schema import Schema
        >>> from tenue.ask.sql.parse import parse
        >>> schema = Schema.from_dict({
        ...     "table": {"name": "census", "unit": "record", "neighbours": "replace"},
        ...     "columns": {"income": {"type": "number", "bounds": [0, 200_000]}}})
        >>> render(parse("select avg(INCOME) from census where not 7 <= income", schema), schema)
        'SELECT AVG(income) AS avg_income FROM census WHERE income <= 6'
    """
    source = sql_name(question.table)
    if question.persons is not None:
        source = _persons(question.persons, source, schema)
    schema = seen_by(question, schema)
    keys = [_key(key, schema) for key in question.keys]
    columns = {output.alias: _output(output, keys, schema) for output in question.outputs}
    selected = (
        text if text == sql_name(alias) else f"{text} AS {sql_name(alias)}"
        for alias, text in columns.items()
    )
    clauses = [
        f"SELECT {', '.join(selected)}",
        f"FROM {source}",
    ]
    if question.where is not None:
        clauses.append(f"WHERE {render_where(question.where, schema)}")
    if isinstance(question, GroupingSets):
        sets = (f"({', '.join(keys[place] for place in one)})" for one in question.sets)
        clauses.append(f"GROUP BY GROUPING SETS ({', '.join(sets)})")
    elif keys:
        clauses.append(f"GROUP BY {', '.join(keys)}")
    if question.having:
        compared = (_comparison(part, columns, question, schema) for part in question.having)
        clauses.append(f"HAVING {' AND '.join(compared)}")
    if question.order:
        orders = (_order(order, list(columns)) for order in question.order)
        clauses.append(f"ORDER BY {', '.join(orders)}")
    if question.limit is not None:
        clauses.append(f"LIMIT {question.limit}")
    return " ".join(clauses)


def _output(output: KeyOutput | Output | GroupingOutput, keys: list[str], schema: Schema) -> str:
    if isinstance(output, KeyOutput):
        return keys[output.key]
    if isinstance(output, GroupingOutput):
        return f"GROUPING({', '.join(keys[place] for place in output.keys)})"
    return _expression(output.expression, schema)


_FUNCTIONS = {"total": "SUM", "least": "MIN", "largest": "MAX", "mean": "AVG"}


def _persons(persons: Persons, table: str, schema: Schema) -> str:
    """The derived table that has one row for each person."""
    units, unit = persons.units, sql_name(schema.unit)
    schema = with_columns(schema, persons.computed)
    values = [
        f"{_FUNCTIONS.get(value.kind, 'COUNT')}({_column(value.column) if value.column else '*'})"
        f" AS {sql_name(value.name)}"
        for value in units.values
    ]
    where = "" if units.where is None else f" WHERE {render_where(units.where, schema)}"
    return f"(SELECT {', '.join([unit, *values])} FROM {table}{where} GROUP BY {unit})"  # noqa: S608


def _order(order: Order, aliases: list[str]) -> str:
    name = sql_name(order.alias)
    if order.alias.upper() == "ALL":  # sqlglot reads "all" as ALL here, quotes or not
        name = str(aliases.index(order.alias) + 1)
    return name + " DESC" * order.descending


def _key(key: Key, schema: Table) -> str:
    name, column = _column(key.column), schema.column(key.column)
    if key.column.startswith(COMPUTED):
        return name
    if isinstance(key, Calendar):
        return f"DATE_TRUNC('{key.part}', {name})"
    if isinstance(key, Bin) and isinstance(column, Number):
        return f"BIN({name}, {sql_value(column, key.width * column.grid)})"
    return name


def _expression(expression: Expression, schema: Schema) -> str:
    if isinstance(expression, Aggregate):
        return _aggregate(expression, schema.unit)
    if isinstance(expression, Over):
        return _window(expression, schema)
    if isinstance(expression, Constant):
        return sql_number(expression.value)
    if isinstance(expression, Applied):
        inside, number = _expression(expression.of, schema), sql_number(expression.number)
        return f"{expression.function.upper()}({inside}, {number})"
    right = _expression(expression.right, schema)
    if isinstance(expression.right, Arithmetic) or right.startswith("-"):
        right = f"({right})"
    if expression.operator == "-" and expression.left == _ZERO:
        return f"-{right}"
    left = _expression(expression.left, schema)
    if needs_parentheses(expression, expression.left) or left.startswith("-"):
        left = f"({left})"
    return f"{left} {expression.operator} {right}"


def _window(over: Over, schema: Schema) -> str:
    arguments = [] if over.of is None else [_expression(over.of, schema)]
    if over.offset != 1:
        arguments.append(str(over.offset))
    clauses = []
    if over.by:
        clauses.append(f"PARTITION BY {', '.join(_key(key, schema) for key in over.by)}")
    if over.order:
        sorting = (
            (_expression(one, schema) if isinstance(one, Expression) else _key(one, schema))
            + " DESC" * descending
            for one, descending in over.order
        )
        clauses.append(f"ORDER BY {', '.join(sorting)}")
    if over.rows is not None:
        before, after = (
            "CURRENT ROW" if count == 0 else f"{'UNBOUNDED' if count is None else count} {side}"
            for count, side in zip(over.rows, ("PRECEDING", "FOLLOWING"), strict=True)
        )
        clauses.append(f"ROWS BETWEEN {before} AND {after}")
    return f"{over.function.upper()}({', '.join(arguments)}) OVER ({' '.join(clauses)})"


def _aggregate(aggregate: Aggregate, unit: str) -> str:
    if aggregate.kind == "units":
        return f"COUNT(DISTINCT {sql_name(unit)})"
    if aggregate.kind == "distinct":
        return f"COUNT(DISTINCT {_column(aggregate.column or '')})"
    columns = [_column(name) for name in (aggregate.column, aggregate.other) if name is not None]
    if aggregate.name == "QUANTILE" and aggregate.q is not None:
        columns.append(sql_number(aggregate.q))
    return f"{aggregate.name}({', '.join(columns) or '*'})"


def _column(name: str) -> str:
    """A declared column, or the text of a computed one, whose name is this text in brackets."""
    return name[1:-1] if name.startswith(COMPUTED) else sql_name(name)


def _comparison(
    part: Comparison, columns: dict[str, str], question: Question | GroupingSets, schema: Table
) -> str:
    text = _moment(part, question, schema) or sql_label(part.value)
    return f"{columns[part.alias]} {part.operator} {text}"


def _moment(part: Comparison, question: Question | GroupingSets, schema: Table) -> str | None:
    keys = {o.alias: question.keys[o.key] for o in question.outputs if isinstance(o, KeyOutput)}
    key, value = keys.get(part.alias), part.value
    column = None if key is None else schema.column(key.column)
    if not isinstance(column, Date | Datetime) or not isinstance(value, Fraction):
        return None
    whole_days = isinstance(key, Calendar) and key.part != "hour"
    in_days = whole_days and isinstance(column, Datetime)
    return sql_value(column, value * SECONDS_PER_DAY if in_days else value)
