"""Keys whose cells the schema declares, so that no key tells of a row."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import date, timedelta
from fractions import Fraction
from typing import Literal, get_args

from sqlglot import exp

from ....engine.request import Bin, Calendar, Group, Key
from ....errors import nearest, refuse
from ....schema import Boolean, Bounded, Category, Column, Date, Datetime, Number
from ....schema.literal import show
from ..aggregate import refuse_function
from ..constant import read_constant
from ..logic import domain
from ..row.key import is_computed_key, read_computed_key
from ..scope import Scope, find_column
from ..tree import Tree
from ..unsupported import list_words

Part = Literal["year", "quarter", "month", "week", "day", "hour"]
PARTS: tuple[Part, ...] = get_args(Part)
"""What DATE_TRUNC may truncate to; dates have no hour."""

_MOST_CELLS = 100_000
SECONDS_PER_DAY = 24 * 60 * 60
_DAY_ZERO = date(1970, 1, 1)


def is_key(node: exp.Expr) -> bool:
    """Whether a node is written like a key: a column, BIN, DATE_TRUNC, or what is computed."""
    if is_computed_key(node):
        return True
    if type(node) is exp.Anonymous:
        return isinstance(node.this, str) and node.this.upper() == "BIN"
    return type(node) is exp.TimestampTrunc or (
        type(node) is exp.Column and type(node.this) is exp.Identifier
    )


def read_key(tree: Tree, node: exp.Expr, scope: Scope) -> Key:
    """The key that a node is; refused if it is none."""
    if not is_key(node):
        if isinstance(node, exp.Func):
            raise refuse_function(tree, node)
        raise refuse("query.key-not-allowed")
    if type(node) is exp.Column:
        return key_of_column(find_column(tree, node, scope), tree)
    if is_computed_key(node):
        return read_computed_key(tree, node, scope)
    if type(node) is exp.TimestampTrunc:
        this, unit = tree.parts(node, "this", "unit")
        (part,) = tree.read(unit, "this")
        return _calendar(_argument(tree, this, scope), str(part).lower())
    (_, arguments) = tree.read(node, "this", "expressions")
    if not arguments or len(arguments) != 2:
        raise refuse("query.bin-arguments")
    return _bin(_argument(tree, arguments[0], scope), read_constant(tree, arguments[1]))


def key_of_column(column: Column, tree: Tree | None = None) -> Group | Bin:
    """The key that a column is by itself; refused if its cells must be said.

    tree: where columns that a derived table computes are found.
    """
    known = None if tree is None else tree.computed.get(column.name)
    if known is not None and isinstance(column, Number):
        low, high = int(column.low / column.grid), int(column.high / column.grid)
        return Bin(column.name, 1, low, high - low + 1)
    if isinstance(column, Category):
        return Group(column.name, len(column.categories))
    if isinstance(column, Boolean):
        return Group(column.name, 2)
    fix = "Group by a category"
    if isinstance(column, Number):
        fix = (
            f"Write BIN({column.name}, {show(column.grid)}) or a wider bin, in SELECT and GROUP BY"
        )
    elif isinstance(column, Bounded):
        fix = f"Write DATE_TRUNC('month', {column.name})"
    raise refuse("query.key-type-not-groupable", name=column.name, type=column.type, advice=fix)


def refuse_cells(keys: Iterable[Key]) -> None:
    """Refuses keys that have too many cells together."""
    cells = math.prod(key.cells for key in keys)
    if cells > _MOST_CELLS:
        count = f"{cells:,}" if cells < 10**18 else "more than 10^18"
        raise refuse("query.too-many-cells", count=count, most_cells=_MOST_CELLS)


def _argument(tree: Tree, node: exp.Expr, scope: Scope) -> Column:
    node = tree.unwrap(node)
    if type(node) is exp.Column and type(node.this) is exp.Identifier:
        return find_column(tree, node, scope)
    raise refuse("query.computed-key")


def _bin(column: Column, width: object) -> Bin:
    if not isinstance(column, Number):
        fix = f"Write DATE_TRUNC('month', {column.name})"
        if not isinstance(column, Bounded):
            fix = f"Write GROUP BY {column.name}"
        raise refuse("query.bin-of-non-number", name=column.name, type=column.type, advice=fix)
    steps = width / column.grid if type(width) is Fraction else Fraction(0)
    if steps <= 0 or steps.denominator != 1:
        said = f"The width of BIN is {show(width)}" if width is not None else "BIN has no width"
        wider = show(max(1, math.ceil(steps)) * column.grid)
        raise refuse(
            "query.invalid-bin-width",
            said=said,
            grid=show(column.grid),
            name=column.name,
            wider=wider,
        )
    low, high = domain(column)
    first = low // int(steps)
    return Bin(column.name, int(steps), first, high // int(steps) - first + 1)


def _calendar(column: Column, part: str) -> Calendar:
    if not isinstance(column, Date | Datetime):
        fix = f"Write BIN({column.name}, 10)" if isinstance(column, Bounded) else "Group by it"
        raise refuse("query.truncated-non-date", name=column.name, type=column.type, advice=fix)
    known: tuple[Part, ...] = PARTS if isinstance(column, Datetime) else PARTS[:-1]
    for each in known:
        if part == each:
            first, last = (_index(column, each, end) for end in (column.low, column.high))
            return Calendar(column.name, each, first, last - first + 1)
    raise refuse(
        "query.unknown-date-part",
        name=column.name,
        part=show(part),
        type=column.type,
        known=list_words(known),
        nearest=nearest(part[:100], known),
    )


def _index(column: Date | Datetime, part: Part, value: Fraction) -> int:
    if part == "hour":
        return math.floor(value / 3600)
    days = math.floor(value if isinstance(column, Date) else value / SECONDS_PER_DAY)
    if part == "day":
        return days
    if part == "week":
        return (days + 3) // 7
    day = _DAY_ZERO + timedelta(days=days)
    if part == "year":
        return day.year
    if part == "quarter":
        return day.year * 4 + (day.month - 1) // 3
    return day.year * 12 + day.month - 1
