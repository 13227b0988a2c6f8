"""The names a SELECT may use, and the rows it starts from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeGuard

from sqlglot import exp

from ...errors import nearest, refuse
from ...schema import Column, Identifier, Named, Table
from ...schema.case_insensitive import is_column_name
from ...schema.toml_values import show
from ..question import Persons
from .logic import Rows, several
from .pieces import written
from .tree import Tree


@dataclass(frozen=True)
class Scope:
    """The names and rows that are visible in one SELECT.

    title: the name that may stand before a column's, as in t.income.
    columns: the declared columns by the names they have here.
    rows: the condition of its rows; None for all.
    persons: the table of persons, if each row is one person.
    others: the columns of lookups that are joined, by their titles in lower case.
    """

    schema: Table
    title: str | None
    columns: Named[Column]
    rows: Rows | None = None
    persons: Persons | None = None
    others: Mapping[str, Named[Column]] = field(default_factory=dict)

    def named(self, title: str | None) -> Scope:
        """The same under another title."""
        return replace(self, title=title)

    def among(self, rows: Rows | None) -> Scope:
        """The same with fewer rows."""
        both = [part for part in (self.rows, rows) if part is not None]
        return replace(self, rows=several(True, both) if both else None)


def start(schema: Table) -> Scope:
    """The declared table as a whole."""
    return Scope(schema, schema.name, schema.columns)


def read_name(tree: Tree, node: exp.Expr) -> str:
    """The text of a name, with or without quotes."""
    name, _ = tree.read(node, "this", "quoted")
    return str(name)


def read_alias(tree: Tree, node: exp.Expr) -> str:
    """A name that the question defines; refused if no column could have it."""
    name = read_name(tree, node)
    if is_column_name(name):
        return name
    raise refuse("ask.invalid-name", name=show(name))


def read_reference(tree: Tree, node: exp.Expr, scope: Scope) -> exp.Expr:
    """The named part of the table in scope; refused if it names another table."""
    this, table = tree.read(node, "this", "table")
    if table is not None:
        title = read_name(tree, table)
        own = scope.title is not None and title.lower() == scope.title.lower()
        if not own and title.lower() not in scope.others:
            raise refuse(
                "ask.table-not-in-scope",
                title=show(title),
                detail=scope.title or scope.schema.name,
            )
    named: exp.Expr = this
    return named


def find_column(tree: Tree, node: exp.Expr, scope: Scope) -> Column:
    """The declared column that a node names; refused if there is none, or it names people."""
    table = node.args.get("table")
    joined = None if table is None else scope.others.get(table.name.lower())
    columns = scope.columns if joined is None else joined
    name = read_name(tree, read_reference(tree, node, scope))
    column = columns.get(name)
    if column is None:
        if joined is None:
            refuse_unquoted(node, scope)
        raise refuse("ask.unknown-column", name=show(name), nearest=nearest(name[:100], columns))
    refuse_names(column, scope)
    return column


def is_column(node: exp.Expr | None) -> TypeGuard[exp.Column]:
    """Whether a node names a column."""
    return type(node) is exp.Column and type(node.this) is exp.Identifier


def is_unit(column: Column | None, scope: Scope) -> bool:
    """Whether a column is the unit that is protected."""
    return column is not None and column.name.lower() == scope.schema.unit.lower()


def refuse_names(column: Column, scope: Scope) -> None:
    """Refuses a column that names people."""
    unit = is_unit(column, scope)
    if unit or isinstance(column, Identifier) or column.role == "identifier":
        raise refuse(
            "ask.identifier-in-question",
            name=column.name,
            word="the unit that is protected" if unit else "an identifier",
        )


def refuse_unquoted(node: exp.Expr | None, scope: Scope) -> None:
    """Refuses a name like hours-per-week, which without quotes is a subtraction."""
    top = node
    while isinstance(top, exp.Expr) and _joins(top.parent):
        top = top.parent
    text = "" if top is None else _together(written(top))
    for name in scope.columns:
        if not name.isidentifier() and text.startswith(_together(name)):
            raise refuse("ask.name-needs-quotes", name=name)


def _joins(node: exp.Expr | None) -> bool:
    """Whether it may be part of a name without quotes: arithmetic or a point, no comparison."""
    compares = isinstance(node, exp.Predicate | exp.Connector)
    return isinstance(node, exp.Binary | exp.Column) and not compares


def _together(text: str) -> str:
    return "".join(text.split()).replace('"', "").lower()
