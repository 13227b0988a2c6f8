from __future__ import annotations

from tenue.report.chart import Chart
from tenue.report.picture import Curve, Dots, Words
from tenue.report.theme import SERIES
from tenue.report.trade_off import trade_off

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
