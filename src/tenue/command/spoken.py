"""A refusal in the words of the command line: `--by quasi-identifiers`, not by="quasi-identifiers".

The library refuses in the words of Python. Whoever typed options is told about options.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import InvalidArgument, Refused

__all__ = ["spoken"]

_OPTIONS = {
    "by": "--by",
    "confidential": "--confidential",
    "gamma": "--gamma",
    "k": "-k",
    "kind": "--kind",
    "l": "--l",
    "ledger": "--ledger",
    "method": "--method",
    "override": "--override",
    "quasi_identifiers": "--quasi-identifiers",
    "schema": "--schema",
    "t": "--t",
    "unit": "--unit",
}
_NAME = "|".join(_OPTIONS)
_GIVEN = re.compile(rf"""\b({_NAME})=(\[[^\]]*\]|"[^"]*"|'[^']*'|[0-9.]+)""")
_NAMED = re.compile(rf"`({_NAME})`")
_SENTENCES = {
    "or say that it may be replaced": "or add --replace",
    "l and t speak of": "--l and --t speak of",
    "leave l and t out": "leave --l and --t out",
}


@contextmanager
def spoken() -> Iterator[None]:
    """Whatever is refused inside is refused in the words of the command line."""
    try:
        yield
    except Refused as refusal:
        arguments = isinstance(refusal, InvalidArgument)  # elsewhere `k` may be a column
        for part in ("what", "allowed", "fix"):
            setattr(refusal, part, _translated(getattr(refusal, part), names=arguments))
        raise


def _translated(text: str, *, names: bool) -> str:
    text = _GIVEN.sub(lambda found: f"{_OPTIONS[found[1]]} {_value(found[2])}", text)
    if names:
        text = _NAMED.sub(lambda found: _OPTIONS[found[1]], text)
    for python, words in _SENTENCES.items():
        text = text.replace(python, words)
    return text


def _value(text: str) -> str:
    """A list as the command line has it, with commas; text without its quotes."""
    items = text.strip("[]").split(",")
    return ",".join(item.strip().strip("\"'") for item in items)
