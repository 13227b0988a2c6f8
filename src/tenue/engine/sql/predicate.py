"""Which rows a request is about."""

from __future__ import annotations

from ...schema import Boolean, Bounded, Category, Column
from ..request import All, Among, Any_, Missing, Not, Predicate, Within
from .logical import Logical, unfit
from .steps import first_step, last_step
from .whole import integer


def truth(predicate: Predicate, logical: Logical) -> str:
    """The SQL that is true where the predicate holds."""
    if isinstance(predicate, Not):
        return f"(NOT {truth(predicate.part, logical)})"
    if isinstance(predicate, All | Any_):
        sign, empty = (" AND ", "TRUE") if isinstance(predicate, All) else (" OR ", "FALSE")
        return f"({sign.join(truth(part, logical) for part in predicate.parts) or empty})"
    column = logical.column(predicate.column)
    name = logical.value(column.name)
    if isinstance(predicate, Missing):
        return f"({name} IS NULL)"
    if isinstance(predicate, Within):
        return _within(predicate, column, name)
    return _among(predicate, column, name)


def _within(predicate: Within, column: Column, name: str) -> str:
    if not isinstance(column, Bounded):
        raise unfit(column, "has no order")
    low, high = first_step(column), last_step(column)
    first = low if predicate.first is None else max(low, predicate.first)
    last = high if predicate.last is None else min(high, predicate.last)
    if first > last:
        return _never(name)
    return f"({name} >= {integer(first)} AND {name} <= {integer(last)})"


def _among(predicate: Among, column: Column, name: str) -> str:
    if isinstance(column, Category):
        places = {category: i for i, category in enumerate(column.categories)}
        numbers = [places[value] for value in predicate.values if value in places]
        listed = ", ".join(map(str, numbers))
    elif isinstance(column, Boolean):
        listed = ", ".join("TRUE" if value else "FALSE" for value in predicate.values)
    else:
        raise unfit(column, "has no categories")
    return f"({name} IN ({listed}))" if listed else _never(name)


def _never(name: str) -> str:
    """False where there is a value, unknown where it is missing."""
    return f"({name} <> {name})"
