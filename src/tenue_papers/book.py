"""The book: one page for each chapter, pictures of all figures, every number as JSON.

Guarantee
    Every text is escaped, and a content security policy lets the browser fetch nothing and run only
    the one small script in the page, by its digest.
"""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from tenue.errors import refuse
from tenue.report.chart import Chart, can_draw
from tenue.report.document import prose, sheet
from tenue.text import escaped

from .cell import SIGNS, Cell, Verdict
from .draw import picture, pictures
from .exhibit import Chapter, Shown
from .outcome import MADE_UP, Outcome, apart, tally, written

WORDS = {verdict: verdict.name.lower() for verdict in Verdict}
"""The class of the style sheet for each verdict."""
_MOST_COLUMNS = 8
_LONG = 24
_PHONE, _NAME, _CELL, _LETTER = 362, 112, 34, 8
"""Pixels: the width of a phone, of row names there, of the room around a number, of a letter."""


def chip(verdict: Verdict) -> str:
    sign, word = SIGNS[verdict], WORDS[verdict]
    return f'<span class="chip {word}"><b aria-hidden="true">{sign}</b> {verdict.value}</span>'


def cells_html(cells: Sequence[Cell]) -> str:
    remarks = dict.fromkeys(cell.remark for cell in cells if cell.remark)
    notes = {text: i for i, text in enumerate(remarks, 1)}
    rows = list(dict.fromkeys(cell.row for cell in cells))
    columns = list(dict.fromkeys(cell.column for cell in cells))
    fits = len(columns) <= _MOST_COLUMNS and len(rows) * len(columns) <= 1.6 * len(cells)
    unique = len({(cell.row, cell.column) for cell in cells}) == len(cells)
    grid = fits and unique and len(columns) > 1
    table = _grid(cells, rows, columns, notes) if grid else _list(cells, notes)
    items = "".join(f"<li>{prose(text)}</li>" for text in notes)
    below = f'<ol class="notes">{items}</ol>' if items else ""
    body = f'<div class="scroll">{table}</div>{below}'
    if (len(rows) if grid else len(cells)) <= _LONG:
        return body
    return f"<details><summary>All {len(cells)} cells</summary>{body}</details>"


def _note_number(cell: Cell, notes: dict[str, int]) -> str:
    return f"<sup>{notes[cell.remark]}</sup>" if cell.remark else ""


def _grid(cells: Sequence[Cell], rows: list[str], columns: list[str], notes: dict[str, int]) -> str:
    by_place = {(cell.row, cell.column): cell for cell in cells}
    head = "".join(f'<th scope="col">{escaped(column)}</th>' for column in columns)
    wide = " wide" if _pixels(cells, columns) > _PHONE else ""
    lines = []
    for row in rows:
        in_row = [by_place.get((row, column)) for column in columns]
        inside = "".join("<td></td>" if cell is None else _in_grid(cell, notes) for cell in in_row)
        lines.append(f'<tr><th scope="row">{escaped(row)}</th>{inside}</tr>')
    return (
        f'<table class="grid{wide}"><thead><tr><th></th>{head}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table>"
    )


def _in_grid(cell: Cell, notes: dict[str, int]) -> str:
    word = WORDS[cell.verdict]
    printed = "" if cell.printed is None else f"<small>{escaped(cell.printed)}</small>"
    return (
        f'<td class="{word}" data-column="{escaped(cell.column)}" title="{cell.verdict.value}">'
        f'<i aria-hidden="true">{SIGNS[cell.verdict]}</i>'
        f"<span>{escaped(written(cell))}{_note_number(cell, notes)}</span>{printed}</td>"
    )


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
        verdict = f"{SIGNS[cell.verdict]} {cell.verdict.value}{_note_number(cell, notes)}"
        lines.append(
            f'<tr class="{WORDS[cell.verdict]}"><th scope="row">{escaped(cell.row)}</th>'
            f"<th>{escaped(cell.column)}</th>{numbers}<td class='verdict'>{verdict}</td></tr>"
        )
    names = ["", "", "printed", "ours", *(["difference"] if differ else []), "verdict"]
    head = "".join(f'<th scope="col" class="{name}">{name}</th>' for name in names)
    return (
        f'<table class="list"><thead><tr>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table>'
    )


# The pages of the book. They fetch nothing: style and script are inside, and a policy enforces it.

