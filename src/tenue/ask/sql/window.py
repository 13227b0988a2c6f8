"""Windows over the groups of an answer: SUM(COUNT(*)) OVER (ORDER BY month), RANK() OVER (…).

A window stands in SELECT, beside keys of GROUP BY. It sees the private answers of all declared
groups and no row, so it costs nothing. A window over rows has no such meaning and is refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from sqlglot import exp

from ...engine.request import Key
from ...errors import refuse
from ..aggregates.registry import FAMILY_OF
from ..aggregates.windows import MOST_GROUPS
from ..question import Aggregate, Expression, Over, OverFunction, Question, aggregates_in
from .aggregate import has_aggregate, read_expression
from .constant import read_constant
from .output import is_key, read_key
from .scope import Scope, is_column
from .tree import Tree

_OF_ANSWERS: dict[type[exp.Expr], OverFunction] = {
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Min: "min",
    exp.Max: "max",
    exp.Lag: "lag",
    exp.Lead: "lead",
    exp.FirstValue: "first_value",
}
_RANKS: dict[type[exp.Expr], OverFunction] = {
    exp.Rank: "rank",
    exp.DenseRank: "dense_rank",
    exp.RowNumber: "row_number",
}
WINDOWS: dict[type[exp.Expr], OverFunction] = {**_OF_ANSWERS, **_RANKS}
_SORTED = ("lag", "lead", "first_value", *_RANKS.values())
"""Functions without a meaning where the groups have no order."""
_FARTHEST = MOST_GROUPS


def read_window(tree: Tree, node: exp.Expr, scope: Scope) -> Over:
    """The window that a node is; refused if it is one over rows."""
    this, by, order, spec, over = tree.read(node, "this", "partition_by", "order", "spec", "over")
    function = WINDOWS.get(type(this))
    if function is None or over != "OVER":
        raise refuse("ask.unsupported-window")
    of, offset = None, 1
    if function in ("lag", "lead"):
        of, given = tree.read(this, "this", "offset")
        offset = 1 if given is None else _whole(tree, given)
    elif type(this) in _OF_ANSWERS:
        (of,) = tree.read(this, "this")
    else:
        tree.read(this)
    asked = None if of is None else _answer(tree, of, scope)
    if asked is not None:
        _refuse_values(asked)
    keys = tuple(_key(tree, one, scope) for one in by or ())
    sorting = tuple(_sorting(tree, one, scope) for one in tree.listed(order)) if order else ()
    if function in _SORTED and not sorting:
        raise refuse("ask.window-without-order", name=function.upper())
    rows = None if spec is None else _frame(tree, spec)
    if rows is not None and (function in ("lag", "lead", *_RANKS.values()) or not sorting):
        raise refuse("ask.window-frame")
    return Over(function, asked, keys, sorting, rows, offset)


def refuse_windows(question: Question, *, sets: bool) -> None:
    """Refuses windows that do not fit the rest of the question.

    sets: whether it asks for several tables.
    """
    if not question.windows:
        return
    if sets:
        raise refuse("ask.window-with-sets")
    if not question.keys:
        raise refuse("ask.window-without-groups")
    if question.having:
        raise refuse("ask.window-with-having")
    if question.cells > MOST_GROUPS:
        raise refuse("ask.window-too-many-groups", many=question.cells, most=MOST_GROUPS)
    for key in _named(question.windows):
        if key not in question.keys:
            raise refuse("ask.not-grouped", column=key.column)


def _named(windows: Iterable[Over]) -> Iterable[Key]:
    return (key for window in windows for key in window.keys)


def _aliased(tree: Tree, node: exp.Expr, scope: Scope) -> exp.Expr:
    """What a name stands for, if an entry of SELECT has it and no column does."""
    if is_column(node) and node.args.get("table") is None and node.name not in scope.columns:
        entry = tree.aliases.get(node.name.lower())
        if entry is not None:
            tree.read(node, "this")
            tree.read(node.this, "this", "quoted")
            return tree.unwrap(entry)
    return node


def _answer(tree: Tree, node: exp.Expr, scope: Scope) -> Expression:
    """The aggregate, or arithmetic on aggregates, that a window adds up or compares."""
    node = _aliased(tree, tree.unwrap(node), scope)
    if any(node.find_all(exp.Window)):
        raise refuse("ask.window-in-window")
    if not any(node.find_all(exp.AggFunc)):
        raise refuse("ask.unsupported-window")
    found = read_expression(tree, node, scope)
    if not has_aggregate(found):
        raise refuse("ask.unsupported-window")
    return found


def _refuse_values(asked: Expression) -> None:
    """Refuses days and categories, which have no sum and no interval of their own here."""
    for aggregate in aggregates_in(asked):
        if isinstance(aggregate, Aggregate) and FAMILY_OF[aggregate.kind].of_column:
            raise refuse("ask.window-of-values", name=aggregate.name)


def _key(tree: Tree, node: exp.Expr, scope: Scope) -> Key:
    node = _aliased(tree, tree.unwrap(node), scope)
    if not is_key(node):
        raise refuse("ask.window-key")
    return read_key(tree, node, scope)


def _sorting(tree: Tree, node: exp.Expr, scope: Scope) -> tuple[Key | Expression, bool]:
    if type(node) is not exp.Ordered:
        raise refuse("ask.order-not-allowed")
    this, descending = tree.read(node, "this", "desc")
    this = _aliased(tree, tree.unwrap(this), scope)
    if is_key(this):
        return read_key(tree, this, scope), bool(descending)
    found = _answer(tree, this, scope)
    _refuse_values(found)
    return found, bool(descending)


def _whole(tree: Tree, node: exp.Expr) -> int:
    value = read_constant(tree, node)
    if isinstance(value, Fraction) and value.denominator == 1 and 0 <= value <= _FARTHEST:
        return int(value)
    raise refuse("ask.window-frame")


def _frame(tree: Tree, spec: exp.Expr) -> tuple[int | None, int | None]:
    """ROWS BETWEEN n PRECEDING AND m FOLLOWING, CURRENT ROW and UNBOUNDED included."""
    kind, start, side, end, end_side = tree.read(
        spec, "kind", "start", "start_side", "end", "end_side"
    )
    if kind != "ROWS":
        raise refuse("ask.window-frame")
    before = _edge(tree, start, side, "PRECEDING")
    return before, 0 if end is None else _edge(tree, end, end_side, "FOLLOWING")


def _edge(tree: Tree, given: object, side: object, wanted: str) -> int | None:
    if given == "CURRENT ROW":
        return 0
    if side != wanted:
        raise refuse("ask.window-frame")
    if given == "UNBOUNDED":
        return None
    if isinstance(given, exp.Expr):
        return _whole(tree, given)
    raise refuse("ask.window-frame")
