"""Reports as pages."""

from __future__ import annotations

import base64
import hashlib
import importlib
import re
from pathlib import Path

import pytest

import tenue as tn
from tenue.report import document as module
from tenue.report.document import (
    Block,
    Bullets,
    Card,
    Cards,
    Document,
    Figure,
    Figures,
    Grid,
    Paragraphs,
    Section,
    page,
    prose,
    sheet,
)
from tenue.report.picture import Curve, Panel, Picture
from tenue.report.plot import PAGES, page_of, write
from tenue.report.theme import DARK, LIGHT


def test_the_policy_lets_only_the_own_style_in() -> None:
    made = page("a", "<p>b</p>")
    style = re.findall(r"<style>(.*?)</style>", made, re.DOTALL)
    assert len(style) == 1
    digest = base64.b64encode(hashlib.sha256(style[0].encode()).digest()).decode()
    policy = re.search(r'Security-Policy" content="([^"]*)"', made)
    assert policy is not None
    assert policy[1].startswith(f"default-src 'none'; style-src 'sha256-{digest}'")
    assert "unsafe" not in policy[1]
    assert made.index("Content-Security-Policy") < made.index("<style>")


def test_a_page_asks_for_nothing() -> None:
    made = page("a", "<p>b</p>")
    assert not re.search(r"<script|https?://|@import|url\(|<link|<iframe| on[a-z]+=", made)


def test_the_title_is_escaped() -> None:
    assert "<title>&lt;/title&gt;&lt;script&gt;</title>" in page("</title><script>", "")


def test_the_sheet_has_both_themes() -> None:
    found = sheet()
    assert f"--ink:{LIGHT['ink']};" in found
    assert f"--ink:{DARK['ink']};" in found
    assert found.index(LIGHT["ink"]) < found.index("prefers-color-scheme:dark")
    assert "</style" not in found


# -- document --------------------------------------------------------------------------------------

NASTY = '<img src=x onerror=alert(1)>`<b>` =HYPERLINK("x") & \''
SECRET, SHOWN = "SECRET", "SHOWN"


def picture(name: str) -> Picture:
    return Picture(name, [Panel([Curve([(0, 1), (1, 2)])])])


def figure(name: str) -> Figure:
    return Figure(picture(name), name, Grid(["a", "b"], [[name, name]]))


def every(text: str, *, holder: bool) -> list[Block]:
    """A block of each kind that says `text` wherever it can."""
    return [
        Paragraphs([text], holder),
        Bullets([text], holder, alarm=True),
        Cards([Card(text, text, text)], holder),
        Grid([text, text], [[text, text]], holder),
        Figures([figure(text)], holder, key=[("main", text)]),
    ]


def test_every_text_is_escaped() -> None:
    blocks = every(NASTY, holder=False)
    page = Document(NASTY, [NASTY], [Section(NASTY, blocks)], keep=NASTY, foot=NASTY).html()
    assert "<img" not in page
    assert "<b>" not in page
    assert "&lt;img src=x onerror=alert(1)&gt;" in page
    assert not re.search(r"<[^>]* on[a-z]+=", page)
    assert "<script" not in page


def test_public_leaves_out_all_that_is_marked_and_nothing_else() -> None:
    """The mutant keeps one block of a mixed section; every kind is tried."""
    mixed = [*every(SECRET, holder=True), *every(SHOWN, holder=False)]
    made = Document("t", [], [Section("mixed", mixed), Section("own", mixed[:5])], keep="KEEP")
    assert made.for_holder
    page = made.html()
    assert page.count("for the holder") == 6  # five blocks of a mixed section, one whole section
    assert "KEEP" in page
    public = made.public()
    assert not public.for_holder
    left = public.html()
    assert SECRET not in left
    assert "for the holder" not in left
    assert "KEEP" not in left
    assert left.count(SHOWN) == Document("t", [], [Section("m", mixed[5:])]).html().count(SHOWN)
    assert ">own<" not in left


def test_others_may_see_another_figure_instead() -> None:
    block = Figures([figure(SECRET)], True, instead=[figure(SHOWN)])
    page = Document("t", [], [Section("s", [block])]).public().html()
    assert SECRET not in page
    assert SHOWN in page
    assert SHOWN not in Document("t", [], [Section("s", [block])]).html()


