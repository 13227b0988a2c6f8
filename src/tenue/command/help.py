"""A page of help: how to say it, what it does, and two columns of names and meanings."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Mapping, Sequence

WIDEST = 80
NARROWEST = 50
_NAMES = 30
_GAP = 2
_MARGIN = "  "

Rows = Sequence[tuple[str, str]]


def page(usage: str, text: str, sections: Mapping[str, Rows]) -> str:
    """The page; a section without rows is left out.

    Example
        >>> print(page("tenue ask", "Ask.", {"Options": [("--json", "As JSON.")]}))
        Usage: tenue ask
        <BLANKLINE>
          Ask.
        <BLANKLINE>
        Options:
          --json  As JSON.
    """
    body = textwrap.fill(text, width(), initial_indent=_MARGIN, subsequent_indent=_MARGIN)
    lines = [f"Usage: {usage}", "", body]
    for title, rows in sections.items():
        if rows:
            lines += ["", f"{title}:", *_columns(rows)]
    return "\n".join(lines)


def in_short(text: str, names: Sequence[str]) -> str:
    """The first sentence, cut to what fits beside the longest name."""
    room = width() - 3 * len(_MARGIN) - max(map(len, names))
    sentence = text.partition(". ")[0].rstrip(".") + "."
    return textwrap.shorten(sentence, room, placeholder="...", break_on_hyphens=False)


def width() -> int:
    """How many characters a line of the page may have."""
    return max(min(shutil.get_terminal_size().columns, WIDEST) - len(_MARGIN), NARROWEST)


def _columns(rows: Rows) -> list[str]:
    first = min(max(len(name) for name, _ in rows), _NAMES)
    lines = []
    for name, meaning in rows:
        wrapped = textwrap.wrap(meaning, width() - first - 2 * _GAP) or [""]
        if len(name) > first:  # a long name has a line of its own
            lines.append(_MARGIN + name)
            name = ""
        for line in wrapped:
            lines.append(f"{_MARGIN}{name:<{first + _GAP}}{line}".rstrip())
            name = ""
    return lines
