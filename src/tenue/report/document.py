"""A report as sections of text, figures and charts, written as one page of HTML.

Guarantee
    The page fetches nothing and runs nothing: its policy allows only its own style sheet, by
    digest. Even a text that was not escaped could neither run nor send anything.

Guarantee
    Every text is escaped. What was computed from an original is marked for its holder, block by
    block, and `public` leaves out exactly that.
"""

from __future__ import annotations

import abc
import base64
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from ..text import escaped
from .chart import Chart, can_draw
from .picture import Picture
from .theme import DARK, LIGHT

_SHEET = Path(__file__).parent / "page.css"


def page(title: str, body: str, *, plain: bool = False) -> str:
    """The page.

    Parameters
        title: is escaped here.
        body: HTML, with every text escaped.
        plain: whether it is one chart, with narrow margins.
    """
    style = sheet()
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    name = "chart" if plain else "report"
    return (
        "<!doctype html>\n"
        '<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escaped(title)}</title>\n<style>{style}</style>\n</head>\n"
        f'<body class="{name}">\n{body}\n</body>\n</html>\n'
    )


@cache
def sheet() -> str:
    """The style sheet: the colours of both themes, then the rules."""
    light, dark = (
        "".join(f"--{name}:{colour};" for name, colour in colours.items())
        for colours in (LIGHT, DARK)
    )
    return (
        f":root{{{light}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n"
        + _SHEET.read_text(encoding="utf-8")
    )


HOLDER = "for the holder"
WITHOUT_CHARTS = (
    'Charts are not installed (pip install "tenue[report]"); tables show their numbers instead.'
)
_NUMBER = re.compile(
    r"((less|more) than |< )?[+-]?[0-9][0-9,]*(\.[0-9]+)?(e[+-]?[0-9]+)?( %)?|infinite|refused"
)
_MANY = range(3, 6)
"""Rows with so many cells have their name above them on a telephone (`page.css`)."""
_NAME = re.compile(r"`([^`]+)`")


class Drawn:
    """Counts the drawings of a page, so that their names are unique."""

    def __init__(self) -> None:
        self.charts = can_draw()
        self._count = 0

    def prefix(self) -> str:
        self._count += 1
        return f"c{self._count}-"


class Block(abc.ABC):
    """A part of a section.

    holder: whether it was computed from the original.
    """

    holder: bool

    @abc.abstractmethod
    def html(self, drawn: Drawn) -> str: ...

    def public(self) -> Sequence[Block]:
        """The part of it that may leave: by default all of it or nothing."""
        return [] if self.holder else [self]


def prose(text: str) -> str:
    """A sentence, escaped; `names` in backticks are set as code."""
    return _NAME.sub(r"<code>\1</code>", escaped(text))


@dataclass(frozen=True)
class Paragraphs(Block):
    """Sentences; `lead` for the most important one."""

    texts: Sequence[str]
    holder: bool = False
    lead: bool = False

    def html(self, drawn: Drawn) -> str:
        kind = ' class="lead"' if self.lead else ""
        return "".join(f"<p{kind}>{prose(text)}</p>" for text in self.texts)


@dataclass(frozen=True)
class Bullets(Block):
    """A list; `alarm` for warnings."""

    texts: Sequence[str]
    holder: bool = False
    alarm: bool = False

    def html(self, drawn: Drawn) -> str:
        kind = ' class="alarm"' if self.alarm else ""
        return f"<ul{kind}>" + "".join(f"<li>{prose(text)}</li>" for text in self.texts) + "</ul>"


@dataclass(frozen=True)
class Card:
    """One number, and what it means."""

    name: str
    value: str
    meaning: str


@dataclass(frozen=True)
class Cards(Block):
    """Numbers side by side."""

    cards: Sequence[Card]
    holder: bool = False

    def html(self, drawn: Drawn) -> str:
        made = "".join(
            f"<div><dt>{prose(card.name)}</dt><dd class='value'>{escaped(card.value)}</dd>"
            f"<dd>{prose(card.meaning)}</dd></div>"
            for card in self.cards
        )
        return f'<dl class="cards">{made}</dl>'


