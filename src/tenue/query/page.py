"""Small tables for notebooks: everything is escaped."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

_MOST_ROWS = 200


def html_table(
    rows: Sequence[Sequence[str]], before: Iterable[str] = (), after: Iterable[str] = ()
) -> str:
    """A table whose first row is its header, with paragraphs around it; long ones are cut.

    Example
        >>> html_table([["n"], ["<1"]])
        '<table><thead><tr><th>n</th></tr></thead><tbody><tr><td>&lt;1</td></tr></tbody></table>'
    """
    header, *body = rows
    head = "".join(f"<th>{html.escape(cell)}</th>" for cell in header)
    lines = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>"
        for row in body[:_MOST_ROWS]
    )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"
    more = [f"… and {len(body) - _MOST_ROWS:,} rows more"] if len(body) > _MOST_ROWS else []
    return _paragraphs(before) + table + _paragraphs([*more, *after])


def _paragraphs(texts: Iterable[str]) -> str:
    return "".join(f"<p>{html.escape(text)}</p>" for text in texts)
