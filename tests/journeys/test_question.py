"""The whole journey of a question: library, ledger, engine, command line."""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import command_line
import tenue as tn
from tenue.engine.contract import Cells
from tenue.engine.request import Request
from tenue.errors import (
    Conflict,
    EngineFault,
    InvalidArgument,
    InvalidQuestion,
    InvalidSchema,
    NotPromised,
    OverBudget,
)

SCHEMA = """
[table]
name = "people"
source = "people.csv"
unit = "record"
neighbours = "add-or-remove"
[columns.age]
type = "number"
bounds = [0, 100]
[columns.region]
type = "category"
categories = ["North", "South"]
[budget]
total = 100
per_analyst = 60
"""
ROWS = {
    "age": [20, 30, 40, None, 50] * 200,
    "region": ["North", "South", "North", "South", "East"] * 200,
}
COUNT = "SELECT COUNT(*) FROM people"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "people.toml").write_text(SCHEMA)
    pd.DataFrame(ROWS).to_csv(tmp_path / "people.csv", index=False)
    return tmp_path


@pytest.fixture
def data(folder: Path) -> Any:
    with tn.protect(schema=folder / "people.toml") as opened:
        yield opened


def test_answers_are_near_the_truth_and_paid_for(data: Any) -> None:
    answer = data.ask(COUNT, epsilon=20)
    assert abs(answer.value - 1000) <= 3
    assert answer.price == 20
    assert data.budget.spent == 20
    assert data.budget.remaining == 80
    grouped = data.ask(
        "SELECT region, COUNT(*) AS n, AVG(age) AS a FROM people GROUP BY region", epsilon=20
    )
    assert [row["region"] for row in grouped.value] == ["North", "South"]
    assert abs(grouped.value[0]["n"] - 400) <= 3
    assert abs(grouped.value[0]["a"] - 30) < 0.5
    assert grouped.certificate.promise == tn.Pure(20)


def test_the_same_question_is_answered_again_for_nothing(data: Any) -> None:
    one = data.ask(COUNT, epsilon=1)
    two = data.ask("select  count( * ) AS count from PEOPLE  -- again", epsilon=1.0)
    assert two.replayed
    assert (two.value, two.price) == (one.value, 0)
    assert data.budget.spent == 1
    values = {data.ask(COUNT, epsilon=1, fresh=True).value for _ in range(12)}
    assert data.budget.spent == 13
    assert len(values) > 1
    assert data.ask(COUNT, epsilon=1).value == one.value  # the first stays the one repeated
    assert data.ask(COUNT, epsilon="0.5").price == Fraction(1, 2)  # another price, another answer


def test_a_key_is_answered_once(data: Any) -> None:
    one = data.ask(COUNT, epsilon=1, key="a", fresh=True)
    two = data.ask(COUNT, epsilon=1, key="a", fresh=True)
    assert (two.value, two.replayed, data.budget.spent) == (one.value, True, 1)
    with pytest.raises(Conflict):
        data.ask("SELECT SUM(age) FROM people", epsilon=1, key="a")
    assert data.budget.spent == 1
    # a new key for a question already answered costs nothing, and its retry says the same
    three = data.ask(COUNT, epsilon=1, key="b")
    data.ask(COUNT, epsilon=1, fresh=True)
    assert data.ask(COUNT, epsilon=1, key="b").value == three.value == one.value


def test_budgets_bind_and_outlive_everything(folder: Path) -> None:
    tn.protect(schema=folder / "people.toml").close()  # the holder opens a file first
    with tn.protect(schema=folder / "people.toml", analyst="ann") as data:
        data.ask(COUNT, epsilon=60)
        with pytest.raises(OverBudget):
            data.ask("SELECT SUM(age) FROM people", epsilon="0.000000001")
    with tn.protect(schema=folder / "people.toml", analyst="bob") as data:
        with pytest.raises(OverBudget):
            data.ask("SELECT SUM(age) FROM people", epsilon=41)
        data.ask("SELECT SUM(age) FROM people", epsilon=40)
        assert data.budget.remaining == 0
    # a changed schema and a raised cap are entries; spent stays spent
    changed = SCHEMA.replace("[0, 100]", "[0, 120]").replace("total = 100", "total = 101")
    (folder / "people.toml").write_text(changed)
    with tn.protect(schema=folder / "people.toml", analyst="cyd") as data:
        assert (data.budget.spent, data.budget.remaining) == (100, 1)
        assert data.ledger.verify()


