"""Marks: texts and numbers that a source writes where there is no value, such as "?" or -9.

`missing = ["?", "NA"]` in [table] states them for every column; in a column, a list of its own
takes their place. A value without brackets, `missing = 0`, is something else: what is taken where
there is none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction

from ...arguments import exact
from ..column import Category, Mark
from ..toml_values import show
from .section import Section

_ALLOWED = "A list of marks holds different texts, and numbers where numbers are stored"
_FIX = 'Write missing = ["?", "NA"], or missing = [-9] in a number column'
_UNWRITABLE = re.compile("[\0\ud800-\udfff]")


def read_marks(section: Section, *, numbers: bool) -> tuple[Mark, ...]:
    """The marks in the list `missing` of a section; without `numbers`, only texts may be some."""
    found: list[Mark] = []
    value = section.given("missing", _ALLOWED, _FIX)
    if not isinstance(value, list):
        if value is not None:
            section.wrong("missing", _ALLOWED, _FIX)
        return ()
    for entry, item in enumerate(value):
        mark: Mark | None = None
        if isinstance(item, str) and not _UNWRITABLE.search(item):
            mark = item.strip(" ")
        elif numbers and isinstance(item, int | Decimal) and not isinstance(item, bool):
            given = lambda value: exact(value, "missing")  # noqa: E731
            mark = section.checked(("missing", entry), item, given, _ALLOWED, _FIX)
        if mark is None or mark in found:
            what = f"`missing` has {show(item)}" + " twice" * (mark is not None)
            section.mistakes.add((*section.path, "missing", entry), what, _ALLOWED, _FIX)
        else:
            found.append(mark)
    return tuple(found)


def marks_of(section: Section, kind: str, everywhere: tuple[Mark, ...]) -> tuple[Mark, ...]:
    """The marks of a column: its own list, or those of the table that its type can have."""
    derived = "expression" in section
    if not isinstance(section.values.get("missing"), list):
        texts = tuple(mark for mark in everywhere if isinstance(mark, str) or kind == "number")
        return () if derived else texts
    if derived:
        allowed = "A derived column is computed, and no source marks it"
        section.wrong("missing", allowed, "List the marks in the columns it is derived from")
        return ()
    return read_marks(section, numbers=kind == "number")


def without_marks(section: Section) -> Section:
    """The section without its list of marks, if it has one."""
    if not isinstance(section.values.get("missing"), list):
        return section
    rest: Mapping[str, object] = {k: v for k, v in section.values.items() if k != "missing"}
    return Section(rest, section.path, section.mistakes)


def check_categories(section: Section, column: Category) -> None:
    """Notes every mark that is a category of the column too."""
    for mark in column.marks:
        if mark in column.categories:
            section.mistakes.add(
                (*section.path, "missing"),
                f"{show(mark)} is a category of `{column.name}` and marks a missing value",
                "A text is one or the other",
                "Remove it from one of the two; missing = [] in this section keeps the marks of "
                "[table] out",
                at=section.path,
            )


def spelled(mark: Mark) -> str:
    """The mark as the file may write it, a text in quotes; numbers in one form each."""
    return show(Fraction(mark) if not isinstance(mark, str) else mark)
