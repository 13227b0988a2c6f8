"""A room imports only rooms above it, and only the named rooms touch entropy, rows and both."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "tenue"

ORDER = [
    "version",
    "_lazy",
    "errors",
    "text",
    "arguments",
    "privacy",
    "promise",
    "taxonomy",
    "schema",
    "noise",
    "prior",
    "sensitivity",
    "mechanism",
    "estimate",
    "ledger",
    "engine",
    "ask",
    "query",
    "evaluate",
    "report",
    "publish",
    "microdata",
    "audit",
    "papers",
    "gateway",
    "cli",
    "__init__",
    "__main__",
]
FILES = sorted(SOURCE.rglob("*.py"))


def room_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


@cache
def imported_paths(path: Path, text: str) -> set[tuple[str, ...]]:
    """Every module of Tenue that a file imports, at the top or inside a function, as its path."""
    package = list(path.relative_to(SOURCE).parts[:-1])
    found: set[tuple[str, ...]] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            for name in node.names:
                first, *rest = name.name.split(".")
                if first == "tenue":
                    found.add(tuple(rest) or ("__init__",))
        elif isinstance(node, ast.ImportFrom):
            module = (node.module or "").split(".") if node.module else []
            if node.level == 0:
                if module[:1] != ["tenue"]:
                    continue
                base = module[1:]
            else:
                base = package[: len(package) - (node.level - 1)] + module
            named = [(*base, name.name) for name in node.names]
            found.update([tuple(base)] if node.module and base else named)
    return found


def imported_rooms(path: Path, text: str) -> set[str]:
    """Every room of Tenue that a file imports."""
    return {parts[0] for parts in imported_paths(path, text)}


def arrows(path: Path, text: str) -> list[str]:
    home = room_of(path)
    if home in ("__init__", "__main__"):
        return []
    wrong = []
    for room in imported_rooms(path, text) - {home}:
        if room not in ORDER or ORDER.index(room) > ORDER.index(home):
            wrong.append(f"{home} imports {room}")
    return wrong


def test_rooms_import_only_rooms_above() -> None:
    assert [path for path in FILES if room_of(path) not in ORDER] == [], "no room of design.md"
    assert {path: found for path in FILES if (found := arrows(path, path.read_text()))} == {}


def test_a_wrong_arrow_is_seen() -> None:
    path = SOURCE / "noise" / "laplace.py"
    assert arrows(path, "from ..ask import session") == ["noise imports ask"]
    assert arrows(path, "from .. import ledger") == ["noise imports ledger"]
    assert arrows(path, "import tenue.engine.duckdb.engine") == ["noise imports engine"]
    assert arrows(path, "def f():\n    from ..cli.main import app") == ["noise imports cli"]
    assert arrows(path, "from .law import Law\nfrom ..arguments import exact") == []


ENTROPY = re.compile(
    r"np\.random|numpy\.random|default_rng|\bsecrets\b|os\.urandom|\bimport random\b|getrandbits"
)


def test_only_the_source_touches_entropy() -> None:
    found = {path: words for path in FILES if (words := ENTROPY.findall(path.read_text()))}
    assert found == {SOURCE / "noise" / "source.py": ["os.urandom", "os.urandom"]}


def test_only_the_two_journeys_touch_ledger_and_engine_together() -> None:
    both = {
        path for path in FILES if {"ledger", "engine"} <= imported_rooms(path, path.read_text())
    }
    assert both <= {
        SOURCE / "ask" / "session.py",
        SOURCE / "ask" / "dataset.py",
        SOURCE / "publish" / "publish.py",
        SOURCE / "__init__.py",
    }
