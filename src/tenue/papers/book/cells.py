"""The cells of an exhibit as HTML: a grid as in the paper where one fits, else a list."""

from __future__ import annotations

from collections.abc import Sequence

from ...report.document import prose
from ...screen.table import escaped
from ..cell import SIGNS, Cell, Verdict
from ..outcome import apart, written

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
_PHONE, _NAME, _CELL, _LETTER = 362, 112, 34, 8
"""Pixels: of a phone, of the names of rows there, around a number, and of a letter."""


def chip(verdict: Verdict) -> str:
    sign, word = SIGNS[verdict], WORDS[verdict]
    return f'<span class="chip {word}"><b aria-hidden="true">{sign}</b> {verdict.value}</span>'


def cells_html(cells: Sequence[Cell]) -> str:
    notes = {
        text: i + 1 for i, text in enumerate(dict.fromkeys(c.remark for c in cells if c.remark))
    }
    rows = list(dict.fromkeys(cell.row for cell in cells))
    columns = list(dict.fromkeys(cell.column for cell in cells))
    fits = len(columns) <= _MOST_COLUMNS and len(rows) * len(columns) <= 1.6 * len(cells)
    unique = len({(cell.row, cell.column) for cell in cells}) == len(cells)
    grid = fits and unique and len(columns) > 1
    table = _grid(cells, rows, columns, notes) if grid else _list(cells, notes)
    body = f'<div class="scroll">{table}</div>{_notes(notes)}'
    if (len(rows) if grid else len(cells)) <= _LONG:
        return body
    return f"<details><summary>All {len(cells)} cells</summary>{body}</details>"


def _notes(notes: dict[str, int]) -> str:
    items = "".join(f"<li>{prose(text)}</li>" for text in notes)
    return f'<ol class="notes">{items}</ol>' if items else ""


def _mark(cell: Cell, notes: dict[str, int]) -> str:
    return f"<sup>{notes[cell.remark]}</sup>" if cell.remark else ""


def _grid(cells: Sequence[Cell], rows: list[str], columns: list[str], notes: dict[str, int]) -> str:
    by_place = {(cell.row, cell.column): cell for cell in cells}
    head = "".join(f'<th scope="col">{escaped(column)}</th>' for column in columns)
    wide = " wide" if _pixels(cells, columns) > _PHONE else ""
    lines = []
    for row in rows:
        found = [by_place.get((row, column)) for column in columns]
        inside = "".join("<td></td>" if cell is None else _in_grid(cell, notes) for cell in found)
        lines.append(f'<tr><th scope="row">{escaped(row)}</th>{inside}</tr>')
    return (
        f'<table class="grid{wide}"><thead><tr><th></th>{head}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table>"
    )


def _in_grid(cell: Cell, notes: dict[str, int]) -> str:
    word = WORDS[cell.verdict]
    printed = "" if cell.printed is None else f"<small>{escaped(cell.printed)}</small>"
    ours = f"<span>{escaped(written(cell))}{_mark(cell, notes)}</span>"
    sign = f'<i aria-hidden="true">{SIGNS[cell.verdict]}</i>'
    named = f'data-column="{escaped(cell.column)}" title="{cell.verdict.value}"'
    return f'<td class="{word}" {named}>{sign}{ours}{printed}</td>'


def _pixels(cells: Sequence[Cell], columns: list[str]) -> int:
    """About how wide a grid is on a phone: wider ones become cards there."""
    widest = dict.fromkeys(columns, 0)
    for cell in cells:
        words = [written(cell), *cell.column.split(), *(cell.printed or "").split()]
        widest[cell.column] = max(widest[cell.column], *map(len, words))
    return _NAME + sum(_CELL + _LETTER * letters for letters in widest.values())


def _list(cells: Sequence[Cell], notes: dict[str, int]) -> str:
    differ = any(cell.difference is not None for cell in cells)
    lines = []
    for cell in cells:
        parts = [cell.printed or "", written(cell), *([apart(cell)] if differ else [])]
        numbers = "".join(
            f"<td class={name}>{escaped(part)}</td>"
            for name, part in zip(("printed", "ours", "apart"), parts, strict=False)
        )
        verdict = f"{SIGNS[cell.verdict]} {cell.verdict.value}{_mark(cell, notes)}"
        lines.append(
            f'<tr class="{WORDS[cell.verdict]}"><th scope="row">{escaped(cell.row)}</th>'
            f"<th>{escaped(cell.column)}</th>{numbers}<td class='verdict'>{verdict}</td></tr>"
        )
    names = ["", "", "printed", "ours", *(["difference"] if differ else []), "verdict"]
    head = "".join(f'<th scope="col" class="{name}">{name}</th>' for name in names)
    return (
        f'<table class="list"><thead><tr>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table>'
    )
