"""The process ends as any program of Python does, and what cannot be written is no success."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

from tenue.cli.parser import UNWRITTEN
from tenue.ledger import SQLite

pytestmark = pytest.mark.any_draw("other processes draw nothing that is looked at")
ROOT = Path(__file__).parents[3]
BUFFERED = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
RUN = """
import atexit, os, sys, weakref
from tenue.cli import entry_point

class Held:
    def __del__(self, write=os.write):
        write(2, b"let go of")

held = Held()
weakref.finalize(held, sys.stdout.write, "finalised ")
atexit.register(sys.stdout.write, "at the exit ")

def main():
    BODY

entry_point.main = main
entry_point.run()
sys.stdout.write("went on")
"""


def ended(body: str) -> subprocess.CompletedProcess[str]:
    code = RUN.replace("BODY", body)
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)


@pytest.mark.parametrize("code", [0, 1, 2])
def test_the_exit_code_is_that_of_the_verb(code: int) -> None:
    done = ended(f"raise SystemExit({code})")
    assert done.returncode == code
    assert "went on" not in done.stdout


def test_all_is_written_and_all_that_python_does_at_its_exit_is_done() -> None:
    done = ended("sys.stdout.write('x' * 1_000_000); raise SystemExit(0)")
    assert done.stdout.startswith("x" * 1_000_000)
    assert done.stdout.endswith("xat the exit finalised ")
    assert done.stderr == "let go of"


def test_a_process_that_ends_at_once_is_seen() -> None:
    done = ended("os._exit(0)")
    assert "at the exit" not in done.stdout
    assert "let go of" not in done.stderr


def test_an_error_of_ours_has_its_traceback() -> None:
    done = ended("1 / 0")
    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stderr
    assert "at the exit" in done.stdout


@pytest.mark.parametrize(
    "body",
    [
        "import threading; threading.Thread(target=lambda: {}['own value']).start()",
        "Held.__del__ = lambda self: {}['own value']; Held()",
    ],
    ids=["a thread", "a finaliser"],
)
def test_an_error_beside_the_verb_quotes_nothing_either(
    body: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    done = ended(f"{body}; raise SystemExit(0)")
    (details,) = tmp_path.glob("tenue/faults/*.txt")
    assert done.returncode == 0
    assert done.stderr.count("Something failed on our side (fault-") == 1
    assert "own value" not in done.stderr + details.read_text()
    monkeypatch.setenv("TENUE_TRACEBACK", "1")
    assert "own value" in ended(body).stderr


def test_what_nobody_can_read_is_no_success() -> None:
    code = RUN.replace("BODY", "sys.stdout.write('lost'); raise SystemExit(0)")
    read, write = os.pipe()
    os.close(read)
    try:
        words = [sys.executable, "-c", code]
        done = subprocess.run(words, stdout=write, stderr=subprocess.PIPE, env=BUFFERED)
    finally:
        os.close(write)
    assert done.returncode == 1
    said = f"Something failed on our side (fault): {UNWRITTEN}\n"
    assert done.stderr.decode() == f"{said}let go of"


def closed_or_full(*words: str, cwd: Path) -> list[subprocess.CompletedProcess[str]]:
    """A command whose standard output is closed, and one whose disk is full."""
    command = [sys.executable, "-m", "tenue", *words]
    return [
        subprocess.run(
            ["sh", "-c", f'exec "$@" {where}', "sh", *command],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            cwd=cwd,
            env=BUFFERED,
        )
        for where in (">&-", ">/dev/full")
    ]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--require", "k=3"], 3),
        (["--require", "k=3", "--json"], 3),
        (["--require", "k=2"], 1),
        (["--require", "m=2"], 2),
        (["--require", "m=2", "--json"], 2),
        (["--json"], 1),
    ],
)
def test_output_that_cannot_be_written_hides_no_verdict(
    tmp_path: Path, words: list[str], code: int
) -> None:
    """It ended with 1 or 120 and a traceback, whatever `check` had found."""
    (tmp_path / "t.csv").write_text("age\n30\n30\n")
    checked = ["check", "t.csv", "--quasi-identifiers", "age"]
    for done in closed_or_full(*checked, *words, cwd=tmp_path):
        assert done.returncode == code
        assert "Traceback" not in done.stderr
        assert "Exception" not in done.stderr
        assert code != 1 or done.stderr.count(UNWRITTEN) == 1


def test_many_lines_that_cannot_be_written_are_a_fault_too(tmp_path: Path) -> None:
    with SQLite(tmp_path / "a.ledger") as ledger:
        for i in range(50):
            ledger.open_dataset(f"t{i}", 1, neighbours="replace")
    for done in closed_or_full("ledger", "export", "a.ledger", cwd=tmp_path):
        assert done.returncode == 1
        assert done.stderr == f"Something failed on our side (fault): {UNWRITTEN}\n"


@pytest.mark.parametrize("code", [0, 2, 3])
def test_a_closed_standard_error_changes_no_exit_code(code: int) -> None:
    """A verb that succeeded ended with 1, for Python has no stream to flush there."""
    body = f"sys.stderr.write('said'); raise SystemExit({code})"
    words = [sys.executable, "-c", RUN.replace("BODY", body)]
    done = subprocess.run(["sh", "-c", 'exec "$@" 2>&-', "sh", *words], capture_output=True)
    assert done.returncode == code
    assert done.stdout.endswith(b"finalised ")


def test_both_ways_to_type_it_are_this_one() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    module, _, name = project["scripts"]["tenue"].partition(":")
    assert getattr(import_module(module), name).__module__ == "tenue.cli.entry_point"
    assert "entry_point import run" in (ROOT / "src" / "tenue" / "__main__.py").read_text()
