"""Attacks that succeed: each states what should hold, and fails until it does."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tenue as tn
from tenue.command.main import main

QUESTIONS = ["SELECT COUNT(*) FROM t WHERE x > 1", "SELECT COUNT(*) FROM t WHERE x > 2"]
BUDGET = """
[columns.x]
type = "number"
bounds = [0, 10]
[budget]
total = 1
"""


def asked(source: Any, schema: Any, sql: str, ledger: Any = None) -> Any:
    try:
        with tn.protect(source, schema=schema, ledger=ledger) as session:
            return session.ask(sql, epsilon=1).value
    except tn.Refused as refused:
        return refused.code
    except tn.Fault as fault:
        return f"fault: {fault.code}"


def exit_code(monkeypatch: pytest.MonkeyPatch, *words: str) -> object:
    monkeypatch.setattr("sys.argv", ["tenue", *words])
    with pytest.raises(SystemExit) as end:
        main()
    return end.value.code


def test_a_refused_opening_starts_no_second_budget(tmp_path: Path) -> None:
    """Without a source the opening is refused, and leaves a ledger beside the schema. It is then
    used instead of one beside the data, so that a copy of the schema has a budget of its own."""
    table = '[table]\nname = "t"\nunit = "record"\nneighbours = "replace"\n'
    schema, copy = tmp_path / "s.toml", tmp_path / "copy.toml"
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "x.csv").write_text("x\n" + "5\n" * 100)
    schema.write_text(table + BUDGET)
    with pytest.raises(tn.Refused):
        tn.protect(schema=schema)
    schema.write_text(table + 'source = "data/x.csv"\n' + BUDGET)
    shutil.copy(schema, copy)
    found = [asked(None, one, QUESTIONS[i]) for i, one in enumerate((schema, copy))]
    assert found[1] == "over-budget"


@pytest.mark.parametrize("names", [["x.parquet", "."], [".", "x.parquet"], ["*", "../*/x.parquet"]])
def test_other_names_of_the_same_rows_have_the_same_budget(
    tmp_path: Path, names: list[str]
) -> None:
    """A file, the folder that holds nothing else, and a pattern of a folder further up: three
    ledgers, of which none is looked for under the other names."""
    (tmp_path / "data").mkdir()
    pq.write_table(pa.table({"x": [5] * 100}), tmp_path / "data" / "x.parquet")
    schema = tmp_path / "s.toml"
    schema.write_text('[table]\nname = "t"\nunit = "record"\nneighbours = "replace"\n' + BUDGET)
    ways = [str(tmp_path / "data" / name) for name in names]
    ways = [f"{way}.parquet" if way.endswith("*") else way for way in ways]
    found = [asked(way, schema, QUESTIONS[i]) for i, way in enumerate(ways)]
    assert found[1] not in range(-100, 300)


PERSONS = """
[table]
name = "t"
unit = "patient"
rows_per_unit = 1
neighbours = "replace"
[columns.patient]
type = "identifier"
role = "identifier"
[columns.age]
type = "number"
bounds = [0, 120]
role = "quasi-identifier"
"""


def test_rows_of_one_person_are_not_k_persons(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`rows_per_unit` is how many rows of a person questions count, not how many there are. With 1
    a file without `patient` has "at least 5 patients that look alike", without a note, exit 0."""
    (tmp_path / "s.toml").write_text(PERSONS)
    (tmp_path / "f.csv").write_text("age\n" + "30\n" * 5)
    found = tn.evaluate.check(tmp_path / "f.csv", schema=tmp_path / "s.toml")
    assert found.k_from == "rows"
    assert found.notes


@pytest.mark.parametrize("schema", [[], ["--schema", "s.toml"]])
def test_a_file_with_everybodys_name_meets_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, schema: list[str]
) -> None:
    """Undeclared, the names are "not looked at"; without a schema they are found and warned of.
    Either way the exit code says that all is well."""
    monkeypatch.chdir(tmp_path)
    Path("s.toml").write_text(PERSONS)
    Path("f.csv").write_text("age,ssn\n" + "".join(f"30,8123{i}\n" for i in range(50)))
    words = ["check", "f.csv", "--quasi-identifiers", "age", "--require", "k=5", *schema]
    assert exit_code(monkeypatch, *words) == 3
