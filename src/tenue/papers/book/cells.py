"""The cells of an exhibit as HTML: a grid as in the paper where one fits, else a list."""

from __future__ import annotations

from collections.abc import Sequence

from ...screen.table import escaped
from ..cell import SIGNS, Cell, Verdict
from ..outcome import written

WORDS = {
    Verdict.EQUAL: "equal",
    Verdict.CORRECTED: "corrected",
    Verdict.IRREPRODUCIBLE: "irreproducible",
    Verdict.MISSING: "missing",
    Verdict.BESIDE: "beside",
    Verdict.DIFFERENT: "different",
}
"""The class of the style sheet for each verdict."""
_MOST_COLUMNS = 8
_LONG = 24


def chip(verdict: Verdict) -> str:
    sign, word = SIGNS[verdict], WORDS[verdict]
    return f'<span class="chip {word}"><b aria-hidden="true">{sign}</b> {verdict.value}</span>'


def cells_html(cells: Sequence[Cell]) -> str:
    notes = {
        text: i + 1 for i, text in enumerate(dict.fromkeys(c.remark for c in cells if c.remark))
    }
    rows = list(dict.fromkeys(cell.row for cell in cells))
    columns = list(dict.fromkeys(cell.column for cell in cells))
    fits = len(columns) <= _MOST_COLUMNS and len(rows) * len(columns) <= 1.4 * len(cells)
    unique = len({(cell.row, cell.column) for cell in cells}) == len(cells)
    grid = fits and unique and len(columns) > 1
    table = _grid(cells, rows, columns, notes) if grid else _list(cells, notes)
    body = f'<div class="scroll">{table}</div>{_notes(notes)}'
    if (len(rows) if grid else len(cells)) <= _LONG:
        return body
    return f"<details><summary>All {len(cells)} cells</summary>{body}</details>"


def _notes(notes: dict[str, int]) -> str:
    items = "".join(f"<li>{escaped(text)}</li>" for text in notes)
    return f'<ol class="notes">{items}</ol>' if items else ""


def _mark(cell: Cell, notes: dict[str, int]) -> str:
    return f"<sup>{notes[cell.remark]}</sup>" if cell.remark else ""


def _grid(cells: Sequence[Cell], rows: list[str], columns: list[str], notes: dict[str, int]) -> str:
    by_place = {(cell.row, cell.column): cell for cell in cells}
    head = "".join(f'<th scope="col">{escaped(column)}</th>' for column in columns)
    lines = []
    for row in rows:
        found = [by_place.get((row, column)) for column in columns]
        inside = "".join("<td></td>" if cell is None else _in_grid(cell, notes) for cell in found)
        lines.append(f'<tr><th scope="row">{escaped(row)}</th>{inside}</tr>')
    return (
        f'<table class="grid"><thead><tr><th></th>{head}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table>"
    )


def _in_grid(cell: Cell, notes: dict[str, int]) -> str:
    word = WORDS[cell.verdict]
    printed = "" if cell.printed is None else f"<small>{escaped(cell.printed)}</small>"
    ours = f"<span>{escaped(written(cell))}{_mark(cell, notes)}</span>"
    sign = f'<i aria-hidden="true">{SIGNS[cell.verdict]}</i>'
    return f'<td class="{word}" title="{cell.verdict.value}">{sign}{ours}{printed}</td>'


def _list(cells: Sequence[Cell], notes: dict[str, int]) -> str:
    lines = []
    for cell in cells:
        away = "" if cell.difference is None else f"{cell.difference:+.2g}"
        parts = (cell.printed or "", written(cell), away)
        numbers = "".join(f"<td>{escaped(part)}</td>" for part in parts)
        verdict = f"{SIGNS[cell.verdict]} {cell.verdict.value}{_mark(cell, notes)}"
        lines.append(
            f'<tr class="{WORDS[cell.verdict]}"><th scope="row">{escaped(cell.row)}</th>'
            f"<th>{escaped(cell.column)}</th>{numbers}<td class='verdict'>{verdict}</td></tr>"
        )
    names = ("", "", "printed", "ours", "difference", "verdict")
    head = "".join(f'<th scope="col">{name}</th>' for name in names)
    return (
        f'<table class="list"><thead><tr>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table>'
    )
