"""Attacks that succeed: each states what should hold, and fails until it does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tenue as tn
<<<<<<< HEAD
from parquet_lies import spliced

NUMBER = {"type": "number", "bounds": [0, 10]}
=======
from tenue.command.main import main

QUESTIONS = ["SELECT COUNT(*) FROM t WHERE x > 1", "SELECT COUNT(*) FROM t WHERE x > 2"]
BUDGET = """
[columns.x]
type = "number"
bounds = [0, 10]
[budget]
total = 1
"""
>>>>>>> mend_a


def asked(source: Any, schema: Any, sql: str, ledger: Any = None) -> Any:
    try:
        with tn.protect(source, schema=schema, ledger=ledger) as session:
            return session.ask(sql, epsilon=1).value
    except tn.Refused as refused:
        return refused.code
    except tn.Fault as fault:
        return f"fault: {fault.code}"


<<<<<<< HEAD
@pytest.mark.parametrize("sql", ["SELECT COUNT(*) FROM t", "SELECT SUM(x) FROM t"])
def test_a_posterior_says_what_was_cut(sql: str) -> None:
    """1,000 rows of 100 people, two of each counted: "95 % between 348 and 408", and no word of a
    limit in the answer, in `.limits` or in `explain`: only the certificate assumes it."""
    rows = pa.table({"p": [i // 10 for i in range(1000)], "x": [1] * 1000})
    with tn.protect(rows, schema=of_people(x=NUMBER), ledger=tn.ledger.Memory()) as data:
        prior = tn.prior.Binomial(1000, 0.5)
        plan = data.explain(sql, epsilon=1, prior=prior)
        answer = data.ask(sql, epsilon=1, prior=prior)
    limit = "at most 2 rows of each p"
    assert [limit in text for text in (str(plan), str(answer))] == [True] * 2
    assert getattr(answer, "limits", ())


@pytest.mark.parametrize("value", [10**12, -5, 2999 + 2**33])
def test_statistics_of_the_unit_are_compared_too(tmp_path: Path, value: int) -> None:
    """`COUNT(DISTINCT p)` and `suggest_limits` fault after they were paid, or two people are one
    (2,999 of 3,000): DuckDB packs the groups by what the footer says of them."""
    people = list(range(3000))
    told = pa.table({"p": people, "x": [1] * 3000})
    held = pa.table({"p": [value if p == 1234 else p for p in people], "x": [1] * 3000})
    spliced(tmp_path / "t.parquet", data=held, footer=told)
    path, ledger = tmp_path / "t.parquet", tmp_path / "t.ledger"
    try:
        data = tn.protect(path, schema=of_people(x=NUMBER), ledger=ledger)
    except tn.Refused:
        return
    with data:
        assert data.ask("SELECT COUNT(DISTINCT p) FROM t", epsilon=1000).value == 3000


def test_a_damaged_page_of_truth_values_is_found_when_the_holder_opens_it(tmp_path: Path) -> None:
    """No missing value in the footer: then no test of the validation reads the column, and the
    first question about it faults after it was paid."""
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"x": [True, False] * 500}), path, use_dictionary=False)
    start = pq.ParquetFile(path).metadata.row_group(0).column(0).data_page_offset
    written = bytearray(path.read_bytes())
    written[start : start + 40] = b"\xff" * 40
    path.write_bytes(written)
    schema = {
        "table": {"name": "t", "unit": "record", "neighbours": "add-or-remove"},
        "columns": {"x": {"type": "boolean"}},
        "budget": {"total": 5},
    }
    sql = "SELECT x, COUNT(*) FROM t GROUP BY x"
    assert asked(path, schema, sql, tmp_path / "t.ledger") == "invalid-table"


def test_nobody_is_above_a_limit_that_cuts_nothing() -> None:
    """MEDIAN leaves out rows without a value before the limit, its count of persons does not: "200
    to 200 persons, 100 % of all", where nobody lost a row."""
    rows = pa.table({"p": [i // 5 for i in range(1000)], "x": [7, None, None, None, None] * 200})
    with tn.protect(rows, schema=of_people(x=NUMBER), ledger=tn.ledger.Memory()) as data:
        answer = data.ask("SELECT MEDIAN(x) FROM t", epsilon=1000, measure_cut=0.5)
    assert [limit.above.value for limit in answer.limits] == [0]
=======
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
>>>>>>> mend_a
