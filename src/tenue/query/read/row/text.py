"""An amount becomes SQL: the name of a computed column, and what people see of it.

The parser reads the text as the same amount again. No engine reads it.
"""

from __future__ import annotations

from fractions import Fraction

from ....engine.formula import Choice, DateField, Formula, Product, Quotient, Steps, Sum, parts_of
from ....engine.predicate import columns_in
from ....errors import refuse
from ....schema import Bounded, Number, Table
from ..literal import sql_name, sql_number
from ..tree import Tree
from .amount import Amount
from .where import render_where

_MOST_PARTS = 5_000
_LOOKUPS = 4
_LONG = 16
"""Of so many characters a name counts as one part more."""


def check_parts(tree: Tree, formula: Formula) -> None:
    """Refuses what is too long if all that it is made of is written out.

    A derived table that names a column of another one twice doubles it, and twenty in a row make
    a million of it: the text is short, and whoever walks over it never comes back.
    """
    most, found, left = _MOST_PARTS + _LOOKUPS * tree.recoded, 0, [formula]
    while left:
        part = left.pop()
        left += parts_of(part)
        conditions = part.cases if isinstance(part, Choice) else ()
        names = (name for condition, _ in conditions for name in columns_in(condition))
        found += 1 + sum(1 + len(name) // _LONG for name in names)
        if found > most:
            raise refuse("query.expression-too-large", most=most)


def name_of(amount: Amount, schema: Table) -> str:
    """The name of a computed column: its text in parentheses, which no declared name has."""
    return f"({text_of(amount, schema)})"


def text_of(amount: Amount, schema: Table) -> str:
    """The SQL of an amount."""
    return _text(amount.formula, amount.grid, schema)


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
    if isinstance(formula, Quotient):
        inside = _text(formula.of, Fraction(1, formula.divisor), schema)
        return _multiple(grid, [f"FLOOR({inside})"])
    return _choice(formula, grid, schema)


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
    if isinstance(formula, Sum):
        ((weight, part), *_) = formula.terms
        return _own_grid(part, schema) / (abs(weight) or 1)
    return Fraction(1)


def _in_parentheses(text: str) -> str:
    return text if text.replace("_", "a").isalnum() else f"({text})"
