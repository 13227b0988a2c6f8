"""Small tables, for terminals and for notebooks; in HTML every text is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_MOST_ROWS = 200


def text_table(rows: Sequence[Sequence[str]], left: int = 0) -> list[str]:
    """The lines of a table; the first `left` columns start at their left, the others end right.

    Example
        >>> text_table([["name", "n"], ["a", "10"]], left=1)
        ['name   n', 'a     10']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if place < left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def html_table(
    rows: Sequence[Sequence[str]], before: Iterable[str] = (), after: Iterable[str] = ()
) -> str:
    """A table whose first row is its header, with paragraphs around it; long ones are cut.

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
    """The text, with the signs that mean something in HTML written out."""
    import html  # takes longer to load than an answer to print

    return html.escape(text)


def paragraphs(texts: Iterable[str]) -> str:
    """Each text as a paragraph; its lines stay lines."""
    return "".join(f"<p>{'<br>'.join(map(escaped, text.splitlines()))}</p>" for text in texts)


def html_facts(facts: Iterable[tuple[str, str]]) -> str:
    """The rows of a table of names and texts."""
    return "".join(
        f"<tr><th scope='row'>{escaped(name)}</th><td>{escaped(text)}</td></tr>"
        for name, text in facts
    )
