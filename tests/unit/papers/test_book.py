"""Pictures, pages and outcomes of the book."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path

import pytest

import tenue as tn
from tenue.report.picture import Bars, Curve, Rule, Words
from tenue.taxonomy import Taxonomy
from tenue_papers import book as module
from tenue_papers.book import (
    WORDS,
    cells_html,
    chapter_html,
    chip,
    errata_html,
    exhibit_html,
    file_of,
    index_html,
    save,
)
from tenue_papers.catalogue import CHAPTERS
from tenue_papers.cell import SIGNS, Verdict, beside, claimed, met
from tenue_papers.data import FILES, FOLDER, Data
from tenue_papers.draw import (
    Panel,
    Series,
    between,
    curve,
    log_between,
    pairs,
    panel,
    panels,
    picture,
    pictures,
    tones_of,
)
from tenue_papers.exhibit import Shown, table
from tenue_papers.outcome import Outcome, apart, one_exhibit, tally, written
from tenue_papers.reproduce import Book, reproduce, write_stand_in


def test_places_are_equally_far_apart() -> None:
    assert between(0, 1, 5) == [0, 0.25, 0.5, 0.75, 1]
    assert log_between(0.01, 1, 3) == pytest.approx([0.01, 0.1, 1])


def test_a_figure_is_numbers() -> None:
    line = curve("square", between(0, 2, 3), lambda x: x * x)
    dot = Series("at", pairs([1], [1]), "point")
    (panel,) = panels(Panel("t", "x", "y", (line, dot)), caption="c").to_dict()["panels"]
    assert panel["series"][0]["points"] == [[0, 0], [1, 1], [2, 4]]
    assert panel["series"][1]["mark"] == "point"


# -- draw ------------------------------------------------------------------------------------------

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


# -- outcome ---------------------------------------------------------------------------------------

CELLS = (met("a", "b", "1.9", 1.92), met("a", "c", "1.9", 2.4), beside("a", "d", 1.0))


def outcome() -> Outcome:
    exhibit = table("x", "A table", lambda _: list(CELLS), source="Table X", note="Read it so.")
    return Outcome(
        (exhibit.shown(Data()), Shown(table("y", "t", list, source="s"), CELLS[:1], None))
    )


def test_verdicts_by_name_and_what_is_broken() -> None:
    found = outcome()
    assert found.verdicts == {"x": Verdict.DIFFERENT, "y": Verdict.EQUAL}
    assert found.broken == ("x",)
    assert found["y"].cells == CELLS[:1]
    assert list(found.chapters()) == []  # neither is of a paper


def test_cells_are_counted_by_verdict() -> None:
    assert tally(CELLS) == "1 equal, 1 not printed, 1 different"


def test_an_exhibit_for_a_terminal() -> None:
    text = one_exhibit(outcome()["x"])
    assert text.startswith("Table X: A table  [different]")
    assert text.endswith("Read it so.")


def test_our_numbers_have_two_digits_more() -> None:
    assert written(met("a", "b", "200.00", 200.0)) == "200.0000"
    assert written(met("a", "b", "3.07E+09", 3.0655e9)) == "3.066E+09"
    assert written(met("a", "b", "11", 11.0)) == "11"
    assert written(met("a", "b", "11", 11.25)) == "11.25"
    assert written(beside("a", "b", 1249080.4)) == "1,249,080"
    assert written(beside("a", "b", 0.0123456789)) == "0.0123457"
    assert apart(met("a", "b", "2.0", 1.5)) == "−0.5"
    assert apart(beside("a", "b", 1.0)) == ""


def test_the_screen_of_a_run_is_narrow_and_explains_its_signs() -> None:
    lines = str(outcome()).splitlines()
    assert lines[0].split() == ["x", "≠", "A", "table"]
    assert "= equal: 1   ≠ different: 1" in lines
    longest = Outcome(
        tuple(Shown(one, CELLS[:1], None) for chapter in CHAPTERS for one in chapter.exhibits)
    )
    assert max(map(len, str(longest).splitlines())) < 80


def test_what_is_missing_says_where_it_would_be_found() -> None:
    exhibit = table("x", "A table", list, source="Table X", needs=("census.csv",))
    found = Outcome((exhibit.shown(Data(folder="")),))
    for text in (str(found), one_exhibit(found["x"])):
        assert "--data" in text
        assert "--stand-in" in text
    assert "Needs census.csv." in one_exhibit(found["x"])
    assert "made-up stand-in" in str(Outcome(found.shown, made_up=True))


# -- cells -----------------------------------------------------------------------------------------


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


# -- page ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def book() -> Book:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv(FOLDER, raising=False)
        return reproduce(["4.1", "fig4.2", "err.exponent", "3.6"])


def pages(book: Book) -> list[str]:
    (chapter, shown), *_ = book.chapters()
    errata = errata_html(book)
    assert errata is not None
    drawings = {"fig4.2": ["<svg></svg>"]}
    return [index_html(book), chapter_html(book, chapter, shown, 1, drawings), errata]


def test_only_the_own_style_and_script_may_run(book: Book) -> None:
    for made in pages(book):
        policy = re.search(r'Security-Policy" content="([^"]*)"', made)
        assert policy is not None
        for tag, word in (("style", "style-src"), ("script", "script-src")):
            (text,) = re.findall(rf"<{tag}>(.*?)</{tag}>", made, re.DOTALL)
            digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
            assert f"{word} 'sha256-{digest}'" in policy[1]
        assert policy[1].startswith("default-src 'none'")
        assert "unsafe" not in policy[1]
        outside = r"https?://(?!www\.w3\.org)|@import|<link|<iframe| on[a-z]+=| style="
        assert not re.search(outside, made)


def test_every_exhibit_is_on_its_page_and_in_the_contents(book: Book) -> None:
    index, chapter, errata = pages(book)
    for one in book.shown:
        assert f"#{one.exhibit.id}" in index
    for name in ("4.1", "fig4.2", "err.exponent"):
        assert f'id="{name}"' in chapter
    assert "<figure><svg></svg></figure>" in chapter
    assert 'id="err.exponent"' in errata
    assert 'id="4.1"' not in errata


def test_a_page_begins_with_what_it_is_about(book: Book) -> None:
    _, chapter, _ = pages(book)
    assert CHAPTERS[0].idea.split(".")[0] in chapter
    assert chapter.index("The idea.") < chapter.index('id="4.1"')


def test_links_lead_somewhere(book: Book) -> None:
    known = {file_of(chapter) for chapter, _ in book.chapters()} | {"index.html", "errata.html"}
    for made in pages(book):
        assert {link.split("#")[0] for link in re.findall(r'href="([^"]+)"', made)} <= known


def test_made_up_tables_are_said_to_be() -> None:
    book = Book(reproduce("4.1").shown, made_up=True)
    assert "made-up stand-in" in index_html(book)
    assert "made-up stand-in" not in index_html(reproduce("4.1"))
    assert errata_html(book) is None


def test_names_in_notes_are_in_their_own_type() -> None:
    """In what is said of an exhibit and of a cell; neither loses its escapes."""
    said = "drawn by `ask` & <others>"
    one = met("row", "column", "1", 1, right=1, remark=said)
    exhibit = table("0", "title", lambda _: [one], source="Table 0", note=said)
    made = exhibit_html(Shown(exhibit, (one,), None), "1.1", ())
    assert made.count("drawn by <code>ask</code> &amp; &lt;others&gt;") == 2
    assert "`" not in made


# -- save ------------------------------------------------------------------------------------------


def test_pages_pictures_and_numbers_are_written(tmp_path: Path) -> None:
    names = save(reproduce(["fig4.1", "err.shells"]), tmp_path / "new")
    assert sorted(names) == [
        *("errata.html", "figures/fig4.1.png", "figures/fig4.1.svg", "index.html", "noise.html"),
        "papers.json",
    ]
    folder = tmp_path / "new"
    assert (folder / "figures/fig4.1.png").read_bytes().startswith(b"\x89PNG")
    assert "var(--main" in (folder / "noise.html").read_text()
    assert json.loads((folder / "papers.json").read_text())["verdicts"]


def test_without_the_extra_there_are_pages_without_pictures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "can_draw", lambda: False)
    names = save(reproduce("fig4.1"), tmp_path)
    assert sorted(names) == ["index.html", "noise.html", "papers.json"]


def test_a_file_in_the_way_is_refused(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    with pytest.raises(tn.Refused, match="cannot be written"):
        reproduce("4.1").save(tmp_path / "taken")


# -- stand_in --------------------------------------------------------------------------------------


def test_it_has_the_shape_of_the_papers_tables(tmp_path: Path) -> None:
    write_stand_in(tmp_path)
    data = Data(tmp_path)
    assert data.lacking(FILES) == ()
    assert data.census.values.shape == (1080, 13)
    assert data.eia.values.shape == (4092, 11)
    jobs, places = data.adult
    for values, file in ((jobs, FILES[3]), (places, FILES[4])):
        assert set(values) <= set(Taxonomy.load(tmp_path / file).categories)
        assert len(set(values)) > 10
    assert {"FEDTAX", "POTHVAL", "INTVAL", "FICA"} <= set(data.census.names)


def test_it_is_the_same_every_time(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).mkdir()
        write_stand_in(tmp_path / name)
    for file in FILES:
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()
