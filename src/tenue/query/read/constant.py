"""Constants: what an analyst may write beside a column, exact and of the column's type."""

from __future__ import annotations

from datetime import date, datetime
from fractions import Fraction

from sqlglot import exp

from ...errors import Refused, refuse
from ...number import exact
from ...schema import Bounded, Category, Column, Date, Datetime, Number
from ...schema.literal import show
from .literal import sql_text
from .tree import Tree

Constant = Fraction | str | bool | date | datetime
"""DATE '…' is a date and TIMESTAMP '…' a datetime; plain text is read by the column's type."""

LARGEST_FACTOR = 10**30
"""What all numbers of a product together may be, and their inverses."""
_LARGEST = 10**300  # with longer numbers, arithmetic itself would be an attack
_MIDNIGHT = datetime.min.time()


def read_constant(tree: Tree, node: exp.Expr) -> Constant | None:
    """The constant that a node is; None if it is something else, NULL refused."""
    node = tree.unwrap(node)
    if type(node) is exp.Literal:
        text, is_text = tree.read(node, "this", "is_string")
        return str(text) if is_text else number(text)
    if type(node) is exp.Boolean:
        return bool(tree.read(node, "this")[0])
    if type(node) is exp.Neg:
        value = read_constant(tree, tree.parts(node, "this")[0])
        if isinstance(value, Fraction):
            return -value
    if type(node) is exp.Cast:
        return _moment(tree, node)
    if type(node) is exp.Null:
        raise refuse("query.compared-with-null")
    return None


def number(text: str) -> Fraction:
    """The number that a text means, exactly; refused unless 300 digits can write it."""
    try:
        value = exact(text, "number")
    except Refused:
        value = Fraction(_LARGEST)
    return limited(value)


def limited(value: Fraction) -> Fraction:
    """The number, refused if its numerator or denominator has more than 300 digits."""
    if abs(value.numerator) < _LARGEST and value.denominator < _LARGEST:
        return value
    raise refuse("query.number-too-long")


def in_reach(size: Fraction | int) -> None:
    """Refuses a factor with which sums, and the squares of their errors, would leave the range of
    floats: the answer is told in these, and that must not fail after it was paid."""
    if max(abs(size.numerator), size.denominator) >= LARGEST_FACTOR:
        raise refuse("query.number-beyond-arithmetic")


def instant(column: Bounded, value: Constant) -> Fraction:
    """Where the constant lies on the scale of the column: its number, its days, its seconds."""
    if isinstance(column, Number) and type(value) is Fraction:
        return value
    try:
        if isinstance(column, Date) and (isinstance(value, str) or type(value) is date):
            return Date.number(value)
        if isinstance(column, Datetime) and isinstance(value, str | date):
            return Datetime.number(_at_midnight(value))
    except Refused:
        pass
    raise refuse_value(column, value)


def refuse_value(column: Column, value: Constant) -> Refused:
    """The refusal of a constant that is not of the column's type."""
    return refuse(
        "query.constant-type-mismatch",
        name=column.name,
        value=show(value),
        type=column.type,
        example=_example(column),
    )


def _at_midnight(value: str | date) -> str | datetime:
    if isinstance(value, datetime):
        return value
    if isinstance(value, date):
        return datetime.combine(value, _MIDNIGHT)
    try:
        return datetime.combine(date.fromisoformat(value.strip()), _MIDNIGHT)
    except ValueError:
        return value


def _moment(tree: Tree, node: exp.Expr) -> date | datetime:
    """DATE '…' or TIMESTAMP '…', which sqlglot reads as casts."""
    this, to = tree.parts(node, "this", "to")
    (kind,) = tree.read(to, "this")
    text = read_constant(tree, this)
    try:
        if kind is exp.DType.DATE and isinstance(text, str):
            return date.fromisoformat(text.strip())
        if kind is exp.DType.TIMESTAMPNTZ and isinstance(text, str):
            moment = datetime.fromisoformat(text.strip())
            if moment.tzinfo is None:
                return moment
    except ValueError:
        pass
    raise refuse("query.invalid-date", text=show(text))


def _example(column: Column) -> str:
    if isinstance(column, Number):
        return f"a number, such as {show(column.bounds[0])}"
    if isinstance(column, Date):
        return f"DATE '{column.bounds[0]}'"
    if isinstance(column, Datetime):
        return f"TIMESTAMP '{column.bounds[0]}'"
    if isinstance(column, Category):
        return f"a declared category in quotes, such as {sql_text(column.categories[0])}"
    return "TRUE or FALSE"
