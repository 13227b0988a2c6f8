"""The demo shows what the laws and the made-up table really give."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import tenue as tn
from command_line import tenue

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
    ):
        assert part in done.stdout
    with tn.protect(schema=tmp_path / "out" / "people.toml") as data:
        assert data.budget.spent == pytest.approx(1.5)
    published = tmp_path / "out" / "published"
    assert sorted(path.name for path in published.iterdir()) == [
        "certificate.json",
        "manifest.json",
        "table.parquet",
    ]
