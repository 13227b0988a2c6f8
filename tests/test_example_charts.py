"""The pictures in the docs are those that their scripts draw."""

from __future__ import annotations

import importlib.util
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parent.parent / "docs" / "examples"


def script() -> Any:
    spec = importlib.util.spec_from_file_location(
        "naive_or_bayes_chart", EXAMPLES / "naive_or_bayes_chart.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_committed_chart_is_what_the_script_draws() -> None:
    drawn = script().chart()
    assert drawn == (EXAMPLES / "naive-or-bayes.svg").read_text()
    assert "naive-or-bayes.svg" in (EXAMPLES / "naive-or-bayes.md").read_text()
    assert len(drawn) < 20_000
    assert not re.search(r"<script|href|url\(", drawn)


def test_every_mark_lies_inside_the_picture() -> None:
    """A label or point that a change of numbers pushes off the picture is seen here."""
    root = ElementTree.fromstring(script().chart())  # noqa: S314 - our own text
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    space = "{http://www.w3.org/2000/svg}"
    texts = list(root.iter(f"{space}text"))
    assert any("Bayes 347" in (text.text or "") for text in texts)
    for text in texts:
        long = 0.62 * float(text.attrib["font-size"]) * len(text.text or "")
        start = (
            float(text.attrib["x"])
            - long * {"start": 0, "middle": 0.5, "end": 1}[text.attrib["text-anchor"]]
        )
        assert start >= 0
        assert start + long <= width, text.text
        assert 0 < float(text.attrib["y"]) < height
    for line in root.iter(f"{space}polyline"):
        for pair in line.attrib["points"].split():
            x, y = map(float, pair.split(","))
            assert 0 <= x <= width
            assert 100 <= y <= height - 60
