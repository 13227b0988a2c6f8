"""How a category column is read: a flat list, a taxonomy file, or nested tables."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ...errors import Refused
from ...taxonomy import Taxonomy
from ..column import Category, Shared
from ..literal import show
from .section import Section, is_text

_LIST = "`categories` must be a list of different texts, each in quotes"
_LIST_FIX = 'Write categories = ["no", "yes"], or taxonomy = "file.json"'
_TREE = "`taxonomy` must be the name of a file, or categories in nested tables"


def read_category(section: Section, shared: Shared, folder: Path) -> Category | None:
    """A category column; what rows may hold is stated in exactly one way."""
    allowed = f"`missing` must be one of the categories of `{shared['name']}`"
    missing = section.text("missing", allowed, 'Add a category for it, such as "unknown"')
    if "categories" in section and "taxonomy" in section:
        section.wrong(
            "taxonomy",
            "A category column has `categories` or `taxonomy`, not both",
            "Remove one of them",
            "Both `categories` and `taxonomy` are stated",
        )
        return None
    key = "taxonomy" if "taxonomy" in section else "categories"
    try:
        if key == "taxonomy":
            column = _tree(section, shared, folder)
        else:
            column = _flat(section, shared)
    except Refused as refused:
        section.mistakes.add_refusal((*section.path, key), refused)
        return None
    if column is None:
        return None
    empty = [category for category in column.categories if not is_text(category)]
    if empty:
        what = f"A category is {show(empty[0])}"
        section.wrong(key, "A category is text that says something", "Rename it", what)
        return None
    if missing is not None and missing not in column.categories:
        section.wrong("missing", allowed, f"Add {show(missing)} to the categories")
        return None
    return replace(column, missing=missing)


def _flat(section: Section, shared: Shared) -> Category | None:
    value = section.given("categories", _LIST, _LIST_FIX, required=True)
    if value is None:
        return None
    if not isinstance(value, list) or not value:
        section.wrong("categories", _LIST, _LIST_FIX)
        return None
    seen: set[str] = set()
    for entry, category in enumerate(value):
        path = (*section.path, "categories", entry)
        if not is_text(category):
            section.mistakes.add(path, f"A category is {show(category)}", _LIST, _LIST_FIX)
        elif category in seen:
            section.mistakes.add(path, f"{show(category)} stands twice", _LIST, "Remove one")
        else:
            seen.add(category)
    if len(seen) < len(value):
        return None
    return Category(**shared, taxonomy=Taxonomy.flat(value), stated=tuple(value))


def _tree(section: Section, shared: Shared, folder: Path) -> Category | None:
    value = section.given("taxonomy", _TREE, "")
    if isinstance(value, dict):
        return Category(**shared, taxonomy=Taxonomy.from_nested(value), stated=value)
    if is_text(value):
        file = str(value)
        return Category(**shared, taxonomy=Taxonomy.load(folder / file), stated=file)
    if value is not None:
        section.wrong("taxonomy", _TREE, 'Write taxonomy = "occupation.json"')
    return None
