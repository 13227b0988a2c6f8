"""The demo shows what the laws and the made-up table really give."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import tenue as tn
from command_line import tenue
from tenue.cli.demo import PANEL_ROWS, command_name

pytestmark = pytest.mark.any_draw("looks at prices and expected errors, not at draws")


def test_json_agrees_with_the_library(tmp_path: Path) -> None:
    words = ["demo", "--out", str(tmp_path / "out"), "--json", "--epsilon", "0.5"]
    done = subprocess.run(
        [sys.executable, "-m", "tenue", *words], capture_output=True, text=True, check=True
    )
    shown = json.loads(done.stdout)
    laws = {row["law"]: row for row in shown["one"]}
    assert laws["Laplace"]["variance"] == 8.0
    best = tn.noise.Optimal(sensitivity=1, epsilon=0.5)
    assert laws["Optimal: variance"]["variance"] == best.variance
    assert all(row["same"] < row["any"] < row["laplace"] for row in shown["many"])
    assert [answer["price"] for answer in shown["answers"]] == ["0.5"] * 3
    assert "epsilon 1.5 of 5 spent" in shown["budget"]
    assert shown["certificate"]["promise"] == {"kind": "probabilistic k-anonymity", "k": "12"}
    plan = tn.plan_release(tmp_path / "out" / "panel.toml", PANEL_ROWS, 1)
    assert shown["plan"] == plan.to_dict()
    assert shown["private"]["promise"] == {"kind": "pure differential privacy", "epsilon": "1"}


def test_the_demo_can_be_run_again(tmp_path: Path) -> None:
    for _ in range(2):
        done = tenue("demo", "--out", "out", cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
    for part in (
        "Laplace",
        "same-sign box",
        "Explain",
        "Ask",
        "answered before",
        "intact",
        "Publish",
        "Plan of a private table",
    ):
        assert part in done.stdout
    with tn.protect(schema=tmp_path / "out" / "people.toml") as data:
        assert data.budget.spent == pytest.approx(1.5)
    for name in ("published", "private"):
        assert sorted(path.name for path in (tmp_path / "out" / name).iterdir()) == [
            "certificate.json",
            "manifest.json",
            "report.html",
            "table.parquet",
        ]


def script(folder: Path) -> Path:
    """A Python with a `tenue` beside it."""
    folder.mkdir(parents=True)
    for name in ("python", "tenue"):
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)
    return folder / "python"


def test_the_command_is_named_as_it_can_be_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = script(tmp_path / "house" / ".venv" / "bin")
    monkeypatch.setattr(sys, "executable", str(python))
    monkeypatch.setenv("PATH", "")
    monkeypatch.chdir(tmp_path / "house")
    assert command_name() == ".venv/bin/tenue"
    monkeypatch.chdir(tmp_path)
    assert command_name() == "house/.venv/bin/tenue"
    monkeypatch.chdir("/")
    assert command_name() == str(python.with_name("tenue")).lstrip("/")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert command_name() == str(python.with_name("tenue"))
    monkeypatch.setenv("PATH", str(python.parent))
    assert command_name() == "tenue"
    (elsewhere / "tenue").symlink_to(python.with_name("tenue"))
    monkeypatch.setenv("PATH", str(elsewhere))
    assert command_name() == "tenue"
    monkeypatch.setenv("PATH", str(script(tmp_path / "another").parent))
    assert command_name() == str(python.with_name("tenue"))
    python.with_name("tenue").unlink()
    assert command_name() == "python -m tenue"
