"""`init` drafts from names and types; what rows hold enters only when asked for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tenue as tn
from command_line import invoke
from tenue.command.main import app
from tenue.errors import InvalidTable, Refused

TOWN = "a very private town"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "the people.csv"
    path.write_text(
        f"id,age,rate,town,born\n1,30,0.5,{TOWN},2001-02-03\n2,40,1.5,Rome,1999-01-01\n"
    )
    return path


def init(*words: str) -> str:
    done = invoke(app, ["init", *words], keep=False)
    assert done.exit_code == 0
    return done.stdout


def test_no_value_enters_the_draft(data: Path) -> None:
    init(str(data))
    text = data.with_suffix(".toml").read_text()
    assert TOWN not in text
    assert "30" not in text.replace("[columns", "")
    assert 'name = "the_people"' in text
    assert 'source = "the people.csv"' in text
    assert 'type = "date"' in text
    with pytest.raises(Refused, match="FILL IN"):
        tn.Schema.load(data.with_suffix(".toml"))


def test_bounds_from_data_are_marked(data: Path) -> None:
    shown = json.loads(init(str(data), "--bounds-from-data", "--json"))
    text = data.with_suffix(".toml").read_text()
    assert shown["columns"] == 5
    assert "bounds_from_data = true" in text
    assert "NOT PRIVATE" in text
    assert "bounds = [30, 40]" in text


def test_nothing_is_written_over(data: Path) -> None:
    init(str(data))
    with pytest.raises(Refused, match="already there"):
        init(str(data))
    init(str(data), "--force")
    for wrong in (data.parent, data.parent / "none.csv", data.with_suffix(".toml")):
        with pytest.raises(InvalidTable):
            init(str(wrong), "--out", str(data.parent / "other.toml"))
    assert not (data.parent / "other.toml").exists()
