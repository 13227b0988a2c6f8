"""The book: one page for each chapter, pictures of all figures, every number as JSON.

Guarantee
    Every text is escaped, and the browser is told to fetch nothing and to run only the one small
    script in the page, by its digest.
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


# The pages of the book. They ask for nothing: style and script inside, and a policy that says so.

_HERE = Path(__file__).parent
INDEX = "index.html"
ERRATA = "errata.html"
KINDS = {
    "table": "Table",
    "figure": "Figure",
    "example": "Example",
    "erratum": "Erratum",
    "beyond": "Beyond",
}
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
    caption = (
        "" if shown.figure is None else f"<p class='caption'>{escaped(shown.figure.caption)}</p>"
    )
    note = f"<p class='note'>{prose(exhibit.note)}</p>" if exhibit.note else ""
    counts = escaped(tally(shown.cells))
    kind = KINDS[exhibit.kind]
    where = (
        exhibit.source if kind.lower() in exhibit.source.lower() else f"{kind} · {exhibit.source}"
    )
    return (
        f'<section class="exhibit" id="{exhibit.id}" data-text="{_searched(shown)}">'
        f'<header><span class="number">{number}</span><h3>{escaped(exhibit.title)}</h3>'
        f"{chip(shown.verdict)}</header>"
        f'<p class="source">{escaped(where)} · '
        f"<code>{exhibit.id}</code> · {counts}</p>"
        f"{note}<div class='panels'>{drawn}</div>{caption}{cells_html(shown.cells)}</section>"
    )


def _searched(shown: Shown) -> str:
    exhibit = shown.exhibit
    words = f"{exhibit.id} {exhibit.kind} {exhibit.title} {exhibit.source} {shown.verdict.value}"
    return escaped(words.lower())


def chapter_html(
    book: Outcome, chapter: Chapter, shown: Sequence[Shown], place: int, drawings: Drawings
) -> str:
    told = (
        f"<p class='lead'><b>The idea.</b> {escaped(chapter.idea)} <b>What it buys.</b> "
        f"{escaped(chapter.buys)} <b>When not to use it.</b> {escaped(chapter.never)}</p>"
    )
    parts = "".join(
        exhibit_html(one, f"{place}.{i + 1}", drawings.get(one.exhibit.id, ()))
        for i, one in enumerate(shown)
    )
    body = (
        f"<h1>{place}. {escaped(chapter.title)}</h1><p class='paper'>{escaped(chapter.paper)}</p>"
        f"{told}{_made_up(book)}{summary(shown)}{_KEY}{parts}{_NOTHING}"
    )
    return whole(chapter.title, body, navigation(book, file_of(chapter)))


_KEY = (
    "<p class='key'>Where a cell has two lines, ours is above and the print below. Numbers that "
    "were drawn are equal if chance explains the difference.</p>"
)
_NOTHING = "<p id='nothing' hidden>Nothing on this page has these words.</p>"


def _made_up(book: Outcome) -> str:
    if not book.made_up:
        return ""
    return f"<p class='warning'>{escaped(MADE_UP)}</p>"


def summary(shown: Sequence[Shown]) -> str:
    """How many exhibits came to what."""
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
        "<i>not reproducible</i> if the text does not say enough. Anything else would be "
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
        "<h1>Errata</h1><p class='lead'>What the papers get wrong, each with the claim, what is "
        "right, why, and a check that was run for this page. Most are slips of an index; a few "
        "break a promise, and those are why nothing here was taken on trust.</p>"
        f"{summary([one for _, one in found])}{_KEY}{parts}{_NOTHING}"
    )
    return whole("Errata", body, navigation(book, ERRATA))


# -- Writes the book into a folder -----------------------------------------------------------------

NUMBERS = "papers.json"
FIGURES = "figures"


def save(book: Outcome, folder: Path) -> list[str]:
    """The names of the files that were written; without the extra that draws, no figures."""
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
        made = content.encode() if isinstance(content, str) else content
        target.write_bytes(made)
        names.append(name)

    drawings = drawn(book)
    for place, (chapter, shown) in enumerate(book.chapters(), 1):
        write(file_of(chapter), chapter_html(book, chapter, shown, place, drawings))
    errata = errata_html(book)
    if errata is not None:
        write(ERRATA, errata)
    write(INDEX, index_html(book))
    write(NUMBERS, book.to_json() + "\n")
    if can_draw():
        for one in book.shown:
            if one.figure is not None:
                chart = Chart(picture(one.figure))
                write(f"{FIGURES}/{one.exhibit.id}.svg", chart.svg() + "\n")
                write(f"{FIGURES}/{one.exhibit.id}.png", chart.png())
    return names


def drawn(book: Outcome) -> Drawings:
    """The panels of every figure, for a page that sets the colours."""
    if not can_draw():
        return {}
    found: Drawings = {}
    for number, one in enumerate(book.shown):
        if one.figure is not None:
            found[one.exhibit.id] = [
                Chart(panel).inline_svg(f"f{number}p{place}x")
                for place, panel in enumerate(pictures(one.figure))
            ]
    return found
