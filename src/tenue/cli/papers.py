"""Compute the tables and figures of the papers again, beside the printed ones."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TextIO

from ..text import text_table
from .messages import spoken
from .options import AsJson
from .parser import UNMET, Option, say

Tell = Callable[[str, int, int], None]
_LONG = 20
_CLEAR = "\r\x1b[K"


def line(stream: TextIO | None = None) -> Tell | None:
    """A progress line on standard error, which the last step clears; None unless a terminal."""
    out = sys.stderr if stream is None else stream
    if not out.isatty():
        return None

    def tell(name: str, done: int, of: int) -> None:
        full = _LONG * done // of
        bar = "█" * full + "░" * (_LONG - full)
        out.write(f"{_CLEAR}{bar} {done}/{of}  {name}{_CLEAR if done + 1 == of else ''}")
        out.flush()

    return tell


def papers(
    listed: Annotated[
        bool, Option("List all tables and figures, and stop.", names=("--list",))
    ] = False,
    only: Annotated[
        list[str] | None, Option("A table, a figure or a chapter: 4.1, fig4.2", value="NAME")
    ] = None,
    out: Annotated[
        Path | None, Option("Where the book goes: pages, pictures, numbers.", value="FOLDER")
    ] = None,
    data: Annotated[
        Path | None,
        Option(
            "The folder with census.csv, eia.csv, adult.csv; else that of TENUE_DATA.",
            value="FOLDER",
        ),
    ] = None,
    stand_in: Annotated[bool, Option("Use made-up tables of the same shape instead.")] = False,
    as_json: AsJson = False,
) -> None:
    """Reproduce the papers, beside the printed numbers. Computes every table and figure again.

    Example
        tenue papers --only 4.1 --stand-in
    """
    from tenue_papers.catalogue import chosen

    if listed:
        _list(chosen(only), as_json)
        return
    from tenue_papers.outcome import one_exhibit
    from tenue_papers.reproduce import reproduce

    with spoken():
        book = reproduce(only, data=data, stand_in=stand_in, progress=None if as_json else line())
        files = [] if out is None else book.save(out)
    if as_json:
        say(json.dumps({**book.to_dict(), "files": files}, ensure_ascii=False))
    elif only is not None:
        say("\n\n".join(one_exhibit(shown) for shown in book.shown))
    else:
        say(str(book))
    if files and not as_json:
        say(f"\n{len(files)} files in {out}. Open {Path(str(out)) / 'index.html'}.")
    if book.broken and not stand_in:
        sys.stderr.write(f"Neither the print nor the right value: {', '.join(book.broken)}.\n")
        raise SystemExit(UNMET)


def _list(wanted: list[Any], as_json: bool) -> None:
    from tenue_papers.catalogue import CHAPTERS

    if as_json:
        names = ("id", "kind", "title", "source", "needs")
        rows = [{name: getattr(one, name) for name in names} for one in wanted]
        say(json.dumps({"exhibits": rows}, ensure_ascii=False))
        return
    lines: list[str] = []
    for chapter in CHAPTERS:
        own = [one for one in chapter.exhibits if one in wanted]
        if own:
            table = text_table([[one.id, _kind(one), one.title] for one in own], left=3)
            lines += ["", f"{chapter.id}: {chapter.title}", *(f"  {line}" for line in table)]
    say("\n".join(lines[1:]))
    if any(one.needs for one in wanted):
        say("\n* needs data: --data names its folder, --stand-in makes tables up.")


def _kind(exhibit: Any) -> str:
    return f"{exhibit.kind} *" if exhibit.needs else str(exhibit.kind)
