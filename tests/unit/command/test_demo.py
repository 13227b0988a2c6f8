"""The demo shows what the laws really are."""

from __future__ import annotations

import json
import subprocess
import sys

import tenue as tn


def run(*words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "tenue", "demo", *words], capture_output=True, text=True, check=True
    )
    return done.stdout


def test_json_agrees_with_the_library() -> None:
    shown = json.loads(run("--json", "--epsilon", "0.5"))
    laws = {row["law"]: row for row in shown["one"]}
    assert laws["Laplace"]["variance"] == 8.0
    best = tn.noise.Optimal(sensitivity=1, epsilon=0.5)
    assert laws["Optimal, least variance"]["variance"] == best.variance
    assert all(row["same"] < row["any"] < row["laplace"] for row in shown["many"])
    assert all(9_000 < sum(counts) <= 20_000 for counts in shown["draws"].values())


def test_text_shows_every_law() -> None:
    text = run()
    for name in ("Laplace", "Optimal", "same-sign", "exact draws"):
        assert name in text
