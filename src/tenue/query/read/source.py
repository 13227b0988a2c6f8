"""FROM: the one table, under any number of CTEs and derived tables.

They only choose, rename and filter columns, so each of them is folded away: its names lead to
declared columns, its conditions to the rows that are left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlglot import exp

from ...errors import nearest, refuse
from ...schema import Column, Named, Table
from ...schema.literal import show
from .predicate import Conditions
from .row.joined import join
from .row.key import labelled_column
from .row.person import persons_scope
from .row.value import computed_column, is_computed, read_value
from .scope import Scope, find_column, read_alias, read_name, read_reference, start
from .tree import Tree

_Known = Mapping[str, Scope]
"""The tables a FROM may name, by their names in lower case."""


def read_source(
    tree: Tree,
    conditions: Conditions,
    schema: Table,
    from_: exp.Expr,
    with_: exp.Expr | None,
    joins: list[exp.Expr] | None = None,
) -> Scope:
    """The scope of the outermost SELECT, whose FROM, JOINs and WITH these are."""
    known: dict[str, Scope] = {schema.name.lower(): start(schema)}
    defined: set[str] = set()
    for cte in tree.listed(with_) if with_ is not None else ():
        select, alias = tree.parts(cte, "this", "alias")
        name = _title(tree, alias) or ""
        if name.lower() in defined:
            raise refuse("query.name-defined-twice", name=show(name))
        defined.add(name.lower())
        known[name.lower()] = _folded(tree, conditions, known, select).named(name)
    return join(tree, _from(tree, conditions, known, from_), joins or [])


def _title(tree: Tree, alias: exp.Expr | None) -> str | None:
    name = None if alias is None else tree.read(alias, "this")[0]
    return None if name is None else read_alias(tree, name)


def _from(tree: Tree, conditions: Conditions, known: _Known, from_: exp.Expr | None) -> Scope:
    source = None if from_ is None else tree.read(from_, "this")[0]
    if type(source) is exp.Subquery:
        select, alias = tree.read(source, "this", "alias")
        return _folded(tree, conditions, known, select).named(_title(tree, alias))
    if type(source) is not exp.Table or type(source.this) is not exp.Identifier:
        raise refuse("query.no-table")
    name, alias = tree.read(source, "this", "alias")
    title = read_name(tree, name)
    scope = known.get(title.lower())
    if scope is None:
        raise refuse(
            "query.unknown-table",
            title=show(title),
            nearest=nearest(title[:100], (found.title or "" for found in known.values())),
        )
    return scope.named(_title(tree, alias) or scope.title)


def _folded(tree: Tree, conditions: Conditions, known: _Known, select: exp.Expr) -> Scope:
    """The scope that a CTE or a derived table offers."""
    if type(select) is not exp.Select:
        raise refuse("query.derived-not-a-select")
    chosen, from_, where, group, joins = tree.read(
        select, "expressions", "from_", "where", "group", "joins"
    )
    inner = join(tree, _from(tree, conditions, known, from_), joins or [])
    left = inner.among(conditions.read_where(where, inner))
    if group is not None:
        return persons_scope(tree, chosen or [], group, left)
    columns: dict[str, tuple[str, Column]] = {}
    for expression in chosen:
        for name, column in _projected(tree, expression, inner):
            if name.lower() in columns:
                raise refuse("query.derived-duplicate-column", name=show(name))
            columns[name.lower()] = name, column
    if not columns:
        raise refuse("query.derived-without-columns")
    return Scope(inner.schema, None, Named(columns.values()), left.rows, inner.persons)


def _projected(tree: Tree, node: exp.Expr, scope: Scope) -> Iterator[tuple[str, Column]]:
    alias = None
    if type(node) is exp.Alias:
        node, alias = tree.parts(node, "this", "alias")
    if type(node) is exp.Column and type(node.this) is exp.Identifier:
        column = find_column(tree, node, scope)
        yield node.name if alias is None else read_alias(tree, alias), column
        return
    named = None if alias is None else labelled_column(tree, node, scope)
    if alias is not None and named is not None:
        yield read_alias(tree, alias), named
        return
    if is_computed(node) and alias is not None:
        amount = read_value(tree, node, scope)
        yield read_alias(tree, alias), computed_column(tree, amount, scope)
        return
    if type(node) is exp.Column and type(node.this) is exp.Star:
        node = read_reference(tree, node, scope)
    if type(node) is not exp.Star or alias is not None:
        raise refuse("query.derived-unnamed-expression")
    tree.read(node)
    yield from scope.columns.items()
