from __future__ import annotations

import json
from pathlib import Path

import pytest

from command_line import tenue


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [f"{20 + i % 40},{i % 7}" for i in range(60)]
    (tmp_path / "a.csv").write_text("age,ill\n" + "\n".join(rows) + "\n")
    coarse = [f"{(20 + i % 40) // 20 * 20},{i % 7}" for i in range(60)]
    (tmp_path / "b.csv").write_text("age,ill\n" + "\n".join(coarse) + "\n")
    return tmp_path


ROLES = ("--quasi-identifiers", "age", "--confidential", "ill")


def test_people_read_risk_and_utility(folder: Path) -> None:
    done = tenue("compare", "a.csv", "b.csv", *ROLES, "--report", "r.html", cwd=folder)
    assert done.returncode == 0, done.stderr
    for part in ("Risk", "Utility", "k = 20", "Wrote r.html", "Keep this to yourself"):
        assert part in done.stdout
    assert "for the holder" in (folder / "r.html").read_text()


def test_programs_read_json(folder: Path) -> None:
    done = tenue("compare", "a.csv", "b.csv", *ROLES, "--json", cwd=folder)
    told = json.loads(done.stdout)
    assert told["risk"]["check"]["k"] == 20
    whole = tenue("compare", "a.csv", "b.csv", "--unrelated", "--json", cwd=folder)
    assert json.loads(whole.stdout)["risk"] is None


def test_a_refusal_is_exit_code_2(folder: Path) -> None:
    assert tenue("compare", "a.csv", "none.csv", cwd=folder).returncode == 2
    done = tenue("compare", "a.csv", "b.csv", "--report", "r.pdf", cwd=folder)
    assert done.returncode == 2
    assert ".html" in done.stderr
