"""Charts: drawn, shown and saved as PNG, SVG or a page, without a network or a browser.

Guarantee
    Texts are only data: no title, name or value of a table becomes part of a formula, an address or
    the name of a field.
"""

from __future__ import annotations

import importlib.util
import os
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import nearest, refuse
from ..text import escaped
from .picture import (
    Axis,
    Band,
    Bars,
    Cells,
    Curve,
    Dots,
    Lengths,
    Mark,
    Panel,
    Picture,
    Rule,
    Spans,
    Words,
)
from .theme import LIGHT, THEMES, config, heat

SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
_LONG_LABEL = 190
_NOTE_WIDTH = 90
"""How many characters a line of a note has at most."""
_APART = 60
"""About how many pixels are between two ticks."""
_FEW_NAMES = 8
"""More names below an axis are written vertically."""
Colours = Mapping[str, str]
Layer = dict[str, Any]


def specification(picture: Picture, colours: Colours) -> dict[str, Any]:
    """The chart in Vega-Lite."""
    panels = [_panel(panel, colours) for panel in picture.panels]
    title: dict[str, Any] = {"text": picture.title, "fontSize": 20, "offset": 22}
    below = [picture.subtitle] if picture.subtitle else []
    below += [line for note in picture.notes for line in textwrap.wrap(note, _NOTE_WIDTH)]
    if below:
        title["subtitle"] = below if picture.notes else picture.subtitle
        title |= {"subtitleFontSize": 13, "subtitlePadding": 8}
    return {
        "$schema": SCHEMA,
        "config": config(colours),
        **({"title": title} if picture.title or picture.notes else {}),
        "concat": panels,
        "columns": picture.across or len(panels),
    }


def _panel(panel: Panel, colours: Colours) -> dict[str, Any]:
    axes = {"x": _axis(panel.x, "x", panel.width), "y": _axis(panel.y, "y", panel.height)}
    layers = [_DRAW[type(mark)](mark, panel, axes, colours) for mark in panel.marks]
    made: dict[str, Any] = {"width": panel.width, "height": panel.height, "layer": layers}
    if panel.title:
        made["title"] = {"text": panel.title, "frame": "group"}
    return made


