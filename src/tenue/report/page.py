"""One page of HTML that asks for nothing: style inside, no script, and a policy that says so.

Guarantee
    The browser is told to fetch nothing and to run nothing: only the one style sheet in the page
    counts, by its digest. So even a text that was not escaped could neither run nor phone home.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from pathlib import Path

from ..screen.table import escaped
from .theme import DARK, LIGHT

_SHEET = Path(__file__).parent / "page.css"


def page(title: str, body: str, *, plain: bool = False) -> str:
    """The page.

    Parameters
        title: its name, which is escaped here.
        body: what it holds, of which every text is escaped.
        plain: whether it is one chart, which has no margins to speak of.
    """
    style = sheet()
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    name = "chart" if plain else "report"
    return (
        "<!doctype html>\n"
        '<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escaped(title)}</title>\n<style>{style}</style>\n</head>\n"
        f'<body class="{name}">\n{body}\n</body>\n</html>\n'
    )


@cache
def sheet() -> str:
    """The style sheet: the colours of the theme, light and dark, then the rules."""
    light, dark = (
        "".join(f"--{name}:{colour};" for name, colour in colours.items())
        for colours in (LIGHT, DARK)
    )
    return (
        f":root{{{light}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n"
        + _SHEET.read_text(encoding="utf-8")
    )