_HERE = Path(__file__).parent
INDEX = "index.html"
ERRATA = "errata.html"
Drawings = dict[str, list[str]]
"""The panels of each figure, drawn."""


@cache
def style() -> str:
    return sheet() + (_HERE / "book.css").read_text(encoding="utf-8")


@cache
def script() -> str:
    return (_HERE / "book.js").read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def whole(title: str, body: str, navigation: str) -> str:
    policy = (
        f"default-src 'none'; style-src 'sha256-{_digest(style())}'; "
        f"script-src 'sha256-{_digest(script())}'; base-uri 'none'; form-action 'none'"
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escaped(title)}</title>\n<style>{style()}</style>\n</head>\n"
        f'<body class="book">\n{navigation}\n<main>\n{body}\n</main>\n'
        f"<script>{script()}</script>\n</body>\n</html>\n"
    )


def file_of(chapter: Chapter) -> str:
    return f"{chapter.id}.html"


def navigation(book: Outcome, here: str) -> str:
    """All pages, and the search of this one."""
    pages = [(INDEX, "Contents")]
    pages += [
        (file_of(chapter), f"{i + 1}. {chapter.title}")
        for i, (chapter, _) in enumerate(book.chapters())
    ]
    if _errata(book):
        pages.append((ERRATA, "Errata"))
    links = "".join(
        f'<a href="{name}"{" aria-current=page" if name == here else ""}>{escaped(title)}</a>'
        for name, title in pages
    )
    search = (
        '<label class="search"><span>Search</span>'
        '<input type="search" id="search" placeholder="4.1, Laplace, corrected …"></label>'
    )
    return f'<nav><a class="name" href="{INDEX}">The papers, again</a>{links}{search}</nav>'


# -- exhibits --------------------------------------------------------------------------------------


def exhibit_html(shown: Shown, number: str, drawings: Sequence[str]) -> str:
    exhibit = shown.exhibit
    drawn = "".join(f"<figure>{one}</figure>" for one in drawings)
    text = "" if shown.figure is None else escaped(shown.figure.caption)
    caption = f"<p class='caption'>{text}</p>" if text else ""
    note = f"<p class='note'>{prose(exhibit.note)}</p>" if exhibit.note else ""
    source = exhibit.source
    if exhibit.kind not in source.lower():
        source = f"{exhibit.kind.capitalize()} · {source}"
    return (
        f'<section class="exhibit" id="{exhibit.id}" data-text="{_searched(shown)}">'
        f'<header><span class="number">{number}</span><h3>{escaped(exhibit.title)}</h3>'
        f"{chip(shown.verdict)}</header>"
        f'<p class="source">{escaped(source)} · '
        f"<code>{exhibit.id}</code> · {escaped(tally(shown.cells))}</p>"
        f"{note}<div class='panels'>{drawn}</div>{caption}{cells_html(shown.cells)}</section>"
    )


def _searched(shown: Shown) -> str:
    exhibit = shown.exhibit
    words = f"{exhibit.id} {exhibit.kind} {exhibit.title} {exhibit.source} {shown.verdict.value}"
    return escaped(words.lower())


def chapter_html(
    book: Outcome, chapter: Chapter, shown: Sequence[Shown], place: int, drawings: Drawings
) -> str:
    lead = (
        f"<p class='lead'><b>The idea.</b> {escaped(chapter.idea)} <b>What it gains.</b> "
        f"{escaped(chapter.buys)} <b>When not to use it.</b> {escaped(chapter.never)}</p>"
    )
    parts = "".join(
        exhibit_html(one, f"{place}.{i + 1}", drawings.get(one.exhibit.id, ()))
        for i, one in enumerate(shown)
    )
    body = (
        f"<h1>{place}. {escaped(chapter.title)}</h1><p class='paper'>{escaped(chapter.paper)}</p>"
        f"{lead}{_made_up(book)}{summary(shown)}{_KEY}{parts}{_NOTHING}"
    )
    return whole(chapter.title, body, navigation(book, file_of(chapter)))


_KEY = (
    "<p class='key'>In a cell with two lines, ours is above and the print below. Numbers that "
    "depend on draws count as equal if chance explains the difference.</p>"
)
_NOTHING = "<p id='nothing' hidden>Nothing on this page contains these words.</p>"


def _made_up(book: Outcome) -> str:
    return f"<p class='warning'>{escaped(MADE_UP)}</p>" if book.made_up else ""


