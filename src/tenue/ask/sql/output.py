"""SELECT and GROUP BY: the columns of the answer, their names, and keys with public cells."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction
from itertools import chain, combinations
from typing import Literal, get_args

from sqlglot import exp

from ...engine.request import Bin, Calendar, Key
from ...errors import nearest, refuse
from ...schema import Boolean, Bounded, Category, Column, Date, Datetime, Number
from ...schema.case_insensitive import COMPUTED
from ...schema.toml_values import show
from ..question import (
    Aggregate,
    Expression,
    GroupingOutput,
    KeyOutput,
    Output,
    Over,
    aggregates_in,
    every_value,
)
from .aggregate import has_aggregate, read_expression, refuse_function
from .constant import read_constant, sql_name
from .logic import domain
from .scope import Scope, find_column, is_column, read_alias, read_name, read_reference
from .tree import Tree
from .unsupported import list_words
from .value import MOST_KEY_VALUES, is_computed_key, read_argument, read_computed_key

MOST_SETS = 64
_KINDS = (exp.Rollup, exp.Cube, exp.GroupingSets)

KeySet = tuple[Key, ...]
"""The keys of one table, each once."""


def _read_sets(tree: Tree, group: exp.Expr, named: Callable[[exp.Expr], Key]) -> list[KeySet]:
    """The keys of every table, in the order of the question; refused if two tables are the same.

    named: the key that an expression of GROUP BY is.
    """
    found: list[KeySet] = [()]
    for node in tree.listed(group):
        found = [_joined(first, second) for first in found for second in _sets(tree, node, named)]
        _refuse_many(len(found))
    if len({frozenset(keys) for keys in found}) < len(found):
        raise refuse("ask.grouping-set-twice")
    return found


def _sets(tree: Tree, node: exp.Expr, named: Callable[[exp.Expr], Key]) -> list[KeySet]:
    """The tables that one entry of GROUP BY, or of GROUPING SETS, asks for."""
    if type(node) is exp.GroupingSets:
        found = [one for part in tree.listed(node) for one in _sets(tree, part, named)]
        _refuse_many(len(found))
        return found
    if type(node) not in _KINDS:
        return [_keys(tree, node, named)]
    parts = [_keys(tree, part, named) for part in tree.listed(node)]
    sizes = range(len(parts), -1, -1)
    if type(node) is exp.Rollup:
        return [_joined(*parts[:size]) for size in sizes]
    _refuse_many(2 ** min(len(parts), MOST_SETS))
    return [_joined(*some) for size in sizes for some in combinations(parts, size)]


def _keys(tree: Tree, node: exp.Expr, named: Callable[[exp.Expr], Key]) -> KeySet:
    """One key, or several in parentheses, which belong together."""
    node = tree.unwrap(node)
    if type(node) is not exp.Tuple:
        return (named(node),)
    (several,) = tree.read(node, "expressions")
    return _joined(*(_keys(tree, part, named) for part in several or ()))


def _joined(*several: Iterable[Key]) -> KeySet:
    return tuple(dict.fromkeys(chain.from_iterable(several)))


def _refuse_many(many: int) -> None:
    if many > MOST_SETS:
        raise refuse("ask.too-many-grouping-sets", most=MOST_SETS)


# -- Keys whose cells the schema declares, so that no key reveals anything about rows --------------

Part = Literal["year", "quarter", "month", "week", "day", "hour"]
PARTS: tuple[Part, ...] = get_args(Part)
"""What DATE_TRUNC may truncate to; dates have no hour."""

_MOST_CELLS = 100_000
_FEW_CELLS = 100
SECONDS_PER_DAY = 24 * 60 * 60
_DAY_ZERO = date(1970, 1, 1)


def is_key(node: exp.Expr) -> bool:
    """Whether a node is written like a key: a column, BIN, DATE_TRUNC, or what is computed."""
    if is_computed_key(node):
        return True
    if type(node) is exp.Anonymous:
        return isinstance(node.this, str) and node.this.upper() == "BIN"
    return type(node) is exp.TimestampTrunc or is_column(node)


def read_key(tree: Tree, node: exp.Expr, scope: Scope) -> Key:
    """The key that a node is; refused if it is none."""
    if not is_key(node):
        if isinstance(node, exp.Func):
            raise refuse_function(tree, node)
        raise refuse("ask.key-not-allowed")
    if type(node) is exp.Column:
        return _key_of_column(tree, find_column(tree, node, scope))
    if is_computed_key(node):
        found = read_computed_key(tree, node, scope)
        return _key_of_column(tree, found) if isinstance(found, Number) else found
    if type(node) is exp.TimestampTrunc:
        this, unit = tree.parts(node, "this", "unit")
        (part,) = tree.read(unit, "this")
        return _calendar(read_argument(tree, this, scope), str(part).lower())
    (_, arguments) = tree.read(node, "this", "expressions")
    if not arguments or len(arguments) != 2:
        raise refuse("ask.bin-arguments")
    return _bin(read_argument(tree, arguments[0], scope), read_constant(tree, arguments[1]))


def _key_of_column(tree: Tree, column: Column) -> Key:
    """The key that a column is by itself; refused if its cells must be declared in the question."""
    if isinstance(column, Category | Boolean) or column.name in tree.computed:
        return every_value(column)
    if isinstance(column, Date) and column.grid == 1 and column.steps < MOST_KEY_VALUES:
        return _calendar(column, "day")
    if isinstance(column, Bounded) and column.steps < MOST_KEY_VALUES:
        return every_value(column)
    wider = ""
    if isinstance(column, Number):
        wider = _wide_bin(column)
    elif isinstance(column, Date | Datetime):
        wider = _wide_calendar(column)
    fix = f"Write {wider} in SELECT and GROUP BY" if wider else "Group by a category"
    raise refuse("ask.key-type-not-groupable", name=column.name, type=column.type, advice=fix)


def _wide_bin(column: Number) -> str:
    """BIN with the least width of 1, 2 or 5 times a power of ten that makes few cells."""
    low, high = domain(column)
    widths = (digit * 10**power for power in range(400) for digit in (1, 2, 5))
    width = next(w for w in widths if high // w - low // w < _FEW_CELLS)
    return f"BIN({sql_name(column.name)}, {show(width * column.grid)})"


def _wide_calendar(column: Date | Datetime) -> str:
    """DATE_TRUNC to months, or to what makes several cells, and not too many."""
    parts: tuple[Part, ...] = ("month", "day", "hour") if isinstance(column, Datetime) else ("day",)
    for part in ("month", *parts):
        cells = _calendar(column, part).cells
        if cells > MOST_KEY_VALUES:
            break
        if cells > 1:
            return f"DATE_TRUNC('{part}', {sql_name(column.name)})"
    return f"DATE_TRUNC('year', {sql_name(column.name)})"


def refuse_cells(keys: Iterable[Key]) -> None:
    """Refuses keys that have too many cells together."""
    cells = math.prod(key.cells for key in keys)
    if cells > _MOST_CELLS:
        count = f"{cells:,}" if cells < 10**18 else "more than 10^18"
        raise refuse("ask.too-many-cells", count=count, most_cells=_MOST_CELLS)


def _bin(column: Column, width: object) -> Bin:
    if not isinstance(column, Number):
        fix = f"Write DATE_TRUNC('month', {column.name})"
        if not isinstance(column, Bounded):
            fix = f"Write GROUP BY {column.name}"
        raise refuse("ask.bin-of-non-number", name=column.name, type=column.type, advice=fix)
    steps = width / column.grid if type(width) is Fraction else Fraction(0)
    if steps <= 0 or steps.denominator != 1:
        said = f"The width of BIN is {show(width)}" if width is not None else "BIN has no width"
        wider = show(max(1, math.ceil(steps)) * column.grid)
        raise refuse(
            "ask.invalid-bin-width",
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
        raise refuse("ask.truncated-non-date", name=column.name, type=column.type, advice=fix)
    known: tuple[Part, ...] = PARTS if isinstance(column, Datetime) else PARTS[:-1]
    for each in known:
        if part == each:
            first, last = (_index(column, each, end) for end in (column.low, column.high))
            return Calendar(column.name, each, first, last - first + 1)
    raise refuse(
        "ask.unknown-date-part",
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


# SELECT: the columns of the answer and their names, and which of them GROUP BY makes keys.

_MOST_OUTPUTS = 100
_LONGEST = 110  # with a word and a number around it, a name is still one that may be given


@dataclass(frozen=True)
class Selected:
    """One entry of SELECT: a key or an expression.

    alias: its name, if the question gives one.
    column: the first column in it, by the name that the question uses.
    plain: whether it is nothing but that column.
    grouping: the keys of GROUPING, which states whether a row is a total over them.
    """

    alias: str | None
    column: str | None
    plain: bool = False
    key: Key | None = None
    expression: Expression | None = None
    grouping: tuple[Key, ...] = ()

    @property
    def usual_name(self) -> str:
        """Its name if the question gives none."""
        short = _short(self.column or "")
        if self.plain and self.column is not None:
            return self.column
        if self.key is not None and self.key.column.startswith(COMPUTED):
            return f"group_{short}"
        if isinstance(self.key, Bin):
            return f"bin_{short}"
        if isinstance(self.key, Calendar):
            return f"{short}_{self.key.part}"
        if self.key is not None and self.column is not None:
            return self.column
        if isinstance(self.expression, Aggregate):
            asked = self.expression
            kind = asked.name.lower() if asked.kind == "quantile" else asked.kind
            if asked.other is not None:
                both = [n for n in (asked.column or "", asked.other) if not n.startswith(COMPUTED)]
                return "_".join([kind, *map(_short, both)])[:_LONGEST]
            return f"{kind}_{short}" if short and asked.column else kind
        if isinstance(self.expression, Over):
            return self.expression.function
        return f"grouping_{short}" if self.grouping else "value"


def read_selected(tree: Tree, nodes: list[exp.Expr], scope: Scope) -> tuple[Selected, ...]:
    """The entries of SELECT, in order."""
    if len(nodes) > _MOST_OUTPUTS:
        raise refuse("ask.too-many-outputs", many=len(nodes), most_outputs=_MOST_OUTPUTS)
    for node in nodes:
        if type(node) is exp.Alias and type(node.args["alias"]) is exp.Identifier:
            tree.aliases.setdefault(node.alias.lower(), node.this)
    selected = tuple(_selected(tree, node, scope) for node in nodes)
    if not any(entry.expression and aggregates_in(entry.expression) for entry in selected):
        raise refuse("ask.no-aggregate")
    return selected


def read_keys(
    tree: Tree, group: exp.Expr | None, selected: tuple[Selected, ...], scope: Scope
) -> tuple[KeySet, list[KeySet]]:
    """The keys, each once, in the order of SELECT; refused unless all are selected and grouped.

    And those of each table of ROLLUP, CUBE and GROUPING SETS.
    """
    sets: list[KeySet] = []
    if group is not None and any(group.find_all(*_KINDS)):
        sets = _read_sets(tree, group, lambda node: _named(tree, node, selected, scope))
        grouped = _joined(*sets)
    else:
        grouped = _joined(_grouped(tree, group, selected, scope))
        if any(entry.grouping for entry in selected):
            raise refuse("ask.grouping-without-sets")
    chosen = _joined([entry.key for entry in selected if entry.key is not None])
    for key in chosen:
        if key not in grouped:
            raise refuse("ask.not-grouped", column=key.column)
    for key in grouped:
        if key not in chosen:
            raise refuse("ask.key-not-selected", column=key.column)
    for key in chain.from_iterable(entry.grouping for entry in selected):
        if key not in chosen:
            raise refuse("ask.not-grouped", column=key.column)
    refuse_cells(chosen)
    return chosen, sets


def name_outputs(
    selected: tuple[Selected, ...], keys: tuple[Key, ...]
) -> tuple[KeyOutput | Output | GroupingOutput, ...]:
    """The columns of the answer, each under a name of its own, in upper or lower case."""
    taken: set[str] = set()
    for entry in selected:
        if entry.alias is not None:
            if entry.alias.lower() in taken:
                raise refuse("ask.output-named-twice", alias=show(entry.alias))
            taken.add(entry.alias.lower())
    outputs: list[KeyOutput | Output | GroupingOutput] = []
    for entry in selected:
        alias = entry.alias or _free(entry.usual_name, taken)
        if entry.key is not None:
            outputs.append(KeyOutput(alias, keys.index(entry.key)))
        elif entry.expression is not None:
            outputs.append(Output(alias, entry.expression))
        else:
            outputs.append(GroupingOutput(alias, tuple(keys.index(key) for key in entry.grouping)))
    return tuple(outputs)


def place(tree: Tree, node: exp.Expr, count: int) -> int | None:
    """The entry of SELECT that a number refers to, from 0; None if the node is no number."""
    if type(node) is not exp.Literal:
        return None
    value = read_constant(tree, node)
    if isinstance(value, Fraction) and value.denominator == 1 and 1 <= value <= count:
        return int(value) - 1
    raise refuse("ask.position-out-of-range", value=show(value), count=count)


def _selected(tree: Tree, node: exp.Expr, scope: Scope) -> Selected:
    alias = None
    if type(node) is exp.Alias:
        node, name = tree.parts(node, "this", "alias")
        alias = read_alias(tree, name)
    node = tree.unwrap(node)
    column = next((column.name.lower() for column in node.find_all(exp.Column)), None)
    spelled = next((name for name in scope.columns if name.lower() == column), None)
    if type(node) is exp.Grouping:
        return Selected(alias, spelled, grouping=read_grouping(tree, node, scope))
    if is_key(node):
        plain = type(node) is exp.Column
        return Selected(alias, spelled, plain, read_key(tree, node, scope))
    expression = read_expression(tree, node, scope)
    if not has_aggregate(expression):
        raise refuse("ask.constant-output")
    return Selected(alias, spelled, expression=expression)


def _grouped(
    tree: Tree, group: exp.Expr | None, selected: tuple[Selected, ...], scope: Scope
) -> Iterator[Key]:
    if group is not None and group.args.get("all"):
        tree.read(group, "all")
        yield from (entry.key for entry in selected if entry.key is not None)
        return
    for node in tree.listed(group) if group is not None else ():
        yield _named(tree, node, selected, scope)


def _named(tree: Tree, node: exp.Expr, selected: tuple[Selected, ...], scope: Scope) -> Key:
    """The key of an expression of GROUP BY: the key itself, its position or its name."""
    node = tree.unwrap(node)
    at = place(tree, node, len(selected))
    if at is None and is_column(node):
        at = _alias_place(tree, node, selected, scope)
    if at is None:
        return read_key(tree, node, scope)
    key = selected[at].key
    if key is None:
        raise refuse("ask.group-by-aggregate")
    return key


def read_grouping(tree: Tree, node: exp.Expr, scope: Scope) -> tuple[Key, ...]:
    """The keys that GROUPING names."""
    several = [tree.unwrap(part) for part in tree.listed(node)]
    if not all(map(is_key, several)):
        raise refuse("ask.grouping-names-no-key")
    return tuple(read_key(tree, part, scope) for part in several)


def _alias_place(
    tree: Tree, node: exp.Expr, selected: tuple[Selected, ...], scope: Scope
) -> int | None:
    """The entry that a name refers to in GROUP BY, where columns of the table come first."""
    name = read_name(tree, read_reference(tree, node, scope)).lower()
    if name in scope.columns or node.args.get("table") is not None:
        return None
    for at, entry in enumerate(selected):
        if (entry.alias or entry.usual_name).lower() == name:
            return at
    return None


def _short(name: str) -> str:
    return name[:_LONGEST].rstrip(" ")


def _free(name: str, taken: set[str]) -> str:
    free, count = name, 1
    while free.lower() in taken:
        count += 1
        free = f"{_short(name)}_{count}"
    taken.add(free.lower())
    return free
