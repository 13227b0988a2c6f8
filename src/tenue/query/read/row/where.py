"""A predicate becomes the text of a condition."""

from __future__ import annotations

from collections.abc import Iterator

from ....engine.request import All, Among, Any_, Missing, Not, Predicate, Within
from ....errors import refuse
from ....schema import Bounded, Category, Table
from ....schema.named import COMPUTED
from ..literal import column_text, sql_text, sql_value
from ..logic import origin


def render_where(predicate: Predicate, schema: Table) -> str:
    """The condition in SQL; parentheses only where an OR stands in an AND, or after NOT."""
    if isinstance(predicate, All):
        parts = _parts(predicate, schema)
        return " AND ".join(f"({text})" if kind is Any_ else text for kind, text in parts)
    if isinstance(predicate, Any_):
        return " OR ".join(text for _, text in _parts(predicate, schema))
    if isinstance(predicate, Missing):
        return f"{column_text(predicate.column)} IS NULL"
    if isinstance(predicate, Among):
        return _among(predicate, schema)
    if isinstance(predicate, Within):
        return _within(predicate, schema)
    if isinstance(predicate.part, Within):
        return _without(predicate.part, schema)
    if isinstance(predicate.part, Missing):
        return f"{column_text(predicate.part.column)} IS NOT NULL"
    return f"NOT ({render_where(predicate.part, schema)})"


def _parts(predicate: All | Any_, schema: Table) -> Iterator[tuple[type[Predicate], str]]:
    """The kind and text of each part; single values of one column become a list."""
    kind = Not if isinstance(predicate, All) else Within
    lists: dict[str, list[int]] = {}
    for part in predicate.parts:
        inner = part.part if isinstance(part, Not) else part
        if (
            type(part) is kind
            and isinstance(inner, Within)
            and _is_one(inner)
            and not _is_label(inner, schema)
        ):
            lists.setdefault(inner.column, []).append(inner.first or 0)
        else:
            yield type(part), render_where(part, schema)
    for name, steps in lists.items():
        if len(steps) == 1:
            one = Within(name, steps[0], steps[0])
            yield kind, _without(one, schema) if kind is Not else _within(one, schema)
        else:
            values = ", ".join(_value(_bounded(name, schema), step) for step in sorted(steps))
            yield kind, f"{column_text(name)} {'NOT ' * (kind is Not)}IN ({values})"


def _is_label(within: Within, schema: Table) -> bool:
    """Whether a condition is on a computed category, whose numbers are the places of its names."""
    name = within.column
    return name.startswith(COMPUTED) and isinstance(schema.column(name), Category)


def _labels(within: Within, schema: Table) -> str:
    name, first, last = column_text(within.column), within.first or 0, within.last or 0
    column = schema.column(within.column)
    names = column.categories if isinstance(column, Category) else ()
    words = [sql_text(word) for word in names[first : last + 1]]
    return f"{name} IN ({', '.join(words)})" if words and first <= last else f"{name} LIKE ''"


def _within(within: Within, schema: Table) -> str:
    if _is_label(within, schema):
        return _labels(within, schema)
    column, name = _bounded(within.column, schema), column_text(within.column)
    low, high = sql_value(column, column.low), sql_value(column, column.high)
    if within.first is None and within.last is None:
        return f"{name} >= {low}"
    if within.first is None:
        return f"{name} <= {_value(column, within.last)}"
    if within.last is None:
        return f"{name} >= {_value(column, within.first)}"
    if within.first > within.last:
        return f"{name} > {high}"
    if within.first == within.last:
        return f"{name} = {_value(column, within.first)}"
    return f"{name} BETWEEN {_value(column, within.first)} AND {_value(column, within.last)}"


def _without(within: Within, schema: Table) -> str:
    if _is_one(within):
        value = _value(_bounded(within.column, schema), within.first)
        return f"{column_text(within.column)} <> {value}"
    return f"NOT {_within(within, schema)}"


def _is_one(within: Within) -> bool:
    return within.first is not None and within.first == within.last


def _value(column: Bounded, steps: int | None) -> str:
    return sql_value(column, origin(column) + (steps or 0) * column.grid)


def _bounded(name: str, schema: Table) -> Bounded:
    column = schema.column(name)
    if isinstance(column, Bounded):
        return column
    raise refuse("query.question-without-order", name=name, type=column.type)


def _among(among: Among, schema: Table) -> str:
    name = column_text(among.column)
    values = [sql_text(v) if isinstance(v, str) else str(v).upper() for v in among.values]
    if len(values) == 1:
        return f"{name} = {values[0]}"
    if values:
        return f"{name} IN ({', '.join(values)})"
    if isinstance(schema.column(among.column), Category):
        return f"{name} LIKE ''"
    return f"{name} = TRUE AND {name} = FALSE"
