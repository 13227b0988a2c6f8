"""`limits` on the command line."""

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
    assert "costs is not known" in text
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
