from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

import pytest

import tenue as tn
from tenue.report.chart import Chart, can_draw
from tenue.report.picture import Curve, Panel, Picture
from tenue.report.theme import DARK, LIGHT

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
    plain = builtins.__import__

    def lacking(name: str, *args: Any, **given: Any) -> Any:
        if name.split(".")[0] in ("vl_convert", "altair"):
            raise ImportError(name)
        return plain(name, *args, **given)

    monkeypatch.setattr(builtins, "__import__", lacking)
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
