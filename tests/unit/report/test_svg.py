from __future__ import annotations

import re

import pytest

from tenue.report.svg import fitted
from tenue.report.theme import LIGHT

DRAWN = (
    '<svg xmlns="http://www.w3.org/2000/svg" version="1.1" class="marks" width="350" height="247" '
    f'viewBox="0 0 350 247"><rect width="350" height="247" fill="{LIGHT["paper"]}"/>'
    '<clipPath id="clip0"/><g clip-path="url(#clip0)" class="mark" aria-hidden="true">'
    f'<path d="M0,0h0v0h0Z"/><text fill="{LIGHT["ink"]}">fill="#1c2733" id="clip0"</text></g></svg>'
)


def test_a_drawing_says_what_it_shows() -> None:
    made = fitted(DRAWN, "a <b> & c")
    assert "<title>a &lt;b&gt; &amp; c</title>" in made
    assert 'viewBox="0 0 350 247"' in made
    assert "class=" not in made
    assert "aria-hidden" not in made


def test_two_drawings_on_a_page_do_not_share_names() -> None:
    made = fitted(DRAWN.replace("clip0", "clip17"), "a", "p3-")
    assert 'id="p3-0"' in made
    assert "url(#p3-0)" in made
    assert "clip17" not in made.replace('id="clip17"</text>', "")


def test_colours_follow_the_page_and_texts_stay() -> None:
    made = fitted(DRAWN, "a", variable=True)
    assert f'fill="var(--ink, {LIGHT["ink"]})"' in made
    assert f'fill="var(--paper, {LIGHT["paper"]})"' in made
    assert '>fill="#1c2733" id="clip0"</text>' in made  # a text that looks like an attribute
    assert not re.search(r'(?<=[a-z])="#[0-9a-f]{6}"(?=[^<]*>)', made)


def test_what_is_no_drawing_is_a_fault() -> None:
    with pytest.raises(ValueError, match="no drawing"):
        fitted("<p>", "a")
