"""The process ends at once, and nothing is lost by that."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

pytestmark = pytest.mark.any_draw("other processes draw nothing that is looked at")
ROOT = Path(__file__).parents[3]
RUN = """
import atexit, os, sys, weakref
from tenue.command import process

class Held:
    def __del__(self, write=os.write):
        write(2, b"taken apart")

held = Held()
weakref.finalize(held, sys.stdout.write, "let go ")
atexit.register(sys.stdout.write, "at the exit ")

def main():
    BODY

process.main = main
process.run()
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


def test_all_is_written_and_done_and_nothing_taken_apart() -> None:
    done = ended("sys.stdout.write('x' * 1_000_000); raise SystemExit(0)")
    assert done.stdout.startswith("x" * 1_000_000)
    assert done.stdout.endswith("xat the exit let go ")
    assert "taken apart" not in done.stderr


def test_python_would_have_taken_it_apart() -> None:
    code = RUN.replace("BODY", "raise SystemExit(0)").replace("process.run()", "main()")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "taken apart" in done.stderr


def test_an_error_of_ours_has_its_traceback() -> None:
    done = ended("1 / 0")
    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stderr
    assert "at the exit" in done.stdout


def test_what_nobody_can_read_is_no_success() -> None:
    code = RUN.replace("BODY", "sys.stdout.write('lost'); raise SystemExit(0)")
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run([sys.executable, "-c", code], stdout=write, stderr=subprocess.PIPE)
    finally:
        os.close(write)
    assert done.returncode != 0
    assert b"BrokenPipeError" in done.stderr


@pytest.mark.parametrize("code", [0, 2, 3])
def test_a_closed_standard_error_changes_no_exit_code(code: int) -> None:
    """A verb that succeeded ended with 1, for Python has no stream to flush there."""
    body = f"sys.stderr.write('said'); raise SystemExit({code})"
    words = [sys.executable, "-c", RUN.replace("BODY", body)]
    done = subprocess.run(["sh", "-c", 'exec "$@" 2>&-', "sh", *words], capture_output=True)
    assert done.returncode == code
    assert done.stdout.endswith(b"let go ")


def test_both_ways_to_type_it_are_this_one() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    module, _, name = project["scripts"]["tenue"].partition(":")
    assert getattr(import_module(module), name).__module__ == "tenue.command.process"
    assert "process import run" in (ROOT / "src" / "tenue" / "__main__.py").read_text()
