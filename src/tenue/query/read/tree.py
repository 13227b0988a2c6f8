"""Guarded reading of a tree of sqlglot's: no argument of a node goes unseen.

A list of allowed node types is not enough: COUNT(x, y), SUM(x ORDER BY y) and BETWEEN SYMMETRIC are
allowed nodes with an argument too many. So whoever reads a node names every argument it may have,
and at the end every node of the tree must have been read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from ...schema import Column
from ..question import ComputedColumn
from .unsupported import refuse_part, unreadable


class Tree:
    """A tree, and which of its nodes were read.

    called: the functions as the text names them, in upper case; sqlglot may rename them.
    computed, columns: what is computed somewhere in it, by name, and the columns that this is.
    conditions: how many comparisons were read.
    recoded: of how many parts the columns are that lookups bring along.

    Example
        >>> import sqlglot
        >>> tree = Tree(sqlglot.parse_one("age > 18"))
        >>> left, right = tree.parts(tree.root, "this", "expression")
        >>> left.name, right.this
        ('age', '18')
    """

    def __init__(self, root: exp.Expr, called: Sequence[str] = ()) -> None:
        self.root = root
        self.called = called
        self.computed: dict[str, ComputedColumn] = {}
        self.columns: dict[str, Column] = {}
        self.conditions = 0
        self.recoded = 0
        self._read: set[int] = set()

    def read(self, node: exp.Expr, *names: str) -> tuple[Any, ...]:
        """The arguments of those names, None where absent; refused if the node has any other."""
        for name, value in node.args.items():
            if name not in names and value not in (None, False, "", []):
                raise refuse_part(name)
        self._read.add(id(node))
        return tuple(node.args.get(name) for name in names)

    def parts(self, node: exp.Expr, *names: str) -> tuple[exp.Expr, ...]:
        """The arguments of those names, refused unless each of them is a node."""
        found = self.read(node, *names)
        if not all(isinstance(part, exp.Expr) for part in found):
            raise unreadable()
        return found

    def listed(self, node: exp.Expr) -> list[exp.Expr]:
        """The nodes that a list has, refused unless there is one at least."""
        (found,) = self.read(node, "expressions")
        if not found or not all(isinstance(part, exp.Expr) for part in found):
            raise unreadable()
        return list(found)

    def unwrap(self, node: exp.Expr) -> exp.Expr:
        """What stands inside the parentheses, if there are any."""
        while type(node) is exp.Paren:
            (node,) = self.parts(node, "this")
        return node

    def refuse_unread(self) -> None:
        """Refuses the tree if any of its nodes was passed over."""
        if any(id(node) not in self._read for node in self.root.walk()):
            raise unreadable()
