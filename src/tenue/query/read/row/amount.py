"""Exact arithmetic on what a row holds: whole numbers times a grid.

An amount is `grid`·`formula`. Grids of factors multiply; a sum, or what conditions choose between,
lives on the coarsest grid that holds all of its parts. Amounts of equal meaning are equal, as far
as the order of sums and products, constants and signs can show it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

from ....engine.formula import Choice, DateField, Formula, Product, Quotient, Sum
from ....engine.predicate import Missing, Not, Predicate
from ....frozen import dataclass


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
        """The number that it is in every row; None if that depends on the row."""
        if isinstance(self.formula, Sum) and not self.formula.terms:
            return self.grid * self.formula.constant
        return None


def constant(value: Fraction) -> Amount:
    """The same number in every row."""
    sign = (value > 0) - (value < 0)
    return Amount(abs(value) or Fraction(1), Sum(sign))


def field(column: str, name: str) -> Amount:
    """A field of a date or datetime."""
    return Amount(Fraction(1), DateField(column, name))  # type: ignore[arg-type]


def added(amounts: Iterable[Amount]) -> Amount:
    """The sum."""
    total, weights = Fraction(0), dict[Formula, Fraction]()
    for amount in amounts:
        for weight, part in _terms(amount):
            if part is None:
                total += weight
            else:
                weights[part] = weights.get(part, Fraction(0)) + weight
    # what cancels stays, with weight 0: where it is missing, so is the sum
    found = sorted(weights.items(), key=lambda term: repr(term[0]))
    if not found:
        return constant(total)
    grid = coarsest([total, *(weight for _, weight in found)])
    return _summed(grid, int(total / grid), [(int(w / grid), part) for part, w in found])


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
    """What stands beside the first condition that is true; if none is, `otherwise` or missing."""
    last = [] if otherwise is None else [otherwise]
    every = [*(amount for _, amount in cases), *last]
    grid = coarsest([a.grid for a in every if a.number != 0])
    made = [
        _times(amount.formula, int(amount.grid / grid)) if amount.number != 0 else Sum(0)
        for amount in every
    ]
    pairs = tuple((condition, part) for (condition, _), part in zip(cases, made, strict=False))
    return Amount(grid, Choice(pairs, made[-1] if last else None))


def filled(column: str, amount: Amount, instead: Amount) -> Amount:
    """The amount where the column is there, and something else where it is missing."""
    return chosen([(Not(Missing(column)), amount)], instead)


def rounded_down(amount: Amount) -> Amount:
    """FLOOR."""
    p, q = amount.grid.numerator, amount.grid.denominator
    if q == 1:
        return amount
    return Amount(Fraction(1), Quotient(_times(amount.formula, p), q))


def coarsest(values: Iterable[Fraction]) -> Fraction:
    """The largest number of which all values are whole multiples; 1 if all are 0."""
    top, bottom = 0, 1
    for value in values:
        top = math.gcd(top * value.denominator, abs(value.numerator) * bottom)
        bottom *= value.denominator
        divisor = math.gcd(top, bottom)
        top, bottom = top // divisor, bottom // divisor
    return Fraction(top, bottom) if top else Fraction(1)


def _terms(amount: Amount) -> list[tuple[Fraction, Formula | None]]:
    """The weights and parts of a sum; the constant has no part."""
    formula = amount.formula
    if not isinstance(formula, Sum):
        return [(amount.grid, formula)]
    parts: list[tuple[Fraction, Formula | None]] = [(amount.grid * formula.constant, None)]
    return parts + [(amount.grid * weight, part) for weight, part in formula.terms]


def _summed(grid: Fraction, total: int, terms: list[tuple[int, Formula]]) -> Amount:
    if not total and len(terms) == 1 and terms[0][0] == 1:
        return Amount(grid, terms[0][1])
    return Amount(grid, Sum(total, tuple(terms)))


def _times(formula: Formula, factor: int) -> Formula:
    if factor == 1:
        return formula
    if not isinstance(formula, Sum):
        return Sum(0, ((factor, formula),))
    if factor == -1 and not formula.constant and [w for w, _ in formula.terms] == [-1]:
        return formula.terms[0][1]
    terms = tuple((weight * factor, part) for weight, part in formula.terms)
    return Sum(formula.constant * factor, terms)
