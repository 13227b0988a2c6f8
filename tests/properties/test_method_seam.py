"""Nobody outside asks which method it has: the next one would be forgotten there."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tenue.microdata.method.catalogue import METHODS
from tenue.microdata.method.groups import Grouped

SOURCE = Path(__file__).parents[2] / "src" / "tenue"
HOME = SOURCE / "microdata" / "method"
FILES = [
    path
    for room in ("microdata", "command")
    for path in sorted((SOURCE / room).rglob("*.py"))
    # algorithms of partition have names of their own, whoever uses them
    if path.parent not in (HOME, SOURCE / "microdata" / "partition")
]
CLASSES = {kind.__name__ for kind in METHODS.values()} | {"Grouped", "Method"}
WORDS = set(METHODS).union(*(kind.ways for kind in METHODS.values() if issubclass(kind, Grouped)))


def asks(text: str, *, words: bool = True) -> list[str]:
    """Where a file compares the name of a method or a way, or tests for the class of one."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if words and isinstance(node, ast.Compare):
            for side in ast.walk(node):
                if isinstance(side, ast.Constant) and side.value in WORDS:
                    found.append(f"line {node.lineno} compares {side.value!r}")
        called = node.func if isinstance(node, ast.Call) else None
        if isinstance(called, ast.Name) and called.id in ("isinstance", "issubclass"):
            assert isinstance(node, ast.Call)
            for side in ast.walk(node.args[1]):
                if isinstance(side, ast.Name) and side.id in CLASSES:
                    found.append(f"line {node.lineno} tests for {side.id}")
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_no_file_outside_asks_which_method_it_has(path: Path) -> None:
    assert asks(path.read_text()) == []


@pytest.mark.parametrize("name", ["contract.py", "groups.py", "catalogue.py"])
def test_what_methods_share_does_not_ask_either(name: str) -> None:
    assert asks((HOME / name).read_text()) == []


def test_only_the_catalogue_and_the_method_itself_name_a_method() -> None:
    modules = {kind.__module__.rpartition(".")[2] for kind in METHODS.values()}
    for path in [*FILES, HOME / "contract.py", HOME / "groups.py"]:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom):
                parts = (node.module or "").split(".")
                assert not ("method" in parts and parts[-1] in modules), path


def test_a_question_is_seen() -> None:
    assert asks('if way.name == "swap":\n    pass')
    assert asks('if way.by in ("mdav", "v-mdav"):\n    pass')
    assert asks("isinstance(way, Swap)")
    assert asks("isinstance(way, (Microaggregate, int))")
    assert not asks('publish(method="swap")')
