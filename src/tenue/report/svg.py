"""What vl-convert draws, made fit for a page: smaller, with names of its own and a title."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..screen.table import escaped
from .theme import LIGHT

_TAG = re.compile(r"<[a-zA-Z][^<>]*>")
_COLOUR = re.compile(r'\b(fill|stroke)="(#[0-9a-fA-F]{6})"')
_NAMED = re.compile(r'(\bid="|url\(#)([A-Za-z0-9_-]+)')
_OPENING = re.compile(r"^<svg\b[^<>]*>")
_SIZE = re.compile(r'\b(width|height)="([0-9.]+)"')
_NEEDLESS = re.compile(r' (?:class|role|aria-[a-z]+|pointer-events|version|xmlns:xlink)="[^"]*"')
_EMPTY = re.compile(r'<path d="(?:M0,0h0v0h0Z)?"(?: display="none")?/>')
_VARIABLE: Mapping[str, str] = {colour: name for name, colour in LIGHT.items()}


def fitted(svg: str, told: str, prefix: str = "clip", *, variable: bool = False) -> str:
    """The drawing with a title for readers of screens.

    Parameters
        told: what it shows.
        prefix: begins every name, so that several drawings share a page.
        variable: whether colours follow the page: each becomes a variable of the style sheet.
    """
    drawn = _TAG.sub(lambda tag: _NEEDLESS.sub("", tag[0]), svg.strip())
    drawn = _EMPTY.sub("", drawn)
    names: dict[str, str] = {}  # those of vl-convert count on from one drawing to the next

    def renamed(found: re.Match[str]) -> str:
        return found[1] + names.setdefault(found[2], f"{prefix}{len(names)}")

    drawn = _TAG.sub(lambda tag: _NAMED.sub(renamed, tag[0]), drawn)
    if variable:
        drawn = _TAG.sub(lambda tag: _COLOUR.sub(_as_variable, tag[0]), drawn)
    opening = _OPENING.match(drawn)
    if opening is None:
        raise ValueError("this is no drawing")
    size = dict(_SIZE.findall(opening[0]))
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size["width"]} {size["height"]}" '
        f'width="{size["width"]}" height="{size["height"]}" role="img">'
        f"<title>{escaped(told)}</title>"
    )
    return head + drawn[opening.end() :]


def _as_variable(found: re.Match[str]) -> str:
    name = _VARIABLE.get(found[2].lower())
    return found[0] if name is None else f'{found[1]}="var(--{name}, {found[2]})"'
