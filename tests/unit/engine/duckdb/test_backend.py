from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tenue.engine.duckdb.backend import BACKEND
from tenue.engine.source.location import Frame, locate


def test_files_are_named_and_data_frames_lack_nothing(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("x\n1\n")
    (found,) = BACKEND.examine(locate(tmp_path / "t.csv", "t"))  # type: ignore[arg-type]
    assert (found.verdict, found.what) == ("fine", "t.csv is there")
    assert list(BACKEND.examine(Frame(None))) == []


@pytest.mark.any_draw("Python is started, and only what it imports is looked at")
def test_knowing_the_engines_imports_no_driver() -> None:
    code = (
        "import sys; from tenue.engine.registry import backends; backends(); "
        "print([n for n in ('duckdb', 'psycopg', 'pyspark', 'pyarrow') if n in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
