"""Constants and names in a question, and their text in SQL."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from fractions import Fraction

from sqlglot import TokenType, exp

from ...arguments import exact
from ...errors import Refused, refuse
from ...schema import Bounded, Category, Column, Date, Datetime, Number
from ...schema import toml_values as toml
from ...schema.case_insensitive import COMPUTED
from ...schema.toml_values import show
from .tree import DIALECT, NEEDS_QUOTES, Tree

_EPOCH = datetime(1970, 1, 1)
_LONGEST_DECIMAL = 30


def is_plain_name(name: str) -> bool:
    """Whether the name needs no quotes anywhere in a question.

    Example
        >>> is_plain_name("age"), is_plain_name("date"), is_plain_name("native-country")
        (True, False, False)
    """
    tokens = DIALECT.tokenize(name)
    is_word = len(tokens) == 1 and tokens[0].token_type is TokenType.VAR
    return is_word and name.upper() not in NEEDS_QUOTES


def sql_name(name: str) -> str:
    """The name, in quotes if it needs them; no column and no alias has quotes inside."""
    return name if is_plain_name(name) else f'"{name}"'


def column_text(name: str) -> str:
    """A column as it stands in a condition; the name of a computed one is its text in brackets."""
    return f"({name[1:-1]})" if name.startswith(COMPUTED) else sql_name(name)


def sql_text(text: str) -> str:
    """The text in quotes.

    Example
        >>> print(sql_text("it's"))
        'it''s'
    """
    return "'" + text.replace("'", "''") + "'"


def sql_number(value: Fraction) -> str:
    """The number as a decimal, or as a division where that is shorter or necessary.

    Example
        >>> sql_number(Fraction(1, 8)), sql_number(Fraction(-1, 3))
        ('0.125', '(-1 / 3)')
    """
    text = toml.literal(value)
    if value.denominator == 1 or ("/" not in text and len(text) <= _LONGEST_DECIMAL):
        return text
    return f"({value.numerator} / {value.denominator})"


def sql_label(value: str | bool | Fraction) -> str:
    """A text, a truth value or a number as a constant."""
    if isinstance(value, bool):
        return str(value).upper()
    return sql_text(value) if isinstance(value, str) else sql_number(value)


def sql_value(column: Bounded, number: Fraction) -> str:
    """A value of the column, given as its number, or as days or seconds since 1970 began."""
    if isinstance(column, Number):
        return toml.literal(number)
    if isinstance(column, Date):
        return f"DATE '{(_EPOCH + timedelta(days=int(number))).date()}'"
    return f"TIMESTAMP '{_EPOCH + timedelta(microseconds=int(number * 10**6))}'"


# -- Constants: what an analyst may write beside a column, exact and of the column's type ----------

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
        raise refuse("ask.compared-with-null")
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
    raise refuse("ask.number-too-long")


def in_reach(size: Fraction | int) -> None:
    """Refuses a factor with which sums, or the squares of their errors, would leave the range of
    floats: answers are converted to floats, which must not fail after the payment."""
    if max(abs(size.numerator), size.denominator) >= LARGEST_FACTOR:
        raise refuse("ask.number-beyond-arithmetic")


def instant(column: Bounded, value: Constant) -> Fraction:
    """The constant on the scale of the column: its number, its days, its seconds."""
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
        "ask.constant-type-mismatch",
        name=column.name,
        value=show(value),
        type=column.type,
        example=_example(column),
    )


def _at_midnight(value: str | date) -> str | datetime:
    if isinstance(value, datetime):
        return value
    try:
        day = date.fromisoformat(value.strip()) if isinstance(value, str) else value
    except ValueError:
        return str(value)
    return datetime.combine(day, _MIDNIGHT)


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
    raise refuse("ask.invalid-date", text=show(text))


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
