"""`tenue ask --prior`: one person, a statistic, delta, and what the ledger shows afterwards."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from command_line import invoke
from tenue.cli.main import app
from tenue.errors import InvalidArgument, OverBudget

SCHEMA = """
[table]
name = "people"
source = "people.csv"
unit = "record"
neighbours = "add-or-remove"
[columns.id]
type = "identifier"
[columns.employed]
type = "category"
categories = ["yes", "no"]
[columns.benefits]
type = "category"
categories = ["yes", "no"]
[budget]
total = 20
delta = 1e-4
"""
JOINT = '{"prior": "table", "masses": [[["yes", "no"], 0.8], [["no", "yes"], 0.2]]}'
COUNT = '{"prior": "binomial", "n": 100, "p": 0.3}'
ABOUT_ONE = "SELECT employed, benefits FROM people WHERE id = 17"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "people.toml").write_text(SCHEMA)
    (tmp_path / "people.csv").write_text("id,employed,benefits\n17,yes,no\n18,no,yes\n")
    (tmp_path / "joint.json").write_text(JOINT)
    (tmp_path / "count.json").write_text(COUNT)
    return tmp_path


def tenue(folder: Path, *words: str) -> Any:
    given = [str(folder / w) if w.endswith((".json", ".toml", ".ledger")) else w for w in words]
    return invoke(app, given)


def ask(folder: Path, sql: str, prior: str, *more: str) -> Any:
    words = ("--schema", "people.toml", "--epsilon", "1", "--prior", prior)
    return tenue(folder, "ask", sql, *words, *more)


def test_several_values_of_one_person_are_possible_together(folder: Path) -> None:
    done = ask(folder, ABOUT_ONE, "joint.json", "--delta", "1e-6", "--json")
    assert done.exit_code == 0, done.stdout
    answer = json.loads(done.stdout)
    assert (answer["value"]["employed"], answer["value"]["benefits"]) in [
        ("yes", "no"),
        ("no", "yes"),
    ]
    assert answer["certificate"]["promise"]["delta"] == "0.000001"
    assert (answer["price"], answer["delta"]) == ("1", "0.000001")
    shown = json.loads(tenue(folder, "ledger", "show", "people.ledger", "--json").stdout)
    assert shown["datasets"][0]["spent_delta"] == "0.000001"
    text = ask(folder, ABOUT_ONE, "joint.json", "--delta", "1e-6").stdout
    assert "Cost: nothing, it was answered before" in text
    assert "employed yes and benefits no" in text


def test_a_count_has_its_posterior(folder: Path) -> None:
    text = ask(folder, "SELECT COUNT(*) FROM people", "count.json").stdout
    assert "posterior" in text
    assert "the noisy answer" in text
    assert "discrete Laplace + Bayes" in text


def test_delta_beyond_the_budget_is_refused(folder: Path) -> None:
    done = ask(folder, ABOUT_ONE, "joint.json", "--delta", "1e-3", "--json")
    assert isinstance(done.exception, OverBudget)
    assert done.exception.limit == "delta"


def test_a_protocol_is_shown_with_the_ledger(folder: Path) -> None:
    fixed = SCHEMA + '\n[protocol]\nkind = "fixed-noise"\nscale = 20\n'
    (folder / "people.toml").write_text(fixed)
    words = ("ask", "SELECT COUNT(*) FROM people", "--schema", "people.toml")
    assert "Cost: epsilon 0.05 (discrete Laplace of scale 20)" in tenue(folder, *words).stdout
    assert isinstance(tenue(folder, *words, "--epsilon", "1").exception, InvalidArgument)
    assert (
        "protocol: fixed-noise of scale 20"
        in tenue(folder, "ledger", "show", "people.ledger").stdout
    )
