"""The compiled algorithms are loaded when asked for, and whoever waits for them is told why."""

from __future__ import annotations

import importlib
import subprocess
import sys
from typing import Any

import pytest

from tenue.microdata.kernels import COMPILING, compilation_told, kernels


def test_the_module_is_the_compiled_one() -> None:
    fast = kernels()
    assert fast is importlib.import_module("tenue.microdata.partition.fast")
    assert {"mdav", "v_mdav", "two_ended", "optimal"} <= set(dir(fast))


def toy() -> Any:
    """Compiled anew, with a function inside that is compiled for it."""
    from numba import njit

    @njit
    def inner(x: int) -> int:
        return x + 1

    @njit
    def outer(x: int) -> int:
        return int(inner(x)) * 2

    return outer


def test_a_compilation_is_told_once_and_only_when_it_happens() -> None:
    kernels()
    told: list[str] = []
    function = toy()
    with compilation_told(told.append):
        assert told == []
        assert function(3) == 8
        assert told == [COMPILING]
        assert function(4) == 10
    assert told == [COMPILING]
    assert toy()(3) == 8  # nobody listens any more
    assert told == [COMPILING]


@pytest.mark.parametrize("watched", [True, False])
def test_without_a_listener_a_terminal_shows_a_line(
    watched: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kernels()
    monkeypatch.setattr(sys.stderr, "isatty", lambda: watched, raising=False)
    assert toy()(3) == 8
    assert capsys.readouterr().err == (f"tenue: {COMPILING}\n" if watched else "")


@pytest.mark.any_draw("modules are loaded whatever is drawn")
def test_nothing_is_loaded_before_it_is_asked_for() -> None:
    code = (
        "import sys, tenue.microdata as m; m.mdav([[1], [2], [3]], 1); "
        "sys.exit('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
