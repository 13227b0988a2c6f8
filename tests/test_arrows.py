"""A room imports only rooms above it, and only the named rooms touch entropy, rows and both."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "tenue"

ORDER = [
    "version",
    "errors",
    "screen",
    "number",
    "promise",
    "taxonomy",
    "schema",
    "noise",
    "order",
    "prior",
    "sensitivity",
    "mechanism",
    "estimate",
    "ledger",
    "engine",
    "query",
    "evaluate",
    "report",
    "microdata",
    "audit",
    "papers",
    "gateway",
    "command",
    "__init__",
    "__main__",
]
FILES = sorted(SOURCE.rglob("*.py"))


def room_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported_rooms(path: Path, text: str) -> set[str]:
    """Every room of Tenue that a file imports, at the top or inside a function."""
    package = list(path.relative_to(SOURCE).parts[:-1])
    rooms: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            for name in node.names:
                parts = name.name.split(".")
                if parts[0] == "tenue":
                    rooms.add(parts[1] if len(parts) > 1 else "__init__")
        elif isinstance(node, ast.ImportFrom):
            if node.level == 0:
                parts = (node.module or "").split(".")
                if parts[0] != "tenue":
                    continue
                base = parts[1:]
            else:
                up = len(package) - (node.level - 1)
                base = package[:up] + ((node.module or "").split(".") if node.module else [])
            rooms.update([base[0]] if base else [name.name for name in node.names])
    return rooms


def arrows(path: Path, text: str) -> list[str]:
    home = room_of(path)
    if home in ("__init__", "__main__"):
        return []
    wrong = []
    for room in imported_rooms(path, text) - {home}:
        if room not in ORDER or ORDER.index(room) > ORDER.index(home):
            wrong.append(f"{home} imports {room}")
    return wrong


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_rooms_import_only_rooms_above(path: Path) -> None:
    assert room_of(path) in ORDER, f"{path} is in no room of design.md"
    assert arrows(path, path.read_text()) == []


def test_a_wrong_arrow_is_seen() -> None:
    path = SOURCE / "noise" / "laplace.py"
    assert arrows(path, "from ..query import session") == ["noise imports query"]
    assert arrows(path, "from .. import ledger") == ["noise imports ledger"]
    assert arrows(path, "import tenue.engine.duckdb.engine") == ["noise imports engine"]
    assert arrows(path, "def f():\n    from ..command.main import app") == ["noise imports command"]
    assert arrows(path, "from .law import Law\nfrom ..number import exact") == []


ENGINE = ["request", "contract", "storage", "source", "sql", "people", "duckdb", "open"]
"""The order inside the engine: the contract above all, the engines themselves below."""


@pytest.mark.parametrize(
    "path", sorted((SOURCE / "engine").rglob("*.py")), ids=lambda p: str(p.relative_to(SOURCE))
)
def test_parts_of_the_engine_import_only_parts_above(path: Path) -> None:
    if path == SOURCE / "engine" / "__init__.py":
        return
    home, *below = path.relative_to(SOURCE / "engine").parts
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level == len(below) + 1:
            found.add((node.module or "").split(".")[0])
    for part in found:
        assert ENGINE.index(part) <= ENGINE.index(home.removesuffix(".py"))


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_only_its_own_room_imports_duckdb(path: Path) -> None:
    if path.is_relative_to(SOURCE / "engine" / "duckdb"):
        return
    for node in ast.walk(ast.parse(path.read_text())):
        names = [name.name for name in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [node.module or ""]
        assert "duckdb" not in [name.split(".")[0] for name in names]


ENTROPY = re.compile(
    r"np\.random|numpy\.random|default_rng|\bsecrets\b|os\.urandom|\bimport random\b|getrandbits"
)


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_only_the_source_touches_entropy(path: Path) -> None:
    found = ENTROPY.findall(path.read_text())
    if path == SOURCE / "noise" / "source.py":
        assert found == ["os.urandom", "os.urandom"]
    else:
        assert found == []


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_only_the_two_journeys_touch_ledger_and_engine_together(path: Path) -> None:
    rooms = imported_rooms(path, path.read_text())
    if {"ledger", "engine"} <= rooms:
        assert path in (
            SOURCE / "query" / "session.py",
            SOURCE / "microdata" / "release.py",
            SOURCE / "__init__.py",
        )
