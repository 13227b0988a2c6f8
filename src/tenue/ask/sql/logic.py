"""Conditions in a normal form: texts that select the same rows give the same predicate.

Every column that a question may use has whole numbers: grid steps, or the indices of the declared
categories (False is 0, True is 1). So a condition on one column is a set of whole numbers, and AND,
OR and NOT of such sets are such sets again. NOT moves inward until it meets them. All of this
keeps SQL's three-valued meaning: the laws used (De Morgan's, double negation, order, grouping and
repetition of parts) hold with unknown too, and a missing value makes every set of its column
unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from ...engine.computed_column import All, Among, Any_, Missing, Not, Predicate, Within
from ...errors import refuse
from ...schema import Boolean, Bounded, Category, Column, Number, Table
from ...schema.case_insensitive import COMPUTED
from .constant import column_text, sql_label, sql_text, sql_value
from .unsupported import MOST_NESTED, too_deep

_MOST_LEVELS = 2 * MOST_NESTED - 8  # only every other level needs parentheses in a text

Span = tuple[int, int]
"""The whole numbers from the first to the second, both included."""


@dataclass(frozen=True)
class Held:
    """The column holds a number in one of the spans: ascending, apart, inside the domain."""

    column: str
    domain: Span
    spans: tuple[Span, ...]


@dataclass(frozen=True)
class Absent:
    """The column's value is missing; or it is not, if `absent` is False."""

    column: str
    absent: bool = True


@dataclass(frozen=True)
class Several:
    """Every part holds, or at least one does; no part is of the same kind as the whole."""

    every: bool
    parts: tuple[Rows, ...]


Rows = Held | Absent | Several


def origin(column: Bounded) -> Fraction:
    """The value at step zero: 0 for numbers, the low bound for dates and datetimes."""
    return Fraction(0) if isinstance(column, Number) else column.low


def domain(column: Column) -> Span:
    """The least and the greatest whole number that the column holds."""
    if isinstance(column, Bounded):
        zero = origin(column)
        return int((column.low - zero) / column.grid), int((column.high - zero) / column.grid)
    return 0, len(column.categories) - 1 if isinstance(column, Category) else 1


def held(column: Column, *spans: tuple[int | None, int | None]) -> Held:
    """The rows whose value lies in one of the spans; None is an open end.

    Example
        >>> from tenue.schema import Boolean
        >>> held(Boolean(name="employed", role="other"), (1, None)).spans
        ((1, 1),)
    """
    low, high = domain(column)
    inside = (
        (low if first is None else max(first, low), high if last is None else min(last, high))
        for first, last in spans
    )
    return Held(column.name, (low, high), _union(span for span in inside if span[0] <= span[1]))


def negated(rows: Rows) -> Rows:
    """NOT: unknown stays unknown."""
    if isinstance(rows, Held):
        return Held(rows.column, rows.domain, _complement(rows.spans, rows.domain))
    if isinstance(rows, Absent):
        return Absent(rows.column, not rows.absent)
    return several(not rows.every, map(negated, rows.parts))


def several(every: bool, parts: Iterable[Rows]) -> Rows:
    """AND of the parts, or OR, with one condition for each column."""
    columns: dict[str, list[Held]] = {}
    others: dict[Rows, None] = {}
    for part in parts:
        same = isinstance(part, Several) and part.every == every
        for each in part.parts if same and isinstance(part, Several) else (part,):
            if isinstance(each, Held):
                columns.setdefault(each.column, []).append(each)
            else:
                others[each] = None
    merged = (_merged(every, sets) for sets in columns.values())
    found = sorted((*merged, *others), key=repr)
    return found[0] if len(found) == 1 else Several(every, tuple(found))


def written(rows: Rows, columns: Mapping[str, Column]) -> Predicate:
    """The predicate that an engine is asked; a column's step zero is its `origin`.

    Ends that lie on a bound are open. `Within(c, 1, 0)` and `Among(c, ())` hold for no row that has
    the column, and are unknown for the others.
    """
    if _depth(rows) > _MOST_LEVELS:
        raise too_deep()
    return _written(rows, columns)


def _written(rows: Rows, columns: Mapping[str, Column]) -> Predicate:
    if isinstance(rows, Absent):
        return Missing(rows.column) if rows.absent else Not(Missing(rows.column))
    if isinstance(rows, Several):
        return _joined(rows.every, (_written(part, columns) for part in rows.parts))
    column = columns[rows.column]
    if isinstance(column, Category) and rows.column.startswith(
        COMPUTED
    ):  # computed: by its numbers
        found = [Within(rows.column, *span) for span in rows.spans]
        return _joined(False, found) if found else Within(rows.column, 1, 0)
    if isinstance(column, Boolean | Category):
        names = column.categories if isinstance(column, Category) else (False, True)
        chosen = (names[place] for first, last in rows.spans for place in range(first, last + 1))
        return Among(rows.column, tuple(chosen))
    if not rows.spans:
        return Within(rows.column, 1, 0)
    gaps = _complement(rows.spans, rows.domain)
    if 0 < len(gaps) < len(rows.spans):
        return _joined(True, (Not(Within(rows.column, *gap)) for gap in gaps))
    low, high = rows.domain
    ends = ((None if f == low else f, None if l == high else l) for f, l in rows.spans)
    return _joined(False, (Within(rows.column, *span) for span in ends))


def _joined(every: bool, parts: Iterable[Predicate]) -> Predicate:
    kind = All if every else Any_
    flat: list[Predicate] = []
    for part in parts:
        flat.extend(part.parts if isinstance(part, kind) else (part,))
    return flat[0] if len(flat) == 1 else kind(tuple(sorted(flat, key=repr)))


def _depth(rows: Rows) -> int:
    return 1 + max(map(_depth, rows.parts)) if isinstance(rows, Several) else 1


def _merged(every: bool, sets: list[Held]) -> Held:
    name, ends = sets[0].column, sets[0].domain
    if not every:
        return Held(name, ends, _union(span for one in sets for span in one.spans))
    outside = _union(span for one in sets for span in _complement(one.spans, ends))
    return Held(name, ends, _complement(outside, ends))


def _union(spans: Iterable[Span]) -> tuple[Span, ...]:
    found: list[Span] = []
    for first, last in sorted(spans):
        if found and first <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(found[-1][1], last))
        else:
            found.append((first, last))
    return tuple(found)


def _complement(spans: tuple[Span, ...], ends: Span) -> tuple[Span, ...]:
    found: list[Span] = []
    start, end = ends
    for first, last in spans:
        if start < first:
            found.append((start, first - 1))
        start = last + 1
    if start <= end:
        found.append((start, end))
    return tuple(found)


# -- A predicate becomes the text of a condition ---------------------------------------------------


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
    """Whether a condition is on a computed category, whose numbers are the indices of its names."""
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
    raise refuse("ask.question-without-order", name=name, type=column.type)


def _among(among: Among, schema: Table) -> str:
    name = column_text(among.column)
    values = [sql_label(value) for value in among.values]
    if len(values) == 1:
        return f"{name} = {values[0]}"
    if values:
        return f"{name} IN ({', '.join(values)})"
    if isinstance(schema.column(among.column), Category):
        return f"{name} LIKE ''"
    return f"{name} = TRUE AND {name} = FALSE"