@dataclass(frozen=True)
class Grid(Block):
    """A table with a head; the first column names the row. `lead` for the most important one."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    holder: bool = False
    lead: bool = False

    def html(self, drawn: Drawn) -> str:
        kinds = [' class="number"' if self._counts(at) else "" for at in range(len(self.head))]
        head = "".join(
            f'<th scope="col"{kind}>{prose(cell)}</th>'
            for cell, kind in zip(self.head, kinds, strict=True)
        )
        body = "".join(
            f'<tr><th scope="row">{prose(first)}</th>'
            + "".join(
                f"<td{kind}>{prose(cell)}</td>" for cell, kind in zip(rest, kinds[1:], strict=True)
            )
            + "</tr>"
            for first, *rest in self.rows
        )
        top = f"<thead><tr>{head}</tr></thead>" if any(self.head) else ""
        cells = len(self.head) - 1
        kind = f' class="many cells-{cells}"' if top and cells in _MANY else ""
        kind = ' class="verdict"' if self.lead else kind
        return f'<div class="wide"><table{kind}>{top}<tbody>{body}</tbody></table></div>'

    def _counts(self, at: int) -> bool:
        """Whether a column with a head holds only numbers, which are aligned to the right."""
        cells = [row[at] for row in self.rows if row[at]]
        return at > 0 and bool(self.head[at] and cells) and all(map(_NUMBER.fullmatch, cells))


@dataclass(frozen=True)
class Figure:
    """A chart with its caption.

    rows: its numbers, if it cannot be drawn.
    narrow: another drawing for telephones.
    """

    picture: Picture
    caption: str
    rows: Grid
    narrow: Picture | None = None


@dataclass(frozen=True)
class Figures(Block):
    """Charts side by side, under one key of colours.

    instead: what is public instead, for figures for the holder.
    wide: whether each takes the whole width.
    half: whether each takes half of it.
    """

    figures: Sequence[Figure]
    holder: bool = False
    key: Sequence[tuple[str, str]] = ()
    instead: Sequence[Figure] = ()
    wide: bool = False
    half: bool = False

    def public(self) -> Sequence[Block]:
        return (
            [replace(self, figures=self.instead, holder=False, key=(), instead=())]
            if self.holder and self.instead
            else super().public()
        )

    def html(self, drawn: Drawn) -> str:
        made = "".join(self._figure(figure, drawn) for figure in self.figures)
        key = "".join(
            f'<span><i class="tone-{tone}"></i>{prose(words)}</span>' for tone, words in self.key
        )
        shown = f'<p class="key">{key}</p>' if key and drawn.charts else ""
        kind = "figures" + " whole" * self.wide + " half" * self.half
        return f'{shown}<div class="{kind}">{made}</div>'

    def _figure(self, figure: Figure, drawn: Drawn) -> str:
        if drawn.charts:
            inside = Chart(figure.picture).inline_svg(drawn.prefix())
            if figure.narrow is not None:
                small = Chart(figure.narrow).inline_svg(drawn.prefix())
                inside = f'<div class="roomy">{inside}</div><div class="narrow">{small}</div>'
        else:
            inside = figure.rows.html(drawn)
        return f"<figure><figcaption>{prose(figure.caption)}</figcaption>{inside}</figure>"


@dataclass(frozen=True)
class Section:
    """Blocks under a title."""

    title: str
    blocks: Sequence[Block]

    def html(self, drawn: Drawn, place: int) -> str:
        holder = all(block.holder for block in self.blocks)
        badge = f' <span class="mark">{HOLDER}</span>'
        body = ""
        for block in self.blocks:
            inside = block.html(drawn)
            marked = block.holder and not holder
            body += f'<div class="holder">{badge}{inside}</div>' if marked else inside
        title = prose(self.title) + (badge if holder else "")
        return f'<section id="s{place}"><h2>{title}</h2>{body}</section>'


@dataclass(frozen=True)
class Document:
    """A report.

    facts: a few words below the title.
    keep: what the holder must know before sharing it; shown only if a part is for the holder.
    """

    title: str
    facts: Sequence[str]
    sections: Sequence[Section]
    keep: str = ""
    foot: str = ""

    @property
    def for_holder(self) -> bool:
        """Whether anything in it was computed from the original."""
        return any(block.holder for section in self.sections for block in section.blocks)

    def public(self) -> Document:
        """What may leave: the same without the parts for the holder."""
        sections = [
            replace(section, blocks=[part for block in section.blocks for part in block.public()])
            for section in self.sections
        ]
        return replace(self, sections=[section for section in sections if section.blocks])

    def html(self) -> str:
        """One page that stands alone."""
        drawn = Drawn()
        facts = "".join(f"<span>{prose(fact)}</span>" for fact in self.facts)
        head = f'<h1>{prose(self.title)}</h1><p class="facts">{facts}</p>'
        if self.for_holder and self.keep:
            head += f'<p class="keep">{prose(self.keep)}</p>'
        if not drawn.charts:
            head += f'<p class="keep">{prose(WITHOUT_CHARTS)}</p>'
        links = "".join(
            f'<li><a href="#s{place}">{prose(section.title)}</a></li>'
            for place, section in enumerate(self.sections)
        )
        nav = f"<nav><ul>{links}</ul></nav>\n" if len(self.sections) > 1 else ""
        body = "".join(
            section.html(drawn, place) + "\n" for place, section in enumerate(self.sections)
        )
        foot = f"<footer><p>{prose(self.foot)}</p></footer>" if self.foot else ""
        return page(self.title, f"<header>{head}</header>\n{nav}<main>{body}</main>\n{foot}")
