"""SELECT: the columns of the answer and their names, and which of them GROUP BY makes keys."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from sqlglot import exp

from ...engine.request import Bin, Calendar, Key
from ...errors import refuse
from ...frozen import dataclass
from ...schema.literal import show
from ...schema.named import COMPUTED
from ..question import Aggregate, Expression, GroupingOutput, KeyOutput, Output
from .aggregate import read_expression
from .arithmetic import has_aggregate
from .constant import read_constant
from .group.key import is_key, read_key, refuse_cells
from .group.sets import read_sets
from .scope import Scope, read_alias, read_name, read_reference
from .tree import Tree

_MOST_OUTPUTS = 100
_LONGEST = 110  # with a word and a number around it, a name is still one that may be given


@dataclass(frozen=True)
class Selected:
    """One entry of SELECT: a key or an expression.

    alias: its name, if the question gives one.
    column: the first column in it, by the name that the question uses.
    plain: whether it is nothing but that column.
    grouping: of which keys it says whether a row is about all of them.
    """

    alias: str | None
    column: str | None
    plain: bool = False
    key: Key | None = None
    expression: Expression | None = None
    grouping: tuple[Key, ...] = ()

    @property
    def usual_name(self) -> str:
        """What it is called if the question gives no name."""
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
        return f"grouping_{short}" if self.grouping else "value"


def read_selected(tree: Tree, nodes: list[exp.Expr], scope: Scope) -> tuple[Selected, ...]:
    """The entries of SELECT, in order."""
    if len(nodes) > _MOST_OUTPUTS:
        raise refuse("query.too-many-outputs", many=len(nodes), most_outputs=_MOST_OUTPUTS)
    selected = tuple(_selected(tree, node, scope) for node in nodes)
    if not any(entry.expression for entry in selected):
        raise refuse("query.no-aggregate")
    return selected


def read_keys(
    tree: Tree, group: exp.Expr | None, selected: tuple[Selected, ...], scope: Scope
) -> tuple[Key, ...]:
    """The keys, each once, in the order of SELECT; refused unless all are selected and grouped."""
    grouped = tuple(dict.fromkeys(_grouped(tree, group, selected, scope)))
    if any(entry.grouping for entry in selected):
        raise refuse("query.grouping-without-sets")
    chosen = _chosen(selected, grouped)
    refuse_cells(chosen)
    return chosen


def read_key_sets(
    tree: Tree, group: exp.Expr, selected: tuple[Selected, ...], scope: Scope
) -> tuple[tuple[Key, ...], tuple[tuple[int, ...], ...]]:
    """The same of ROLLUP, CUBE and GROUPING SETS, and which of the keys each table has."""
    sets = read_sets(tree, group, lambda node: _named(tree, node, selected, scope))
    grouped = tuple(dict.fromkeys(key for keys in sets for key in keys))
    chosen = _chosen(selected, grouped)
    for key in (key for entry in selected for key in entry.grouping):
        if key not in chosen:
            raise refuse("query.not-grouped", column=key.column)
    refuse_cells(chosen)
    return chosen, tuple(tuple(sorted(chosen.index(key) for key in keys)) for keys in sets)


def _chosen(selected: tuple[Selected, ...], grouped: tuple[Key, ...]) -> tuple[Key, ...]:
    chosen = tuple(dict.fromkeys(entry.key for entry in selected if entry.key is not None))
    for key in chosen:
        if key not in grouped:
            raise refuse("query.not-grouped", column=key.column)
    for key in grouped:
        if key not in chosen:
            raise refuse("query.key-not-selected", column=key.column)
    return chosen


def name_outputs(
    selected: tuple[Selected, ...], keys: tuple[Key, ...]
) -> tuple[KeyOutput | Output | GroupingOutput, ...]:
    """The columns of the answer, each under a name of its own, in upper or lower case."""
    taken: set[str] = set()
    for entry in selected:
        if entry.alias is not None:
            if entry.alias.lower() in taken:
                raise refuse("query.output-named-twice", alias=show(entry.alias))
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
    """The entry of SELECT that a number means, counted from 0; None if the node is no number."""
    if type(node) is not exp.Literal:
        return None
    value = read_constant(tree, node)
    if isinstance(value, Fraction) and value.denominator == 1 and 1 <= value <= count:
        return int(value) - 1
    raise refuse("query.position-out-of-range", value=show(value), count=count)


def _selected(tree: Tree, node: exp.Expr, scope: Scope) -> Selected:
    alias = None
    if type(node) is exp.Alias:
        node, name = tree.parts(node, "this", "alias")
        alias = read_alias(tree, name)
    node = tree.unwrap(node)
    column = next((column.name.lower() for column in node.find_all(exp.Column)), None)
    spelled = next((name for name in scope.columns if name.lower() == column), None)
    if type(node) is exp.Grouping:
        of = tuple(_of_grouping(tree, part, scope) for part in tree.listed(node))
        return Selected(alias, spelled, grouping=of)
    if is_key(node):
        plain = type(node) is exp.Column
        return Selected(alias, spelled, plain, read_key(tree, node, scope))
    expression = read_expression(tree, node, scope)
    if not has_aggregate(expression):
        raise refuse("query.constant-output")
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
    """The key that an expression of GROUP BY is, by itself, by its place or by its name."""
    node = tree.unwrap(node)
    at = place(tree, node, len(selected))
    if at is None and type(node) is exp.Column and type(node.this) is exp.Identifier:
        at = _alias_place(tree, node, selected, scope)
    if at is None:
        return read_key(tree, node, scope)
    key = selected[at].key
    if key is None:
        raise refuse("query.group-by-aggregate")
    return key


def _of_grouping(tree: Tree, node: exp.Expr, scope: Scope) -> Key:
    """A key that GROUPING names."""
    node = tree.unwrap(node)
    if not is_key(node):
        raise refuse("query.grouping-names-no-key")
    return read_key(tree, node, scope)


def _alias_place(
    tree: Tree, node: exp.Expr, selected: tuple[Selected, ...], scope: Scope
) -> int | None:
    """The entry that a name means in GROUP BY, where a column of the table goes first."""
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
