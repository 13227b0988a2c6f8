"""Formats numbers, tables and pages as text."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any


def exactly(number: Fraction) -> str:
    """A rational as people write it: an integer, a finite decimal, or a fraction.

    Example
        >>> exactly(Fraction(3)), exactly(Fraction(-1, 8)), exactly(Fraction(1, 3))
        ('3', '-0.125', '1/3')
    """
    finite = decimal(number)
    return str(number) if finite is None else f"{finite:f}"


def decimal(number: Fraction) -> Decimal | None:
    """The decimal equal to `number`, or None where none is finite.

    Example
        >>> decimal(Fraction(1, 8)), decimal(Fraction(1, 3)), decimal(Fraction(6, 2))
        (Decimal('0.125'), None, Decimal('3'))
    """
    rest, powers = number.denominator, {2: 0, 5: 0}
    for prime in powers:
        while rest % prime == 0:
            rest, powers[prime] = rest // prime, powers[prime] + 1
    if rest != 1:
        return None
    places = max(powers.values())
    digits = number.numerator * 10**places // number.denominator
    return Decimal((int(digits < 0), tuple(map(int, str(abs(digits)))), -places))


def shortly(number: float, digits: int = 3) -> str:
    """An error or a distance with few digits; from 1,000 on, a whole number.

    Example
        >>> shortly(0.123456), shortly(12345.6), shortly(math.inf), shortly(0.123456, digits=4)
        ('0.123', '12,346', 'infinite', '0.1235')
    """
    if math.isinf(number):
        return "infinite"
    return f"{number:,.0f}" if abs(number) >= 1000 and digits == 3 else f"{number:.{digits}g}"


def plain(value: Any) -> Any:
    """A rational as an int, or as the nearest double; any other value unchanged."""
    if not isinstance(value, Fraction):
        return value
    return int(value) if value.denominator == 1 else nearest_float(value)


def nearest_float(value: Fraction) -> float:
    """The double nearest to a rational; infinite beyond the largest double.

    Example
        >>> nearest_float(Fraction(1, 10)), nearest_float(Fraction(-(10**400)))
        (0.1, -inf)
    """
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def readable(value: Any) -> str:
    """The value of an answer, with separators of thousands.

    Example
        >>> readable(Fraction(1234567)), readable(0.5), readable("flu"), readable(None)
        ('1,234,567', '0.5', 'flu', 'undefined')
    """
    if value is None:
        return "undefined"
    number = plain(value)
    if isinstance(number, bool) or not isinstance(number, int | float):
        return str(number)
    if isinstance(number, int):
        return f"{number:,}"
    return f"{number:,.0f}" if abs(number) >= 1e5 else f"{number:,.6g}"


def percent(share: float) -> str:
    """A share as people read it.

    Example
        >>> percent(0.5), percent(0.00004), percent(0), percent(0.99999)
        ('50 %', 'less than 0.1 %', '0 %', 'more than 99.9 %')
    """
    if 0 < share < 0.001:
        return "less than 0.1 %"
    if 0.999 < share < 1:
        return "more than 99.9 %"
    return f"{100 * share:.3g} %"


def many(count: int, word: str) -> str:
    """A count and its noun.

    Example
        >>> many(1, "row"), many(1080, "row")
        ('1 row', '1,080 rows')
    """
    return f"{count:,} {word}" + ("" if count == 1 else "s")


def named(names: Iterable[str]) -> str:
    """Names as a list that a sentence can hold.

    Example
        >>> named(["age", "income"])
        '`age`, `income`'
    """
    return ", ".join(f"`{name}`" for name in names)


# -- Text for a terminal: facts beside their names, sections, wrapped lines ------------------------

WIDTH = 79
_KEPT = "\N{NO-BREAK SPACE}%"


def notes(texts: Iterable[str]) -> list[str]:
    """The lines of the notes below a table, wrapped, each note after a blank line."""
    lines = []
    for text in texts:
        lines += ["", *(line for part in text.splitlines() for line in hanging(part).splitlines())]
    return lines


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
    """A text wrapped so that its further lines begin below its first word; 95 % is not split."""
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
    """A title and its lines, indented; a line of a table is not wrapped."""
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


# -- Small tables, for terminals and for notebooks; in HTML every text is escaped ------------------

_MOST_ROWS = 200


def text_table(rows: Sequence[Sequence[str]], left: int = 0) -> list[str]:
    """The lines of a table; the first `left` columns are left-aligned, the others right-aligned.

    Example
        >>> text_table([["name", "n"], ["a", "10"]], left=1)
        ['name   n', 'a     10']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if index < left else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def html_table(
    rows: Sequence[Sequence[str]], before: Iterable[str] = (), after: Iterable[str] = ()
) -> str:
    """A table whose first row is its header, with paragraphs around it; truncated if it is long.

    Example
        >>> html_table([["n"], ["<1"]])
        '<table><thead><tr><th>n</th></tr></thead><tbody><tr><td>&lt;1</td></tr></tbody></table>'
    """
    header, *body = rows
    head = "".join(f"<th>{escaped(cell)}</th>" for cell in header)
    lines = "".join(
        "<tr>" + "".join(f"<td>{escaped(cell)}</td>" for cell in row) + "</tr>"
        for row in body[:_MOST_ROWS]
    )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"
    more = [f"… and {len(body) - _MOST_ROWS:,} rows more"] if len(body) > _MOST_ROWS else []
    return paragraphs(before) + table + paragraphs([*more, *after])


def escaped(text: str) -> str:
    """The text with HTML's special characters escaped."""
    import html  # takes longer to load than an answer to print

    return html.escape(text)


def paragraphs(texts: Iterable[str]) -> str:
    """Each text as a paragraph, with its line breaks."""
    return "".join(f"<p>{'<br>'.join(map(escaped, text.splitlines()))}</p>" for text in texts)


def html_facts(facts: Iterable[tuple[str, str]]) -> str:
    """The rows of a table of names and texts."""
    return "".join(
        f"<tr><th scope='row'>{escaped(name)}</th><td>{escaped(text)}</td></tr>"
        for name, text in facts
    )
