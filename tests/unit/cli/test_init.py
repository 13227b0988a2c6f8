"""Drafted schemas and made-up tables."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import tenue as tn
from command_line import invoke
from tenue.cli.demo import PANEL_ROWS, ROWS, write_panel, write_people
from tenue.cli.main import app
from tenue.engine.open import open_engine
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
    with pytest.raises(Refused, match="already exists"):
        init(str(data))
    init(str(data), "--force")
    for wrong in (data.parent, data.parent / "none.csv", data.with_suffix(".toml")):
        with pytest.raises(InvalidTable):
            init(str(wrong), "--out", str(data.parent / "other.toml"))
    assert not (data.parent / "other.toml").exists()


def test_identifiers_and_marks_are_told(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("person_id,age\n1,30\n2,?\n")
    shown = init(str(path), "--for", "publish")
    assert "Declared as identifiers: person_id" in shown
    assert "Missing-value markers were found in: age" in shown
    text = path.with_suffix(".toml").read_text()
    assert "[budget]" not in text
    assert 'missing = ["?"]' in text
    told = json.loads(init(str(path), "--force", "--json"))
    assert told["identifiers"] == ["person_id"]
    assert told["missing"] == {"age": ["?"]}


def test_a_column_of_many_texts_is_no_category_and_says_why(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("street,age\n" + "".join(f"n{i % 1500},30\n" for i in range(6000)))
    shown = init(str(path), "--bounds-from-data")
    assert "More than 200 different texts, so no categories: street." in " ".join(shown.split())
    text = path.with_suffix(".toml").read_text()
    section = text[text.index("[columns.street]") : text.index("[columns.age]")]
    assert 'type = "identifier"' in section
    assert "taxonomy" in section
    assert "categories =" not in section
    assert "1500" not in text
    told = json.loads(init(str(path), "--force", "--json"))
    assert (told["identifiers"], told["many_texts"]) == (["street"], ["street"])


def test_what_is_drafted_loads_and_reads_the_file_once_filled(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("person_id,age\n1,30\n2,?\n")
    init(str(path), "--for", "publish")
    target = path.with_suffix(".toml")
    text = target.read_text().replace('["FILL IN", "FILL IN"]', "[0, 120]")
    text = text.replace('unit = "FILL IN"', 'unit = "record"')
    text = text.replace('neighbours = "FILL IN"', 'neighbours = "replace"')
    target.write_text(text.replace('role = "FILL IN"', 'role = "confidential"'))
    schema = tn.Schema.load(target)
    engine = open_engine(schema.location, schema)
    rows = engine.read_all()
    engine.close()
    assert rows.logical.column("age").to_pylist() == [30, None]
    assert rows.unreadable == {"age": 0}


def test_patterns_and_databases_are_drafted_where_one_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for part in ("part-1.csv", "part-2.csv"):
        (tmp_path / part).write_text("age\n30\n")
    with duckdb.connect("d.duckdb") as connection:
        connection.execute("CREATE TABLE people AS SELECT 3 AS age")
    init("part-*.csv")
    assert 'source = "part-*.csv"' in (tmp_path / "part.toml").read_text()
    init("duckdb://d.duckdb#people")
    assert 'source = "duckdb://d.duckdb#people"' in (tmp_path / "people.toml").read_text()
    (tmp_path / "sub").mkdir()
    init("duckdb://d.duckdb#people", "--out", "sub/x.toml")
    whole = f'source = "duckdb://{tmp_path / "d.duckdb"}#people"'
    assert whole in (tmp_path / "sub" / "x.toml").read_text()


# -- The made-up table is the same everywhere and fits its schema ----------------------------------


def test_the_table_is_repeatable_and_fits_its_schema(tmp_path: Path) -> None:
    schema = tn.Schema.load(write_people(tmp_path / "one"))
    write_people(tmp_path / "two")
    one, two = (pq.read_table(tmp_path / name / "people.parquet") for name in ("one", "two"))
    assert one.equals(two)
    assert one.num_rows == ROWS
    assert set(schema.columns) == set(one.column_names)
    for name in ("age", "income"):
        low, high = schema.column(name).bounds  # type: ignore[attr-defined]
        assert low <= pc.min(one[name]).as_py()
        assert pc.max(one[name]).as_py() <= high
    assert set(one["region"].to_pylist()) == set(schema.column("region").categories)  # type: ignore[attr-defined]


def test_the_panel_has_other_people_whose_number_is_public(tmp_path: Path) -> None:
    assert tn.Schema.load(write_people(tmp_path)).neighbours == "add-or-remove"
    assert tn.Schema.load(write_panel(tmp_path)).neighbours == "replace"
    people, panel = (pq.read_table(tmp_path / f"{name}.parquet") for name in ("people", "panel"))
    assert panel.num_rows == PANEL_ROWS
    assert panel.schema == people.schema
    assert not panel.equals(people.slice(0, PANEL_ROWS))
