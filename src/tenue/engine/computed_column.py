"""Conditions on rows, and columns that a question computes: closed trees over whole steps.

Every value computed from a row is a whole number, and its largest size follows from the bounds of
the columns by interval arithmetic. So no row can make a computation fail, and the largest
contribution of a row to a sum is known before a row is read. A missing value makes the result
missing; only a `Choice` evaluates conditions first, and treats an unknown condition as not true.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from functools import lru_cache
from typing import Literal

from ..errors import Refused, refuse
from ..schema import Bounded, Column, Date, Datetime, Number
from .curve import Shape, lines


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

Field = Literal["year", "quarter", "month", "week", "day", "doy", "isodow", "dow", "hour", "minute"]
FIELDS: dict[Field, Ends | None] = {
    "year": None,
    "quarter": (1, 4),
    "month": (1, 12),
    "week": (1, 53),
    "day": (1, 31),
    "doy": (1, 366),
    "isodow": (1, 7),
    "dow": (0, 6),
    "hour": (0, 23),
    "minute": (0, 59),
}
TIMES = ("hour", "minute")
"""The fields that only a datetime has."""
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
    """A field of a date or datetime, such as its month, 1 to 12.

    Monday is isodow 1, and Sunday 7; as dow Sunday is 0. Weeks are those of ISO 8601, 1 to 53.
    """

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


@dataclass(frozen=True)
class Absolute:
    """The absolute value."""

    of: Formula


@dataclass(frozen=True)
class Extreme:
    """The least, or the greatest, of the parts that are there; missing if all of them are."""

    greatest: bool
    parts: tuple[Formula, ...]


@dataclass(frozen=True)
class Rounded:
    """of / divisor, rounded to the nearest whole number, half away from 0; the divisor is above
    0."""

    of: Formula
    divisor: int


@dataclass(frozen=True)
class Ratio:
    """(times·of) / (over·by), rounded to the nearest whole number, half up; `by` is above 0.

    step: the grid of the result, which no engine needs.
    """

    of: Formula
    by: Formula
    times: int
    over: int
    step: Fraction


@dataclass(frozen=True)
class Curve:
    """A function of the part, in whole steps of the result, by the lines of `curve.py`."""

    shape: Shape
    of: Formula
    step: Fraction


Formula = (
    Steps
    | DateField
    | Sum
    | Product
    | Quotient
    | Choice
    | Absolute
    | Extreme
    | Rounded
    | Ratio
    | Curve
)


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
        if isinstance(column, Datetime) or (isinstance(column, Date) and leaf.field not in TIMES):
            years = [end.year for end in column.bounds if isinstance(end, date)]
            return fixed or (years[0], years[1])
    raise refuse("engine.request-type-mismatch", name=column.name, type=column.type, said=lacks)


def parts_of(formula: Formula) -> tuple[Formula, ...]:
    if isinstance(formula, Sum):
        return tuple(part for _, part in formula.terms)
    if isinstance(formula, Product):
        return formula.factors
    if isinstance(formula, Quotient | Absolute | Rounded | Curve):
        return (formula.of,)
    if isinstance(formula, Extreme):
        return formula.parts
    if isinstance(formula, Ratio):
        return formula.of, formula.by
    if isinstance(formula, Choice):
        last = () if formula.otherwise is None else (formula.otherwise,)
        return (*(part for _, part in formula.cases), *last)
    return ()


def with_parts(formula: Formula, parts: Sequence[Formula]) -> Formula:
    """The same of other parts, in the order of `parts_of`."""
    if isinstance(formula, Sum):
        weights = (weight for weight, _ in formula.terms)
        return replace(formula, terms=tuple(zip(weights, parts, strict=True)))
    if isinstance(formula, Product):
        return Product(tuple(parts))
    if isinstance(formula, Quotient | Absolute | Rounded | Curve):
        return replace(formula, of=parts[0])
    if isinstance(formula, Extreme):
        return replace(formula, parts=tuple(parts))
    if isinstance(formula, Ratio):
        return replace(formula, of=parts[0], by=parts[1])
    if isinstance(formula, Choice):
        conditions = [condition for condition, _ in formula.cases]
        last = None if formula.otherwise is None else parts[-1]
        return Choice(tuple(zip(conditions, parts, strict=False)), last)
    return formula


def columns_of(formula: Formula) -> Iterator[str]:
    """Every column that a formula or one of its conditions reads."""
    if isinstance(formula, Steps | DateField):
        yield formula.column
    if isinstance(formula, Choice):
        for condition, _ in formula.cases:
            yield from columns_in(condition)
    for part in parts_of(formula):
        yield from columns_of(part)


def steps_of(formula: Formula) -> Iterator[Fraction]:
    """The grids of the quotients and curves in a formula."""
    if isinstance(formula, Ratio | Curve):
        yield formula.step
    for part in parts_of(formula):
        yield from steps_of(part)


def never_missing(formula: Formula, filled: Callable[[str], bool]) -> bool:
    """Whether no row's result is missing; `filled` answers that for a column."""
    if isinstance(formula, Steps | DateField):
        return filled(formula.column)
    if isinstance(formula, Choice) and formula.otherwise is None:
        return False
    if isinstance(formula, Extreme):
        return any(never_missing(part, filled) for part in formula.parts)
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
    return _made_of(formula, tuple(sized(part, ends) for part in parts_of(formula)))


