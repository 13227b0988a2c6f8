"""The look of every chart and page: few colours, each with a meaning, in a light and a dark theme.

Colours are named by their use. Series differ in lightness as well as in hue, so that they can be
distinguished without colour vision and in black-and-white print.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif"

SERIES = ("main", "other", "third", "fourth", "fifth", "sixth")
"""The colours of compared things, in the order of use."""
SHADES = ("pale", "middle", "deep")
"""From little to much."""
HEATS = 5
"""How many shades a heat map has on each side of its middle."""

_HOTTEST = 0.97
"""How close the last shade is to its series; below 1, so that their colours differ."""

_LIGHT = {
    "ink": "#1c2733",
    "quiet": "#5b6b7b",
    "line": "#dde3e9",
    "paper": "#ffffff",
    "band": "#eef3f9",
    "main": "#0b5fa5",
    "other": "#c8553d",
    "third": "#7f8d9b",
    "fourth": "#00806a",
    "fifth": "#a86f00",
    "sixth": "#8e4f93",
    "pale": "#8fbbe0",
    "middle": "#2f7fc1",
    "deep": "#0b3c6f",
}
_DARK = {
    "ink": "#e8edf2",
    "quiet": "#9fadba",
    "line": "#303b46",
    "paper": "#12181f",
    "band": "#1b2a3a",
    "main": "#5cabe8",
    "other": "#f0886f",
    "third": "#8796a5",
    "fourth": "#3cc0a5",
    "fifth": "#e0ab45",
    "sixth": "#cf92d3",
    "pale": "#3a6a94",
    "middle": "#5c9fd6",
    "deep": "#b5dbf9",
}


def _blend(start: str, end: str, share: float) -> str:
    """The colour between two others, at `share` of the way."""
    parts = [(int(start[i : i + 2], 16), int(end[i : i + 2], 16)) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in parts)


def _with_heat(colours: dict[str, str], middle: str) -> Mapping[str, str]:
    heat = {"heat0": middle}
    for step in range(1, HEATS + 1):
        for sign, end in (("", colours["main"]), ("-", colours["other"])):
            heat[f"heat{sign}{step}"] = _blend(middle, end, _HOTTEST * step / HEATS)
    return MappingProxyType({**colours, **heat})


LIGHT = _with_heat(_LIGHT, "#f3f5f7")
DARK = _with_heat(_DARK, "#1d2630")
THEMES: Mapping[str, Mapping[str, str]] = MappingProxyType({"light": LIGHT, "dark": DARK})


def heat(share: float) -> str:
    """The name of the colour of a number from -1 to 1.

    Example
        >>> heat(1), heat(0.04), heat(-0.5)
        ('heat5', 'heat0', 'heat-2')
    """
    return f"heat{round(max(-1.0, min(1.0, share)) * HEATS)}"


def config(colours: Mapping[str, str]) -> dict[str, Any]:
    """The configuration of Vega-Lite."""
    quiet, ink, line = colours["quiet"], colours["ink"], colours["line"]
    axis = {
        "labelColor": quiet,
        "labelFontSize": 12,
        "labelPadding": 6,
        "titleColor": quiet,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titlePadding": 10,
        "gridColor": line,
        "domainColor": quiet,
        "tickColor": quiet,
        "ticks": False,
    }
    return {
        "aria": False,
        "background": colours["paper"],
        "font": FONT,
        "padding": {"left": 20, "right": 20, "top": 16, "bottom": 14},
        "view": {"stroke": None},
        "axis": axis,
        "title": {
            "anchor": "start",
            "color": ink,
            "subtitleColor": quiet,
            "fontSize": 14,
            "fontWeight": 600,
            "subtitleFontSize": 12,
            "offset": 14,
        },
        "concat": {"spacing": 56},
    }
