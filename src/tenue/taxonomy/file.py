"""The formats of a taxonomy: nested tables and files, read and written."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from ..errors import InvalidTaxonomy, Refused, refuse
from .graph import Categories, Edge, Graph, pair, refuse_repeated, sequence, shown, text

DEEPEST = 1_000
"""The largest depth of nested tables."""
LARGEST_FILE = 8_000_000
"""The largest size of a taxonomy file, in bytes."""


def nested_edges(nested: object) -> Iterator[Edge]:
    """The edges in nested tables, upper levels first.

    Each table is read once, wherever else it occurs. So a table that contains itself gives finitely
    many edges, which form a cycle.

    Example
        >>> list(nested_edges({"animal": {"pet": ["cat"]}}))
        [('animal', None), ('pet', 'animal'), ('cat', 'pet')]
    """
    if not isinstance(nested, Mapping):
        raise refuse("taxonomy.nested-taxonomy-invalid", nested=shown(nested))
    yield from ((root, None) for root in nested)
    read = {id(nested): nested}  # keeps the tables alive, so that no new one reuses an id
    level = list(nested.items())
    for _ in range(DEEPEST):
        deeper: list[tuple[str, object]] = []
        for parent, below in level:
            if isinstance(below, Mapping):
                if id(below) not in read:
                    read[id(below)] = below
                    deeper.extend(below.items())
            elif isinstance(below, list | tuple):
                refuse_repeated(map(text, below), "Each leaf stands once in a list")
            else:
                raise refuse("taxonomy.nested-branch-invalid", parent=parent, below=shown(below))
            yield from ((child, parent) for child in below)
        level = deeper
    if level:
        raise refuse("taxonomy.nested-taxonomy-too-deep", deepest=DEEPEST)


def drawn(graph: Graph) -> dict[str, object]:
    """The nested tables of a graph.

    Example
        >>> drawn(Graph.of([("cat", "pet"), ("pet", "animal")]))
        {'animal': {'pet': ['cat']}}
    """
    nested: dict[str, dict[str, object] | list[str]] = {}
    for concept in reversed(graph.top_down):
        below = {
            child: nested[child] if graph.parents[child][0] == concept else []
            for child in graph.children[concept]
        }
        nested[concept] = dict(below) if any(below.values()) else list(below)
    return {graph.root: nested[graph.root]}


def read(path: str | os.PathLike[str]) -> tuple[Iterable[Edge], Categories | None]:
    """The edges in a file, and the categories it declares, if any."""
    try:
        file = Path(path)
        with file.open("rb") as stream:
            content = stream.read(LARGEST_FILE + 1)
    except (OSError, TypeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not a path"
        raise refuse("taxonomy.taxonomy-unreadable", path=path, reason=reason) from None
    if len(content) > LARGEST_FILE:
        raise refuse("taxonomy.taxonomy-file-too-large", name=file.name, largest_file=LARGEST_FILE)
    kind = file.suffix.lower()
    if kind not in (".json", ".csv"):
        raise _unreadable(file.name, f"ends in `{kind}`" if kind else "has no ending")
    try:
        document = content.decode("utf-8-sig")
        if kind == ".csv":
            return list(_table_edges(file.name, document)), None
        return _document(file.name, json.loads(document, object_pairs_hook=_each_once))
    except InvalidTaxonomy:
        raise
    except (ValueError, RecursionError, csv.Error) as error:
        raise _unreadable(file.name, f"is not {kind[1:].upper()}: {error}") from None


def _unreadable(name: str, reason: str) -> Refused:
    return refuse("taxonomy.taxonomy-file-invalid", name=name, reason=reason)


def _each_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    refuse_repeated(
        (key for key, _ in pairs), "A key stands once in a JSON object, its parents in one list"
    )
    return dict(pairs)


def _table_edges(name: str, document: str) -> Iterator[Edge]:
    rows = csv.reader(io.StringIO(document, newline=""), strict=True)
    header = [title.strip() for title in next(rows, [])]
    if not {"child", "parent"} <= set(header):
        raise _unreadable(name, "has no header with `child` and `parent`")
    child, parent = header.index("child"), header.index("parent")
    for row in rows:
        if row and len(row) != len(header):
            raise _unreadable(
                name, f"has {len(row)} cells, not {len(header)}, in line {rows.line_num}"
            )
        if row:
            yield row[child], row[parent] or None


def _document(name: str, document: object) -> tuple[Iterable[Edge], Categories | None]:
    if isinstance(document, list):
        return map(_edge, document), None
    if not isinstance(document, dict):
        raise _unreadable(name, "holds neither an object nor a list")
    edges = document.get("edges")
    if isinstance(edges, list) and all(isinstance(edge, list | dict) for edge in edges):
        concepts = document.get("concepts", [])
        if not isinstance(concepts, list):
            raise _unreadable(name, "has `concepts` that are no list")
        declared = [(_member(concept, "synset"), None) for concept in concepts]
        return [*declared, *map(_edge, edges)], _categories(document.get("categories"))
    if any(isinstance(value, dict) for value in document.values()):
        return nested_edges(document), None
    return _upward_edges(document), None


def _upward_edges(document: Mapping[str, object]) -> Iterator[Edge]:
    for child, above in document.items():
        yield child, None
        for parent in above if isinstance(above, list) else [above]:
            yield child, None if parent is None else text(parent)


def _edge(given: object) -> Edge:
    if isinstance(given, dict):
        return _member(given, "child"), _member(given, "parent")
    child, parent = pair(given, "An edge", "child, parent")
    return text(child), None if parent is None else text(parent)


def _member(given: object, key: str) -> str:
    if isinstance(given, dict):
        if key not in given:
            raise refuse("taxonomy.taxonomy-entry-incomplete", key=key)
        given = given[key]
    return text(given)


def _categories(given: object) -> Categories | None:
    if given is None or isinstance(given, Mapping):
        return given
    return [
        (_member(entry, "category"), _synset(entry)) if isinstance(entry, dict) else entry
        for entry in sequence(given, "categories")
    ]


def _synset(entry: Mapping[str, object]) -> str:
    synsets = entry.get("synsets")
    if not isinstance(synsets, list) or len(synsets) != 1:
        raise refuse("taxonomy.category-synset-count", member=_member(entry, "category"))
    return _member(synsets[0], "synset")
