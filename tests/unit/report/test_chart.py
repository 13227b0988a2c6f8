"""Charts, drawn and saved."""

from __future__ import annotations

import itertools
import json
import re
import sys
from pathlib import Path
from typing import Any, get_args

import pytest

import tenue as tn
from tenue.report import picture
from tenue.report.chart import _DRAW, Chart, can_draw, fitted, specification
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
from tenue.report.theme import DARK, HEATS, LIGHT, SERIES, THEMES, config, heat


def luminance(colour: str) -> float:
    """Relative luminance, as WCAG defines it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", THEMES)
def test_text_can_be_read_and_marks_can_be_seen(theme: str) -> None:
    colours = THEMES[theme]
    assert contrast(colours["ink"], colours["paper"]) > 12
    for name in ("quiet", "main", "other", "fourth", "sixth"):
        assert contrast(colours[name], colours["paper"]) >= 4.5 - 0.4, name
    for name in SERIES:
        assert contrast(colours[name], colours["paper"]) >= 3, name


def without_green(colour: str) -> tuple[float, float]:
    """Roughly what is left to people who do not tell red from green: lightness and blue-yellow."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    yellow = (red + 2 * green) / 3
    return 0.3 * red + 0.59 * green + 0.11 * blue, blue - yellow


@pytest.mark.parametrize("theme", THEMES)
def test_the_first_three_series_differ_without_red_and_green(theme: str) -> None:
    for one, other in itertools.combinations(SERIES[:3], 2):
        a, b = without_green(THEMES[theme][one]), without_green(THEMES[theme][other])
        assert abs(a[0] - b[0]) + abs(a[1] - b[1]) > 40, (one, other)


def test_every_colour_of_the_light_theme_is_its_own() -> None:
    """A page replaces each by a variable, so two alike could not be told apart."""
    assert len(set(LIGHT.values())) == len(LIGHT)
    assert set(LIGHT) == set(DARK)


def test_heat_runs_from_one_end_to_the_other() -> None:
    assert [heat(x) for x in (-2, -1, 0, 1, 2)] == ["heat-5", "heat-5", "heat0", "heat5", "heat5"]
    assert all(f"heat{step}" in LIGHT for step in range(-HEATS, HEATS + 1))


def test_the_look_says_no_more_than_it_must() -> None:
    assert config(LIGHT)["aria"] is False  # else every value would stand in an attribute
    assert config(DARK)["background"] == DARK["paper"]


# -- picture ---------------------------------------------------------------------------------------


def test_every_mark_can_be_drawn() -> None:
    assert set(get_args(picture.Mark)) == set(_DRAW)


def test_facts_do_not_change() -> None:
    one = picture.Picture("a", [picture.Panel([picture.Rule(0)])])
    assert one == picture.Picture("a", [picture.Panel([picture.Rule(0)])])
    assert one != picture.Picture("a", [picture.Panel([picture.Rule(1)])])


# -- vega ------------------------------------------------------------------------------------------

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


# -- svg -------------------------------------------------------------------------------------------

DRAWN = (
    '<svg xmlns="http://www.w3.org/2000/svg" version="1.1" class="marks" width="350" height="247" '
    f'viewBox="0 0 350 247"><rect width="350" height="247" fill="{LIGHT["paper"]}"/>'
    '<clipPath id="clip0"/><g clip-path="url(#clip0)" class="mark" aria-hidden="true">'
    f'<path d="M0,0h0v0h0Z"/><text fill="{LIGHT["ink"]}">fill="#1c2733" id="clip0"</text></g></svg>'
)


def test_a_drawing_says_what_it_shows() -> None:
    made = fitted(DRAWN, "a <b> & c")
    assert "<title>a &lt;b&gt; &amp; c</title>" in made
    assert 'viewBox="0 0 350 247"' in made
    assert "class=" not in made
    assert "aria-hidden" not in made


def test_two_drawings_on_a_page_do_not_share_names() -> None:
    made = fitted(DRAWN.replace("clip0", "clip17"), "a", "p3-")
    assert 'id="p3-0"' in made
    assert "url(#p3-0)" in made
    assert "clip17" not in made.replace('id="clip17"</text>', "")


def test_colours_follow_the_page_and_texts_stay() -> None:
    made = fitted(DRAWN, "a", variable=True)
    assert f'fill="var(--ink, {LIGHT["ink"]})"' in made
    assert f'fill="var(--paper, {LIGHT["paper"]})"' in made
    assert '>fill="#1c2733" id="clip0"</text>' in made  # a text that looks like an attribute
    assert not re.search(r'(?<=[a-z])="#[0-9a-f]{6}"(?=[^<]*>)', made)


def test_what_is_no_drawing_is_a_fault() -> None:
    with pytest.raises(ValueError, match="not an SVG drawing"):
        fitted("<p>", "a")


# -- chart -----------------------------------------------------------------------------------------

PICTURE = Picture("Curves <1>", [Panel([Curve([(0, 1), (1, 2)])])], told="A line & more")


def test_a_chart_is_saved_as_its_name_ends(tmp_path: Path) -> None:
    chart = Chart(PICTURE)
    for name in ("a.png", "b.svg", "c.HTML"):
        chart.save(tmp_path / name)
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "b.svg").read_text().startswith("<svg")
    page = (tmp_path / "c.HTML").read_text()
    assert page.startswith("<!doctype html>")
    assert "var(--main, " in page
    assert "Curves &lt;1&gt;" in page
    assert "<script" not in page


def test_two_drawings_are_one(tmp_path: Path) -> None:
    assert Chart(PICTURE).svg() == Chart(PICTURE).svg()


def test_light_and_dark() -> None:
    assert LIGHT["main"] in Chart(PICTURE).svg()
    assert DARK["main"] in Chart(PICTURE, "dark").svg()
    assert LIGHT["main"] not in Chart(PICTURE, "dark").svg()
    with pytest.raises(tn.Refused, match="Choose one of `dark`, `light`"):
        Chart(PICTURE, "sepia")


def test_what_cannot_be_saved_is_refused(tmp_path: Path) -> None:
    for name in ("a.jpg", "a"):
        with pytest.raises(tn.Refused, match="png"):
            Chart(PICTURE).save(tmp_path / name)
    with pytest.raises(tn.Refused, match="cannot be written"):
        Chart(PICTURE).save(tmp_path / "no folder" / "a.svg")


def test_without_the_extra_it_says_how_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("vl_convert", "altair"):
        monkeypatch.setitem(sys.modules, package, None)
    for draw in (Chart(PICTURE).svg, Chart(PICTURE).png, Chart(PICTURE).to_altair):
        with pytest.raises(tn.Refused, match=r"pip install .tenue\[report\]"):
            draw()


def test_a_notebook_shows_the_drawing() -> None:
    shown = Chart(PICTURE)._repr_mimebundle_(include=None)
    assert shown["image/svg+xml"].startswith("<svg")
    assert shown["text/plain"] == "Chart('A line & more')"
    assert can_draw()


def test_altair_goes_on_with_it() -> None:
    altair = pytest.importorskip("altair")
    made = Chart(PICTURE).to_altair()
    assert isinstance(made, altair.TopLevelMixin)