def summary(shown: Sequence[Shown]) -> str:
    """The number of exhibits with each verdict."""
    counted = Counter(one.verdict for one in shown)
    words = "".join(
        f"<li>{chip(verdict)} {counted[verdict]}</li>" for verdict in Verdict if counted[verdict]
    )
    return f"<ul class='summary'>{words}</ul>"


# -- contents and errata ---------------------------------------------------------------------------


def index_html(book: Outcome) -> str:
    parts = []
    for place, (chapter, shown) in enumerate(book.chapters(), 1):
        rows = "".join(
            f'<tr class="exhibit" data-text="{_searched(one)}"><td>{place}.{i}</td>'
            f'<td><a href="{file_of(chapter)}#{one.exhibit.id}">{escaped(one.exhibit.title)}</a>'
            f"<small>{escaped(one.exhibit.source)}</small></td>"
            f'<td class="{WORDS[one.verdict]}">{chip(one.verdict)}</td></tr>'
            for i, one in enumerate(shown, 1)
        )
        parts.append(
            f'<section><h2><a href="{file_of(chapter)}">{place}. {escaped(chapter.title)}</a></h2>'
            f"<p>{escaped(chapter.idea)}</p><table class='contents'><tbody>{rows}</tbody></table>"
            "</section>"
        )
    body = (
        "<h1>The papers, again</h1><p class='lead'>Every table and figure of the papers that Tenue "
        "stands on, computed anew through its public library, beside the printed number. A number "
        "is <i>equal</i> if it rounds to the print or, where noise was drawn, is no farther from "
        "it than chance explains; <i>corrected</i> if the print is wrong and the reason is known; "
        "<i>not reproducible</i> if the text is incomplete. Anything else would be "
        "<i>different</i>, and a fault.</p>"
        f"{_made_up(book)}{summary(book.shown)}{''.join(parts)}{_NOTHING}"
    )
    return whole("The papers, again", body, navigation(book, INDEX))


def _errata(book: Outcome) -> list[tuple[Chapter, Shown]]:
    return [
        (chapter, one)
        for chapter, shown in book.chapters()
        for one in shown
        if one.exhibit.kind == "erratum"
    ]


def errata_html(book: Outcome) -> str | None:
    """All errata on one page, each with its check; None if there are none."""
    found = _errata(book)
    if not found:
        return None
    parts = "".join(exhibit_html(one, f"E.{i}", ()) for i, (_, one) in enumerate(found, 1))
    body = (
        "<h1>Errata</h1><p class='lead'>Errors of the papers, each with the claim, the correction, "
        "the reason, and a check that was run for this page. Most are slips of an index; a few "
        "break a promise, which is why nothing here was taken on trust.</p>"
        f"{summary([one for _, one in found])}{_KEY}{parts}{_NOTHING}"
    )
    return whole("Errata", body, navigation(book, ERRATA))


# -- Writes the book into a folder -----------------------------------------------------------------

NUMBERS = "papers.json"
FIGURES = "figures"


def save(book: Outcome, folder: Path) -> list[str]:
    """Writes all files and returns their names; no figures without the extra that draws."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return list(_written(book, folder))
    except OSError:
        raise refuse("papers.papers-not-writable", folder=folder) from None


def _written(book: Outcome, folder: Path) -> list[str]:
    names = []

    def write(name: str, content: str | bytes) -> None:
        target = folder / name
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)
        names.append(name)

    drawings = drawn(book)
    for place, (chapter, shown) in enumerate(book.chapters(), 1):
        write(file_of(chapter), chapter_html(book, chapter, shown, place, drawings))
    errata = errata_html(book)
    if errata is not None:
        write(ERRATA, errata)
    write(INDEX, index_html(book))
    write(NUMBERS, book.to_json() + "\n")
    for one in book.shown:
        if one.figure is not None and can_draw():
            chart = Chart(picture(one.figure))
            write(f"{FIGURES}/{one.exhibit.id}.svg", chart.svg() + "\n")
            write(f"{FIGURES}/{one.exhibit.id}.png", chart.png())
    return names


def drawn(book: Outcome) -> Drawings:
    """The panels of every figure, for a page that sets the colours."""
    return {
        one.exhibit.id: [
            Chart(panel).inline_svg(f"f{number}p{place}x")
            for place, panel in enumerate(pictures(one.figure))
        ]
        for number, one in enumerate(book.shown)
        if one.figure is not None and can_draw()
    }