class Broken:
    """An engine that fails after it has looked at a row."""

    files = None

    def measure(self, request: Request) -> Cells:
        raise EngineFault("the engine did not answer")

    def close(self) -> None: ...


def test_a_wrong_number_of_rows_is_seen_where_it_is_public(folder: Path) -> None:
    stated = tn.Schema.load(folder / "people.toml").stated
    count = len((folder / "people.csv").read_text().splitlines()) - 1

    def opened(rows: int, neighbours: str) -> Any:
        table = {**stated["table"], "rows": rows, "neighbours": neighbours}
        schema = tn.Schema.from_dict({**stated, "table": table}, folder=folder)
        return tn.protect(schema=schema, ledger=tn.ledger.Memory())

    opened(count, "replace").close()
    with pytest.raises(InvalidSchema, match="another number"):
        opened(count + 1, "replace")
    # where it is secret, whether the holder's number is right is no answer
    opened(count + 1, "add-or-remove").close()


def test_flags_and_lists_are_what_they_are(data: Any) -> None:
    for wrong in ("yes", 1, None, pd.NA):
        with pytest.raises(InvalidArgument, match="True or False"):
            data.ask(COUNT, epsilon=1, fresh=wrong)
        with pytest.raises(InvalidArgument, match="True or False"):
            data.ask(COUNT, epsilon=1, individual=wrong)
    for wrong in (5, COUNT, [COUNT, 5], {COUNT: 1}):
        with pytest.raises(InvalidArgument, match="list"):
            data.ask_many(wrong, epsilon=1)
    for wrong in (pd.NA, 5, ["box"]):
        with pytest.raises(InvalidArgument, match="mechanism"):
            data.ask(COUNT, epsilon=1, mechanism=wrong)
    assert data.budget.spent == 0


def test_another_spelling_of_the_name_is_no_new_budget(folder: Path) -> None:
    with tn.protect(schema=folder / "people.toml") as data:
        data.ask(COUNT, epsilon=60)
    (folder / "people.toml").write_text(SCHEMA.replace('name = "people"', 'name = "People"'))
    with tn.protect(schema=folder / "people.toml") as data:
        assert data.budget.spent == 60
        assert data.ledger.datasets() == ["people"]


def test_a_failing_engine_keeps_the_price_and_says_nothing(data: Any) -> None:
    whole, data._dataset._engine = data._dataset.engine, Broken()
    with pytest.raises(EngineFault, match=r"^the engine did not answer$"):
        data.ask(COUNT, epsilon=1, key="k")
    assert data.budget.spent == 1
    data._dataset._engine = whole
    with pytest.raises(Conflict):  # noise may have been drawn: never again for this key
        data.ask(COUNT, epsilon=1, key="k")
    assert data.ask(COUNT, epsilon=1).price == 1


class Counting:
    """An engine that counts how often it is asked, and what the ledger said at that time."""

    def __init__(self, engine: Any, ledger: Any) -> None:
        self._engine, self._ledger, self.files = engine, ledger, engine.files
        self.spent: list[Fraction] = []

    def measure(self, request: Request) -> Any:
        self.spent.append(self._ledger.balance("people").spent)
        return self._engine.measure(request)

    def close(self) -> None:
        self._engine.close()


def test_the_ledger_is_debited_before_a_row_is_read(data: Any) -> None:
    data._dataset._engine = watched = Counting(data._dataset.engine, data.ledger)
    data.explain(COUNT, epsilon=3)
    assert watched.spent == []
    data.ask(COUNT, epsilon=3)
    assert watched.spent == [3]
    data.ask(COUNT, epsilon=3)
    assert watched.spent == [3]
    for wrong in ("SELECT * FROM people", "SELECT COUNT(*) FROM others"):
        with pytest.raises(InvalidQuestion):
            data.ask(wrong, epsilon=1)
    assert watched.spent == [3]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_data_frames_of_every_kind_can_be_asked(frame: Any, folder: Path) -> None:
    ledger = tn.ledger.Memory()
    with tn.protect(frame(ROWS), schema=folder / "people.toml", ledger=ledger) as data:
        answer = data.ask("SELECT COUNT(age) AS n, SUM(age) AS s FROM people", epsilon=40)
    assert abs(answer.value["n"] - 800) <= 2
    assert abs(answer.value["s"] - 28_000) <= 200