def _axis(axis: Axis, field: str, long: int) -> dict[str, Any]:
    """The encoding of one axis, the same in every layer."""
    shown: dict[str, Any] | None = None
    if axis.shown:
        shown = {"grid": axis.grid, "title": axis.title or None, "labelLimit": _LONG_LABEL}
        shown["tickCount"] = max(3, long // _APART)
        if axis.ticks:
            shown["values"] = list(axis.ticks)
        if axis.write:
            shown["format"] = axis.write
        if field == "y":
            shown["domain"] = False
    if axis.names:
        if shown is not None and field == "x":
            shown["labelAngle"] = -40 if len(axis.names) <= _FEW_NAMES else -90
        scale: dict[str, Any] = {"domain": list(axis.names)}
        return {"type": "nominal", "axis": shown, "scale": scale, "sort": None}
    scale = {"zero": False, "nice": False}
    if axis.log:
        scale["type"] = "log"
    if axis.low is not None and axis.high is not None:
        scale["domain"] = [axis.low, axis.high]
    elif axis.low is not None or axis.high is not None:
        end = "domainMax" if axis.low is None else "domainMin"
        scale[end] = axis.high if axis.low is None else axis.low
    return {"type": "quantitative", "axis": shown, "scale": scale}


def _layer(look: Layer, rows: Sequence[Layer], axes: Layer, **channels: str | Layer) -> Layer:
    """One layer. A channel is the name of a field, or its whole encoding."""
    encoding = {
        channel: {"field": one, **axes.get(channel, {})} if isinstance(one, str) else one
        for channel, one in channels.items()
    }
    return {"data": {"values": rows}, "mark": look, "encoding": encoding}


def _curve(mark: Curve, panel: Panel, axes: Layer, colours: Colours) -> Layer:
    look = {"type": "line", "color": colours[mark.tone], "strokeWidth": mark.width, "clip": True}
    look |= {"strokeJoin": "round", "interpolate": "step-after" if mark.steps else "linear"}
    if mark.dashed:
        look["strokeDash"] = [6, 4]
    rows = [{"x": x, "y": y, "o": place} for place, (x, y) in enumerate(mark.points)]
    order = {"field": "o", "type": "quantitative"}  # as given, not from left to right
    return _layer(look, rows, axes, x="x", y="y", order=order)


def _bars(mark: Bars, panel: Panel, axes: Layer, colours: Colours) -> Layer:
    look = {"type": "rect", "color": colours[mark.tone], "opacity": mark.opacity, "clip": True}
    floor = panel.y.low or 0
    rows = [{"a": a, "b": b, "h": h, "z": floor} for a, b, h in mark.bars]
    return _layer(look, rows, axes, x="a", x2="b", y="h", y2="z")


def _lengths(mark: Lengths, panel: Panel, axes: Layer, colours: Colours) -> Layer:
    look = {"type": "bar", "color": colours[mark.tone], "height": mark.thick, "clip": True}
    look |= {"yOffset": mark.shift, "cornerRadiusEnd": 2}
    rows = [{"n": name, "v": value, "z": panel.x.low or 0} for name, value in mark.bars]
    return _layer(look, rows, axes, x="z", x2="v", y="n")


def _dots(mark: Dots, panel: Panel, axes: Layer, colours: Colours) -> Layer:
    look = {"type": "circle", "color": colours[mark.tone], "size": 3.1416 * mark.size**2}
    look |= {"opacity": 1}
    if mark.ring:
        look |= {"stroke": colours["paper"], "strokeWidth": 1.5}
    rows = [{"x": x, "y": y} for x, y in mark.points]
    return _layer(look, rows, axes, x="x", y="y")


def _spans(mark: Spans, panel: Panel, axes: Layer, colours: Colours) -> Layer:
    look = {"type": "rule", "color": colours[mark.tone], "strokeWidth": mark.width, "clip": True}
    look |= {"strokeCap": "round", "opacity": mark.opacity}
    rows = [{"n": name, "a": low, "b": high} for name, low, high in mark.spans]
    return _layer(look, rows, axes, x="a", x2="b", y="n")


def _rule(mark: Rule, panel: Panel, axes: Layer, colours: Colours) -> Layer:
    look = {"type": "rule", "color": colours[mark.tone], "strokeWidth": 1.5}
    look |= {"strokeDash": list(mark.dashes)}
    return _layer(look, [{"v": mark.at}], axes, **{mark.axis: "v"})


def _band(mark: Band, panel: Panel, axes: Layer, colours: Colours) -> Layer:
    look = {"type": "rect", "color": colours["band"], "clip": True}
    return _layer(look, [{"a": mark.low, "b": mark.high}], axes, x="a", x2="b")


def _cells(mark: Cells, panel: Panel, axes: Layer, colours: Colours) -> Layer:
    rows = [{"x": x, "y": y, "c": colours[heat(share)]} for x, y, share in mark.cells]
    fill = {"field": "c", "type": "nominal", "scale": None}
    look = {"type": "rect", "stroke": colours["paper"], "strokeWidth": 1}
    return _layer(look, rows, axes, x="x", y="y", color=fill)


def _words(mark: Words, panel: Panel, axes: Layer, colours: Colours) -> Layer:
    look = {"type": "text", "color": colours[mark.tone], "fontSize": mark.size, "align": mark.align}
    look |= {"fontWeight": 600 if mark.bold else "normal", "dx": mark.right, "dy": mark.down}
    text, start = {"field": "t", "type": "nominal"}, {"value": 0}
    x, y = (start if mark.x is None else "x"), (start if mark.y is None else "y")
    row = {"t": mark.text, "x": mark.x, "y": mark.y}
    return _layer(look, [row], axes, text=text, x=x, y=y)


_DRAW: dict[type[Mark], Callable[[Any, Panel, Layer, Colours], Layer]] = {
    Curve: _curve,
    Bars: _bars,
    Lengths: _lengths,
    Dots: _dots,
    Spans: _spans,
    Rule: _rule,
    Band: _band,
    Cells: _cells,
    Words: _words,
}
"""How each kind of mark is drawn; a new one is added here."""


# -- The output of vl-convert, prepared for a page: smaller, with unique names and a title ---------

_TAG = re.compile(r"<[a-zA-Z][^<>]*>")
_COLOUR = re.compile(r'\b(fill|stroke)="(#[0-9a-fA-F]{6})"')
_NAMED = re.compile(r'(\bid="|url\(#)([A-Za-z0-9_-]+)')
_OPENING = re.compile(r"^<svg\b[^<>]*>")
_SIZE = re.compile(r'\b(width|height)="([0-9.]+)"')
_NEEDLESS = re.compile(r' (?:class|role|aria-[a-z]+|pointer-events|version|xmlns:xlink)="[^"]*"')
_EMPTY = re.compile(r'<path d="(?:M0,0h0v0h0Z)?"(?: display="none")?/>')
_VARIABLE: Mapping[str, str] = {colour: name for name, colour in LIGHT.items()}


def fitted(svg: str, told: str, prefix: str = "clip", *, variable: bool = False) -> str:
    """Adds a title for screen readers.

    Parameters
        told: the title.
        prefix: begins every name, so that several drawings can share a page.
        variable: whether colours become variables of the page's style sheet.
    """
    drawn = _TAG.sub(lambda tag: _NEEDLESS.sub("", tag[0]), svg.strip())
    drawn = _EMPTY.sub("", drawn)
    names: dict[str, str] = {}  # those of vl-convert repeat in other drawings

    def renamed(found: re.Match[str]) -> str:
        return found[1] + names.setdefault(found[2], f"{prefix}{len(names)}")

    drawn = _TAG.sub(lambda tag: _NAMED.sub(renamed, tag[0]), drawn)
    if variable:
        drawn = _TAG.sub(lambda tag: _COLOUR.sub(_as_variable, tag[0]), drawn)
    opening = _OPENING.match(drawn)
    if opening is None:
        raise ValueError("not an SVG drawing")
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


KINDS = (".png", ".svg", ".html")
_SHARPNESS = 2


@dataclass(frozen=True, repr=False, eq=False)
class Chart:
    """A picture with its look.

    Guarantee
        Drawn on this machine: nothing is fetched, no script is in any file, and every text of a
        table stays text.

    Parameters
        picture: what it shows.
        theme: "light" or "dark", for PNG and SVG; a page follows the reader's setting.

    Example
        >>> import tenue as tn
        >>> chart = tn.report.plot(tn.noise.Laplace(sensitivity=1, epsilon=1))
        >>> chart.svg().startswith("<svg")
        True
    """

    picture: Picture
    theme: str = "light"

    def __post_init__(self) -> None:
        if self.theme not in THEMES:
            raise refuse(
                "report.unknown-theme", theme=self.theme, nearest=nearest(str(self.theme), THEMES)
            )

    def specification(self) -> dict[str, Any]:
        """The chart in Vega-Lite, to draw it elsewhere."""
        return specification(self.picture, THEMES[self.theme])

    def svg(self) -> str:
        """A drawing that stands alone."""
        return fitted(_converter().vegalite_to_svg(self.specification()), self._described)

    def inline_svg(self, prefix: str) -> str:
        """A drawing for a page that sets the colours; `prefix` makes its names unique."""
        drawn = _converter().vegalite_to_svg(specification(self.picture, LIGHT))
        return fitted(drawn, self._described, prefix, variable=True)

    def png(self) -> bytes:
        """A bitmap, sharp on any screen."""
        drawn: bytes = _converter().vegalite_to_png(self.specification(), scale=_SHARPNESS)
        return drawn

    def html(self) -> str:
        """A page with the chart only, light or dark by the reader's setting."""
        from .document import page

        figure = f"<figure>{self.inline_svg('c')}</figure>"
        return page(self.picture.title or self._told, figure, plain=True)

    def to_altair(self) -> Any:
        """The chart as an Altair chart, to work on."""
        return _installed("altair", "altair").Chart.from_dict(self.specification())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a file, whose kind follows from the ending of its name."""
        target = Path(path)
        kind = target.suffix.lower()
        if kind not in KINDS:
            raise refuse("report.unknown-chart-format", name=target.name)
        if kind == ".png":
            data = self.png()
        else:
            data = (self.html() if kind == ".html" else self.svg() + "\n").encode()
        try:
            target.write_bytes(data)
        except OSError:
            raise refuse("report.chart-not-writable", name=target.name) from None

    @property
    def _told(self) -> str:
        return self.picture.told or self.picture.title

    @property
    def _described(self) -> str:
        """The description for screen readers, with the notes."""
        return " ".join([self._told, *self.picture.notes])

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return {"image/svg+xml": self.svg(), "text/plain": repr(self)}

    def __repr__(self) -> str:
        return f"Chart({self._told!r})"


def _converter() -> Any:
    return _installed("vl_convert", "vl-convert-python")


def _installed(module: str, package: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise refuse("report.charts-not-installed", package=package) from None


def can_draw() -> bool:
    """Whether the extra for charts is installed."""
    return importlib.util.find_spec("vl_convert") is not None
