from __future__ import annotations

import base64
import hashlib
import re

import pytest

from tenue.papers.book.page import chapter_html, errata_html, exhibit_html, file_of, index_html
from tenue.papers.catalogue import CHAPTERS
from tenue.papers.cell import met
from tenue.papers.data import FOLDER
from tenue.papers.exhibit import Shown, table
from tenue.papers.reproduce import Book, reproduce


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
    exhibit = table("0", "title", "Table 0", lambda _: [one], note=said)
    made = exhibit_html(Shown(exhibit, (one,), None), "1.1", ())
    assert made.count("drawn by <code>ask</code> &amp; &lt;others&gt;") == 2
    assert "`" not in made
