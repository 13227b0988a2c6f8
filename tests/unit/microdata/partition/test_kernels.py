"""The compiled algorithms are there if numba is, and nothing breaks where it is not."""

from __future__ import annotations

import importlib
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from tenue.microdata.partition import individual_ranking, mdav
from tenue.microdata.partition.kernels import kernels

MDAV = importlib.import_module("tenue.microdata.partition.mdav")
RANKING = importlib.import_module("tenue.microdata.partition.individual_ranking")


def test_the_module_is_the_compiled_one() -> None:
    pytest.importorskip("numba")
    fast = kernels()
    assert fast is importlib.import_module("tenue.microdata.partition.fast")
    assert {"mdav", "v_mdav", "two_ended", "optimal"} <= set(dir(fast))


def test_without_numba_there_is_none_and_the_groups_are_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = np.random.default_rng(3).normal(size=(300, 3))
    expected = mdav(table, 4), individual_ranking(table[:, 0], 4)
    # numba of None is what the import system calls a module that must not be found
    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.delitem(sys.modules, "tenue.microdata.partition.fast", raising=False)
    assert kernels() is None
    monkeypatch.setattr(MDAV, "COMPILED_FROM", 0)
    monkeypatch.setattr(RANKING, "COMPILED_FROM", 0)
    assert (mdav(table, 4), individual_ranking(table[:, 0], 4)) == expected


def test_another_failure_is_not_taken_for_a_missing_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """A broken module must be seen, not answered with slow code."""

    def broken(*given: Any) -> Any:
        raise ValueError("broken")

    monkeypatch.setattr(importlib, "import_module", broken)
    with pytest.raises(ValueError, match="broken"):
        kernels()


@pytest.mark.any_draw("modules are loaded whatever is drawn")
def test_nothing_is_loaded_before_it_is_asked_for() -> None:
    code = (
        "import sys, tenue.microdata as m; m.mdav([[1], [2], [3]], 1); "
        "sys.exit('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
