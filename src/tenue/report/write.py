"""`write(x, path)`: a report as one page, of a release, a comparison or a sweep.

As for charts, an object either has its page or `SUBJECTS` names who makes it.
"""

from __future__ import annotations

import importlib
import os
from pathlib import Path

from ..arguments import flag
from ..errors import refuse
from .document import Document

SUBJECTS = {"evaluate.compare.Comparison": "comparison:document"}
"""The kinds of objects of the rooms below, each with its file and function."""


def write(x: object, path: str | os.PathLike[str], *, public: bool = False) -> None:
    """Writes the report of a release, a comparison or a sweep: one page that stands alone.

    Parameters
        x: what `tn.publish`, `tn.compare` or `tn.sweep` gave.
        path: a file whose name ends in .html.
        public: whether what was computed from the original is left out.
    """
    target = Path(path)
    if target.suffix.lower() != ".html":
        raise refuse("report.report-not-html", name=target.name)
    text = page_of(x, public=flag(public, "public"))
    try:
        target.write_text(text, encoding="utf-8")
    except OSError:
        raise refuse("report.chart-not-writable", name=target.name) from None


def page_of(x: object, *, public: bool = False) -> str:
    """The page as text."""
    own = getattr(x, "page", None)
    if callable(own):
        return str(own(public=public))
    package = __name__.split(".")[0]
    for kind in type(x).__mro__:
        name = f"{kind.__module__}.{kind.__qualname__}".removeprefix(f"{package}.")
        if name in SUBJECTS:
            file, _, function = SUBJECTS[name].partition(":")
            home = importlib.import_module(f".charts.{file}", __package__)
            made: Document = getattr(home, function)(x)
            return (made.public() if public else made).html()
    raise refuse("report.nothing-to-report", type=type(x).__name__)
