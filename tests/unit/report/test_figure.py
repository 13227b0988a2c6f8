from __future__ import annotations

import itertools
from typing import Any

import pytest

from tenue.evaluate.pair.marginal import Marginal, marginals
from tenue.report.chart import Chart
from tenue.report.figure import (
    AFTER,
    BEFORE,
    correlations,
    group_sizes,
    marginal,
    marginal_panel,
    shares,
)
from tenue.report.picture import Bars, Cells, Curve, Lengths, Panel, Picture, Rule, Words
from tenue.report.theme import DARK, LIGHT, heat

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
    assert "2019-12-31" in drawn or "2020-01-01" in drawn
    assert "2024-05-06" in drawn


def test_a_heat_map_has_every_two_columns() -> None:
    made = correlations({("x", "y"): -0.5, ("x", "z"): 0.2, ("y", "z"): 1.0}, "here")
    (cells,) = marks(made, Cells)
    found = {(one, other): share for one, other, share in cells.cells}
    assert found["x", "y"] == found["y", "x"] == -0.5
    assert found["z", "z"] == 1
    assert len(found) == 9
    many = {(f"c{i}", f"c{j}"): 0.0 for i in range(40) for j in range(i)}
    assert len(marks(correlations(many, "here"), Cells)[0].cells) == 24**2


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
    words = marks(correlations({("x", "y"): share}, "here"), Words)
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
    assert isinstance(marginal_panel(found), Panel)
    assert marginal_panel(found, titled=True).title == "0"


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


def test_few_correlations_are_written_in_their_cells() -> None:
    written = [mark.text for mark in marks(correlations({("x", "y"): -0.074}, "here"), Words)]
    assert sorted(written) == ["-0.07", "-0.07", "1.00", "1.00"]
    nearly = [mark.text for mark in marks(correlations({("x", "y"): -0.004}, "here"), Words)]
    assert sorted(nearly) == ["0.00", "0.00", "1.00", "1.00"]  # and not "-0.00"
    many = {(f"c{i}", f"c{j}"): 0.0 for i in range(9) for j in range(i)}
    assert not marks(correlations(many, "here"), Words)


def test_few_groups_are_counted_in_whole_groups() -> None:
    """Left to itself an axis of one group has half a group on it."""
    (panel,) = group_sizes({147: 1, 405: 1, 528: 1}, 5).panels
    assert panel.y.ticks == (0, 1)
    (panel,) = group_sizes({5: 200, 6: 3}, 5).panels
    assert panel.y.ticks == ()
