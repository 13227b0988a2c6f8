"""The pictures in the docs are those that their scripts draw."""

from __future__ import annotations

import importlib.util
import re
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
    assert not re.search(r"<script|href|url\((?!#)", drawn)


def test_every_mark_lies_inside_its_panel() -> None:
    """A label or point that a change of numbers pushes off the picture is seen here."""
    drawn = script().chart()
    assert "Bayes 347" in drawn
    for panel in script().picture().panels:
        for mark in panel.marks:
            points = getattr(mark, "points", [(getattr(mark, "x", None), getattr(mark, "y", None))])
            for point in points:
                for place, axis in zip(point, (panel.x, panel.y), strict=True):
                    if place is not None:
                        assert axis.low <= place <= axis.high
