from __future__ import annotations

from tenue.papers.draw import panel, picture, pictures, tones_of
from tenue.papers.figure import Panel, Series, panels
from tenue.report.picture import Bars, Curve, Rule, Words

LINE = Series("one", ((0.0, 1.0), (1.0, 2.0)))
DASHED = Series("two", ((0.0, 1.0), (1.0, 1.0)), "dashed")
BARS = tuple(Series(name, ((0.0, 1.0), (1.0, 3.0)), "bar") for name in "ab")


def test_every_series_has_its_colour_and_its_name_above() -> None:
    made = panel(Panel("title", "x", "y", (LINE, DASHED)))
    words = {mark.text: mark.tone for mark in made.marks if isinstance(mark, Words)}
    assert words == {"one": "main", "two": "quiet", "title": "ink"}
    assert [mark.dashed for mark in made.marks if isinstance(mark, Curve)] == [False, True]


def test_bars_stand_beside_each_other() -> None:
    made = panel(Panel("", "x", "y", BARS))
    first, second = (mark for mark in made.marks if isinstance(mark, Bars))
    assert first.bars[0][1] == second.bars[0][0]
    assert made.y.low == 0


def test_an_axis_runs_backwards_if_told_so() -> None:
    forward, back = (panel(Panel("", "x", "y", (LINE,), reverse_x=r)) for r in (False, True))
    assert (forward.x.low, forward.x.high) == (back.x.high, back.x.low) == (0.0, 1.0)


def test_many_groups_have_no_legend() -> None:
    many = tuple(Series(f"group {i}", ((0.0, 1.0),), "point") for i in range(9))
    made = panel(Panel("", "x", "y", many))
    assert not any(isinstance(mark, Words) for mark in made.marks)
    assert len(tones_of(many)) == 9


def test_panels_are_one_drawing_or_several() -> None:
    figure = panels(*(Panel(t, "x", "y", (LINE,)) for t in "abc"), caption="c")
    assert len(picture(figure).panels) == 3
    assert [one.told for one in pictures(figure)] == ["a", "b", "c"]
    rule = panel(Panel("", "x", "y", (LINE, Series("at", ((0.5, 0.0),), "rule"))))
    assert any(isinstance(mark, Rule) and mark.at == 0.5 for mark in rule.marks)


def test_six_curves_have_six_colours() -> None:
    six = tuple(Series(f"curve {i}", ((0.0, 1.0), (1.0, 2.0))) for i in range(6))
    assert len(set(tones_of(six).values())) == 6


def test_large_heights_are_written_as_powers_of_ten() -> None:
    for top, write in ((1e13, "~e"), (1e4, "")):
        series = (Series("one", ((0.0, 1.0), (1.0, top))),)
        assert panel(Panel("", "x", "y", series, log_y=True)).y.write == write


def test_points_keep_off_the_edges() -> None:
    flat = panel(Panel("", "x", "y", (Series("one", ((0.0, 1.9), (1.0, 2.1))),)))
    assert flat.y.low is not None
    assert flat.y.high is not None
    assert 1.8 < flat.y.low < 1.9
    assert 2.1 < flat.y.high < 2.2
    assert panel(Panel("", "x", "y", (Series("one", ((0.0, 0.1), (1.0, 2.0))),))).y.low == 0
    low = panel(Panel("", "x", "y", (Series("one", ((0.0, 1.0), (1.0, 100.0))),), log_y=True)).y.low
    assert low is not None
    assert 0 < low < 1
    assert flat.height == 230


def test_numbers_that_mean_nothing_are_not_shown() -> None:
    made = panel(Panel("", "", "", (LINE,), hidden="xy", words=((0.5, 1.5, "A"),)))
    assert not made.x.shown
    assert not made.y.shown
    assert [(m.text, m.x, m.y) for m in made.marks if isinstance(m, Words)] == [("A", 0.5, 1.5)]
    half = panel(Panel("", "rank", "", (LINE,), hidden="y", x_ticks=(0, 1)))
    assert (half.x.shown, half.y.shown, half.x.ticks) == (True, False, (0, 1))


def test_four_panels_stand_in_two_columns() -> None:
    four = panels(*(Panel(t, "x", "y", (LINE,)) for t in "abcd"), caption="c")
    assert picture(four).across == 2


def test_one_line_of_points_takes_little_height() -> None:
    line = (Series("one", ((1.0, 1.0), (2.0, 1.0)), "point"),)
    flat, other = (panel(Panel("", "x", "", line, flat=f)) for f in (True, False))
    assert flat.height < other.height / 4
    assert flat.width == other.width
