from __future__ import annotations

import json
from typing import Any

import pytest

from tenue.report.picture import (
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
from tenue.report.theme import DARK, LIGHT
from tenue.report.vega import specification

NASTY = "<img src=x onerror=alert(1)> datum['x'] a.b[0] \\ \" '"
MARKS: list[Mark] = [
    Curve([(0, 1), (1, 2)]),
    Bars([(0, 1, 2)]),
    Dots([(0, 1)]),
    Spans([(1, 0, 1)]),
    Rule(0.5),
    Rule(1, axis="y"),
    Band(0, 1),
    Words(NASTY, 0, 1),
]


def layers(*marks: Mark, x: Axis | None = None, y: Axis | None = None) -> list[dict[str, Any]]:
    panel = Panel(marks, x=x or Axis(), y=y or Axis())
    made: list[dict[str, Any]] = specification(Picture("t", [panel]), LIGHT)["concat"][0]["layer"]
    return made


@pytest.mark.parametrize("mark", MARKS, ids=lambda mark: type(mark).__name__)
def test_every_mark_is_drawn(mark: Mark) -> None:
    vl_convert = pytest.importorskip("vl_convert")
    drawn = vl_convert.vegalite_to_svg(specification(Picture("t", [Panel([mark])]), LIGHT))
    assert drawn.startswith("<svg")
    assert "NaN" not in drawn


def test_names_are_places_too() -> None:
    names = Axis(names=("b", "a", NASTY))
    vl_convert = pytest.importorskip("vl_convert")
    marks = [Lengths([("b", 1), (NASTY, 3)]), Spans([("a", 1, 2)]), Dots([(2, NASTY)])]
    drawn = vl_convert.vegalite_to_svg(specification(Picture("t", [Panel(marks, y=names)]), LIGHT))
    assert "<img" not in drawn
    heat = [Cells([("b", "a", 1.0), ("a", NASTY, -1.0)])]
    drawn = vl_convert.vegalite_to_svg(
        specification(Picture("t", [Panel(heat, x=names, y=names)]), LIGHT)
    )
    assert LIGHT["heat5"] in drawn
    assert LIGHT["heat-5"] in drawn
    assert "<img" not in drawn


def test_texts_are_data_and_never_fields_or_formulas() -> None:
    """A mutant that used the text as a field's name would put it outside `values`."""
    for layer in layers(*MARKS, Lengths([(NASTY, 1)]), y=Axis(names=(NASTY,))):
        rest = {**layer, "data": {}}
        for place in rest["encoding"].values():
            if place.get("scale"):
                place["scale"].pop("domain", None)  # a list of names, which Vega takes as data
        assert "onerror" not in json.dumps(rest)
        assert all(len(place.get("field", "")) <= 1 for place in rest["encoding"].values())
        assert "expr" not in json.dumps(rest)
        assert "url" not in layer["data"]


def test_all_layers_share_their_axes() -> None:
    scales = [
        layer["encoding"]["x"]["scale"]
        for layer in layers(Curve([(0, 1)]), Band(0, 1), x=Axis(low=0, high=2, log=False))
    ]
    assert scales == [{"zero": False, "nice": False, "domain": [0, 2]}] * 2
    (layer,) = layers(Curve([(1, 1)]), x=Axis(log=True, low=1))
    assert layer["encoding"]["x"]["scale"]["type"] == "log"
    assert layer["encoding"]["x"]["scale"]["domainMin"] == 1


def test_colours_are_those_of_the_theme() -> None:
    picture = Picture("t", [Panel([Curve([(0, 1)], tone="other")])])
    text = json.dumps(specification(picture, DARK))
    assert DARK["other"] in text
    assert LIGHT["other"] not in text


def test_panels_stand_side_by_side_or_below_each_other() -> None:
    panels = [Panel([Rule(0)]), Panel([Rule(1)], title="b")]
    assert specification(Picture("t", panels), LIGHT)["columns"] == 2
    assert specification(Picture("", panels, across=1), LIGHT)["columns"] == 1
    assert "title" not in specification(Picture("", panels), LIGHT)
