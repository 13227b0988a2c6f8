"""Tests draw what their name says; the system's bits need a mark, and the mark a reason."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

pytestmark = pytest.mark.any_draw("looks at outcomes of tests, each of which is certain")

ROOT = Path(__file__).parent.parent
DRAWS = """
import subprocess, sys
import pytest
from pathlib import Path
from alarm import claim
from tenue.noise import DiscreteLaplace

LAW = DiscreteLaplace(sensitivity=1, epsilon="1e-9")
LOADED = LAW.sample()

def note(name, drawn):
    with open("drawn.txt", "a") as file:
        file.write(f"{name} {drawn}\\n")

@pytest.fixture(scope="module")
def shared():
    return LAW.sample(3).tolist()

def test_one(shared):
    note("loaded", LOADED)
    note("shared", shared)
    note("one", LAW.sample(100).tolist())

def test_two(shared):
    note("shared", shared)
    note("two", LAW.sample(100).tolist())

@pytest.mark.any_draw("notes it only")
def test_system():
    note("system", LAW.sample(100).tolist())
"""


def run(folder: Path, text: str, *words: str, plugin: bool = True) -> tuple[str, dict[str, str]]:
    """What pytest prints about a file of tests, and what these noted."""
    (folder / "test_toy.py").write_text(text)
    (folder / "pytest.ini").write_text("[pytest]\naddopts = --strict-markers\n")
    if not plugin:
        (folder / "pytest.ini").write_text("[pytest]\nmarkers = any_draw\n  random\n")
    (folder / "drawn.txt").unlink(missing_ok=True)
    given = ["-p", "chance"] if plugin else []
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *given, "-p", "no:cacheprovider", "-rf", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT / 'tests'}"},
    )
    noted = folder / "drawn.txt"
    lines = noted.read_text().splitlines() if noted.exists() else []
    drawn: dict[str, str] = {}
    for name, _, value in (line.partition(" ") for line in lines):
        assert drawn.setdefault(name, value) == value
    return done.stdout, drawn


def test_unmarked_tests_draw_the_same_in_every_run(tmp_path: Path) -> None:
    _, first = run(tmp_path, DRAWS)
    _, second = run(tmp_path, DRAWS)
    assert set(first) == {"loaded", "shared", "one", "two", "system"}
    same = {name for name in first if first[name] == second[name]}
    assert same == {"loaded", "shared", "one", "two"}
    assert len(set(first.values())) == len(first)
    _, alone = run(tmp_path, DRAWS, "-k", "test_two")
    assert alone == {name: first[name] for name in ("shared", "two")}
    _, other = run(tmp_path, DRAWS, "--stream", "1")
    assert not [name for name in first if first[name] == other[name]]


def test_without_the_plugin_every_run_differs(tmp_path: Path) -> None:
    _, first = run(tmp_path, DRAWS, plugin=False)
    _, second = run(tmp_path, DRAWS, plugin=False)
    assert not [name for name in first if first[name] == second[name]]


MARKED = [
    ("random", "LAW.sample()", "takes no share of the budget"),
    ("random", "claim('elsewhere', 'toy')", ""),
    ("any_draw", "LAW.sample()", "any_draw needs its reason"),
    ("any_draw('why')", "LAW.sample()", ""),
    ("slow", "subprocess.run([sys.executable, '-c', ''])", "starts Python"),
    ("any_draw('why')", "subprocess.run([sys.executable, '-c', ''])", ""),
    ("slow", "subprocess.run(['true'])", ""),
]


@pytest.fixture(scope="module")
def wrongs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What was wrong with each of the marked tests, of one run of them all."""
    folder = tmp_path_factory.mktemp("marked")
    text = DRAWS.partition("@pytest.fixture")[0]
    for number, (mark, body, _) in enumerate(MARKED):
        text += f"\n@pytest.mark.{mark}\ndef test_{number}():\n    {body}\n"
    run(folder, text, "-o", "markers=slow", "--junitxml=found.xml")
    found = ElementTree.parse(folder / "found.xml").iter("testcase")  # noqa: S314 - our own text
    return {one.attrib["name"]: "".join(why.attrib["message"] for why in one) for one in found}


@pytest.mark.parametrize("number", range(len(MARKED)), ids=lambda n: " ".join(MARKED[n][:2]))
def test_marks_are_kept_to(number: int, wrongs: dict[str, str]) -> None:
    wrong = MARKED[number][2]
    seen = wrongs[f"test_{number}"]
    if wrong:
        assert wrong in seen
    else:
        assert seen == ""


def unseeded(text: str) -> list[str]:
    """Generators of Python's and numpy's that nobody gave a seed."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and not node.args and not node.keywords:
            name = ast.unparse(node.func)
            if re.fullmatch(r"(\w+\.)*(default_rng|Random|RandomState|SystemRandom)", name):
                found.append(f"line {node.lineno}: {name}()")
    return found


@pytest.mark.parametrize("folder", ["tests", "docs", "src"])
def test_no_generator_goes_without_a_seed(folder: str) -> None:
    files = [path for path in (ROOT / folder).rglob("*.py") if path.name != "test_chance.py"]
    found = {path.name: unseeded(path.read_text()) for path in files}
    assert {name: lines for name, lines in found.items() if lines} == {}


def test_a_generator_without_a_seed_is_seen() -> None:
    text = "import random\nrandom.Random()\nnp.random.default_rng()\nrandom.Random(7)"
    assert unseeded(text) == ["line 2: random.Random()", "line 3: np.random.default_rng()"]
