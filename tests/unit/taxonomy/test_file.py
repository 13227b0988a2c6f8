"""Every shape of a taxonomy file gives one value; what is no taxonomy file is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tenue.taxonomy import LARGEST_FILE, Taxonomy
from unit.taxonomy.examples import SPORT, SPORT_EDGES, SPORT_NESTED, refusal

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
