"""Tables inside tables, read and written, however they are wound."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import given

from tenue.taxonomy import Taxonomy
from tenue.taxonomy.nested import DEEPEST, nested_edges
from unit.taxonomy.examples import DIAMOND, SPORT, SPORT_NESTED, dags, refusal
from unit.taxonomy.test_given import deep_list


def test_tables_by_hand() -> None:
    assert Taxonomy.from_nested(SPORT_NESTED) == SPORT
    assert SPORT.to_nested() == SPORT_NESTED


def test_a_concept_with_two_parents_needs_its_children_once() -> None:
    short = Taxonomy.from_nested({"root": {"a": {"c": [], "d": ["e"]}, "b": ["d"]}})
    full = Taxonomy.from_nested({"root": {"a": {"c": {}, "d": ["e"]}, "b": {"d": {"e": {}}}}})
    assert short == full == DIAMOND
    assert full.to_nested() == {"root": {"a": {"c": [], "d": ["e"]}, "b": ["d"]}}


@given(dags())
def test_tables_give_the_taxonomy_back(tree: Taxonomy) -> None:
    attached = dict(tree.labels)
    for tables in (tree.to_nested(), json.loads(json.dumps(tree.to_nested()))):
        again = Taxonomy.from_nested(tables, attached)
        assert again == tree
        assert again.digest == tree.digest


@pytest.mark.parametrize(
    ("nested", "says"),
    [
        ({}, "empty"),
        ({"root": {}}, "empty"),
        ({"left": ["a"], "right": ["b"]}, "2 roots"),
        ({"a": {"b": {"a": ["c"]}}}, "circle"),
        ({"r": {"m": ["x", "x"]}}, "more than once: `x`"),
        (["r"], "nested taxonomy is ['r']"),
        ({"r": "leaf"}, "Below `r` stands 'leaf'"),
        ({"r": {"m": 3}}, "Below `m` stands 3"),
        ({"r": [{"m": []}]}, "is {'m': []}"),
        ({"r": {3: []}}, "is 3"),
        ({"r": deep_list(100_000)}, "is [[[[[["),
    ],
)
def test_what_are_no_nested_tables_is_refused(nested: Any, says: str) -> None:
    assert says in refusal(lambda: Taxonomy.from_nested(nested)).what


def chain(depth: int) -> dict[str, Any]:
    nested: dict[str, Any] = {}
    for level in reversed(range(depth)):
        nested = {f"c{level}": nested}
    return nested


def test_a_thousand_tables_deep_is_read_and_one_more_refused() -> None:
    assert len(Taxonomy.from_nested(chain(DEEPEST)).concepts) == DEEPEST == 1_000
    error = refusal(lambda: Taxonomy.from_nested(chain(DEEPEST + 1)))
    assert "more than 1000 tables deep" in error.what


def test_what_is_too_deep_to_be_read_back_is_still_drawn() -> None:
    tree = Taxonomy.from_edges([(f"c{i + 1}", f"c{i}") for i in range(3_000)])
    assert list(tree.to_nested()) == ["c0"]


def test_a_table_inside_itself_is_a_circle() -> None:
    nested: dict[str, Any] = {"a": {"b": {}, "c": {}}}
    nested["a"]["b"]["d"] = nested["a"]
    assert "circle" in refusal(lambda: Taxonomy.from_nested(nested)).what
    own: dict[str, Any] = {}
    own["a"] = own
    assert "its own parent" in refusal(lambda: Taxonomy.from_nested(own)).what
    twice: dict[str, Any] = {"a": {}}
    twice["a"].update(left=twice, right=twice)  # reading it level by level would never end
    assert "circle" in refusal(lambda: Taxonomy.from_nested(twice)).what


def test_a_table_in_many_places_is_read_once() -> None:
    shared: dict[str, Any] = {"leaf": {}}
    for level in range(100):  # 2**100 ways lead to the leaf
        shared = {f"left {level}": shared, f"right {level}": shared}
    edges = list(nested_edges({"root": shared}))
    assert len(edges) == 1 + 2 + 99 * 4 + 2
    tree = Taxonomy.from_nested({"root": shared})
    assert tree.parents("leaf") == ("left 0", "right 0")
    assert len(tree.ancestors("leaf")) == 202


class Endless(Mapping[str, object]):
    """A table that makes a new table each time it is asked for what stands in it."""

    def __init__(self, level: int) -> None:
        self.level = level

    def __getitem__(self, key: str) -> object:
        return Endless(self.level + 1)

    def __iter__(self) -> Iterator[str]:
        return iter([f"c{self.level}"])

    def __len__(self) -> int:
        return 1


def test_tables_without_end_are_refused() -> None:
    assert "tables deep" in refusal(lambda: Taxonomy.from_nested(Endless(0))).what
