"""Values as TOML text, and Python values as TOML would read them.

Numbers stay exact in both directions: a float means its shortest decimal, a fraction becomes the
decimal that equals it, and one without a finite decimal is kept for the reader to refuse.
"""

from __future__ import annotations

import numbers
import re
from collections.abc import Mapping
from datetime import date, datetime, time
from decimal import Decimal
from fractions import Fraction

from ..text import decimal, exactly

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f"}
_ESCAPES |= {"\r": "\\r"}
_SHOWN = 60
_WIDE_NUMBER = 1024
_DEEPEST = 40


def literal(value: object) -> str:
    """The TOML text of a plain value.

    Example
        >>> literal({"bounds": [0, Decimal("0.1")], "sex": 'a "b"', "ok": True})
        '{ bounds = [0, 0.1], sex = "a \\\\"b\\\\"", ok = true }'
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return '"' + "".join(map(_escaped, value)) + '"'
    if isinstance(value, Mapping):
        inside = ", ".join(f"{key(str(name))} = {literal(item)}" for name, item in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(literal, value)) + "]"
    if isinstance(value, date | datetime | time):
        return value.isoformat()
    return exactly(value) if isinstance(value, Fraction) else str(value)


def key(name: str) -> str:
    """The name of a key, in quotes if TOML requires them."""
    return name if _BARE.fullmatch(name) else literal(name)


def show(value: object) -> str:
    """The value as a message quotes it: as TOML, and never long.

    Example
        >>> show(["?", 1]), show(10**5000)
        ('["?", 1]', 'a number of 16610 bits')
    """
    if isinstance(value, int | Fraction) and _width(value) > _WIDE_NUMBER:
        return f"a number of {_width(value)} bits"
    if isinstance(value, list | tuple):
        text = "[" + ", ".join(show(item) for item in value[:_SHOWN]) + "]"
    elif isinstance(value, Mapping):
        text = "{ " + ", ".join(f"{key(str(name))} = ..." for name in list(value)[:_SHOWN]) + " }"
    elif isinstance(value, str):
        text = literal(value[:_SHOWN].encode("utf-8", "replace").decode())
    elif isinstance(value, int | Decimal | Fraction | date | time):
        text = literal(value)
    else:
        text = f"a value of type {type(value).__name__}"
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."


def plain(value: object, depth: int = 0) -> object:
    """The value as if read from a TOML file; keys whose value is None are left out.

    Example
        >>> plain({"bounds": (0, 0.5), "grid": Fraction(1, 4), "rows": None})
        {'bounds': [0, Decimal('0.5')], 'grid': Decimal('0.25')}
    """
    if depth > _DEEPEST:
        raise RecursionError
    if isinstance(value, Mapping):
        return {
            _name(name): plain(item, depth + 1) for name, item in value.items() if item is not None
        }
    if isinstance(value, list | tuple):
        return [plain(item, depth + 1) for item in value]
    if isinstance(value, bool | Decimal):
        return value
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Rational):
        number = Fraction(int(value.numerator), int(value.denominator))
        finite = decimal(number) if _width(number) <= _WIDE_NUMBER else None
        return number if finite is None else finite
    if isinstance(value, numbers.Real):
        # numpy's smaller floats print their own shortest decimal
        return Decimal(repr(float(value)) if isinstance(value, float) else str(value))
    return value


def same(one: object, other: object, *, unordered: int) -> bool:
    """Whether two plain values are equal: 1 equals 1.0, but not true.

    The order of keys does not count in the outer `unordered` levels of tables. Deeper ones are
    taxonomies, in which the order of siblings counts.
    """
    if isinstance(one, dict) and isinstance(other, dict):
        keys = one.keys() == other.keys() if unordered > 0 else list(one) == list(other)
        return keys and all(same(one[key], other[key], unordered=unordered - 1) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        pairs = zip(one, other, strict=False)
        return len(one) == len(other) and all(same(*pair, unordered=unordered) for pair in pairs)
    return isinstance(one, bool) == isinstance(other, bool) and one == other


def _name(name: object) -> str:
    text = name if isinstance(name, str) else repr(name)[:_SHOWN]
    return text.encode("utf-8", "backslashreplace").decode()


def _width(number: int | Fraction) -> int:
    return number.numerator.bit_length() + number.denominator.bit_length() - 1


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character < " " or character == "\x7f":
        return f"\\u{ord(character):04x}"
    return character
