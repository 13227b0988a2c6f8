"""The house stays a house: few files in a room, engines in their own, a test beside each module."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "tenue"
UNIT = ROOT / "tests" / "unit"
MODULES = sorted(path for path in SOURCE.rglob("*.py") if path.name != "__init__.py")

MOST = 15
EXCEPTIONS: dict[str, str] = {"engine": "the registry of engines; issue 26 withdraws this rule"}
"""Rooms with more modules, and why."""

NO_TEST = {
    "__main__.py": "runs the command line, which tests/journeys does",
    "version.py": "one constant, read by the build",
}
ENGINES = {
    "duckdb": ("engine/duckdb/",),
    "pyspark": ("engine/spark/",),
    "psycopg": ("engine/postgres/", "ledger/postgres/"),
}


def name_of(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def test_rooms_are_small() -> None:
    counted = Counter(path.parent.relative_to(SOURCE).as_posix() for path in MODULES)
    assert {room: n for room, n in counted.items() if n > MOST and room not in EXCEPTIONS} == {}
    assert [room for room in EXCEPTIONS if counted[room] <= MOST] == []


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


def test_every_module_has_a_test_at_its_own_path() -> None:
    for path in MODULES:
        inside = path.relative_to(SOURCE)
        if inside.as_posix() in NO_TEST:
            continue
        test = UNIT / inside.parent / f"test_{inside.name}"
        assert test.exists(), f"{test.relative_to(ROOT)} is missing"
        assert "def test_" in test.read_text(), f"{test.relative_to(ROOT)} is empty"


def test_every_unit_test_has_its_module() -> None:
    gone = [
        test.relative_to(UNIT).as_posix()
        for test in UNIT.rglob("test_*.py")
        if not (SOURCE / test.relative_to(UNIT).parent / test.name.removeprefix("test_")).exists()
    ]
    assert gone == []


def private_imports(text: str) -> list[str]:
    """Names with a leading underscore that a text takes from other modules of the house."""
    return [
        name.name
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ImportFrom) and node.level
        for name in node.names
        if name.name.startswith("_")
    ]


def test_what_is_private_stays_in_its_module() -> None:
    found = {name_of(path): private_imports(path.read_text()) for path in MODULES}
    assert {name: names for name, names in found.items() if names} == {}


def test_a_private_name_elsewhere_is_seen() -> None:
    assert private_imports("from .law import _secret, Law") == ["_secret"]
