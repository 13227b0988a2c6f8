"""JOIN with a public lookup: a recoding of a category, which costs nothing.

What a lookup says of a category is a function of the category, so that its columns are computed
ones. An INNER JOIN leaves only rows whose category is a key: how many these are is secret. A LEFT
JOIN keeps all rows, and what is not a key has no value.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from sqlglot import exp

from ....engine.formula import Choice, Sum
from ....engine.predicate import Among
from ....errors import Refused, refuse
from ....schema import Category, Column, Named
from ....schema.literal import show
from ....schema.lookup import Cell, Lookup
from ....taxonomy import Taxonomy
from ...question import ComputedColumn
from ..logic import held
from ..predicate import find_categories
from ..scope import Scope, find_column, read_alias, read_name
from ..tree import Tree
from ..unsupported import refuse_word
from .amount import chosen, constant
from .key import labelled_name
from .value import computed_column, is_column

_SHOWN = 3


def join(tree: Tree, scope: Scope, joins: list[exp.Expr]) -> Scope:
    """The scope with the columns of all lookups that are joined."""
    for node in joins:
        scope = _joined(tree, scope, node)
    return scope


def _joined(tree: Tree, scope: Scope, node: exp.Expr) -> Scope:
    this, side, kind, using, on = tree.read(node, "this", "side", "kind", "using", "on")
    if type(this) is not exp.Table or type(this.this) is not exp.Identifier:
        raise _refused(scope)
    given, alias = tree.read(this, "this", "alias")
    lookup = scope.schema.lookups.get(read_name(tree, given))
    known = (side, kind) in ((None, None), (None, "INNER"), ("LEFT", None), ("LEFT", "OUTER"))
    if lookup is None or not known or scope.persons is not None:
        raise _refused(scope)
    title = lookup.name
    if alias is not None:
        (name,) = tree.parts(alias, "this")
        title = read_alias(tree, name)
    if title.lower() in {(scope.title or "").lower(), *scope.others}:
        raise refuse("query.name-defined-twice", name=show(title))
    column = _key(tree, scope, lookup, title, using, on)
    columns = _columns(tree, scope, column, lookup)
    free = [(name, one) for name, one in columns.items() if name not in scope.columns]
    joined = replace(
        scope,
        columns=Named([*scope.columns.items(), *free]),
        others={**scope.others, title.lower(): columns},
    )
    if side == "LEFT":
        return joined
    matched = [value for value in column.categories if value in lookup.keys]
    return joined.among(held(column, *find_categories(column, matched)))


def _key(
    tree: Tree, scope: Scope, lookup: Lookup, title: str, using: Any, on: exp.Expr | None
) -> Category:
    """The category of the table that the key of the lookup is compared with."""
    found: Column | None = None
    if using and len(using) == 1 and on is None:
        name = read_name(tree, using[0])
        found = scope.columns.get(name) if name.lower() == lookup.key.lower() else None
    elif type(on) is exp.EQ and not using:
        sides = [tree.unwrap(part) for part in tree.parts(on, "this", "expression")]
        own = [part for part in sides if not _is_key(tree, part, lookup, title)]
        if len(own) == 1 and is_column(own[0]):
            found = find_column(tree, own[0], scope)
    if isinstance(found, Category) and found.name in scope.schema.columns:
        _refuse_names(found, scope)
        return found
    raise refuse("query.lookup-key-missing", name=lookup.name, key=lookup.key)


def _refuse_names(column: Column, scope: Scope) -> None:
    """Refuses a column that names people."""
    is_unit = column.name.lower() == scope.schema.unit.lower()
    if is_unit or column.role == "identifier":
        raise refuse(
            "query.identifier-in-question",
            name=column.name,
            word="the unit that is protected" if is_unit else "an identifier",
        )


def _is_key(tree: Tree, node: exp.Expr, lookup: Lookup, title: str) -> bool:
    """Whether a side of ON is the key of the lookup, by its title."""
    table = node.args.get("table") if is_column(node) else None
    if table is None or table.name.lower() != title.lower():
        return False
    this, of = tree.parts(node, "this", "table")
    read_name(tree, of)
    return read_name(tree, this).lower() == lookup.key.lower()


def _columns(tree: Tree, scope: Scope, column: Category, lookup: Lookup) -> Named[Column]:
    places = {key: place for place, key in enumerate(lookup.keys)}
    found: list[tuple[str, Column]] = []
    for name, cells in lookup.columns.items():
        groups: dict[Cell, list[str]] = {}
        for category in column.categories:
            cell = cells[places[category]] if category in places else None
            if cell is not None:
                groups.setdefault(cell, []).append(category)
        if groups:
            found.append((name, _recoded(tree, scope, column, groups)))
    return Named(found)


def _recoded(tree: Tree, scope: Scope, column: Category, groups: dict[Cell, list[str]]) -> Column:
    """The column that has one value for each group of categories."""
    whens = [(Among(column.name, tuple(of)), cell) for cell, of in groups.items()]
    tree.recoded += len(column.categories) + len(column.name) * len(groups)
    if all(isinstance(cell, Fraction) for cell in groups):
        numbers = [(when, constant(cell)) for when, cell in whens if isinstance(cell, Fraction)]
        return computed_column(tree, chosen(numbers), scope)
    labels = tuple(str(cell) for cell in groups)
    pairs = [(when, label) for (when, _), label in zip(whens, labels, strict=True)]
    formula = Choice(tuple((when, Sum(i)) for i, (when, _) in enumerate(pairs)))
    name = labelled_name(tree, scope, pairs, None)
    tree.computed[name] = ComputedColumn(name, formula, labels=labels)
    tree.columns[name] = Category(
        name=name, role="other", taxonomy=Taxonomy.flat(labels), stated=labels
    )
    return tree.columns[name]


def _refused(scope: Scope) -> Refused:
    lookups = scope.schema.lookups.values()
    if not lookups:
        return refuse_word("JOIN")
    joins = [f"LEFT JOIN {lookup.name} USING ({lookup.key})" for lookup in lookups][:_SHOWN]
    return refuse("query.join-not-a-lookup", joins=" or ".join(joins))
