"""`doctor`, which says what a table lacks, and `open`, which opens it without asking."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import psycopg
import pytest

import tenue as tn
from command_line import invoke
from postgres_server import Server
from tenue.cli.main import app
from tenue.errors import Fault, Refused

pytestmark = pytest.mark.any_draw("draws nothing")

# -- `doctor`: what is missing is named with what mends it -----------------------------------------

SCHEMA = """
[table]
name = "visits"
source = "visits.csv"
unit = "record"
neighbours = "add-or-remove"
[columns.cost]
type = "number"
bounds = [0, 100]
[budget]
total = 30
"""


def doctor(*words: str) -> tuple[int, Any]:
    said = invoke(app, ["doctor", *words, "--json"])
    return said.exit_code, json.loads(said.stdout)


def test_a_file_that_can_be_asked_is_ready(tmp_path: Path) -> None:
    (tmp_path / "visits.toml").write_text(SCHEMA)
    (tmp_path / "visits.csv").write_text("cost\n1\n2\n")
    said = invoke(app, ["doctor", "--schema", str(tmp_path / "visits.toml")])
    assert said.exit_code == 0
    assert said.stdout.splitlines() == [
        "ok        source   visits.csv is there",
        "ok        columns  The types of all 1 declared columns can be read as declared",
        "ok        values   2 rows were read, and every declared value can be read as declared",
        "ok        budget   epsilon 0 of 30 is spent; a ledger is made when the table is opened",
        "",
        "Ready. Every row was read, and is read once more when the holder opens the table.",
    ]
    code, found = doctor(str(tmp_path / "visits.csv"))
    assert (code, found["ready"], found["least_privilege"]) == (0, True, True)
    assert [one["verdict"] for one in found["findings"]] == ["fine", "fine", "not read"]
    assert found["findings"][1]["what"] == "1: cost number"
    assert not found["values_read"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["visits.csv", "visits.toml"]


def holding(folder: Path, schema: str = SCHEMA, rows: str = "cost\n1\n2\n") -> str:
    """A schema and its table in a folder; the schema's path."""
    (folder / "visits.toml").write_text(schema)
    (folder / "visits.csv").write_text(rows)
    return str(folder / "visits.toml")


def test_a_misspelt_category_is_found_or_said_to_be_open(tmp_path: Path) -> None:
    """It said that all columns can be read as declared, and 8,677 rows were refused later."""
    sex = '[columns.sex]\ntype = "category"\ncategories = ["Female", "Male"]\n[budget]'
    rows = "cost,sex\n" + "1,Male\n2,Femal\n" * 50
    schema = holding(tmp_path, SCHEMA.replace("[budget]", sex), rows)
    code, found = doctor("--schema", schema)
    (values,) = (one for one in found["findings"] if one["subject"] == "values")
    assert (code, found["ready"], found["values_read"]) == (3, False, True)
    assert values["verdict"] == "wrong"
    assert "`sex` 50 (no category)" in values["what"]
    assert "categories" in values["fix"]
    assert "Femal" not in json.dumps(found)
    said = invoke(app, ["doctor", "--schema", schema, "--no-rows"])
    assert said.exit_code == 0
    assert "NOT READ  values" in said.stdout
    assert said.stdout.splitlines()[-1].startswith("Ready, as far as was looked at.")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("total = 30", "total = 2_000_000"),
        ("total = 30", "total = 1e-30"),
        ("[budget]\ntotal = 30", ""),
        ("[table]", "[table]\nbounds_from_data = true"),
        ("[table]", "[table]\nledger = 'nowhere/at/all/visits.ledger'"),
    ],
    ids=["too large", "below what a ledger counts", "none", "bounds from rows", "no folder"],
)
def test_what_ask_refuses_is_not_ready(tmp_path: Path, old: str, new: str) -> None:
    """It said Ready for a total that opening the table refuses."""
    schema = holding(tmp_path, SCHEMA.replace(old, new))
    code, found = doctor(schema)
    assert (code, found["ready"]) == (3, False)
    assert found["findings"][-1]["subject"] in ("budget", "ledger")
    assert found["findings"][-1]["fix"]
    with pytest.raises((Refused, Fault)):
        tn.protect(schema=schema).ask("SELECT COUNT(*) FROM visits", epsilon=1)


def test_a_public_number_of_rows_is_compared(tmp_path: Path) -> None:
    code, found = doctor(
        holding(tmp_path, SCHEMA.replace('"add-or-remove"', '"replace"\nrows = 3'))
    )
    assert (code, found["findings"][2]["subject"]) == (3, "values")
    assert "3" in found["findings"][2]["what"]