def test_accuracy_finds_its_price(data: Any) -> None:
    answer = data.ask(COUNT, accuracy=("interval", 0.95, 10))
    low, high = answer.interval(0.95)
    assert high - low <= 20
    assert 0.2 < answer.price < 0.4
    with pytest.raises(NotPromised):
        data.ask("SELECT AVG(age) FROM people", accuracy=("interval", 0.95, 10))
    for wrong in ({}, {"epsilon": 1, "accuracy": ("interval", 0.9, 1)}, {"epsilon": 0}):
        with pytest.raises(InvalidArgument):
            data.ask(COUNT, **wrong)


def test_schemas_that_promise_nothing_are_refused(folder: Path) -> None:
    (folder / "people.toml").write_text(
        SCHEMA.replace("[table]", "[table]\nbounds_from_data = true")
    )
    with pytest.raises(NotPromised):
        tn.protect(schema=folder / "people.toml")
    (folder / "people.toml").write_text(SCHEMA.partition("[budget]")[0])
    with pytest.raises(InvalidSchema):
        tn.protect(schema=folder / "people.toml")
    with pytest.raises(InvalidArgument):
        tn.protect(schema=3)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument):
        tn.protect(folder / "people.csv", schema=tn.Schema.parse(SCHEMA), ledger=3)  # type: ignore[arg-type]
    assert not (folder / "people.ledger").exists()


def tenue(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tenue", *words], capture_output=True, text=True, cwd=cwd
    )


@pytest.mark.any_draw("compares one stored answer with itself")
def test_library_and_command_line_give_one_answer(folder: Path) -> None:
    asked = tenue("ask", COUNT, "--schema", "people.toml", "--epsilon", "1", "--json", cwd=folder)
    given = json.loads(asked.stdout)
    with tn.protect(schema=folder / "people.toml") as data:
        same = data.ask(COUNT, epsilon=1)
        plan = data.explain(COUNT, epsilon=1)
    assert (given["value"], given["price"], same.replayed) == (same.value, "1", True)
    explained = command_line.tenue(
        "explain", COUNT, "--schema", "people.toml", "--epsilon", "1", cwd=folder
    )
    assert explained.stdout.strip() == str(plan).strip()
    shown = tenue("ledger", "show", "people.ledger", "--json", cwd=folder)
    assert json.loads(shown.stdout)["datasets"][0]["spent"] == "1"
    (question,) = json.loads(shown.stdout)["questions"]
    assert (question["asked"], question["outcome"]) == (plan.sql, "answered")
    words = tenue("ledger", "show", "people.ledger", cwd=folder).stdout
    assert f"holder  epsilon 1\n    {plan.sql}" in words
    none = tenue("ledger", "show", "people.ledger", "--last", "0", cwd=folder).stdout
    assert plan.sql not in none
    assert tenue("ledger", "verify", "people.ledger", cwd=folder).returncode == 0
    lines = tenue("ledger", "export", "people.ledger", cwd=folder).stdout.strip().splitlines()
    assert all(json.loads(line) for line in lines)
    refused = command_line.tenue(
        "ask", COUNT, "--schema", "people.toml", "--epsilon", "999", "--json", cwd=folder
    )
    assert refused.returncode == 2
    assert json.loads(refused.stdout)["refused"]["code"] == "over-budget"
    assert "Traceback" not in refused.stderr


@pytest.mark.any_draw("compares one stored answer with itself")
def test_init_drafts_a_schema_that_waits_for_its_holder(folder: Path) -> None:
    (folder / "people.toml").unlink()
    made = tenue("init", "people.csv", cwd=folder)
    assert made.returncode == 0, made.stderr
    text = (folder / "people.toml").read_text()
    assert '"FILL IN"' in text
    again = command_line.tenue("init", "people.csv", cwd=folder)
    assert again.returncode == 2
    assert (folder / "people.toml").read_text() == text
    words = ("ask", COUNT, "--schema", "people.toml", "--epsilon", "1")
    asked = command_line.tenue(*words, cwd=folder)
    assert asked.returncode == 2
    assert "line" in asked.stderr.lower()
    words = ("init", "people.csv", "--bounds-from-data", "--out", "b.toml")
    filled = command_line.tenue(*words, cwd=folder)
    assert "NOT PRIVATE" in filled.stdout
    assert "bounds_from_data = true" in (folder / "b.toml").read_text()