def _made_of(formula: Formula, parts: tuple[Sized, ...]) -> Sized:
    if isinstance(formula, Ratio | Curve):
        _check_result(parts[-1].ends)  # it becomes a column, for SQL names it several times
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
    elif isinstance(formula, Rounded):
        return _rounded(formula.divisor, parts[0])
    elif isinstance(formula, Absolute):
        low, high = parts[0].ends
        reach = _size((low, high))
        low, high = max(low, -high, 0), max(high, -low)
    elif isinstance(formula, Extreme):
        low, high = _extreme_ends(formula, parts)
        reach = max(_size(part.ends) for part in parts)
    elif isinstance(formula, Ratio):
        (low, high), reach = _ratio_ends(formula, *parts), _ratio_reach(formula, *parts)
    elif isinstance(formula, Curve):
        terms = curve_terms(formula.shape, formula.step, parts[0].ends)
        (low, high), reach = terms.ends, terms.reach
    else:
        low, high = min(part.ends[0] for part in parts), max(part.ends[1] for part in parts)
        reach = _size((low, high))
    return Sized(formula, (low, high), reach, parts)


def _rounded(divisor: int, part: Sized) -> Sized:
    """Rounding as a quotient rounded down, which names the part once.

    Half up is half away from 0 except where x is below 0 and 2x + divisor is a multiple of
    2·divisor. There the numerator has to be less by anything below 1, and elsewhere that changes
    nothing: (2x + 1) / 2m, for m above |x|, is from -1 to 0 below 0, and from 0 to 1 from 0 on.
    """
    total, weight, by = divisor // 2, 1, divisor
    if divisor % 2 == 0 and part.ends[0] < 0:
        m = _size(part.ends) + 1
        total, weight, by = 2 * divisor * m + 1, 4 * m + 2, 4 * divisor * m
    inner = _made_of(Sum(total, ((weight, part.formula),)), (part,))
    return _made_of(Quotient(inner.formula, by), (inner,))


def _extreme_ends(formula: Extreme, parts: Sequence[Sized]) -> Ends:
    """Any part may be missing, but for constants: these bound the result on one side."""
    low, high = min(part.ends[0] for part in parts), max(part.ends[1] for part in parts)
    there = [part.ends for part in parts if never_missing(part.formula, lambda _: False)]
    if formula.greatest:
        return max([low, *(ends[0] for ends in there)]), high
    return low, min([high, *(ends[1] for ends in there)])


def _ratio_ends(formula: Ratio, of: Sized, by: Sized) -> Ends:
    if by.ends[0] <= 0 or formula.times <= 0 or formula.over <= 0:
        raise refuse("engine.divisor-not-above-0")
    corners = [
        (2 * formula.times * n + formula.over * d) // (2 * formula.over * d)
        for n in of.ends
        for d in by.ends
    ]
    return min(corners), max(corners)


def ratio_raised_by(formula: Ratio, of: Ends, by: Ends) -> int:
    """How many times the divisor makes every dividend not negative."""
    return max(
        0, -((2 * formula.times * of[0] + formula.over * by[0]) // (2 * formula.over * by[0]))
    )


def _ratio_reach(formula: Ratio, of: Sized, by: Sized) -> int:
    up = ratio_raised_by(formula, of.ends, by.ends)
    dividend = 2 * formula.times * max(_size(of.ends), 1)
    return dividend + (2 * up + 3) * formula.over * _size(by.ends) + up


@dataclass(frozen=True)
class CurveTerms:
    """A curve in whole numbers: of k, (constant + slope·k) / 2^shift rounded down, less `up`.

    lines: the first and last k of each line, its constant and its slope; the dividend is not
        negative from its first to its last k.
    near: whether k is first taken to the nearest one of the line, so that 64 bits hold everything.
    """

    lines: tuple[tuple[int, int, int, int], ...]
    shift: int
    up: int
    ends: Ends
    reach: int
    near: bool


@lru_cache(maxsize=256)
def curve_terms(shape: Shape, step: Fraction, ends: Ends) -> CurveTerms:
    """The terms of a curve; refused where the function has no value, or one too large."""
    low, high = ends
    if not shape.fits(low, high):
        raise refuse("engine.function-out-of-domain", name=shape.function.upper())
    shift, found = lines(shape, step, low, high)
    heights = [
        line.base + line.slope * (k - line.first) for line in found for k in (line.first, line.last)
    ]
    up = max(0, -(min(heights) >> shift))
    terms = tuple(
        (n.first, n.last, n.base + (up << shift) - n.slope * n.first, n.slope) for n in found
    )
    far = _size(ends)
    reach = max(abs(constant) + max(abs(slope), 1) * max(far, 1) for _, _, constant, slope in terms)
    near = reach >= 2**63
    if near:
        own = (
            abs(constant) + max(abs(slope), 1) * max(abs(first), abs(last), 1)
            for first, last, constant, slope in terms
        )
        reach = max(far, *own)
    results = min(heights) >> shift, max(heights) >> shift
    return CurveTerms(terms, shift, up, results, max(reach, 2**shift) + up, near)


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
    _check_result(node.ends)
    if node.largest > _LARGEST:
        raise _too_large()
    return node


def _check_result(ends: Ends) -> None:
    if _size(ends) > MOST_STEPS:
        raise _too_large()


def _too_large() -> Refused:
    return refuse("engine.computed-value-too-large", bits=MOST_STEPS.bit_length() - 1)
