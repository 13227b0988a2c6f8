"""The report in a real browser: it asks for nothing, says nothing, fits a phone, and stays text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import tenue as tn
from browser import Browser, chromium
from unit.publish.census import people, schema

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.any_draw("looks at a page")]

CANARY = "<img src=http://example.invalid/x onerror=console.log(1)>"
FORMULA = '=HYPERLINK("http://example.invalid","y")'
HIDDEN = (
    "[...document.querySelectorAll('.wide, figure')]"
    ".filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.textContent.slice(0, 60))"
)
WIDTHS = (390, 1280, 1920)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with chromium(tmp_path_factory.mktemp("profile")) as found:
        yield found


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A release, its public report, a sweep, and a comparison full of canaries."""
    folder = tmp_path_factory.mktemp("pages")
    table = people(note=[CANARY if i % 2 else FORMULA for i in range(60)])
    words = schema(note={"categories": [CANARY, FORMULA]})
    release = tn.publish(table, schema=words, method="swap", k=4, ledger=False)
    (folder / "holder.html").write_text(release.page())
    (folder / "public.html").write_text(release.page(public=True))
    found = tn.sweep(table, schema=words, k=[3, 6], methods=["swap", "microaggregate"])
    tn.report.write(found, folder / "sweep.html")
    hostile = pa.table({CANARY: [CANARY, FORMULA] * 20, FORMULA: list(range(40))})
    beside = tn.compare(hostile, hostile, quasi_identifiers=[CANARY], confidential=[FORMULA])
    tn.report.write(beside, folder / "compared.html")
    return {path.stem: path for path in folder.iterdir()}


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["holder", "public", "sweep", "compared"])
def test_a_page_is_quiet_and_fits(
    browser: Browser, pages: dict[str, Path], name: str, width: int, dark: bool
) -> None:
    page = browser.open(pages[name], width=width, dark=dark)
    assert page.requests == [pages[name].as_uri()]
    assert page.messages == []
    wide = page.value("document.documentElement.scrollWidth")
    assert wide <= width, f"{name} can be scrolled sideways: {wide} > {width}"
    assert page.value(HIDDEN) == [], "part of a table or a chart must be scrolled to"
    paper = page.value("getComputedStyle(document.documentElement).backgroundColor")
    assert (paper == "rgb(255, 255, 255)") is not dark
    assert page.value("document.querySelectorAll('svg').length") > 0
    ink = "getComputedStyle(document.querySelector('svg text')).fill"
    assert page.value(ink) != paper


@pytest.mark.parametrize("name", ["holder", "compared"])
def test_canaries_stay_text(browser: Browser, pages: dict[str, Path], name: str) -> None:
    page = browser.open(pages[name], width=1280)
    assert page.value("document.querySelectorAll('img, script, iframe, link').length") == 0
    shown = page.value("document.documentElement.textContent")
    assert CANARY[:15] in shown
    assert FORMULA[:11] in shown
    handlers = (
        "[...document.querySelectorAll('*')].flatMap(e => [...e.attributes])"
        ".filter(a => a.name.startsWith('on') || (a.name != 'xmlns' && /^http/.test(a.value)))"
        ".length"
    )
    assert page.value(handlers) == 0


def test_a_policy_that_lets_in_is_seen(browser: Browser, tmp_path: Path) -> None:
    """What these tests would miss: a page that asks and speaks is told apart."""
    loud = tmp_path / "loud.html"
    wide = "<p style='width:2000px'>x</p>"
    box = f"<div class='wide' style='overflow:auto'>{wide}</div>"
    loud.write_text(f"{wide}{box}{CANARY}<script>console.log('hi')</script>")
    page = browser.open(loud, width=390)
    assert page.value("document.documentElement.scrollWidth") > 390
    assert page.value(HIDDEN) == ["x"]
    assert any("example.invalid" in address for address in page.requests)
    assert page.messages != []


@pytest.mark.parametrize("width", [390])
def test_the_policy_stops_what_was_not_escaped(
    browser: Browser, pages: dict[str, Path], tmp_path: Path, width: int
) -> None:
    """A second wall: markup that slipped into a page neither runs nor fetches."""
    text = pages["holder"].read_text()
    broken = tmp_path / "broken.html"
    broken.write_text(
        text.replace("</main>", f"{CANARY}<script>document.title='x'</script></main>")
    )
    page = browser.open(broken, width=width)
    assert not any(address.startswith("http") for address in _done(page))
    assert page.value("document.title") != "x"


def _done(page: Any) -> list[str]:
    """The addresses that were really asked for: those that the policy stopped are in messages."""
    stopped = " ".join(page.messages)
    return [address for address in page.requests if address not in stopped]
