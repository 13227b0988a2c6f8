"""The house stays a house: folders that one can read at a glance, modules of one idea each."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).parent.parent
TOP = ROOT / "src"
SOURCE = TOP / "tenue"
MODULES = sorted(path for path in TOP.rglob("*.py") if path.name != "__init__.py")

MOST = 25
"""How many modules a folder may have, beside its `__init__.py`."""
LEAST = 3
"""How many modules and folders a folder must have; fewer belong to the folder above."""
LINES = 700
"""How long a module may be."""
FILES = 413
"""How many modules the house may have, with every `__init__.py`."""
SMALL: dict[str, str] = {}
"""Folders with fewer modules, and why."""
TWICE: dict[tuple[str, str], str] = {}
"""Public classes of one name within a room, and why."""

ENGINES = {
    "duckdb": ("engine/duckdb/",),
    "pyspark": ("engine/spark/",),
    "psycopg": ("engine/postgres/", "ledger/store/postgres/"),
}


def name_of(path: Path) -> str:
    """A path below `src/tenue`; of the papers, below `src`."""
    return path.relative_to(SOURCE if path.is_relative_to(SOURCE) else TOP).as_posix()


def folder_of(path: Path) -> str:
    return path.parent.relative_to(TOP).as_posix()


def test_folders_can_be_read_at_a_glance() -> None:
    counted = Counter(folder_of(path) for path in MODULES)
    assert {folder: n for folder, n in counted.items() if n > MOST} == {}


def test_no_folder_stands_for_one_or_two_modules() -> None:
    inside: dict[str, set[Path]] = defaultdict(set)
    for path in MODULES:
        inside[folder_of(path)].add(path)
        inside[path.parent.parent.relative_to(TOP).as_posix()].add(path.parent)
    small = {folder for folder, found in inside.items() if len(found) < LEAST} - {"."}
    assert small == set(SMALL)


def test_modules_are_not_books() -> None:
    lengths = {name_of(path): len(path.read_text().splitlines()) for path in MODULES}
    assert {name: n for name, n in lengths.items() if n > LINES} == {}


def test_there_are_not_too_many_walls() -> None:
    assert len(list(TOP.rglob("*.py"))) <= FILES


def public_classes(text: str) -> list[str]:
    return [
        node.name
        for node in ast.parse(text).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    ]


def test_a_name_stands_for_one_class_of_a_room() -> None:
    homes: dict[tuple[str, str], list[str]] = defaultdict(list)
    for path in MODULES:
        room = name_of(path).split("/")[0]
        for name in public_classes(path.read_text()):
            homes[room, name].append(name_of(path))
    assert {key: found for key, found in homes.items() if len(found) > 1 and key not in TWICE} == {}
    assert [key for key in TWICE if len(homes[key]) < 2] == []


def test_a_public_class_is_seen() -> None:
    assert public_classes("class A: ...\nclass _B: ...\ndef f():\n    class C: ...") == ["A"]


def imported_packages(text: str) -> set[str]:
    """The packages that a text imports by name, wherever in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {name.name.split(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found.add((node.module or "").split(".")[0])
    return found


def test_engines_are_imported_in_their_own_rooms_only() -> None:
    for path in MODULES:
        for package in imported_packages(path.read_text()) & ENGINES.keys():
            assert name_of(path).startswith(ENGINES[package]), f"{package} in {name_of(path)}"


def test_an_engine_in_another_room_is_seen() -> None:
    assert "duckdb" in imported_packages("def f():\n    import duckdb")
    assert "psycopg" in imported_packages("from psycopg.rows import dict_row")
    assert "duckdb" not in imported_packages("from .duckdb.engine import DuckDB")


def private_imports(text: str) -> list[str]:
    """Names with a leading underscore that a text takes from other modules of the house."""
    return [
        name.name
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ImportFrom) and node.level
        for name in node.names
        if name.name.startswith("_") and name.name != "__all__"
    ]


def test_what_is_private_stays_in_its_module() -> None:
    found = {name_of(path): private_imports(path.read_text()) for path in MODULES}
    assert {name: names for name, names in found.items() if names} == {}


def test_a_private_name_elsewhere_is_seen() -> None:
    assert private_imports("from .law import _secret, Law") == ["_secret"]
    assert private_imports("from .law import __all__, __secret") == ["__secret"]
