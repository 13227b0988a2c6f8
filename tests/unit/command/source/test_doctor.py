"""`doctor` on the command line: what is missing is named with what mends it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import psycopg
import pytest

from command_line import invoke
from postgres_server import Server
from tenue.command.main import app
from tenue.errors import Refused

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
        "ok        columns  All 1 declared columns can be read as declared",
        "",
        "Ready. Every row is read once when the holder first opens the table.",
    ]
    code, found = doctor(str(tmp_path / "visits.csv"))
    assert (code, found["ready"], found["least_privilege"]) == (0, True, True)
    assert found["findings"][-1]["what"] == "1: cost number"


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
        assert subjects == ["source", "driver", "server", "table", "rights", "columns"]
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
