"""No argument of a node, and no node, goes unseen."""

from __future__ import annotations

import pytest
import sqlglot
from sqlglot import exp

from tenue.errors import InvalidQuestion
from tenue.query.read.tree import Tree


def tree(sql: str) -> Tree:
    return Tree(sqlglot.parse_one(sql, read="duckdb"))


def test_an_argument_that_nobody_names_is_refused() -> None:
    found = tree("a BETWEEN SYMMETRIC 1 AND 2")
    with pytest.raises(InvalidQuestion):
        found.read(found.root, "this", "low", "high")
    assert found.read(found.root, "this", "low", "high", "symmetric")[3] is True


def test_an_absent_argument_is_none() -> None:
    found = tree("SELECT a")
    assert found.read(found.root, "expressions", "where")[1] is None


def test_parts_are_nodes() -> None:
    found = tree("a = 1")
    assert [type(part) for part in found.parts(found.root, "this", "expression")] == [
        exp.Column,
        exp.Literal,
    ]
    with pytest.raises(InvalidQuestion):
        found.parts(found.root, "this", "expression", "absent")


def test_a_list_has_nodes() -> None:
    found = tree("SELECT COUNT(*) FROM t GROUP BY a, b")
    group = found.root.args["group"]
    assert len(found.listed(group)) == 2
    group.set("expressions", [])
    with pytest.raises(InvalidQuestion):
        found.listed(group)


def test_parentheses_are_opened() -> None:
    found = tree("((a))")
    assert type(found.unwrap(found.root)) is exp.Column


def test_every_node_must_have_been_read() -> None:
    found = tree("a = 1")
    column, literal = found.parts(found.root, "this", "expression")
    found.read(literal, "this")
    (name,) = found.parts(column, "this")
    with pytest.raises(InvalidQuestion):
        found.refuse_unread()
    found.read(name, "this")
    found.refuse_unread()
