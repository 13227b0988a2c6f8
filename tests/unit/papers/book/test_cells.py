from __future__ import annotations

from tenue.papers.book.cells import WORDS, cells_html, chip
from tenue.papers.cell import SIGNS, Verdict, beside, claimed, met


def test_every_verdict_has_its_own_sign_and_class() -> None:
    assert set(SIGNS) == set(WORDS) == set(Verdict)
    assert len(set(SIGNS.values())) == len(set(WORDS.values())) == len(Verdict)
    assert "different" in chip(Verdict.DIFFERENT)


def test_a_grid_where_rows_and_columns_fit() -> None:
    cells = [met(r, c, "1.0", 1.0) for r in "ab" for c in "xy"]
    made = cells_html(cells)
    assert 'class="grid"' in made
    assert made.count("<td class=") == 4
    assert 'class="list"' in cells_html(cells[:1])


def test_many_cells_can_be_folded_away() -> None:
    assert "<details>" in cells_html([met(f"r{i}", f"c{i}", "1.0", 1.0) for i in range(40)])
    rows = [met(f"r{i}", c, "1.0", 1.0) for i in range(40) for c in "xy"]
    assert "<details>" in cells_html(rows)
    assert "<details>" not in cells_html(rows[:10])


def test_texts_are_escaped() -> None:
    made = cells_html([claimed("<b>", "x & y", '"<i>"', "<u>", holds=True, remark="<script>")])
    assert "<script>" not in made
    assert "<u>" not in made
    assert "&lt;u&gt;" in made


def test_equal_remarks_are_said_once() -> None:
    made = cells_html([beside(f"r{i}", "c", 1.0, remark="once") for i in range(3)])
    assert made.count("once") == 1
    assert made.count("<sup>1</sup>") == 3


def test_a_grid_too_wide_for_a_phone_is_marked() -> None:
    """Its cells then stand below each other, each with the name of its column."""
    narrow = cells_html([met(r, c, "1.0", 1.0) for r in "ab" for c in "xy"])
    wide = cells_html([met(r, c, "1.0", 1.0) for r in "ab" for c in "stuvwxyz"])
    assert 'class="grid"' in narrow
    assert 'class="grid wide"' in wide
    assert wide.count("data-column=") == 16


def test_differences_have_a_column_where_there_are_any() -> None:
    claim = claimed("a", "b", "so", 1.0, holds=True)
    assert "difference" not in cells_html([claim])
    made = cells_html([claim, met("c", "d", "1.0", 0.96)])
    assert ">difference</th>" in made
    assert "−0.04" in made
