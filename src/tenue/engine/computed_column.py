"""Conditions on rows, and columns that a question computes: closed trees over whole steps.

Every value computed from a row is a whole number, and its largest size follows from the bounds of
the columns by interval arithmetic. So no row can make a computation fail, and the largest
contribution of a row to a sum is known before a row is read. A missing value makes the result
missing; only a `Choice` evaluates conditions first, and treats an unknown condition as not true.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from typing import Literal

from ..errors import refuse
from ..schema import Bounded, Column, Date, Datetime, Number


@dataclass(frozen=True)
class Within:
    """first ≤ the column's steps ≤ last; an end may be open. No row satisfies first > last."""

    column: str
    first: int | None
    last: int | None


@dataclass(frozen=True)
class Among:
    """The category or boolean is one of these; booleans are True and False."""

    column: str
    values: tuple[str | bool, ...]


@dataclass(frozen=True)
class Missing:
    """The value is missing."""

    column: str


@dataclass(frozen=True)
class Not:
    """SQL's NOT: unknown stays unknown."""

    part: Predicate


@dataclass(frozen=True)
class All:
    """SQL's AND."""

    parts: tuple[Predicate, ...]


@dataclass(frozen=True)
class Any_:  # noqa: N801 - `Any` is taken by typing
    """SQL's OR."""

    parts: tuple[Predicate, ...]


Predicate = Within | Among | Missing | Not | All | Any_


def columns_in(predicate: Predicate) -> Iterator[str]:
    """Every column of a condition."""
    if isinstance(predicate, Not):
        yield from columns_in(predicate.part)
    elif isinstance(predicate, All | Any_):
        for part in predicate.parts:
            yield from columns_in(part)
    else:
        yield predicate.column


Ends = tuple[int, int]
"""The least and the greatest whole number that a value may be."""

Field = Literal["year", "quarter", "month", "isodow", "hour"]
FIELDS: dict[Field, Ends | None] = {
    "year": None,
    "quarter": (1, 4),
    "month": (1, 12),
    "isodow": (1, 7),
    "hour": (0, 23),
}
"""The fields of a date or datetime and their ranges; that of a year follows from the bounds."""

MOST_STEPS = 2**62
"""The largest absolute value of a computed column, so that every sum of it fits into 126 bits."""
_LARGEST = 2**120
"""The largest absolute value of an intermediate result."""


@dataclass(frozen=True)
class Steps:
    """The whole steps of a bounded column, counted as in the logical table (`request.py`)."""

    column: str


@dataclass(frozen=True)
class DateField:
    """A field of a date or datetime, such as its month, 1 to 12; Monday is isodow 1."""

    column: str
    field: Field


@dataclass(frozen=True)
class Sum:
    """constant + Σ weight·part."""

    constant: int
    terms: tuple[tuple[int, Formula], ...] = ()


@dataclass(frozen=True)
class Product:
    """The product of all factors."""

    factors: tuple[Formula, ...]


@dataclass(frozen=True)
class Quotient:
    """floor(of / divisor); the divisor is above 0."""

    of: Formula
    divisor: int


@dataclass(frozen=True)
class Choice:
    """The formula beside the first condition that is true; if none is, `otherwise`, where None is
    missing. An unknown condition is not true."""

    cases: tuple[tuple[Predicate, Formula], ...]
    otherwise: Formula | None = None


Formula = Steps | DateField | Sum | Product | Quotient | Choice


@dataclass(frozen=True)
class Computed:
    """A column that a request computes: its name, which no declared column has, and its steps."""

    name: str
    formula: Formula


def leaf_ends(column: Column, leaf: Steps | DateField) -> Ends:
    """The ends of a column, or of a field of one; refused if its type has none."""
    if isinstance(leaf, Steps):
        if isinstance(column, Bounded):
            low = int(column.low / column.grid) if isinstance(column, Number) else 0
            return low, low + column.steps
        lacks = "has no order"
    else:
        fixed, lacks = FIELDS[leaf.field], f"has no {leaf.field}"
        if isinstance(column, Datetime) or (isinstance(column, Date) and leaf.field != "hour"):
            years = [end.year for end in column.bounds if isinstance(end, date)]
            return fixed or (years[0], years[1])
    raise refuse("engine.request-type-mismatch", name=column.name, type=column.type, said=lacks)


