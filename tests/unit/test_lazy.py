"""Rooms load a name when it is used, and a file never takes the place of a name."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import tenue
from tenue._lazy import Room

SOURCE = Path(tenue.__file__).parent
ROOMS = [
    f"tenue.{path.parent.name}"
    for path in sorted(SOURCE.glob("*/__init__.py"))
    if "lazily(" in path.read_text()
]


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package `toy` with a file and a name that are called alike."""
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "__init__.py").write_text(
        "from tenue._lazy import lazily\n"
        "lazily(__name__, {'.weigh': 'weigh Scale', '.plain': 'plain'})\n"
    )
    (tmp_path / "toy" / "weigh.py").write_text("class Scale: ...\ndef weigh(): return 7\n")
    (tmp_path / "toy" / "plain.py").write_text("seven = 7\n")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{SOURCE.parent}")
    return tmp_path


@pytest.mark.any_draw("draws nothing")
@pytest.mark.parametrize(
    ("code", "printed"),
    [
        ("import sys, toy; print('toy.weigh' in sys.modules)", "False"),
        ("import toy; print(toy.weigh())", "7"),
        ("import toy, toy.weigh; print(toy.weigh())", "7"),
        ("import toy, toy.weigh; from toy import Scale; print(Scale is toy.Scale)", "True"),
        ("from toy import weigh, Scale; print(weigh(), Scale.__name__)", "7 Scale"),
        ("import toy; print(toy.plain.seven, toy.plain is toy.plain)", "7 True"),
        ("import toy; print(hasattr(toy, 'weight'), dir(toy)[-1])", "False weigh"),
    ],
)  # fmt: skip
def test_names_are_loaded_when_used(code: str, printed: str, room: Path) -> None:
    assert run(code) == printed


@pytest.mark.any_draw("draws nothing")
def test_without_the_guard_a_file_takes_the_place_of_a_name(room: Path) -> None:
    """The plain way, a `__getattr__` in the module, gives the file to whoever asks for the name."""
    (room / "toy" / "__init__.py").write_text(
        "import importlib\n"
        "def __getattr__(name): return getattr(importlib.import_module('.weigh', __name__), name)\n"
    )
    assert run("import toy.weigh; print(callable(toy.weigh))") == "False"


@pytest.mark.parametrize("name", ROOMS)
def test_what_a_room_promises_is_what_its_types_say(name: str) -> None:
    """The names for the type checker and the names that are loaded come from the same files."""
    found = importlib.import_module(name)
    assert isinstance(found, Room)
    assert found.__file__ is not None
    tree = ast.parse(Path(found.__file__).read_text())
    checked: dict[str, str] = {}
    for block in tree.body:
        for node in block.body if isinstance(block, ast.If) else ():
            assert isinstance(node, ast.ImportFrom)
            for alias in node.names:
                home = "." * node.level + (node.module or alias.name)
                checked[alias.name] = home
    assert checked == found._homes
    assert set(checked) <= set(found.__all__)
    for promised in found.__all__:
        assert getattr(found, promised) is not None


def test_rooms_were_found() -> None:
    assert len(ROOMS) > 8
