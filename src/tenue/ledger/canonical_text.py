"""Names and digests that enter the ledger as text."""

from __future__ import annotations

import hashlib
import json
import unicodedata

from ..errors import refuse

_LONGEST = 200
_LONGEST_LINE = 2000
_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False).encode


def canonical(value: object) -> str:
    """The one JSON text of a value: sorted keys, no spaces, ASCII."""
    return _encode(value)


def digest(value: object) -> str:
    """The SHA-256 of a value's canonical JSON, in hexadecimal; 17 and "17" differ.

    Example
        >>> digest({"question": "COUNT", "nano": 5})[:16]
        'bd13276788cee241'
    """
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def readable(text: str) -> str:
    """One line of printable characters, truncated if it is long.

    Example
        >>> readable("SELECT\\n  COUNT(*)")
        'SELECT COUNT(*)'
    """
    line = " ".join(text.split())
    line = "".join(sign if sign.isprintable() else "�" for sign in line)
    return line if len(line) <= _LONGEST_LINE else line[: _LONGEST_LINE - 1] + "…"


def given_text(value: object, name: str, *, empty: bool = False) -> str:
    """A short line of text in the Unicode normal form NFC, so that a data set's name has one
    spelling, and one budget."""
    fix = f"Give `{name}` as a short name or a hexadecimal digest"
    if not isinstance(value, str):
        raise refuse("ledger.name-not-text", name=name, type=type(value).__name__, advice=fix)
    if value != value.strip():
        raise refuse("ledger.name-with-spaces", name=name, value=value, advice=fix)
    if value.isascii() and value.isprintable() and 0 < len(value) <= _LONGEST:
        return value
    if len(value) > _LONGEST:
        raise refuse(
            "ledger.name-too-long", name=name, many=len(value), longest=_LONGEST, advice=fix
        )
    value = unicodedata.normalize("NFC", value)
    if not value and not empty:
        raise refuse("ledger.name-empty", name=name, advice=fix)
    # str.isprintable is false for control characters, line ends and lone surrogates
    if not value.isprintable():
        raise refuse("ledger.name-not-printable", name=name, value=value, advice=fix)
    return value
