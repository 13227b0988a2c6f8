"""ROLLUP, CUBE and GROUPING SETS: several tables of the same rows, asked for in one SELECT."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

from sqlglot import exp

from ....engine.request import Key
from ....errors import refuse
from ..tree import Tree

MOST_SETS = 64
_KINDS = (exp.Rollup, exp.Cube, exp.GroupingSets)

KeySet = tuple[Key, ...]
"""The keys of one table, each once."""


def has_sets(group: exp.Expr | None) -> bool:
    """Whether GROUP BY asks for several tables."""
    return group is not None and any(group.find_all(*_KINDS))


def read_sets(tree: Tree, group: exp.Expr, named: Callable[[exp.Expr], Key]) -> tuple[KeySet, ...]:
    """The keys of every table, in the order in which the question lists them; refused if two are
    the same, for an answer would say the same twice.

    named: the key that an expression of GROUP BY is.
    """
    reader = _Reader(tree, named)
    found: list[KeySet] = [()]
    for node in tree.listed(group):
        found = [_joined(first, second) for first in found for second in reader.sets(node)]
        _refuse_many(len(found))
    if len({frozenset(keys) for keys in found}) < len(found):
        raise refuse("query.grouping-set-twice")
    return tuple(found)


class _Reader:
    def __init__(self, tree: Tree, named: Callable[[exp.Expr], Key]) -> None:
        self._tree = tree
        self._named = named

    def sets(self, node: exp.Expr) -> list[KeySet]:
        """The tables that one entry of GROUP BY, or of GROUPING SETS, asks for."""
        if type(node) is exp.GroupingSets:
            found = [one for part in self._tree.listed(node) for one in self.sets(part)]
            _refuse_many(len(found))
            return found
        if type(node) not in _KINDS:
            return [self._keys(node)]
        parts = [self._keys(part) for part in self._tree.listed(node)]
        sizes = range(len(parts), -1, -1)
        if type(node) is exp.Rollup:
            return [_joined(*parts[:size]) for size in sizes]
        _refuse_many(2 ** min(len(parts), MOST_SETS))
        return [_joined(*some) for size in sizes for some in combinations(parts, size)]

    def _keys(self, node: exp.Expr) -> KeySet:
        """One key, or several in parentheses, which stand or fall together."""
        if type(node) is exp.Tuple:
            (several,) = self._tree.read(node, "expressions")
            return _joined(*(self._keys(part) for part in several or ()))
        node = self._tree.unwrap(node)
        if type(node) is exp.Tuple:
            return self._keys(node)
        return (self._named(node),)


def _joined(*several: Sequence[Key]) -> KeySet:
    return tuple(dict.fromkeys(key for keys in several for key in keys))


def _refuse_many(many: int) -> None:
    if many > MOST_SETS:
        raise refuse("query.too-many-grouping-sets", most=MOST_SETS)
