"""Refusals of the library in the syntax of the command line: `--by quasi-identifiers`, not
by="quasi-identifiers"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import InvalidArgument, Refused

_LONG = (
    "by confidential epsilon gamma groups kind l ledger memory method minimise most override "
    "quantiles quasi_identifiers risk schema suppress t unit widths"
)
_OPTIONS = {"k": "-k", **{name: f"--{name.replace('_', '-')}" for name in _LONG.split()}}
_NAME = "|".join(_OPTIONS)
_GIVEN = re.compile(rf"""(?<!--sweep )\b({_NAME})=(\[[^\]]*\]|"[^"]*"|'[^']*'|[0-9.]+)""")
_WIDTHS = re.compile(r'\bwidths=\{"([^"]*)": \[([^\]]*)\]\}')
_NAMED = re.compile(rf"`({_NAME})`")
_FLAG = re.compile(r"\b(individual|fresh)=True\b")
_PRIOR = re.compile(r"\bprior=(tn\.prior\.\w+\([^)]*\)|\.\.\.)")
_ASKED = re.compile(
    r"\b(epsilon|accuracy|minimise|interval|mechanism|key|delta|analyst|ledger|schema)=(\S+?)"
    r"(?=[,;.]?(\s|$))"
)
_NUMBER = " as an int, a float, a Decimal, a Fraction or decimal text"
_WRITTEN_NUMBER = " as a decimal number, such as 0.5"
_SENTENCES = {
    "or say that it may be replaced": "or add --replace",
    "l and t speak of": "--l and --t speak of",
    "leave l and t out": "leave --l and --t out",
    "ledger=False": "--no-register",
    "See tn.plan_release, which says": "See --method private --epsilon 1 --preview, which says",
    'and by is not "full-domain"': "and --by is not full-domain",
    "as an int, a float, a Decimal, a Fraction or decimal text": "as a decimal number, such as 5",
}


def in_options(text: str) -> str:
    """A sentence about arguments of `ask` and `explain`, with options instead.

    Example
        >>> in_options("Add epsilon=0.5, or ask without individual=True.")
        'Add --epsilon 0.5, or ask without --individual.'
    """
    text = _FLAG.sub(lambda found: f"--{found[1]}", text)
    text = _PRIOR.sub("--prior FILE", text)
    text = text.replace('clip="auto"', "--clip auto")
    text = text.replace("`measure_cut`", "--measure-cut").replace(_NUMBER, _WRITTEN_NUMBER)
    return _ASKED.sub(r"--\1 \2", text)


@contextmanager
def spoken() -> Iterator[None]:
    """Translates refusals raised inside into the syntax of the command line."""
    try:
        yield
    except Refused as refusal:
        arguments = isinstance(refusal, InvalidArgument)  # elsewhere `k` may be a column
        for part in ("what", "allowed", "fix"):
            setattr(refusal, part, translated(getattr(refusal, part), names=arguments))
        raise


def translated(text: str, *, names: bool) -> str:
    """A sentence of the library in the syntax of the command line.

    Parameters
        names: whether names in backticks are arguments; they may be columns otherwise.
    """
    text = _WIDTHS.sub(lambda found: f"--widths {found[1]}={found[2].replace(', ', '/')}", text)
    text = _GIVEN.sub(lambda found: f"{_OPTIONS[found[1]]} {_value(found[2])}", text)
    if names:
        text = _NAMED.sub(lambda found: _OPTIONS[found[1]], text)
    for python, words in _SENTENCES.items():
        text = text.replace(python, words)
    return text


def _value(text: str) -> str:
    """A list with commas only; text without its quotes."""
    items = text.strip("[]").split(",")
    return ",".join(item.strip().strip("\"'") for item in items)
