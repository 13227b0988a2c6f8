"""How one `[columns.x]` section becomes a column."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ..column import ROLES, Boolean, Column, Identifier, Mark, Shared
from .categories import read_category
from .interval import read_date, read_datetime, read_number
from .marks import check_categories, marks_of, without_marks
from .section import Section

_SHARED = {"type", "role", "sensitive", "missing"}
KEYS: dict[str, set[str]] = {
    "number": _SHARED | {"bounds", "grid", "expression", "bounds_per_unit"},
    "category": _SHARED | {"categories", "taxonomy"},
    "boolean": _SHARED,
    "date": _SHARED | {"bounds", "grid"},
    "datetime": _SHARED | {"bounds", "grid"},
    "identifier": {"type", "role", "missing"},
}
"""The keys that a column of each type may have."""


def read_column(
    section: Section,
    name: str,
    siblings: Mapping[str, object],
    folder: Path,
    marks: tuple[Mark, ...] = (),
) -> Column | None:
    """The column that the section declares; None if that has mistakes, which are then noted.

    An expression may use `siblings`, the sections of all columns. A taxonomy's file is looked for
    in `folder`. `marks` are those of the whole table.
    """
    fix = 'Write type = "number", or what the column holds'
    kind = section.choice("type", KEYS, required=True, fix=fix)
    if kind is None:
        section.known(set().union(*KEYS.values()), "a column")
        return None
    section.known(KEYS[kind], f"a {kind} column")
    shared = _shared(section, name, kind, marks)
    section = without_marks(section)
    if kind == "number":
        return read_number(section, shared, siblings)
    if kind == "date":
        return read_date(section, shared)
    if kind == "datetime":
        return read_datetime(section, shared)
    if kind == "category":
        column = read_category(section, shared, folder)
        if column is not None:
            check_categories(section, column)
        return column
    if kind == "boolean":
        return Boolean(**shared, missing=section.flag("missing"))
    if "missing" in section:
        allowed = "Nobody has the name of another where there is none"
        section.wrong("missing", allowed, 'List the marks of rows without a name: missing = ["NA"]')
    return Identifier(**shared)


def _shared(section: Section, name: str, kind: str, marks: tuple[Mark, ...]) -> Shared:
    role = section.choice("role", ROLES) or ("identifier" if kind == "identifier" else "other")
    sensitive = "sensitive" in KEYS[kind] and section.flag("sensitive")
    if kind == "identifier" and role != "identifier":
        section.wrong(
            "role",
            'An identifier column has the role "identifier": nothing is known of its values',
            'Remove `role`, or declare another type, such as "category"',
        )
    if sensitive and role != "confidential":
        section.wrong(
            "sensitive",
            "Only a confidential column can be sensitive",
            'Write role = "confidential"',
        )
    found = marks_of(section, kind, marks)
    return {"name": name, "role": role, "sensitive": bool(sensitive), "marks": found}