def test_names_of_drawings_stay_apart() -> None:
    blocks = [Figures([figure("a"), figure("b")]), Figures([figure("c")])]
    page = Document("t", [], [Section("s", blocks)]).html()
    found = re.findall(r'\bid="([^"]+)"', page)
    assert len(found) == len(set(found))
    assert set(re.findall(r"url\(#([^)]+)\)", page)) <= set(found)


def test_without_charts_there_are_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "can_draw", lambda: False)
    page = Document("t", [], [Section("s", [Figures([figure("numbers")])])]).html()
    assert "<svg" not in page
    assert '<th scope="row">numbers</th>' in page
    assert "pip install" in page


def test_names_between_backticks_have_their_own_type() -> None:
    assert prose("`a<b` and `c`") == "<code>a&lt;b</code> and <code>c</code>"


def test_numbers_stand_below_each_other_and_texts_begin_alike() -> None:
    """A mutant that looked at one cell only would push words to the right."""
    rows = [
        ["`a`", "1,024", "5 %", "12"],
        ["`b`", "0.5", "", "mdav"],
        ["`d`", "7", "less than 0.1 %", "4"],
        ["`c`", "infinite", "0 %", "3"],
    ]
    page = Document("t", [], [Section("s", [Grid(["column", "n", "share", "by"], rows)])]).html()
    assert '<td class="number">1,024</td><td class="number">5 %</td><td>12</td>' in page
    assert page.count('<th scope="col" class="number">') == 2
    nameless = Document("t", [], [Section("s", [Grid(["", ""], [["k", "10"]])])]).html()
    assert 'class="number"' not in nameless


def test_a_drawing_for_telephones_stands_beside_the_other() -> None:
    """Their names stay apart: the mutant that gives both one prefix clips one by the other."""
    both = Figures([Figure(picture("roomy"), "c", Grid(["a"], []), picture("small"))])
    page = Document("t", [], [Section("s", [both])]).html()
    assert page.count("<svg") == 2
    assert page.index('class="roomy"') < page.index('class="narrow"')
    names = re.findall(r' id="([^"]+)"', page)
    assert len([name for name in names if name.startswith("c")]) > 1
    assert len(names) == len(set(names))
    assert (
        'class="narrow"' not in Document("t", [], [Section("s", [Figures([figure("x")])])]).html()
    )


@pytest.mark.parametrize("cells", range(1, 8))
def test_a_table_of_many_cells_has_a_rule_for_telephones(cells: int) -> None:
    """Every class that a table gets is in the style sheet, which the mutant forgets for one."""
    head, row = [f"h{at}" for at in range(cells + 1)], ["name", *["1"] * cells]
    made = Grid(head, [row]).html(module.Drawn())
    assert ('class="many' in made) is (cells in (3, 4, 5))
    for name in re.findall(r"cells-[0-9]+", made):
        assert f".{name}{{" in sheet()


# -- write -----------------------------------------------------------------------------------------


class Own:
    def page(self, *, public: bool) -> str:
        return f"public {public}"


def test_an_object_is_asked_for_its_page(tmp_path: Path) -> None:
    write(Own(), tmp_path / "a.html", public=True)
    assert (tmp_path / "a.html").read_text() == "public True"
    found = tn.compare([[1], [2]], [[2], [2]])
    assert "for the holder" in page_of(found)
    assert "for the holder" not in page_of(found, public=True)


def test_what_has_no_report_is_refused(tmp_path: Path) -> None:
    with pytest.raises(tn.Refused, match="There is no report of a int"):
        write(3, tmp_path / "a.html")
    with pytest.raises(tn.Refused, match="does not end in"):
        write(Own(), tmp_path / "a.pdf")
    with pytest.raises(tn.Refused, match="cannot be written"):
        write(Own(), tmp_path / "no" / "a.html")


def test_every_subject_exists() -> None:
    for kind, made in PAGES.items():
        module, _, name = kind.rpartition(".")
        assert isinstance(getattr(importlib.import_module(f"tenue.{module}"), name), type)
        file, _, function = made.partition(":")
        assert callable(getattr(importlib.import_module(f"tenue.report.charts.{file}"), function))
