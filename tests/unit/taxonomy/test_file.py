"""The shapes of a taxonomy file, read and written."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from tenue.taxonomy import LARGEST_FILE, Taxonomy
from tenue.taxonomy.file import DEEPEST, nested_edges
from unit.taxonomy.examples import DIAMOND, SPORT, SPORT_EDGES, SPORT_NESTED, dags, refusal
from unit.taxonomy.test_graph import deep_list


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
        ({"a": {"b": {"a": ["c"]}}}, "cycle"),
        ({"r": {"m": ["x", "x"]}}, "more than once: `x`"),
        (["r"], "nested taxonomy is ['r']"),
        ({"r": "leaf"}, "below `r` is 'leaf'"),
        ({"r": {"m": 3}}, "below `m` is 3"),
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


def test_a_table_inside_itself_is_a_cycle() -> None:
    nested: dict[str, Any] = {"a": {"b": {}, "c": {}}}
    nested["a"]["b"]["d"] = nested["a"]
    assert "cycle" in refusal(lambda: Taxonomy.from_nested(nested)).what
    own: dict[str, Any] = {}
    own["a"] = own
    assert "its own parent" in refusal(lambda: Taxonomy.from_nested(own)).what
    twice: dict[str, Any] = {"a": {}}
    twice["a"].update(left=twice, right=twice)  # reading it level by level would never end
    assert "cycle" in refusal(lambda: Taxonomy.from_nested(twice)).what


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


# -- Every shape of a taxonomy file gives one value; what is no taxonomy file is refused -----------

SHARED = Path(__file__).resolve().parents[4] / "shared" / "data"


def documents() -> dict[str, str]:
    """One and the same taxonomy, written in every shape a file may have."""
    upward: dict[str, str | list[str] | None] = dict(SPORT_EDGES)
    by_parent = sorted(SPORT_EDGES, key=lambda edge: edge[1])
    lines = [f"{child},{parent}" for child, parent in SPORT_EDGES]
    return {
        "upward.json": json.dumps(upward),
        "lists.json": json.dumps({c: [p] for c, p in SPORT_EDGES} | {"sport": []}),
        "root.json": json.dumps({"sport": None} | upward, indent=3),
        "pairs.json": json.dumps(SPORT_EDGES),
        "rooted.json": json.dumps([("sport", None), *SPORT_EDGES]),
        "by-parent.json": json.dumps(by_parent),
        "records.json": json.dumps([{"child": c, "parent": p} for c, p in SPORT_EDGES]),
        "nested.json": json.dumps(SPORT_NESTED),
        "wide.json": json.dumps({"edges": SPORT_EDGES, "note": 7}),
        "named.json": json.dumps(
            {"edges": SPORT_EDGES, "categories": ["sailing", "surfing", "kiting", "skiing"]}
        ),
        "plain.csv": "\n".join(["child,parent", *lines]),
        "bom.CSV": "\ufeffchild,parent\r\n" + "\r\n".join(lines) + "\r\n\r\n",
        "more.csv": "\n".join(
            ["relation, parent ,child", *(f'"is, a",{p},{c}' for c, p in SPORT_EDGES)]
        ),
        "root.csv": "\n".join(["child,parent", "sport,", *lines]),
    }


@pytest.mark.parametrize("name", documents())
def test_every_format_gives_one_value_and_one_digest(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(documents()[name], encoding="utf-8", newline="")
    loaded = Taxonomy.load(tmp_path / name)
    assert loaded == SPORT
    assert loaded.digest == SPORT.digest
    assert Taxonomy.load(str(tmp_path / name)).depth_first == SPORT.depth_first


def test_a_file_with_categories_attaches_labels(tmp_path: Path) -> None:
    direct = Taxonomy.from_edges(SPORT_EDGES, {"Ski": "skiing", "Board": "board"})
    wide = {
        "concepts": [{"synset": "kiting"}, "sport"],
        "edges": [{"child": c, "parent": p, "relation": "hypernym"} for c, p in SPORT_EDGES],
        "categories": [
            {"category": "Ski", "synsets": [{"synset": "skiing", "gloss": "on snow"}]},
            {"category": "Board", "synsets": [{"synset": "board"}]},
        ],
    }
    file = tmp_path / "wide.json"
    for categories in (wide["categories"], {"Ski": "skiing", "Board": "board"}):
        file.write_text(json.dumps(wide | {"categories": categories}))
        assert Taxonomy.load(file) == direct
        assert Taxonomy.load(file).digest == direct.digest


def test_a_category_called_edges_is_no_wide_file(tmp_path: Path) -> None:
    file = tmp_path / "t.json"
    file.write_text('{"edges": ["shape"], "corners": "shape"}')
    assert Taxonomy.load(file).categories == ("edges", "corners")


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("t.json", b"", "is not JSON"),
        ("t.json", b"{", "is not JSON"),
        ("t.json", b"\xff\xfe", "is not JSON"),
        ("t.json", b"[" * 100_000, "is not JSON"),
        ("t.json", b"1" * 5_000, "is not JSON"),
        ("t.json", b"7", "neither an object nor a list"),
        ("t.json", b"{}", "empty"),
        ("t.json", b"[]", "empty"),
        ("t.json", b'{"a": "r", "a": "s"}', "more than once: `a`"),
        ("t.json", b'{"a": "r", "b": []}', "2 roots: `r`, `b`"),
        ("t.json", b'{"a": 7}', "is 7"),
        ("t.json", b'{"a": ["r", 7]}', "is 7"),
        ("t.json", b'["ab"]', "An edge is 'ab'"),
        ("t.json", b'{"edges": []}', "empty"),
        ("t.json", b'{"edges": [{"child": "a"}]}', "no `parent`"),
        ("t.json", b'{"edges": [["a", "r"]], "concepts": "a"}', "`concepts` that are no list"),
        ("t.json", b'{"edges": [["a", "r"]], "concepts": ["b"]}', "2 roots"),
        ("t.json", b'{"edges": [["a", "r"]], "categories": "a"}', "`categories` is 'a'"),
        ("t.json", b'{"edges": [["a", "r"]], "categories": [{"category": "A"}]}', "one synset"),
        (
            "t.json",
            b'{"edges": [["a", "r"]], "categories":'
            b' [{"category": "A", "synsets": [{"synset": "a"}, {"synset": "r"}]}]}',
            "`A` has not exactly one synset",
        ),
        (
            "t.json",
            b'{"edges": [["a", "r"]], "categories": [{"synsets": [{"synset": "a"}]}]}',
            "no `category`",
        ),
        ("t.csv", b"", "no header"),
        ("t.csv", b"a,r\nb,r\n", "no header"),
        ("t.csv", b"child,parent\n", "empty"),
        ("t.csv", b"child,parent\na\n", "1 cells, not 2, in line 2"),
        ("t.csv", b"child,parent\n,r\n", "is ''"),
        ("t.csv", b'child,parent\n"a,r\n', "is not CSV"),
        ("t.csv", b"child,parent\n\xff,r\n", "is not CSV"),
        ("t.txt", b"child,parent\na,r\n", "ends in `.txt`"),
        ("taxonomy", b"{}", "has no ending"),
    ],
)
def test_a_file_that_holds_no_taxonomy_is_refused(
    name: str, content: bytes, says: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(content)
    assert says in refusal(lambda: Taxonomy.load(tmp_path / name)).what


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    path: Any
    for path in (tmp_path / "none.json", tmp_path, "nul\0.json", None, 3.5):
        assert "cannot be read" in refusal(lambda path=path: Taxonomy.load(path)).what


def test_too_large_a_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "t.json"
    content = b'[["a", "r"]]'
    file.write_bytes(content + b" " * (LARGEST_FILE - len(content)))
    assert Taxonomy.load(file).root == "r"
    file.write_bytes(content + b" " * (LARGEST_FILE - len(content) + 1))
    assert "larger than 8000000 bytes" in refusal(lambda: Taxonomy.load(file)).what


@pytest.mark.skipif(not SHARED.is_dir(), reason="the reference data lie outside the project")
@pytest.mark.parametrize(
    ("attribute", "categories", "concepts", "leaves"),
    [("occupation", 14, 36, 13), ("native_country", 41, 66, 41)],
)
def test_the_taxonomies_of_adult_load_unchanged(
    attribute: str, categories: int, concepts: int, leaves: int
) -> None:
    tree = Taxonomy.load(SHARED / f"adult_{attribute}_taxonomy.json")
    edges = Taxonomy.load(SHARED / f"adult_{attribute}_taxonomy_edges.csv")
    assert (len(tree.categories), len(tree.concepts)) == (categories, concepts)
    assert tree.root == "entity.n.01"
    assert sorted(tree.depth_first) == sorted(tree.categories)
    assert edges.concepts == tree.concepts
    assert edges.to_edges() == tree.to_edges()
    assert len(edges.categories) == leaves
    assert Taxonomy.from_edges(edges.to_edges(), dict(tree.labels)).digest == tree.digest
    document = json.loads((SHARED / f"adult_{attribute}_taxonomy.json").read_text())
    for entry in document["categories"]:
        assert len(tree.ancestors(entry["category"])) == entry["ancestors_including_self"]
