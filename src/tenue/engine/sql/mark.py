"""Marks of missing values, in SQL: where a stored value is one, there is none."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from fractions import Fraction

from ...schema import Category, Column, Identifier, Number
from ..storage import Fixed, Floating, Integer, Storage, Text, Truth, Written
from .dialect import Dialect


def unmarked(column: Column, stored: Storage, name: str, dialect: Dialect) -> str:
    """The SQL of a stored value, NULL where it is a mark.

    A text is compared byte by byte, without the spaces around it; a number as a number, however a
    text writes it. Stored whole numbers of a category or an identifier count as their text.
    """
    tests = [*_texts(column, stored, name, dialect), *_numbers(column, stored, name, dialect)]
    return f"CASE WHEN {' OR '.join(tests)} THEN NULL ELSE {name} END" if tests else name


def _texts(column: Column, stored: Storage, name: str, dialect: Dialect) -> Iterator[str]:
    marks = [mark for mark in column.marks if isinstance(mark, str)]
    codes = isinstance(column, Category | Identifier) and isinstance(stored, Integer | Truth)
    if marks and (codes or isinstance(stored, Text | Written)):
        listed = ", ".join(map(dialect.literal, marks))
        yield f"{dialect.trimmed(f'CAST({name} AS {dialect.text})')} IN ({listed})"


def _numbers(column: Column, stored: Storage, name: str, dialect: Dialect) -> Iterator[str]:
    marks = [mark for mark in column.marks if isinstance(mark, Fraction)]
    if not marks or not isinstance(column, Number):
        return
    if isinstance(stored, Integer):
        kept = [mark for mark in marks if stored.low <= mark <= stored.high]
        listed = [f"CAST({mark} AS {stored.type})" for mark in kept if mark.denominator == 1]
        value = name
    elif isinstance(stored, Fixed):
        unit, most = 10**stored.scale, 10**stored.width - 1
        kept = [mark * unit for mark in marks if abs(mark * unit) <= most]
        kind = f"DECIMAL({stored.width}, {stored.scale})"
        listed = [
            f"CAST('{mark.numerator}e-{stored.scale}' AS {kind})"
            for mark in kept
            if mark.denominator == 1
        ]
        value = name
    elif isinstance(stored, Floating | Written):
        single = isinstance(stored, Floating) and stored.single
        listed = [dialect.number(_single(float(m)) if single else float(m)) for m in marks]
        value = f"CAST({name} AS {dialect.double})"
        if isinstance(stored, Written):
            value = dialect.read(name, dialect.double)
    else:
        return
    if listed:
        yield f"{value} IN ({', '.join(listed)})"


def _single(number: float) -> float:
    """The nearest number of 32 bits, which is how the source stores the mark."""
    try:
        return float(struct.unpack("f", struct.pack("f", number))[0])
    except OverflowError:
        return number
