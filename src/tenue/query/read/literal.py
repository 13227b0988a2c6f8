"""How a name, a text, a number and a moment are written in the SQL of questions."""

from __future__ import annotations

from datetime import datetime, timedelta
from fractions import Fraction

from sqlglot import TokenType

from ...schema import Bounded, Date, Number
from ...schema import literal as toml
from ...schema.named import COMPUTED
from .text import DIALECT, NEEDS_QUOTES

_EPOCH = datetime(1970, 1, 1)
_LONGEST_DECIMAL = 30


def is_plain_name(name: str) -> bool:
    """Whether a question may have the name without quotes, wherever it stands.

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
    """The number as a decimal, or as a division where that is shorter or the only way.

    Example
        >>> sql_number(Fraction(1, 8)), sql_number(Fraction(-1, 3))
        ('0.125', '(-1 / 3)')
    """
    text = toml.literal(value)
    if value.denominator == 1 or ("/" not in text and len(text) <= _LONGEST_DECIMAL):
        return text
    return f"({value.numerator} / {value.denominator})"


def sql_value(column: Bounded, number: Fraction) -> str:
    """A value of the column, given as its number, or as days or seconds since 1970 began."""
    if isinstance(column, Number):
        return toml.literal(number)
    if isinstance(column, Date):
        return f"DATE '{(_EPOCH + timedelta(days=int(number))).date()}'"
    return f"TIMESTAMP '{_EPOCH + timedelta(microseconds=int(number * 10**6))}'"
