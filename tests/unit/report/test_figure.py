"""What was measured, as pictures."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from tenue.evaluate.two_tables.distribution import Marginal, marginals
from tenue.report.chart import Chart
from tenue.report.figure import (
    AFTER,
    BEFORE,
    associations,
    group_sizes,
    marginal,
    marginals_picture,
    shares,
)
from tenue.report.picture import Bars, Cells, Curve, Dots, Lengths, Picture, Rule, Words
from tenue.report.theme import DARK, LIGHT, SERIES, heat
from tenue.report.trade_off import _box, trade_off

WORDS = ["a" * 40 + "1", "a" * 40 + "2", "b", "b"]


def marks(picture: Picture, kind: type) -> list[Any]:
    return [mark for panel in picture.panels for mark in panel.marks if isinstance(mark, kind)]


def test_numbers_before_and_after() -> None:
    (found,) = marginals([[1.0], [2.0], [2.0], [9.5]], [[1.0], [1.0], [2.0], [9.5]])
    made = marginal(found)
    (bars,), (curve,) = marks(made, Bars), marks(made, Curve)
    assert (bars.tone, curve.tone) == (BEFORE, AFTER)
    assert sum(height for *_, height in bars.bars) == pytest.approx(1)
    assert curve.points[0][1] == 0  # the line starts and ends on the ground
    assert curve.points[-1][1] == 0
    assert marks(marginal(marginals(None, [[1.0], [2.5]])[0]), Bars)[0].tone == AFTER


def test_long_words_stay_different() -> None:
    import pyarrow as pa

    (found,) = marginals(None, pa.table({"w": WORDS}))
    (lengths,) = marks(marginal(found), Lengths)
    names = [name for name, _ in lengths.bars]
    assert len(set(names)) == 3
    assert all(len(name) < 30 for name in names)
    assert dict(lengths.bars)["b"] == 0.5


def test_times_are_written_as_days() -> None:
    import datetime

    import pyarrow as pa

    days = [datetime.date(2020, 1, 1), datetime.date(2024, 5, 6)]
    (found,) = marginals(None, pa.table({"day": days}))
    drawn = Chart(marginal(found)).svg()
    assert found.words[0] == "2019-10-31 to 2020-01-29"
    assert f">{found.words[0][:10]}<" in drawn
    assert f">{found.words[-1][-10:]}<" in drawn


def test_a_heat_map_has_every_two_columns() -> None:
    made = associations({("x", "y"): -0.5, ("x", "z"): 0.2, ("y", "z"): 1.0}, "here")
    (cells,) = marks(made, Cells)
    found = {(one, other): share for one, other, share in cells.cells}
    assert found["x", "y"] == found["y", "x"] == -0.5
    assert len(found) == 6  # a column with itself is no finding
    many = {(f"c{i}", f"c{j}"): 0.0 for i in range(40) for j in range(i)}
    assert len(marks(associations(many, "here"), Cells)[0].cells) == 24 * 23


def _contrast(one: str, other: str) -> float:
    """How well two colours are told apart, from 1 to 21 (WCAG 2)."""

    def light(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [x / 12.92 if x <= 0.03928 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((light(one), light(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("share", [step / 20 for step in range(-20, 21)])
def test_a_number_on_a_heat_map_is_read_in_light_and_dark(share: float) -> None:
    """The mutant that changes the tone from 0.5 on has 2.4 at -0.6."""
    words = marks(associations({("x", "y"): share}, "here"), Words)
    tone = next(one.tone for one in words if (one.x, one.y) == ("x", "y"))
    assert min(_contrast(theme[heat(share)], theme[tone]) for theme in (LIGHT, DARK)) > 3


def test_group_sizes_stand_beside_k() -> None:
    made = group_sizes({5: 10, 6: 2, 9: 1}, 5)
    (bars,), (rule,) = marks(made, Bars), marks(made, Rule)
    assert [height for *_, height in bars.bars] == [10, 2, 1]
    assert rule.at == 4.5
    (named,) = marks(made, Words)
    assert named.y is None, "k stands at the top"
    assert named.down < -named.size / 2, "and off the grid, which the mutant writes it on"
    far = group_sizes(dict.fromkeys(range(1818, 2069), 1), 5).panels[0].x
    assert far.low is not None
    assert far.high is not None
    apart = (far.high - far.low) / 7  # the mutant that counts from the least size writes six
    assert all(b - a > apart for a, b in itertools.pairwise(far.ticks))
    wide = group_sizes(dict.fromkeys(range(1, 1000), 1), None)
    (bars,) = marks(wide, Bars)
    assert len(bars.bars) <= 30
    assert sum(height for *_, height in bars.bars) == 999
    assert not marks(wide, Rule)


def test_shares_are_written_beside_their_bars() -> None:
    drawn = Chart(shares([("knows all", 0.275), ("none", 0.0)], "told")).svg()
    assert "27.5 %" in drawn
    assert "0 %" in drawn


def test_a_panel_among_others_has_its_name() -> None:
    (found,) = marginals(None, [[1.0], [2.5]])
    assert marginal(found).panels[0].title == ""
    assert marginals_picture("t", [found]).panels[0].title == "0"


def test_names_that_begin_alike_stay_apart() -> None:
    """A mutant that always cut the end would write the same name twice."""
    sets = ["{Never-married, Separated, Widowed}", "{Never-married, Separated, Divorced}", "short"]
    (panel,) = marginal(words_of(*sets)).panels
    first, second, last = panel.y.names
    assert first.endswith("Widowed}")
    assert second.endswith("Divorced}")
    assert last == "short"
    assert max(map(len, panel.y.names)) <= 22


def words_of(*words: str) -> Marginal:
    shares = tuple(1 / len(words) for _ in words)
    return Marginal(name="w", edges=(), categories=words, after=shares, before=None)


def test_few_associations_are_written_in_their_cells() -> None:
    written = [mark.text for mark in marks(associations({("x", "y"): -0.074}, "here"), Words)]
    assert sorted(written) == ["-0.07", "-0.07"]
    nearly = [mark.text for mark in marks(associations({("x", "y"): -0.004}, "here"), Words)]
    assert sorted(nearly) == ["0", "0"]  # and not "-0.00"
    many = {(f"c{i}", f"c{j}"): 0.0 for i in range(9) for j in range(i)}
    assert len(marks(associations(many, "here"), Words)) == 72
    assert not marks(associations(many, "here", narrow=True), Words)  # a telephone has no room


def test_few_groups_are_counted_in_whole_groups() -> None:
    """Left to itself an axis of one group has half a group on it."""
    (panel,) = group_sizes({147: 1, 405: 1, 528: 1}, 5).panels
    assert panel.y.ticks == (0, 1)
    (panel,) = group_sizes({5: 200, 6: 3}, 5).panels
    assert panel.y.ticks == ()


# -- trade_off -------------------------------------------------------------------------------------

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