def test_a_ledger_is_looked_at_and_nothing_is_written_to_it(tmp_path: Path) -> None:
    """Another unit after spending is refused, and a budget that is spent is not ready."""
    schema = holding(tmp_path, SCHEMA.replace("total = 30", "total = 2"))
    with tn.protect(schema=schema) as data:
        data.ask("SELECT COUNT(*) FROM visits", epsilon=0.5)
        before = list(data.ledger.entries())
    code, found = doctor(schema)
    assert code == 0
    assert found["findings"][-1]["what"] == "epsilon 0.5 of 2 is spent; the ledger is there"
    holding(tmp_path, SCHEMA.replace("total = 30", "total = 0.5"))
    code, found = doctor(schema)
    assert (code, found["findings"][-1]["verdict"]) == (3, "missing")
    assert "0.5 of 0.5 is spent" in found["findings"][-1]["what"]
    who = SCHEMA.replace('"record"', '"who"\nrows_per_unit = 1').replace(
        "[budget]", '[columns.who]\ntype = "identifier"\n[budget]'
    )
    holding(tmp_path, who, "cost,who\n1,a\n2,b\n")
    code, found = doctor(schema)
    assert (code, found["findings"][-1]["subject"]) == (3, "ledger")
    with tn.ledger.SQLite(tmp_path / "visits.ledger") as ledger:
        assert list(ledger.entries()) == before


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_the_folder_of_a_release_stands_for_its_table(tmp_path: Path, kind: str) -> None:
    schema = SCHEMA.replace("[budget]", 'role = "quasi-identifier"\n[budget]')
    table = pd.DataFrame({"cost": [1, 2, 3, 4] * 5})
    release = tn.publish(
        table, schema=tn.Schema.parse(schema), method="microaggregate", k=2, ledger=False
    )
    release.save(tmp_path / "out", kind=kind)
    said = invoke(app, ["doctor", str(tmp_path / "out")])
    assert said.exit_code == 0
    assert f"table.{kind} is there" in said.stdout
    assert "1: cost number" in said.stdout
    given = holding(tmp_path, schema)
    for words in ([str(tmp_path / "out"), "--schema", given],):
        checked = json.loads(invoke(app, ["check", *words, "--json"], keep=False).stdout)
        assert checked["rows"] == 20
    named = json.loads(invoke(app, ["check", given, "--json"], keep=False).stdout)
    assert named["rows"] == 2  # the schema's own source


def test_a_release_of_several_tables_names_them(tmp_path: Path) -> None:
    for name in ("certificate.json", "quasi.csv", "confidential.csv"):
        (tmp_path / name).write_text("{}")
    for verb in ("doctor", "check"):
        refused = invoke(app, [verb, str(tmp_path)]).exception
        assert isinstance(refused, Refused)
        assert "quasi.csv" in refused.allowed
    (tmp_path / "quasi.csv").unlink()
    (tmp_path / "confidential.csv").unlink()
    assert isinstance(invoke(app, ["doctor", str(tmp_path)]).exception, Refused)


def test_parts_of_a_large_release_are_one_table(tmp_path: Path) -> None:
    (tmp_path / "certificate.json").write_text("{}")
    for part in range(2):
        pd.DataFrame({"cost": [1, 2]}).to_parquet(tmp_path / f"table-{part:05}.parquet")
    words = ["check", str(tmp_path), "--quasi-identifiers", "cost", "--json"]
    assert json.loads(invoke(app, words, keep=False).stdout)["rows"] == 4


def test_what_a_file_lacks_is_said_with_exit_code_three(tmp_path: Path) -> None:
    (tmp_path / "visits.toml").write_text(SCHEMA)
    code, found = doctor(str(tmp_path / "visits.csv"))
    assert (code, found["ready"]) == (3, False)
    assert found["findings"][0]["verdict"] == "missing"
    (tmp_path / "visits.csv").write_text("price\n1\n")
    code, found = doctor("--schema", str(tmp_path / "visits.toml"))
    assert code == 3
    assert found["findings"][-1]["what"] == "The source has no column `cost`."
    said = invoke(app, ["doctor", str(tmp_path / "nothing.csv")])
    assert said.exit_code == 3
    assert said.stdout.startswith("MISSING   source   The source nothing.csv does not exist")
    assert "Not ready" in said.stdout


def test_no_source_is_refused() -> None:
    assert isinstance(invoke(app, ["doctor"]).exception, Refused)


