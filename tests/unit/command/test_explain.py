"""`explain` needs no table, costs nothing and opens no ledger."""

from __future__ import annotations

import json
from pathlib import Path

from command_line import invoke
from tenue.command.example_table import SCHEMA
from tenue.command.main import app
from tenue.errors import InvalidArgument

QUESTION = "SELECT SUM(income) FROM people"


def explain(folder: Path, *words: str) -> str:
    (folder / "people.toml").write_text(SCHEMA)
    schema = str(folder / "people.toml")
    done = invoke(app, ["explain", QUESTION, "--schema", schema, *words])
    assert done.exit_code == 0, done.stdout
    return done.stdout


def test_no_table_and_no_ledger_are_needed(tmp_path: Path) -> None:
    text = explain(tmp_path, "--epsilon", "0.5")
    assert "→  optimal" in text
    assert "discrete Laplace" in text
    assert sorted(p.name for p in tmp_path.iterdir()) == ["people.toml"]


def test_json_is_one_object(tmp_path: Path) -> None:
    plan = json.loads(explain(tmp_path, "--epsilon", "0.5", "--json"))
    assert plan["chosen"]["mechanism"] == "optimal"
    assert plan["epsilon"] == "0.5"


def test_an_accuracy_finds_its_epsilon(tmp_path: Path) -> None:
    plan = json.loads(explain(tmp_path, "--accuracy", "0.9:500000", "--json"))
    narrow = json.loads(explain(tmp_path, "--accuracy", "0.9:50000", "--json"))
    assert float(narrow["epsilon"]) > 3 * float(plan["epsilon"])
    shaped = explain(tmp_path, "--epsilon", "1", "--minimise", "interval:0.95")
    assert "optimal" in shaped


def test_a_mechanism_is_typed_as_it_is_shown(tmp_path: Path) -> None:
    text = explain(tmp_path, "--epsilon", "1", "--mechanism", "discrete Laplace")
    assert "→  discrete Laplace" in text


def test_a_prior_puts_noise_bayes_and_refinement_side_by_side(tmp_path: Path) -> None:
    belief = tmp_path / "sum.json"
    belief.write_text('{"prior": "normal", "mean": 40000, "sd": 5000, "low": 0, "high": 100000}')
    text = explain(tmp_path, "--epsilon", "0.5", "--prior", str(belief))
    assert "→  knowledge refinement + Bayes" in text
    assert "optimal + Bayes" in text
    assert "the prior alone" in text
    plan = json.loads(explain(tmp_path, "--epsilon", "0.5", "--prior", str(belief), "--json"))
    assert plan["kind"] == "statistical"
    assert plan["chosen"] == min(plan["candidates"], key=lambda way: way["expected_error"])
    assert sorted(p.name for p in tmp_path.iterdir()) == ["people.toml", "sum.json"]


def test_delta_needs_a_prior(tmp_path: Path) -> None:
    (tmp_path / "people.toml").write_text(SCHEMA)
    words = ["explain", QUESTION, "--schema", str(tmp_path / "people.toml"), "--epsilon", "1"]
    done = invoke(app, [*words, "--delta", "1e-6"])
    assert isinstance(done.exception, InvalidArgument)
