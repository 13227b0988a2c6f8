"""Reads one `[columns.x]` section of a schema file as a column.

`missing = ["?", "NA"]` lists missing-value markers; in [table] they hold for every column without a
list of its own. `missing = 0`, without brackets, is the value that replaces a missing one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import TypeVar

from ...arguments import above_zero, exact, step_count, whole
from ...errors import nearest, refuse
from ...taxonomy import Taxonomy
from ..column import (
    ROLES,
    Boolean,
    Bounded,
    Category,
    Column,
    Date,
    Datetime,
    Identifier,
    Mark,
    Number,
    Shared,
)
from ..expression import Expression
from ..toml_values import show
from .section import UNWRITABLE, Section, is_text
from .text import KeyPath

# Values are counted in grid steps, and every engine counts in 64-bit integers.
_MOST_STEPS = 2**62
_MICROSECOND = Fraction(1, 10**6)
_NUMBERS = ("`bounds` must be two numbers, the low one first", "Write bounds = [0, 100]")
_SUMS = (
    "`bounds_per_unit` must be two numbers, the low one first",
    "Write bounds_per_unit = [0, 1000], the bounds of the sum of one person's values",
)
_DATES = (
    "`bounds` must be two dates, the earlier first",
    "Write bounds = [1900-01-01, 2024-12-31]",
)
_DATETIMES = (
    "`bounds` must be two local datetimes, the earlier first",
    "Write bounds = [2020-01-01T00:00:00, 2024-12-31T23:59:59]",
)
_MISSING = ("`missing` must be a number", "Write a number")
_GRID_FIX = "Write grid = 0.01, or the step your values have"
_MARKERS = (
    "A list of missing-value markers holds different texts, and numbers where numbers are stored",
    'Write missing = ["?", "NA"], or missing = [-9] in a number column',
)
_LIST = "`categories` must be a list of different texts, each in quotes"
_LIST_FIX = 'Write categories = ["no", "yes"], or taxonomy = "file.json"'
_TREE = "`taxonomy` must be the name of a file, or categories in nested tables"

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

B = TypeVar("B", bound=Bounded)
Say = tuple[str, str]
"""What is allowed, and how to fix it."""
Reader = Callable[[KeyPath, object, Say], Fraction | None]


def read_column(
    section: Section,
    name: str,
    siblings: Mapping[str, object],
    folder: Path,
    markers: tuple[Mark, ...] = (),
) -> Column | None:
    """The column that the section declares; None if it has mistakes, which are then recorded.

    Parameters
        siblings: the sections of all columns, which an expression may use.
        folder: where the file of a taxonomy is looked for.
        markers: the missing-value markers of the whole table.
    """
    fix = 'Write type = "number", or what the column holds'
    kind = section.choice("type", KEYS, required=True, fix=fix)
    if kind is None:
        section.known(set().union(*KEYS.values()), "a column")
        return None
    section.known(KEYS[kind], f"a {kind} column")
    shared = _shared(section, name, kind, markers)
    if _lists_markers(section):
        rest = {key: value for key, value in section.values.items() if key != "missing"}
        section = replace(section, values=rest)
    if kind == "number":
        return _read_number(section, shared, siblings)
    if kind == "date":
        grid = ("`grid` must be a whole number of days", "Write grid = 7 for weeks")
        return _read_moment(Date, section, shared, _DATES, _days, grid)
    if kind == "datetime":
        grid = ("`grid` must be a number of seconds above 0", "Write grid = 60 for minutes")
        return _read_moment(Datetime, section, shared, _DATETIMES, _seconds, grid)
    if kind == "category":
        return _read_category(section, shared, folder)
    if kind == "boolean":
        return Boolean(**shared, missing=section.flag("missing"))
    if "missing" in section:
        allowed = "No value can replace the missing name of a person"
        fix = 'List the missing-value markers of the column: missing = ["NA"]'
        section.wrong("missing", allowed, fix)
    return Identifier(**shared)


def _shared(section: Section, name: str, kind: str, markers: tuple[Mark, ...]) -> Shared:
    role = section.choice("role", ROLES) or ("identifier" if kind == "identifier" else "other")
    sensitive = "sensitive" in KEYS[kind] and section.flag("sensitive")
    if kind == "identifier" and role != "identifier":
        section.wrong(
            "role",
            'An identifier column has the role "identifier": nothing is known of its values',
            'Remove `role`, or declare another type, such as "category"',
        )
    if sensitive and role != "confidential":
        allowed = "Only a confidential column can be sensitive"
        section.wrong("sensitive", allowed, 'Write role = "confidential"')
    marks = _markers_of(section, kind, markers)
    return {"name": name, "role": role, "sensitive": bool(sensitive), "marks": marks}


# -- Missing-value markers -------------------------------------------------------------------------


def read_markers(section: Section, *, numbers: bool) -> tuple[Mark, ...]:
    """The markers in the list `missing` of a section; without `numbers`, only texts may be some."""
    markers: list[Mark] = []
    value = section.valid("missing", lambda value: isinstance(value, list), *_MARKERS)
    for entry, item in enumerate(value or ()):
        marker: Mark | None = None
        if isinstance(item, str) and not UNWRITABLE.search(item):
            marker = item.strip(" ")
        elif numbers and isinstance(item, int | Decimal) and not isinstance(item, bool):
            keys = ("missing", entry)
            marker = section.checked(keys, item, lambda given: exact(given, "missing"), *_MARKERS)
        if marker is None or marker in markers:
            what = f"`missing` has {show(item)}" + " twice" * (marker is not None)
            section.mistakes.add((*section.path, "missing", entry), what, *_MARKERS)
        else:
            markers.append(marker)
    return tuple(markers)


def _lists_markers(section: Section) -> bool:
    return isinstance(section.values.get("missing"), list)


def _markers_of(section: Section, kind: str, markers: tuple[Mark, ...]) -> tuple[Mark, ...]:
    derived = "expression" in section
    if not _lists_markers(section):
        usable = tuple(one for one in markers if isinstance(one, str) or kind == "number")
        return () if derived else usable
    if derived:
        allowed = "A derived column is computed, so no source has missing-value markers in it"
        section.wrong("missing", allowed, "List them in the columns it is derived from")
        return ()
    return read_markers(section, numbers=kind == "number")


# -- Columns with bounds ---------------------------------------------------------------------------


def _read_number(section: Section, shared: Shared, siblings: Mapping[str, object]) -> Number | None:
    """Both bounds are multiples of the grid."""

    def number(keys: KeyPath, value: object, say: Say) -> Fraction | None:
        return section.checked(keys, value, lambda given: exact(given, str(keys[0])), *say)

    expression = _expression(section, siblings)
    ends, missing = _ends(section, number, _NUMBERS), _missing(section, number)
    grid = section.number(
        "grid",
        lambda value: above_zero(value, "grid"),
        "`grid` must be a decimal above 0: the step between values",
        _GRID_FIX,
    )
    if ends is None:
        return None
    if "grid" not in section:
        if any(end.denominator != 1 for end in ends):
            allowed = "The grid must be stated, unless both bounds are whole numbers"
            section.given("grid", allowed, _GRID_FIX, required=True)
            return None
        grid = Fraction(1)
    if grid is None or not _on_grid(section, ends, grid):
        return None
    sums = None
    if "bounds_per_unit" in section:
        sums = _ends(section, number, _SUMS, "bounds_per_unit")
        if sums is None or not _on_grid(section, sums, grid, "bounds_per_unit"):
            return None
    column = Number(
        **shared,
        low=ends[0],
        high=ends[1],
        grid=grid,
        expression=expression,
        bounds_per_unit=sums,
        assumed_grid="grid" not in section,
    )
    return _with_missing(section, column, missing)


def _read_moment(
    kind: type[Date] | type[Datetime],
    section: Section,
    shared: Shared,
    say: Say,
    step: Callable[[object], Fraction],
    say_grid: Say,
) -> Date | Datetime | None:
    """The bounds are a whole number of grid steps apart."""

    def number(keys: KeyPath, value: object, _: Say) -> Fraction | None:
        return section.attempt(keys, lambda: kind.number(value))

    ends, missing = _ends(section, number, say), _missing(section, number)
    grid = section.number("grid", step, *say_grid) if "grid" in section else Fraction(1)
    if ends is None or grid is None:
        return None
    column = kind(**shared, low=ends[0], high=ends[1], grid=grid)
    return _with_missing(section, column, missing) if _fits(section, column) else None


def _ends(
    section: Section, number: Reader, say: Say, key: str = "bounds"
) -> tuple[Fraction, Fraction] | None:
    value = section.valid(
        key, lambda value: isinstance(value, list) and len(value) == 2, *say, required=True
    )
    if value is None:
        return None
    low, high = (number((key, entry), item, say) for entry, item in enumerate(value))
    if low is None or high is None:
        return None
    if low >= high:
        fix = "State the least and the greatest value that any row could hold"
        if low > high:
            fix = f"Write {key} = [{show(value[1])}, {show(value[0])}]"
        section.wrong(key, "The low bound must lie below the high one", fix)
        return None
    return low, high


def _missing(section: Section, number: Reader) -> Fraction | None:
    value = section.given("missing", *_MISSING)
    return None if value is None else number(("missing",), value, _MISSING)


def _with_missing(section: Section, column: B, missing: Fraction | None) -> B | None:
    if missing is None:
        return column
    steps = section.attempt(("missing",), lambda: column.to_steps(section.values["missing"]))
    return None if steps is None else replace(column, missing=column.from_steps(steps))


def _on_grid(
    section: Section, ends: tuple[Fraction, Fraction], grid: Fraction, key: str = "bounds"
) -> bool:
    if any(abs(end / grid) > _MOST_STEPS for end in ends):
        allowed = "A bound may lie 2^62 grid steps from 0"
        section.wrong(key, allowed, "Choose a wider grid, or narrower bounds")
        return False
    counts = section.attempt((key,), lambda: [step_count(end, grid, key) for end in ends])
    return counts is not None


def _fits(section: Section, column: Bounded) -> bool:
    steps = (column.high - column.low) / column.grid
    if steps.denominator == 1:
        return True
    fix = "Choose a finer grid"
    if steps > 1:
        shorter = replace(column, high=column.low + int(steps) * column.grid)
        fix = f"End at {show(shorter.bounds[1])}, or choose a finer grid"
    section.wrong("bounds", "The bounds must lie a whole number of grid steps apart", fix)
    return False


def _days(value: object) -> Fraction:
    return Fraction(whole(value, "grid", least=1))


def _seconds(value: object) -> Fraction:
    grid = above_zero(value, "grid")
    if (grid / _MICROSECOND).denominator != 1:
        raise refuse("schema.too-many-second-decimals", value=show(value))
    return grid


def _expression(section: Section, siblings: Mapping[str, object]) -> Expression | None:
    text = section.text(
        "expression",
        "`expression` must be text: arithmetic on other number columns",
        'Write expression = "price * quantity"',
    )
    if text is None:
        return None
    expression = section.attempt(("expression",), lambda: Expression.parse(text))
    if expression is None:
        return None
    usable = {name.lower(): name for name, stated in siblings.items() if _underived(stated)}
    unusable = [f"`{name}`" for name in expression.names if name.lower() not in usable]
    for name in unusable if expression.names else ["no column"]:
        section.wrong(
            "expression",
            "An expression uses declared number columns that are not derived themselves",
            nearest(name.strip("`"), usable.values()),
            f"`expression` uses {name}",
        )
    return expression


def _underived(stated: object) -> bool:
    return (
        isinstance(stated, Mapping)
        and stated.get("type") == "number"
        and "expression" not in stated
    )


# -- Categories: a flat list, a taxonomy file, or nested tables ------------------------------------


def _read_category(section: Section, shared: Shared, folder: Path) -> Category | None:
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
    if "taxonomy" in section:
        key = "taxonomy"
        column = section.attempt((key,), lambda: _tree(section, shared, folder))
    else:
        key = "categories"
        column = section.attempt((key,), lambda: _flat(section, shared))
    if column is None:
        return None
    blank = [category for category in column.categories if not is_text(category)]
    if blank:
        what = f"A category is {show(blank[0])}"
        section.wrong(key, "A category is text that is not blank", "Rename it", what)
        return None
    if missing is not None and missing not in column.categories:
        section.wrong("missing", allowed, f"Add {show(missing)} to the categories")
        return None
    for marker in column.marks:
        if marker in column.categories:
            section.mistakes.add(
                (*section.path, "missing"),
                f"{show(marker)} is both a category of `{column.name}` and a missing-value marker",
                "A text is one or the other",
                "Remove it from one of the two; missing = [] in this section overrides the "
                "missing-value markers of [table]",
                at=section.path,
            )
    return replace(column, missing=missing)


def _flat(section: Section, shared: Shared) -> Category | None:
    value = section.valid(
        "categories",
        lambda value: isinstance(value, list) and bool(value),
        *(_LIST, _LIST_FIX),
        required=True,
    )
    if value is None:
        return None
    seen: set[str] = set()
    for entry, category in enumerate(value):
        path = (*section.path, "categories", entry)
        if not is_text(category):
            section.mistakes.add(path, f"A category is {show(category)}", _LIST, _LIST_FIX)
        elif category in seen:
            section.mistakes.add(path, f"{show(category)} is listed twice", _LIST, "Remove one")
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
