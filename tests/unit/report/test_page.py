from __future__ import annotations

import base64
import hashlib
import re

from tenue.report.page import page, sheet
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
