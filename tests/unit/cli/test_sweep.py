"""`tenue publish --sweep`: a table, advice and files; nothing is registered."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from command_line import Ended, tenue
from unit.publish.census import people, schema

pytestmark = pytest.mark.any_draw("looks at what was tried, not at which values moved")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pq.write_table(people(), tmp_path / "people.parquet")
    schema().replace(table={"source": "people.parquet"}).save(tmp_path / "people.toml")
    return tmp_path


def run(folder: Path, *words: str) -> Ended:
    return tenue("publish", "--schema", "people.toml", *words, cwd=folder)


def test_people_see_a_table_and_advice(folder: Path) -> None:
    methods = "microaggregate,swap:by=each-confidential,swap"
    words = ("--sweep", "k=3,10", "--methods", methods, "--risk", "1", "--out", "tried")
    done = run(folder, *words)
    assert done.returncode == 0, done.stderr
    for part in ("microaggregate", "swap, by = each-confidential", "Choose ", "nothing has left"):
        assert part in done.stdout
    assert {path.name for path in (folder / "tried").iterdir()} == {
        "report.html",
        "sweep.json",
        "sweep.svg",
    }
    assert not list(folder.glob("*.ledger"))
    assert run(folder, *words).returncode == 0  # over its own files


def test_programs_read_json(folder: Path) -> None:
    done = run(folder, "--sweep", "k=3", "--methods", "swap", "--risk", "1", "--json")
    told = json.loads(done.stdout)
    assert [one["k"] for one in told["trials"]] == [3]
    assert told["advice"]["chosen"] == {"method": "swap", "k": 3, "options": {}}
    none = json.loads(run(folder, "--sweep", "k=3", "--risk", "0", "--json").stdout)
    assert none["advice"]["chosen"] is None


REFUSED = {
    "not of k": ["--sweep", "t=1,2"],
    "sizes that are none": ["--sweep", "k=a"],
    "one release too": ["--sweep", "k=3", "--method", "swap"],
    "no option": ["--sweep", "k=3", "--methods", "swap:by"],
    "no method": ["--sweep", "k=3", "--methods", "shuffle"],
    "has a price": ["--sweep", "k=3", "--methods", "private"],
    "among other files": ["--sweep", "k=3", "--out", "."],
    "no sweep": ["--method", "swap", "-k", "3", "--risk", "0.1", "--out", "o"],
    "no method at all": ["-k", "3", "--out", "o"],
    "risk that is none": ["--sweep", "k=3", "--risk", "3"],
    "option of no method": ["--sweep", "k=3", "--methods", "swap", "--by", "each-confidential"],
    "public": ["--sweep", "k=3", "--public"],
    "preview": ["--sweep", "k=3", "--preview"],
    "a comparison": ["--sweep", "k=3", "--comparison", "c.json"],
    "a register": ["--sweep", "k=3", "--ledger", "l.ledger"],
    "an override": ["--sweep", "k=3", "--override", "second-release"],
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_refusal_writes_nothing(folder: Path, case: str) -> None:
    before = sorted(path.name for path in folder.iterdir())
    done = run(folder, *REFUSED[case])
    assert done.returncode == 2
    assert done.stderr.startswith("Refused: ")
    assert sorted(path.name for path in folder.iterdir()) == before
    assert "--sweep -k" not in done.stderr  # what is proposed can be typed


def test_what_cannot_be_made_is_said_once_and_in_options(folder: Path) -> None:
    done = run(folder, "--sweep", "k=3,10", "--methods", "anatomy:by=confidential")
    told = " ".join(done.stdout.split())
    assert told.count("have no order") == 1
    assert "k = 3, 10: " in told
    assert "--by quasi-identifiers" in told
    assert 'by="' not in told