def parts_of(formula: Formula) -> tuple[Formula, ...]:
    if isinstance(formula, Sum):
        return tuple(part for _, part in formula.terms)
    if isinstance(formula, Product):
        return formula.factors
    if isinstance(formula, Quotient):
        return (formula.of,)
    if isinstance(formula, Choice):
        last = () if formula.otherwise is None else (formula.otherwise,)
        return (*(part for _, part in formula.cases), *last)
    return ()


def columns_of(formula: Formula) -> Iterator[str]:
    """Every column that a formula or one of its conditions reads."""
    if isinstance(formula, Steps | DateField):
        yield formula.column
    if isinstance(formula, Choice):
        for condition, _ in formula.cases:
            yield from columns_in(condition)
    for part in parts_of(formula):
        yield from columns_of(part)


def never_missing(formula: Formula, filled: Callable[[str], bool]) -> bool:
    """Whether no row's result is missing; `filled` answers that for a column."""
    if isinstance(formula, Steps | DateField):
        return filled(formula.column)
    if isinstance(formula, Choice) and formula.otherwise is None:
        return False
    return all(never_missing(part, filled) for part in parts_of(formula))


@dataclass(frozen=True)
class Sized:
    """A formula with proven bounds of its numbers, for checks and for an engine's types.

    ends: the least and the greatest result.
    reach: the largest absolute value of any number in the last step of the computation: the parts'
        results, every constant, every partial result in any order, and the result. A type that
        holds `reach` on both sides cannot overflow, whatever the values of a row.
    parts: its direct parts, each with a reach of its own.
    """

    formula: Formula
    ends: Ends
    reach: int
    parts: tuple[Sized, ...] = ()

    @property
    def largest(self) -> int:
        """The reach of the whole formula."""
        return max([self.reach, *(part.largest for part in self.parts)])


def sized(formula: Formula, ends: Callable[[Steps | DateField], Ends]) -> Sized:
    """The formula with the sizes of all its numbers; `ends` gives those of a column or field."""
    if isinstance(formula, Steps | DateField):
        return Sized(formula, ends(formula), _size(ends(formula)))
    parts = tuple(sized(part, ends) for part in parts_of(formula))
    if isinstance(formula, Sum):
        low = high = formula.constant
        reach = abs(formula.constant)
        for (weight, _), part in zip(formula.terms, parts, strict=True):
            both = [weight * end for end in part.ends]
            low, high = low + min(both), high + max(both)
            # a term of weight 0 is computed, too
            reach += max(abs(weight), 1) * max(_size(part.ends), 1)
    elif isinstance(formula, Product):
        low = high = reach = 1
        for part in parts:
            corners = [one * end for one in (low, high) for end in part.ends]
            low, high = min(corners), max(corners)
            reach *= max(1, _size(part.ends))
    elif isinstance(formula, Quotient):
        (part,), divisor = parts, formula.divisor
        low, high = (end // divisor for end in part.ends)
        # the dividend is raised above 0 first, and the quotient lowered again
        reach = _size(part.ends) + raised_by(part.ends[0], divisor) * (divisor + 1) + divisor
    else:
        low, high = min(part.ends[0] for part in parts), max(part.ends[1] for part in parts)
        reach = _size((low, high))
    return Sized(formula, (low, high), reach, parts)


def raised_by(low: int, divisor: int) -> int:
    """How many times the divisor makes numbers from `low` on not negative."""
    return -min(low // divisor, 0)


def _size(ends: Ends) -> int:
    return max(map(abs, ends))


def check_range(formula: Formula, ends: Callable[[Steps | DateField], Ends]) -> Ends:
    """The range; refused if the result, or an intermediate result, may be too large."""
    return check_sizes(formula, ends).ends


def check_sizes(formula: Formula, ends: Callable[[Steps | DateField], Ends]) -> Sized:
    """The sizes; refused if the result, or an intermediate result, may be too large."""
    node = sized(formula, ends)
    if _size(node.ends) > MOST_STEPS or node.largest > _LARGEST:
        raise refuse("engine.computed-value-too-large", bits=MOST_STEPS.bit_length() - 1)
    return node
