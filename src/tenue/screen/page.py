"""Text for a terminal: facts beside their names, sections, lines that end in time."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

WIDTH = 79
_KEPT = "\N{NO-BREAK SPACE}%"


def notes(texts: Iterable[str]) -> list[str]:
    """The lines of the notes below a table, each after a blank line; a note may have several."""
    return [line for text in texts for line in ("", *_wrapped(text))]


def _wrapped(text: str) -> list[str]:
    return [line for part in text.splitlines() for line in hanging(part).splitlines()]


def facts(lines: Sequence[tuple[str, str]]) -> list[str]:
    """Names in one column, texts beside them.

    Example
        >>> facts([("age", "1"), ("income", "2")])
        ['age     1', 'income  2']
    """
    width = max(len(name) for name, _ in lines)
    return [f"{name:<{width}}  {text}" for name, text in lines]


def wrapped_facts(lines: Sequence[tuple[str, str]]) -> list[str]:
    """The same with long texts wrapped below each other, indented by two."""
    width = max(len(name) for name, _ in lines)
    return [hanging(text, f"  {name:<{width}}  ") for name, text in lines]


def hanging(text: str, before: str = "") -> str:
    """A text wrapped so that its further lines begin below its first word; 95 % stays together."""
    indent = " " * len(before)
    wrapped = textwrap.fill(
        text.replace(" %", _KEPT),
        WIDTH,
        initial_indent=before,
        subsequent_indent=indent,
        break_on_hyphens=False,
        break_long_words=False,
    )
    return wrapped.replace(_KEPT, " %")


def section(title: str, lines: Iterable[str], bullet: str = "") -> str:
    """A title and its lines, indented; a line that is part of a table stays as it is."""
    shown = [title]
    for line in lines:
        in_table = line.startswith(" ") or "   " in line
        shown.append(f"  {line}".rstrip() if in_table else hanging(line, f"  {bullet}"))
    return "\n".join(shown)


def sentence(text: str) -> str:
    """The text with a capital letter.

    Example
        >>> sentence("less than 0.1 %")
        'Less than 0.1 %'
    """
    return text[0].upper() + text[1:]
