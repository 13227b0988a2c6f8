"""Questions: asked, explained, limited."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from command_line import invoke
from tenue.cli.demo import SCHEMA as EXPLAIN_SCHEMA
from tenue.cli.main import app
from tenue.errors import InvalidArgument, Refused

ASK_SCHEMA = """
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
    (tmp_path / "people.toml").write_text(ASK_SCHEMA)
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
    people = ASK_SCHEMA.replace('unit = "record"', 'unit = "who"\nrows_per_unit = 2')
    (tmp_path / "people.toml").write_text(people + '[columns.who]\ntype = "identifier"\n')
    rows = [f"{n % 90},p{n % 100}" for n in range(500)]
    (tmp_path / "people.csv").write_text("age,who\n" + "\n".join(rows))
    schema = str(tmp_path / "people.toml")
    limit, nobody = ask(schema, "--measure-cut", "0.5")["limits"]
    assert nobody["kind"] == "unit"
    low, high = limit["above"]["interval_95"]
    assert low < high
    assert ask(schema)["limits"][0]["above"] is None
    refused = ask(schema, "--measure-cut", "2")["refused"]
    assert "measure_cut" in refused["what"]
    words = ["explain", "SELECT COUNT(DISTINCT who) FROM people", "--schema", schema]
    done = invoke(app, [*words, "--epsilon", "1", "--measure-cut", "0.1", "--json"])
    assert isinstance(done.exception, Refused)


# -- `explain` needs no table, costs nothing and opens no ledger -----------------------------------

QUESTION = "SELECT SUM(income) FROM people"


def explain(folder: Path, *words: str) -> str:
    (folder / "people.toml").write_text(EXPLAIN_SCHEMA)
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
    (tmp_path / "people.toml").write_text(EXPLAIN_SCHEMA)
    words = ["explain", QUESTION, "--schema", str(tmp_path / "people.toml"), "--epsilon", "1"]
    done = invoke(app, [*words, "--delta", "1e-6"])
    assert isinstance(done.exception, InvalidArgument)


# -- `limits` on the command line ------------------------------------------------------------------

SCHEMA = """
[table]
name = "visits"
source = "visits.csv"
unit = "{unit}"
neighbours = "add-or-remove"
{limit}
[columns.who]
type = "identifier"
[columns.ward]
type = "category"
categories = ["a", "b"]
[columns.cost]
type = "number"
bounds = [0, 100]
[budget]
total = 30
"""


def limits(folder: Path, *words: str, unit: str = "who") -> Any:
    limit = "rows_per_unit = 1" if unit == "who" else ""
    (folder / "visits.toml").write_text(SCHEMA.format(unit=unit, limit=limit))
    rows = [f"p{i},{'ab'[j % 2]},{j}" for i in range(60) for j in range(1 + i % 5)]
    (folder / "visits.csv").write_text("who,ward,cost\n" + "\n".join(rows))
    return invoke(app, ["limits", "--schema", str(folder / "visits.toml"), *words])


def test_a_person_sees_limits_and_the_budget(tmp_path: Path) -> None:
    done = limits(tmp_path, "--epsilon", "20", "--by", "ward", "--column", "cost")
    assert done.exit_code == 0, done.stdout
    text = " ".join(done.stdout.split())
    assert "rows of a who" in text
    assert "groups_per_unit = " in text
    assert "bounds_per_unit = [0, " in text
    assert "error of truncation" in text
    assert "20 of 30" in text or "spent" in text


def test_a_program_sees_one_object(tmp_path: Path) -> None:
    words = ("--epsilon", "20", "--quantiles", "0.5, 0.9", "--most", "50", "--json")
    found = json.loads(limits(tmp_path, *words).stdout)
    assert found["quantiles"] == ["0.5", "0.9"]
    assert 1 <= found["rows"][0] <= found["rows"][1] <= 50
    assert found["groups"] is None
    assert json.loads(limits(tmp_path, *words).stdout)["price"] == "0"


@pytest.mark.parametrize(
    ("words", "unit"),
    [
        (("--epsilon", "1"), "record"),
        ((), "who"),
        (("--epsilon", "1", "--column", "ward"), "who"),
        (("--epsilon", "1", "--quantiles", "much"), "who"),
        (("--epsilon", "99"), "who"),
    ],
)
def test_refusals_are_those_of_the_library(tmp_path: Path, words: Any, unit: str) -> None:
    assert isinstance(limits(tmp_path, *words, unit=unit).exception, Refused)
