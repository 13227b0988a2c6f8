"""What a data officer sees of a ledger: all that was paid, who paid, and whether it is intact."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

import tenue as tn
from command_line import invoke
from tenue.cli.ledger import app
from tenue.ledger import Charge, SQLite, digest
from tenue.promise import Certificate, Pure
from unit.publish.census import people, schema


@pytest.fixture
def books(tmp_path: Path) -> Path:
    path = tmp_path / "t.ledger"
    with SQLite(path) as ledger:
        ledger.open_dataset("t", total=5, neighbours="replace")
        for number in range(3):
            charge = Charge.of(epsilon="0.5", neighbours="replace")
            asked = f"SELECT {number}"
            paid = ledger.reserve("t", "ann", charge, None, digest(asked), asked=asked)
            ledger.commit(paid, b"1")
        charge = Charge.of(epsilon="0.25", neighbours="replace")
        lost = ledger.reserve("t", "bob", charge, None, digest("x"))
        ledger.abandon(lost, "no answer")
    return path


def shown(*words: object) -> str:
    result = invoke(app, [str(word) for word in words])
    assert result.exit_code == 0, result.stdout
    return result.stdout


def test_show_lists_what_was_paid_and_by_whom(books: Path) -> None:
    text = shown("show", books)
    assert "1.75" in text
    assert "Paid for (all):" in text
    assert text.index("SELECT 0") < text.index("SELECT 2")
    assert text.endswith(
        "  bob  epsilon 0.25 (spent, not answered)\n    a question without a recorded text\n"
    )


def test_a_long_question_ends_in_time(tmp_path: Path) -> None:
    asked = f"SELECT {', '.join(f'SUM(column_{i})' for i in range(9))}"
    with SQLite(tmp_path / "x.ledger") as ledger:
        ledger.open_dataset("people", 5, neighbours="replace")
        charge = Charge.of(epsilon="0.538174316", neighbours="replace")
        paid = ledger.reserve("people", "ann", charge, None, digest(asked), asked=asked)
        ledger.commit(paid, b"answer")
    text = shown("show", tmp_path / "x.ledger")
    assert [line for line in text.splitlines() if len(line) > 80] == []
    assert asked in " ".join(text.split())


def test_show_keeps_to_the_last_questions(books: Path) -> None:
    text = shown("show", books, "--last", 2)
    assert "the last 2 of 4" in text
    assert "SELECT 1" not in text
    assert "SELECT 2" in text


def test_json_is_one_object_with_exact_amounts(books: Path) -> None:
    found = json.loads(shown("show", books, "--json"))
    (dataset,) = found["datasets"]
    assert (dataset["spent"], dataset["remaining"], dataset["total"]) == ("1.75", "3.25", "5")
    assert [line["epsilon"] for line in found["questions"]] == ["0.5", "0.5", "0.5", "0.25"]
    assert {"analyst": "ann", "spent": "1.5"} in dataset["analysts"]


def test_a_changed_entry_is_found_and_ends_with_1(books: Path) -> None:
    assert "intact" in shown("verify", books)
    with sqlite3.connect(books) as connection:
        (name,) = next(
            row
            for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            if "entr" in row[0]
        )
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({name})")]
        text = next(column for column in columns if column in ("text", "body", "entry"))
        connection.execute(
            f"UPDATE {name} SET {text} = replace({text}, 'SELECT 1', 'SELECT 9')"  # noqa: S608
        )
    connection.close()
    result = invoke(app, ["verify", str(books), "--json"])
    assert result.exit_code == 1
    assert json.loads(result.stdout)["ok"] is False


def test_export_and_anchor_say_how_many(books: Path, tmp_path: Path) -> None:
    lines = shown("export", books).splitlines()
    out = tmp_path / "entries.jsonl"
    assert f"Wrote {len(lines)} entries" in shown("export", books, "--out", out)
    assert out.read_text().splitlines() == lines
    anchored = shown("anchor", books, "--out", tmp_path / "a.anchor")
    assert f"Anchored {len(lines)} entries" in anchored
    assert shown("verify", books, "--anchor", tmp_path / "a.anchor")


def test_a_certificate_is_compared_and_another_ends_with_1(books: Path, tmp_path: Path) -> None:
    with SQLite(books) as ledger:
        ledger.record_schema("t", "ab" * 32)
        seal = ledger.seal("ab" * 32)
    path = tmp_path / "certificate.json"
    plain = Certificate(promise=Pure(1), neighbours="replace", unit="record", mechanism="noise")
    path.write_text(replace(plain, schema_hash=seal).to_json())
    text = shown("verify", books, "--certificate", path)
    assert text.splitlines()[1] == "the certificate is of `t`, under the schema of entry 13"
    found = json.loads(shown("verify", books, "--certificate", path, "--json"))
    assert found["certificate"] == {"ok": True, "dataset": "t", "entry": 13, "reason": ""}
    path.write_text(replace(plain, schema_hash=seal[:-1] + "x").to_json())
    other = invoke(app, ["verify", str(books), "--certificate", str(path)])
    assert other.exit_code == 1
    assert "intact" in other.stdout
    assert "NOT OF THIS LEDGER" in other.stdout


def test_a_file_that_is_not_there_is_refused_and_not_made(tmp_path: Path) -> None:
    missing = tmp_path / "none.ledger"
    result = invoke(app, ["show", str(missing)])
    assert result.exit_code != 0
    assert not missing.exists()


def test_show_gives_date_method_and_folder_of_each_release(tmp_path: Path) -> None:
    """It counted releases, and said of none what it was."""
    path = tmp_path / "books" / "t.ledger"
    path.parent.mkdir()
    described = {**schema().to_dict(), "budget": {"total": 5}}
    with SQLite(path) as ledger:
        asked = {"schema": described, "ledger": ledger}
        swap = tn.publish(people(), method="swap", k=4, **asked)
        swap.save(tmp_path / "books" / "one")
        swap.save(tmp_path / "two")
        tn.publish(people(), method="private", epsilon=1, **asked).save(tmp_path / "drawn")
        again = tn.publish(
            people(), method="microaggregate", k=4, override="second-release", **asked
        )
        assert again.table.num_rows == 60
        assert ledger.verify().ok
    text = shown("show", path)
    found = json.loads(shown("show", path, "--json"))["releases"]
    assert [(one["method"], one["places"], one["override"]) for one in found] == [
        ("swap by quasi-identifiers", ["one", "../two"], False),
        (found[1]["method"], ["../drawn"], False),
        ("microaggregate by mdav", [], True),
    ]
    assert found[1]["method"].startswith("private by ")
    assert found[0]["digest"] == swap.digest
    flat = " ".join(text.split())
    for one in found:
        assert f"{one['time'][:16]} people {one['method']}" in flat
    assert "one, ../two" in flat
    assert "in no folder that the ledger knows" in flat
    assert "although the table had been released before" in flat


def test_a_release_that_never_left_is_shown_as_such(tmp_path: Path) -> None:
    path = tmp_path / "t.ledger"
    with SQLite(path) as ledger:
        ledger.open_dataset("t", total=0, neighbours="replace")
        ledger.register_release("t", "d1", method="swap", draft=True)
        ledger.withdraw_release("t", "d1", reason="no room")
        ledger.register_release("t", "d1", method="swap")
        ledger.release_saved("t", "d1", method="swap", place="out")
    found = json.loads(shown("show", path, "--json"))["releases"]
    assert [(one["withdrawn"], one["places"]) for one in found] == [(True, []), (False, ["out"])]
    assert shown("show", path).count("never left") == 1
