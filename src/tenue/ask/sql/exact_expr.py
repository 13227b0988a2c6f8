"""Exact arithmetic on what a row holds, and its SQL: whole numbers times a grid.

An amount is `grid`·`formula`. Grids of factors multiply; a sum, or the alternatives of conditions,
lives on the coarsest grid that holds all of its parts. Amounts of equal meaning are equal, as far
as the order of sums and products, constants and signs can show it.

The parser reads the text as the same amount again. No engine reads it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ...engine.computed_column import (
    Absolute,
    Choice,
    Curve,
    DateField,
    Ends,
    Extreme,
    Formula,
    Predicate,
    Product,
    Quotient,
    Ratio,
    Rounded,
    Steps,
    Sum,
    columns_in,
    parts_of,
)
from ...engine.curve import Shape, finest_step, step_of
from ...errors import refuse
from ...schema import Bounded, Number, Table
from .constant import sql_name, sql_number
from .logic import render_where
from .tree import Tree


@dataclass(frozen=True)
class Amount:
    """grid·formula, with the grid above 0 and as coarse as it can be.

    Example
        >>> twice = multiplied(constant(Fraction(2)), Amount(Fraction(1, 2), Steps("x")))
        >>> added([twice, constant(Fraction(3))])
        Amount(grid=Fraction(1, 1), formula=Sum(constant=3, terms=((1, Steps(column='x')),)))
    """

    grid: Fraction
    formula: Formula

    @property
    def number(self) -> Fraction | None:
        """Its value, if that is the same in every row; else None."""
        if isinstance(self.formula, Sum) and not self.formula.terms:
            return self.grid * self.formula.constant
        return None


def constant(value: Fraction) -> Amount:
    """The same number in every row."""
    sign = (value > 0) - (value < 0)
    return Amount(abs(value) or Fraction(1), Sum(sign))


def added(amounts: Iterable[Amount]) -> Amount:
    """The sum."""
    total, weights = Fraction(0), dict[Formula, Fraction]()
    for amount in amounts:
        for weight, part in _terms(amount):
            if part is None:
                total += weight
            else:
                weights[part] = weights.get(part, Fraction(0)) + weight
    # cancelled terms stay, with weight 0: where they are missing, so is the sum
    found = sorted(weights.items(), key=lambda term: repr(term[0]))
    if not found:
        return constant(total)
    grid = coarsest([total, *(weight for _, weight in found)])
    terms = tuple((int(weight / grid), part) for part, weight in found)
    if not total and len(terms) == 1 and terms[0][0] == 1:
        return Amount(grid, terms[0][1])
    return Amount(grid, Sum(int(total / grid), terms))


def multiplied(left: Amount, right: Amount) -> Amount:
    """The product."""
    for one, other in ((left, right), (right, left)):
        if one.number is not None:
            return scaled(other, one.number)
    sign, factors = 1, list[Formula]()
    for amount in (left, right):
        formula = amount.formula
        if isinstance(formula, Sum) and not formula.constant and len(formula.terms) == 1:
            ((weight, formula),) = formula.terms  # nothing but a sign: no weight is common to all
            sign *= weight
        factors += formula.factors if isinstance(formula, Product) else [formula]
    product = Amount(left.grid * right.grid, Product(tuple(sorted(factors, key=repr))))
    return scaled(product, Fraction(sign))


def scaled(amount: Amount, factor: Fraction) -> Amount:
    """The product with a number."""
    if amount.number is not None:
        return constant(amount.number * factor)
    if not factor:
        parts = [part for _, part in _terms(amount) if part is not None]
        return Amount(Fraction(1), Sum(0, tuple((0, part) for part in parts)))
    if factor > 0:
        return Amount(amount.grid * factor, amount.formula)
    return Amount(amount.grid * -factor, _times(amount.formula, -1))


def chosen(cases: Sequence[tuple[Predicate, Amount]], otherwise: Amount | None = None) -> Amount:
    """The value of the first true condition; if none is, `otherwise` or missing."""
    last = [] if otherwise is None else [otherwise]
    every = [*(amount for _, amount in cases), *last]
    grid = coarsest([a.grid for a in every if a.number != 0])
    made = [
        _times(amount.formula, int(amount.grid / grid)) if amount.number != 0 else Sum(0)
        for amount in every
    ]
    pairs = tuple((condition, part) for (condition, _), part in zip(cases, made, strict=False))
    return Amount(grid, Choice(pairs, made[-1] if last else None))


def absolute(amount: Amount) -> Amount:
    """ABS."""
    if amount.number is not None:
        return constant(abs(amount.number))
    formula = amount.formula
    if isinstance(formula, Sum) and not formula.constant and len(formula.terms) == 1:
        formula = formula.terms[0][1]  # nothing but a sign
    return Amount(amount.grid, Absolute(formula))


def extreme(amounts: Sequence[Amount], *, greatest: bool) -> Amount:
    """LEAST or GREATEST of those that are there."""
    numbers = [amount.number for amount in amounts if amount.number is not None]
    bound = [constant(max(numbers) if greatest else min(numbers))] if numbers else []
    every = [*(amount for amount in amounts if amount.number is None), *bound]
    grid = coarsest([a.grid for a in every if a.number != 0])
    made = [
        _times(amount.formula, int(amount.grid / grid)) if amount.number != 0 else Sum(0)
        for amount in every
    ]
    parts = tuple(sorted(dict.fromkeys(made), key=repr))
    if len(parts) > 1:
        return Amount(grid, Extreme(greatest, parts))
    return every[0]


def rounded(amount: Amount, digits: int = 0) -> Amount:
    """ROUND to so many decimals, half away from 0; a number below 0 rounds to tens."""
    unit = Fraction(10) ** -digits
    if amount.number is not None:
        steps = abs(amount.number) / unit
        up = int(steps + Fraction(1, 2)) * unit
        return constant(up if amount.number >= 0 else -up)
    p, q = (amount.grid / unit).numerator, (amount.grid / unit).denominator
    if q == 1:
        return amount
    return Amount(unit, Rounded(_times(amount.formula, p), q))


def divided(left: Amount, right: Amount, left_ends: Ends, right_ends: Ends) -> Amount:
    """The quotient on a grid of its own, for a divisor whose bounds exclude 0."""
    if right_ends[0] <= 0:
        right_ends = -right_ends[1], -right_ends[0]
        left, right = scaled(left, Fraction(-1)), scaled(right, Fraction(-1))
    most = max(map(abs, left_ends)) * left.grid / (right_ends[0] * right.grid)
    step = step_of(most)
    factor = left.grid / (right.grid * step)
    ratio = Ratio(left.formula, right.formula, factor.numerator, factor.denominator, step)
    return Amount(step, ratio)


def curved(shape: Shape, amount: Amount, ends: Ends) -> Amount:
    """A function on a grid of its own."""
    step = finest_step(shape, *ends)
    return Amount(step, Curve(shape, amount.formula, step))


def rounded_down(amount: Amount) -> Amount:
    """FLOOR."""
    p, q = amount.grid.numerator, amount.grid.denominator
    if q == 1:
        return amount
    return Amount(Fraction(1), Quotient(_times(amount.formula, p), q))


def coarsest(values: Iterable[Fraction]) -> Fraction:
    """The largest number of which all values are whole multiples; 1 if all are 0."""
    several = list(values)
    bottom = math.lcm(*(value.denominator for value in several))
    top = math.gcd(*(int(value * bottom) for value in several))
    return Fraction(top, bottom) if top else Fraction(1)


def _terms(amount: Amount) -> list[tuple[Fraction, Formula | None]]:
    """The weights and parts of a sum; the constant has no part."""
    formula = amount.formula
    if not isinstance(formula, Sum):
        return [(amount.grid, formula)]
    parts: list[tuple[Fraction, Formula | None]] = [(amount.grid * formula.constant, None)]
    return parts + [(amount.grid * weight, part) for weight, part in formula.terms]


def _times(formula: Formula, factor: int) -> Formula:
    if factor == 1:
        return formula
    if not isinstance(formula, Sum):
        return Sum(0, ((factor, formula),))
    if factor == -1 and not formula.constant and [w for w, _ in formula.terms] == [-1]:
        return formula.terms[0][1]
    terms = tuple((weight * factor, part) for weight, part in formula.terms)
    return Sum(formula.constant * factor, terms)


# -- An amount becomes SQL: the name of a computed column, and its text ----------------------------

_MOST_PARTS = 5_000
_LOOKUPS = 4
_LONG = 16
"""A name counts as one more part for so many characters."""


def check_parts(tree: Tree, formula: Formula) -> None:
    """Refuses a formula that is too long when it is written out.

    A derived table that names a column of another one twice doubles it, and twenty nested ones
    contain it a million times: the text is short, but walking over it would take for ever.
    """
    most, found, left = _MOST_PARTS + _LOOKUPS * tree.recoded, 0, [formula]
    while left:
        part = left.pop()
        left += parts_of(part)
        conditions = part.cases if isinstance(part, Choice) else ()
        names = (name for condition, _ in conditions for name in columns_in(condition))
        found += 1 + sum(1 + len(name) // _LONG for name in names)
        if found > most:
            raise refuse("ask.expression-too-large", most=most)


def name_of(amount: Amount, schema: Table) -> str:
    """The name of a computed column: its text in parentheses, which no declared name has."""
    return f"({text_of(amount, schema)})"


def text_of(amount: Amount, schema: Table) -> str:
    """The SQL of an amount."""
    text, formula = _text(amount.formula, amount.grid, schema), amount.formula
    return text[1:-1] if isinstance(formula, Ratio) and formula.step == amount.grid else text


def _text(formula: Formula, grid: Fraction, schema: Table) -> str:
    if isinstance(formula, Steps):
        column = schema.column(formula.column)
        own = column.grid if isinstance(column, Bounded) else Fraction(1)
        return _multiple(grid / own, [sql_name(formula.column)])
    if isinstance(formula, DateField):
        return _multiple(grid, [f"EXTRACT({formula.field} FROM {sql_name(formula.column)})"])
    if isinstance(formula, Sum):
        return _sum(formula, grid, schema)
    if isinstance(formula, Product):
        owns = [_own_grid(factor, schema) for factor in formula.factors]
        texts = [_text(f, own, schema) for f, own in zip(formula.factors, owns, strict=True)]
        for own in owns:
            grid /= own
        return _multiple(grid, [_in_parentheses(text) for text in texts])
    if isinstance(formula, Quotient | Rounded):
        inside = _text(formula.of, Fraction(1, formula.divisor), schema)
        word = "FLOOR" if isinstance(formula, Quotient) else "ROUND"
        return _multiple(grid, [f"{word}({inside})"])
    if isinstance(formula, Absolute):
        return f"ABS({_text(formula.of, grid, schema)})"
    if isinstance(formula, Extreme):
        listed = ", ".join(_text(part, grid, schema) for part in formula.parts)
        return f"{'GREATEST' if formula.greatest else 'LEAST'}({listed})"
    if isinstance(formula, Ratio):
        own = _own_grid(formula.by, schema)
        scale = own * formula.step * formula.times / formula.over
        both = _text(formula.of, scale, schema), _text(formula.by, own, schema)
        quotient = " / ".join(map(_in_parentheses, both))
        return _multiple(grid / formula.step, [f"({quotient})"])
    if isinstance(formula, Curve):
        return _multiple(grid / formula.step, [_call(formula, schema)])
    return _choice(formula, grid, schema)


def _call(formula: Curve, schema: Table) -> str:
    """The function of a curve: a power of 1/2 is a square root."""
    inside, shape = _text(formula.of, formula.shape.grid, schema), formula.shape
    if shape.function != "power":
        return f"{shape.function.upper()}({inside})"
    if shape.exponent == Fraction(1, 2):
        return f"SQRT({inside})"
    return f"POWER({inside}, {sql_number(shape.exponent)})"


def _choice(formula: Choice, grid: Fraction, schema: Table) -> str:
    cases = " ".join(
        f"WHEN {render_where(condition, schema)} THEN {_text(part, grid, schema)}"
        for condition, part in formula.cases
    )
    last = ""
    if formula.otherwise is not None:
        last = f" ELSE {_text(formula.otherwise, grid, schema)}"
    return f"CASE {cases}{last} END"


def _sum(formula: Sum, grid: Fraction, schema: Table) -> str:
    text = ""
    for weight, part in formula.terms:
        term = _text(part, grid * abs(weight) if weight else _own_grid(part, schema), schema)
        if isinstance(part, Choice) or not weight:
            term = _in_parentheses(term)
        term = term if weight else f"0 * {term}"
        sign = "-" if weight < 0 else ""
        text = f"{text} {sign or '+'} {term}" if text else f"{sign}{term}"
    number = formula.constant * grid
    if not text:
        return sql_number(number)
    if number:
        text += f" {'-' if number < 0 else '+'} {sql_number(abs(number))}"
    return text


def _multiple(factor: Fraction, parts: list[str]) -> str:
    """factor * parts; a factor below 1 as a division, which is exact."""
    product = " * ".join(parts)
    if factor.numerator != 1:
        product = f"{factor.numerator} * {product}"
    return product if factor.denominator == 1 else f"{product} / {factor.denominator}"


def _own_grid(formula: Formula, schema: Table) -> Fraction:
    if isinstance(formula, Steps):
        column = schema.column(formula.column)
        if isinstance(column, Number):
            return column.grid
    if isinstance(formula, Sum) and formula.terms:
        ((weight, part), *_) = formula.terms
        return _own_grid(part, schema) / (abs(weight) or 1)
    if isinstance(formula, Ratio | Curve):
        return formula.step
    if isinstance(formula, Absolute):
        return _own_grid(formula.of, schema)
    if isinstance(formula, Extreme):
        return _own_grid(_varied(formula), schema)
    return Fraction(1)


def _varied(formula: Extreme) -> Formula:
    """A part that is no constant."""
    return next(p for p in formula.parts if not isinstance(p, Sum) or p.terms)


def _in_parentheses(text: str) -> str:
    return text if text.replace("_", "a").isalnum() else f"({text})"
