"""`ask` on the command line: intervals that are bought, mechanisms by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from command_line import invoke
from tenue.command.main import app
from tenue.errors import Refused

SCHEMA = """
[table]
name = "people"
source = "people.csv"
unit = "record"
neighbours = "replace"
[columns.age]
type = "number"
bounds = [0, 100]
missing = 0
[budget]
total = 10
individual = 1.5
"""


@pytest.fixture
def schema(tmp_path: Path) -> str:
    (tmp_path / "people.toml").write_text(SCHEMA)
    (tmp_path / "people.csv").write_text("age\n" + "\n".join(str(n % 90) for n in range(500)))
    return str(tmp_path / "people.toml")


def ask(schema: str, *words: str) -> Any:
    asked = ["ask", "SELECT MEDIAN(age) FROM people", "--schema", schema, "--epsilon", "1"]
    done = invoke(app, [*asked, "--json", *words])
    if isinstance(done.exception, Refused):
        return {"refused": done.exception.to_dict()}
    return json.loads(done.stdout)


def test_an_interval_is_bought(schema: str) -> None:
    found = ask(schema, "--interval", "0.9")
    low, high = found["interval_bought"]["interval"]
    assert low <= found["value"] <= high
    assert (found["interval_bought"]["epsilon"], found["price"]) == ("0.5", "1")
    assert ask(schema)["interval_bought"] is None


def test_a_mechanism_is_named(schema: str) -> None:
    found = ask(schema, "--mechanism", "smooth sensitivity 4")
    assert found["mechanism"] == "smooth sensitivity 4"
    assert found["interval_95"] is None
    refused = ask(schema, "--mechanism", "magic")["refused"]
    assert '"selection", "smooth sensitivity 2"' in refused["allowed"]


def test_the_individual_column_has_its_cap(schema: str) -> None:
    assert ask(schema, "--individual")["price"] == "1"
    assert ask(schema, "--individual", "--fresh")["refused"]["code"] == "over-individual-budget"
    ledger = schema.replace(".toml", ".ledger")
    shown = json.loads(invoke(app, ["ledger", "show", ledger, "--json"]).stdout)
    (balance,) = shown["datasets"]
    assert (balance["individual"], balance["individual_total"]) == ("1", "1.5")


def test_who_is_above_a_limit_is_bought(tmp_path: Path) -> None:
    people = SCHEMA.replace('unit = "record"', 'unit = "who"\nrows_per_unit = 2')
    (tmp_path / "people.toml").write_text(people + '[columns.who]\ntype = "identifier"\n')
    rows = [f"{n % 90},p{n % 100}" for n in range(500)]
    (tmp_path / "people.csv").write_text("age,who\n" + "\n".join(rows))
    schema = str(tmp_path / "people.toml")
    (limit,) = ask(schema, "--measure-cut", "0.5")["limits"]
    low, high = limit["above"]["interval_95"]
    assert low < high
    assert ask(schema)["limits"][0]["above"] is None
    refused = ask(schema, "--measure-cut", "2")["refused"]
    assert "measure_cut" in refused["what"]
    words = ["explain", "SELECT COUNT(DISTINCT who) FROM people", "--schema", schema]
    done = invoke(app, [*words, "--epsilon", "1", "--measure-cut", "0.1", "--json"])
    assert isinstance(done.exception, Refused)
