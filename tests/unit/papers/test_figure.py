from __future__ import annotations

import pytest

from tenue.papers.figure import Panel, Series, between, curve, log_between, pairs, panels


def test_places_are_equally_far_apart() -> None:
    assert between(0, 1, 5) == [0, 0.25, 0.5, 0.75, 1]
    assert log_between(0.01, 1, 3) == pytest.approx([0.01, 0.1, 1])


def test_a_figure_is_numbers() -> None:
    line = curve("square", between(0, 2, 3), lambda x: x * x)
    dot = Series("at", pairs([1], [1]), "point")
    (panel,) = panels(Panel("t", "x", "y", (line, dot)), caption="c").to_dict()["panels"]
    assert panel["series"][0]["points"] == [[0, 0], [1, 1], [2, 4]]
    assert panel["series"][1]["mark"] == "point"
