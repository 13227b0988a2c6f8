"""Writes the book into a folder."""

from __future__ import annotations

from pathlib import Path

from ...errors import refuse
from ...report.chart import Chart, can_draw
from ..draw import picture, pictures
from ..outcome import Outcome
from .page import ERRATA, INDEX, Drawings, chapter_html, errata_html, file_of, index_html

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
