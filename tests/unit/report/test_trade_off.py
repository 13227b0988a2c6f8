from __future__ import annotations

import pytest

from tenue.report.chart import Chart
from tenue.report.picture import Curve, Dots, Words
from tenue.report.theme import SERIES
from tenue.report.trade_off import _box, trade_off

LINES = {"swap": [(10, 0.1, 0.3), (3, 0.5, 0.1)], "<b>": [(5, 0.2, 0.2)]}


def test_a_line_for_each_method_and_a_dot_for_each_k() -> None:
    (panel,) = trade_off(LINES, "title").panels
    curves = [mark for mark in panel.marks if isinstance(mark, Curve)]
    assert [list(curve.points) for curve in curves] == [[(0.5, 0.1), (0.1, 0.3)]]  # by k
    dots = [mark for mark in panel.marks if isinstance(mark, Dots)]
    assert [mark.tone for mark in dots] == list(SERIES[:2])
    words = [mark.text for mark in panel.marks if isinstance(mark, Words)]
    assert {"3", "10", "5", "swap", "<b>"} == set(words)
    drawn = Chart(trade_off(LINES, "title")).svg()
    assert "<b>" not in drawn
    assert "swap" in drawn


def test_nothing_lost_still_has_an_axis() -> None:
    (panel,) = trade_off({"swap": [(3, 0.0, 0.0)]}, "title").panels
    assert panel.x.high == 1
    assert panel.y.high == 1


def test_dots_on_each_other_share_one_number() -> None:
    """A mutant that wrote every k would print them over each other."""
    close = [(3, 0.225, 0.0948), (5, 0.224, 0.0953), (10, 0.229, 0.0958), (50, 0.02, 0.09)]
    (panel,) = trade_off({"t-close": close, "swap": [(3, 0.9, 0.02)]}, "title").panels
    words = [mark.text for mark in panel.marks if isinstance(mark, Words)]
    assert sorted(words) == ["3", "3–10", "50", "swap", "t-close"]
    (dots, _) = [mark for mark in panel.marks if isinstance(mark, Dots)]
    assert len(dots.points) == 4


def test_names_of_lines_on_each_other_stand_apart() -> None:
    """A mutant that names every line at its last dot would print one name over the other."""
    same = [(3, 0.69, 0.06), (5, 0.55, 0.064), (10, 0.41, 0.072), (50, 0.2, 0.084)]
    lines = {"swap": same, "anatomy": same, "microaggregate": [(3, 0.95, 0.008), (50, 0.29, 0.035)]}
    (panel,) = trade_off(lines, "title").panels
    names = [mark for mark in panel.marks if isinstance(mark, Words) and mark.text in lines]
    assert [mark.text for mark in names] == list(lines)
    scale = 560 / panel.x.high, 300 / panel.y.high
    boxes = [_box(mark, scale) for mark in names]
    for place, (left, right, low, high) in enumerate(boxes):
        assert left >= 0
        assert right <= 560
        for other in boxes[:place]:
            assert other[0] >= right or other[1] <= left or other[2] >= high or other[3] <= low


@pytest.mark.parametrize("narrow", [False, True], ids=["screen", "telephone"])
def test_numbers_never_stand_on_each_other(narrow: bool) -> None:
    """Five methods, three of them on each other: the mutant that writes every number prints some
    over others or over dots. What cannot be read is left out; no name is."""
    same = [
        (3, 0.38, 0.205),
        (5, 0.24, 0.231),
        (10, 0.13, 0.24),
        (25, 0.06, 0.257),
        (50, 0.03, 0.256),
    ]
    lines = {
        "swap": same,
        "anatomy": [(k, risk + 0.004, loss + 0.001) for k, risk, loss in same],
        "t-close, t = 2": [(k, risk + 0.002, loss + 0.002) for k, risk, loss in same],
        "microaggregate": [(3, 0.375, 0.025), (5, 0.25, 0.04), (50, 0.04, 0.14)],
        "generalise": [(3, 0.3, 0.014), (5, 0.18, 0.02), (50, 0.03, 0.07)],
    }
    (panel,) = trade_off(lines, "title", narrow=narrow).panels
    words = [mark for mark in panel.marks if isinstance(mark, Words)]
    assert set(lines) <= {mark.text for mark in words}
    assert len(words) > len(lines) + 7
    scale = panel.width / panel.x.high, panel.height / panel.y.high
    boxes = [_box(mark, scale) for mark in words if mark.text not in lines]
    points = [point for mark in panel.marks if isinstance(mark, Dots) for point in mark.points]
    dots = [
        (x * scale[0] - 5.5, x * scale[0] + 5.5, y * scale[1] - 5.5, y * scale[1] + 5.5)
        for x, y in points
    ]
    for place, (left, right, low, high) in enumerate(boxes):
        assert left >= 0
        assert right <= panel.width
        for other in (*boxes[:place], *dots):
            assert other[0] >= right or other[1] <= left or other[2] >= high or other[3] <= low


def test_a_telephone_has_a_drawing_of_its_own() -> None:
    """It is narrower than a telephone with its margins, and has the same dots."""
    wide, narrow = (trade_off(LINES, "title", narrow=one).panels[0] for one in (False, True))
    assert narrow.width < 300 < wide.width
    points = [[mark for mark in one.marks if isinstance(mark, Dots)] for one in (wide, narrow)]
    assert points[0] == points[1]
