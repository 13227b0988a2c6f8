"""How one `[columns.x]` section becomes a column."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TypeVar

from ...arguments import above_zero, exact, step_count, whole
from ...errors import Refused, nearest, refuse
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
from .missing_markers import check_categories, marks_of, without_marks
from .section import Section, is_text

# Values are counted in grid steps, and every engine counts in 64-bit integers.
_MOST_STEPS = 2**62
_MICROSECOND = Fraction(1, 10**6)
_NUMBERS = ("`bounds` must be two numbers, the low one first", "Write bounds = [0, 100]")
_SUMS = (
    "`bounds_per_unit` must be two numbers, the low one first",
    "Write bounds_per_unit = [0, 1000]: what the sum of one person's values counts at most",
)
_DATES = (
    "`bounds` must be two dates, the earlier first",
    "Write bounds = [1900-01-01, 2024-12-31]",
)
_DATETIMES = (
    "`bounds` must be two local datetimes, the earlier first",
    "Write bounds = [2020-01-01T00:00:00, 2024-12-31T23:59:59]",
)
_GRID_FIX = "Write grid = 0.01, or the step your values have"

B = TypeVar("B", bound=Bounded)
M = TypeVar("M", Date, Datetime)
Reader = Callable[[str, object, tuple[str | int, ...]], Fraction | None]


def read_number(section: Section, shared: Shared, siblings: Mapping[str, object]) -> Number | None:
    """A number column: both bounds are multiples of the grid."""

    def number(key: str, value: object, place: tuple[str | int, ...]) -> Fraction | None:
        pairs = {"bounds": _NUMBERS, "bounds_per_unit": _SUMS}
        allowed = pairs.get(key, (f"`{key}` must be a number", "Write a number"))
        return section.checked(place, value, lambda given: exact(given, key), *allowed)

    expression = _expression(section, siblings)
    ends, missing = _ends(section, number, _NUMBERS), _missing(section, number)
    grid = section.number(
        "grid",
        lambda value: above_zero(value, "grid"),
        "`grid` must be a decimal above 0: the step between values",
        _GRID_FIX,
        required=False,
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


def read_date(section: Section, shared: Shared) -> Date | None:
    """A date column: the bounds are a whole number of grid steps apart."""
    say = "`grid` must be a whole number of days", "Write grid = 7 for weeks"
    return _read_moment(Date, section, shared, _DATES, _days, say)


def read_datetime(section: Section, shared: Shared) -> Datetime | None:
    """A datetime column: the bounds are a whole number of grid steps apart."""
    say = "`grid` must be a number of seconds above 0", "Write grid = 60 for minutes"
    return _read_moment(Datetime, section, shared, _DATETIMES, _seconds, say)


def _read_moment(
    kind: type[M],
    section: Section,
    shared: Shared,
    say: tuple[str, str],
    step: Callable[[object], Fraction],
    say_grid: tuple[str, str],
) -> M | None:
    number = _moments(section, kind.number)
    ends, missing = _ends(section, number, say), _missing(section, number)
    grid = section.number("grid", step, *say_grid, required=False)
    grid = grid if "grid" in section else Fraction(1)
    if ends is None or grid is None:
        return None
    column = kind(**shared, low=ends[0], high=ends[1], grid=grid)
    return _with_missing(section, column, missing) if _fits(section, column) else None


def _moments(section: Section, number: Callable[[object], Fraction]) -> Reader:
    def moment(key: str, value: object, place: tuple[str | int, ...]) -> Fraction | None:
        try:
            return number(value)
        except Refused as refused:
            section.mistakes.add_refusal((*section.path, *place), refused)
            return None

    return moment


def _ends(
    section: Section, number: Reader, say: tuple[str, str], key: str = "bounds"
) -> tuple[Fraction, Fraction] | None:
    value = section.given(key, *say, required=True)
    if value is None:
        return None
    if not isinstance(value, list) or len(value) != 2:
        section.wrong(key, *say)
        return None
    low, high = (number(key, item, (key, entry)) for entry, item in enumerate(value))
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
    value = section.given("missing", "", "")
    return None if value is None else number("missing", value, ("missing",))


def _with_missing(section: Section, column: B, missing: Fraction | None) -> B | None:
    if missing is None:
        return column
    try:
        return replace(
            column, missing=column.from_steps(column.to_steps(section.values["missing"]))
        )
    except Refused as refused:
        section.mistakes.add_refusal((*section.path, "missing"), refused)
        return None


def _on_grid(
    section: Section, ends: tuple[Fraction, Fraction], grid: Fraction, key: str = "bounds"
) -> bool:
    if any(abs(end / grid) > _MOST_STEPS for end in ends):
        allowed = "A bound may lie 2^62 grid steps from 0"
        section.wrong(key, allowed, "Choose a wider grid, or narrower bounds")
        return False
    try:
        for end in ends:
            step_count(end, grid, key)
    except Refused as refused:
        section.mistakes.add_refusal((*section.path, key), refused)
        return False
    return True


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
    try:
        expression = Expression.parse(text)
    except Refused as refused:
        section.mistakes.add_refusal((*section.path, "expression"), refused)
        return None
    usable = {name.lower(): name for name, stated in siblings.items() if _underived(stated)}
    unusable = [f"`{name}`" for name in expression.names if name.lower() not in usable]
    if not expression.names:
        unusable = ["no column"]
    for name in unusable:
        section.wrong(
            "expression",
            "An expression uses declared number columns that are not derived themselves",
            nearest(name.strip("`"), usable.values()),
            f"`expression` uses {name}",
        )
    return expression


def _underived(stated: object) -> bool:
    if not isinstance(stated, Mapping):
        return False
    return stated.get("type") == "number" and "expression" not in stated


# -- How a category column is read: a flat list, a taxonomy file, or nested tables -----------------

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


# -- How one `[columns.x]` section becomes a column ------------------------------------------------

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