@pytest.mark.needs("postgres")
def test_a_table_in_a_server_is_followed_step_by_step(
    postgres_server: Server, tmp_path: Path
) -> None:
    """Each statement that is advised brings it one step further, until all is well."""
    (tmp_path / "visits.toml").write_text(SCHEMA)
    with psycopg.connect(postgres_server.address(), autocommit=True) as owner:
        owner.execute("CREATE ROLE patient LOGIN")
        owner.execute("CREATE DATABASE surgery")
    with psycopg.connect(postgres_server.address("surgery"), autocommit=True) as owner:
        owner.execute("CREATE SCHEMA ward")
        owner.execute("CREATE TABLE ward.visits (who text, cost integer)")
        owner.execute("GRANT UPDATE (who) ON ward.visits TO patient")
        address = postgres_server.address("surgery", role="patient") + "#ward.visits"
        seen = []
        for _ in range(9):
            code, found = doctor(address, "--schema", str(tmp_path / "visits.toml"))
            wrong = [one for one in found["findings"] if one["verdict"] != "fine"]
            if not wrong:
                break
            assert code == 3
            seen.append(wrong[0]["fix"].rpartition(": ")[2].rstrip("."))
            owner.execute(seen[-1].encode())
        assert code == 0
        assert [statement.partition(" ON ")[0] for statement in seen] == [
            "GRANT USAGE",
            "GRANT SELECT",
            "REVOKE INSERT, UPDATE, DELETE, TRUNCATE, TRIGGER",
            "REVOKE TEMPORARY",
        ]
        subjects = [one["subject"] for one in found["findings"]]
        assert subjects == [
            *("source", "driver", "server", "table", "rights", "columns", "values", "budget"),
        ]
        owner.execute("ALTER TABLE ward.visits RENAME cost TO price")
        code, found = doctor(address, "--schema", str(tmp_path / "visits.toml"))
        assert (code, found["findings"][-1]["subject"]) == (3, "columns")


@pytest.mark.needs("postgres")
def test_a_superuser_is_ready_and_too_strong(postgres_server: Server) -> None:
    with psycopg.connect(postgres_server.address(), autocommit=True) as owner:
        owner.execute("CREATE TABLE IF NOT EXISTS looked_at (a integer)")
    said = invoke(app, ["doctor", f"{postgres_server.address()}#looked_at"])
    assert said.exit_code == 3
    assert 'TOO MUCH  rights   The role "tenue" is a superuser' in said.stdout
    assert "Ready for its holder." in said.stdout


@pytest.mark.needs("postgres")
def test_a_server_that_is_away_is_missing_and_its_address_is_not_repeated() -> None:
    code, found = doctor("postgresql://canary@127.0.0.1:1/canary#t")
    assert code == 3
    assert found["findings"][-1]["subject"] == "server"
    assert "canary" not in json.dumps(found)


# -- `open`: validates, and asks nothing -----------------------------------------------------------


def opened(*words: str) -> Any:
    return json.loads(invoke(app, ["open", *words, "--json"], keep=False).stdout)


def test_open_reads_every_row_once_and_spends_nothing(tmp_path: Path) -> None:
    schema = holding(tmp_path)
    first = opened(schema)
    assert (first["table"], first["read"], first["remarks"]) == ("visits", True, [])
    assert (first["balance"]["total"], first["balance"]["spent"]) == ("30", "0")
    assert Path(first["ledger"]) == tmp_path / "visits.ledger"
    assert not opened(str(tmp_path / "visits.csv"), "--schema", schema)["read"]
    with tn.protect(schema=schema, analyst="ann") as data:  # refused before the holder's opening
        assert data.budget.spent == 0
    said = invoke(app, ["open", schema])
    assert (
        said.stdout.splitlines()[0] == "visits is open: its rows were read before and are the same."
    )
    assert said.stdout.splitlines()[-1].endswith("epsilon 0 of 30 spent, 30 remains")


def test_open_says_what_cannot_be_read_to_its_holder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = opened(holding(tmp_path, rows="cost\n1\nmuch\n2.5\n"))
    assert (found["unreadable"], found["rounded"]) == ({"cost": 1}, {"cost": 1})
    said = capsys.readouterr().err
    assert "`cost` 1 (no number)" in said
    assert "much" not in said + json.dumps(found)


def test_open_refuses_what_protect_refuses_and_makes_no_ledger(tmp_path: Path) -> None:
    schema = holding(tmp_path, rows="price\n1\n")
    assert isinstance(invoke(app, ["open", schema]).exception, Refused)
    assert isinstance(invoke(app, ["open", str(tmp_path / "visits.csv")]).exception, Refused)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["visits.csv", "visits.toml"]
