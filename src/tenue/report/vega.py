"""A picture as a Vega-Lite specification.

Guarantee
    Texts are only ever data: no title, name or value of a table becomes part of a formula, an
    address or the name of a field.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

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
    Place,
    Rule,
    Spans,
    Words,
)
from .theme import config, heat

SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
_LONG_LABEL = 190
_APART = 60
"""How many pixels lie between two ticks, about."""
_FEW_NAMES = 8
"""More names below an axis stand upright."""
Colours = Mapping[str, str]
Layer = dict[str, Any]


def specification(picture: Picture, colours: Colours) -> dict[str, Any]:
    """The whole chart."""
    panels = [_panel(panel, colours) for panel in picture.panels]
    title: dict[str, Any] = {"text": picture.title, "fontSize": 20, "offset": 22}
    if picture.subtitle:
        title |= {"subtitle": picture.subtitle, "subtitleFontSize": 13, "subtitlePadding": 8}
    return {
        "$schema": SCHEMA,
        "config": config(colours),
        **({"title": title} if picture.title else {}),
        "concat": panels,
        "columns": picture.across or len(panels),
    }


def _panel(panel: Panel, colours: Colours) -> dict[str, Any]:
    axes = {"x": _axis(panel.x, "x", panel.width), "y": _axis(panel.y, "y", panel.height)}
    layers = [
        layer for mark in panel.marks for layer in _DRAW[type(mark)](mark, panel, axes, colours)
    ]
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
    elif axis.low is not None:
        scale["domainMin"] = axis.low
    elif axis.high is not None:
        scale["domainMax"] = axis.high
    return {"type": "quantitative", "axis": shown, "scale": scale}


def _layer(mark: Layer, rows: list[dict[str, Any]], **encoding: dict[str, Any]) -> Layer:
    return {"data": {"values": rows}, "mark": mark, "encoding": encoding}


def _curve(mark: Curve, panel: Panel, axes: Layer, colours: Colours) -> list[Layer]:
    look = {"type": "line", "color": colours[mark.tone], "strokeWidth": mark.width, "clip": True}
    look |= {"strokeJoin": "round", "interpolate": "step-after" if mark.steps else "linear"}
    if mark.dashed:
        look["strokeDash"] = [6, 4]
    rows = [{"x": x, "y": y, "o": place} for place, (x, y) in enumerate(mark.points)]
    order = {"field": "o", "type": "quantitative"}  # as given, not from left to right
    across = {"x": {"field": "x", **axes["x"]}, "y": {"field": "y", **axes["y"]}}
    return [_layer(look, rows, **across, order=order)]


def _bars(mark: Bars, panel: Panel, axes: Layer, colours: Colours) -> list[Layer]:
    look = {"type": "rect", "color": colours[mark.tone], "opacity": mark.opacity, "clip": True}
    floor = panel.y.low or 0
    rows = [{"a": a, "b": b, "h": h, "z": floor} for a, b, h in mark.bars]
    across = {"x": {"field": "a", **axes["x"]}, "x2": {"field": "b"}}
    return [_layer(look, rows, **across, y={"field": "h", **axes["y"]}, y2={"field": "z"})]


def _lengths(mark: Lengths, panel: Panel, axes: Layer, colours: Colours) -> list[Layer]:
    look = {"type": "bar", "color": colours[mark.tone], "height": mark.thick, "clip": True}
    look |= {"yOffset": mark.shift, "cornerRadiusEnd": 2}
    rows = [{"n": name, "v": value, "z": panel.x.low or 0} for name, value in mark.bars]
    across = {"x": {"field": "z", **axes["x"]}, "x2": {"field": "v"}}
    return [_layer(look, rows, **across, y={"field": "n", **axes["y"]})]


def _dots(mark: Dots, panel: Panel, axes: Layer, colours: Colours) -> list[Layer]:
    look = {"type": "circle", "color": colours[mark.tone], "size": 3.1416 * mark.size**2}
    look |= {"opacity": 1}
    if mark.ring:
        look |= {"stroke": colours["paper"], "strokeWidth": 1.5}
    rows = [{"x": x, "y": y} for x, y in mark.points]
    return [_layer(look, rows, x={"field": "x", **axes["x"]}, y={"field": "y", **axes["y"]})]


def _spans(mark: Spans, panel: Panel, axes: Layer, colours: Colours) -> list[Layer]:
    look = {"type": "rule", "color": colours[mark.tone], "strokeWidth": mark.width, "clip": True}
    look |= {"strokeCap": "round", "opacity": mark.opacity}
    rows = [{"n": name, "a": low, "b": high} for name, low, high in mark.spans]
    across = {"x": {"field": "a", **axes["x"]}, "x2": {"field": "b"}}
    return [_layer(look, rows, **across, y={"field": "n", **axes["y"]})]


def _rule(mark: Rule, panel: Panel, axes: Layer, colours: Colours) -> list[Layer]:
    look = {"type": "rule", "color": colours[mark.tone], "strokeWidth": 1.5}
    look |= {"strokeDash": list(mark.dashes)}
    return [_layer(look, [{"v": mark.at}], **{mark.axis: {"field": "v", **axes[mark.axis]}})]


def _band(mark: Band, panel: Panel, axes: Layer, colours: Colours) -> list[Layer]:
    look = {"type": "rect", "color": colours["band"], "clip": True}
    ends = [{"a": mark.low, "b": mark.high}]
    return [_layer(look, ends, x={"field": "a", **axes["x"]}, x2={"field": "b"})]


def _cells(mark: Cells, panel: Panel, axes: Layer, colours: Colours) -> list[Layer]:
    rows = [{"x": x, "y": y, "c": colours[heat(share)]} for x, y, share in mark.cells]
    fill = {"field": "c", "type": "nominal", "scale": None}
    across = {"x": {"field": "x", **axes["x"]}, "y": {"field": "y", **axes["y"]}}
    look = {"type": "rect", "stroke": colours["paper"], "strokeWidth": 1}
    return [_layer(look, rows, **across, color=fill)]


def _words(mark: Words, panel: Panel, axes: Layer, colours: Colours) -> list[Layer]:
    look = {"type": "text", "color": colours[mark.tone], "fontSize": mark.size, "align": mark.align}
    look |= {"fontWeight": 600 if mark.bold else "normal", "dx": mark.right, "dy": mark.down}
    row: dict[str, Place] = {"t": mark.text}
    where: dict[str, dict[str, Any]] = {"text": {"field": "t", "type": "nominal"}}
    for field, place in (("x", mark.x), ("y", mark.y)):
        if place is None:
            where[field] = {"value": 0}
        else:
            row[field] = place
            where[field] = {"field": field, **axes[field]}
    return [_layer(look, [row], **where)]


_DRAW: dict[type[Mark], Callable[[Any, Panel, Layer, Colours], list[Layer]]] = {
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
"""Whoever adds a mark draws it here."""
