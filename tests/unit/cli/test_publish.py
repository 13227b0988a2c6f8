"""`tenue publish`: files, exit codes, one JSON object, and nothing written for a refusal."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tenue as tn
from command_line import Ended, tenue
from tenue.cli.publish import Waiting
from unit.publish.census import people, schema

pytestmark = pytest.mark.any_draw(
    "looks at promises, files and refusals, not at which values moved"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pq.write_table(people(), tmp_path / "people.parquet")
    schema().replace(table={"source": "people.parquet"}).save(tmp_path / "people.toml")
    return tmp_path


def run(folder: Path, *words: str) -> Ended:
    return tenue("publish", "--schema", "people.toml", *words, cwd=folder)


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_a_release_is_written_and_told_about(folder: Path) -> None:
    words = ("--schema", "people.toml", "--method", "swap", "-k", "12", "--out", "out/", "--json")
    done = subprocess.run(
        [sys.executable, "-m", "tenue", "publish", *words],
        capture_output=True,
        text=True,
        cwd=folder,
    )
    assert (done.returncode, done.stderr) == (0, "")
    told = json.loads(done.stdout)
    written = tn.Certificate.from_json((folder / "out" / "certificate.json").read_text())
    assert told["certificate"] == written.to_dict()
    assert written.promise == tn.ProbabilisticKAnonymity(12)
    assert pq.read_table(folder / "out" / "table.parquet").num_rows == 60
    assert told["manifest"]["rows"] == 60
    assert {"risk", "utility", "history"} <= set(told)


def test_people_read_sentences(folder: Path) -> None:
    words = ("--method", "swap", "--by", "each-confidential", "-k", "income=12,ill=5", "--out", "o")
    done = run(folder, *words, "--kind", "csv", "--override", "homogeneous-groups")
    assert done.returncode == 0
    assert "probabilistic k-anonymity (k = 5)" in done.stdout
    written = " ".join(done.stdout.split())
    assert "Where folder o; registered in people.ledger" in written
    assert "manifest.json. Keep this screen and report.html to yourself" in written
    first = done.stdout.split("\n\n")[0].splitlines()
    assert sum(not line.startswith("   ") for line in first) == 6  # a title and five lines
    assert "Not promised" not in done.stdout  # on request, by --details
    assert (folder / "o" / "table.csv").exists()


REFUSED: dict[str, list[str]] = {
    "k too large": ["--method", "swap", "-k", "61"],
    "no such method": ["--method", "shuffle", "-k", "5"],
    "k that is none": ["--method", "swap", "-k", "many"],
    "k that is half a mapping": ["--method", "swap", "-k", "income=5,3"],
    "no such file": ["--method", "swap", "-k", "5", "--source", "nobody.csv"],
    "no such kind": ["--method", "swap", "-k", "5", "--kind", "xlsx", "--replace"],
    "not empty": ["--method", "swap", "-k", "5"],
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_refusal_is_exit_code_2_and_leaves_the_old_output(folder: Path, case: str) -> None:
    (folder / "out").mkdir()
    (folder / "out" / "table.parquet").write_text("the old release")
    before = files(folder)
    replace = [] if case == "not empty" else ["--replace"]
    done = run(folder, *REFUSED[case], "--out", "out", "--json", *replace)
    assert done.returncode == 2, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    assert set(told) == {"refused"}
    assert set(told["refused"]) == {"code", "kind", "what", "allowed", "fix"}
    assert "Traceback" not in done.stderr
    assert files(folder) == before


def test_a_second_release_is_refused_unless_insisted_on(folder: Path) -> None:
    words = ("--method", "microaggregate", "-k", "5", "--ledger", "people.ledger", "--out")
    assert run(folder, *words, "one").returncode == 0
    second = run(folder, *words, "two", "--json")
    assert second.returncode == 2
    assert json.loads(second.stdout)["refused"]["code"] == "second-release"
    assert not (folder / "two").exists()
    assert run(folder, *words, "two", "--override", "second-release").returncode == 0
    with tn.ledger.SQLite(folder / "people.ledger") as ledger:
        assert ledger.balance("people").releases == 2


def test_a_release_is_registered_beside_the_table_unless_told_otherwise(folder: Path) -> None:
    words = ("--method", "microaggregate", "-k", "5", "--out")
    assert run(folder, *words, "one").returncode == 0
    assert (folder / "people.ledger").exists()
    second = run(folder, *words, "two")
    assert second.returncode == 2
    assert "--override second-release" in second.stderr
    loose = run(folder, *words, "three", "--no-register")
    assert loose.returncode == 0
    assert "in no ledger, so a second release would not be noticed" in " ".join(
        loose.stdout.split()
    )


def test_a_preview_measures_and_leaves_nothing_behind(folder: Path) -> None:
    words = ("--method", "swap", "-k", "5")
    before = files(folder)
    told = run(folder, *words, "--preview")
    assert told.returncode == 0
    assert told.stdout.startswith("Preview of people, swap by quasi-identifiers: 60 rows")
    assert "Disclosure risk" not in told.stdout
    all_of_it = run(folder, *words, "--preview", "--details")
    for title in ("Promised", "Assumed", "Not promised", "Disclosure risk", "Utility"):
        assert f"\n{title}" in all_of_it.stdout
    assert "Nothing was registered and nothing has left" in told.stdout
    found = json.loads(run(folder, *words, "--preview", "--json").stdout)
    assert found["preview"] is True
    assert found["certificate"]["parameters"]["registered"] == "no, a preview"
    assert set(found["verdict"]) == {"promised", "risk", "utility", "left_out", "where"}
    assert {"out", "manifest"}.isdisjoint(found)
    assert files(folder) == before
    for option in (["--public"], ["--replace"], ["--kind", "csv"]):  # of a table that leaves
        idle = run(folder, *words, "--preview", *option)
        assert (idle.returncode, f"Leave {option[0]} out" in idle.stderr) == (2, True)
    both = run(folder, *words, "--preview", "--out", "out")
    assert (both.returncode, "there is nothing to write" in both.stderr) == (2, True)
    neither = run(folder, *words)
    assert (neither.returncode, "--preview to look first" in neither.stderr) == (2, True)
    assert run(folder, *words, "--out", "out").returncode == 0  # a preview is no first release


def private(folder: Path, **table: Any) -> None:
    """The same people without roles, their number public, with a budget."""
    columns = {name: dict(column) for name, column in schema().to_dict()["columns"].items()}
    for column in columns.values():
        column.pop("role", None)
        column.pop("sensitive", None)
    head = {"name": "people", "source": "people.parquet", "unit": "record", **table}
    described = {"table": {"neighbours": "replace", **head}, "columns": columns}
    tn.Schema.from_dict({**described, "budget": {"total": 2}}).save(folder / "people.toml")


PRIVATE = ("--method", "private", "--epsilon", "1")


def test_a_preview_of_a_private_table_is_its_plan(folder: Path) -> None:
    private(folder)
    before = files(folder)
    told = run(folder, *PRIVATE, "--preview")
    assert told.returncode == 0, told.stderr
    plan = tn.plan_release(folder / "people.toml", 60, 1)
    assert told.stdout.startswith(str(plan))
    assert "Not promised" in told.stdout
    assert "Nothing was paid" in told.stdout
    assert max(map(len, told.stdout.splitlines())) < 80
    found = json.loads(run(folder, *PRIVATE, "--preview", "--json").stdout)
    assert found["plan"] == plan.to_dict()
    assert found["certificate"]["promise"]["epsilon"] == "1"
    assert files(folder) == before
    compared = run(folder, *PRIVATE, "--preview", "--comparison", "c.json")
    assert (compared.returncode, "nothing to compare" in compared.stderr) == (2, True)
    assert run(folder, *PRIVATE, "--out", "out").returncode == 0


def test_a_stated_number_of_rows_is_planned_with_no_table_at_all(folder: Path) -> None:
    private(folder, rows=60)
    (folder / "people.parquet").unlink()
    assert run(folder, *PRIVATE, "--preview").returncode == 0
    assert run(folder, *PRIVATE, "--out", "out").returncode == 2


def test_a_file_that_would_not_fit_is_read_in_passes(folder: Path) -> None:
    """More values than the least memory holds: nothing is patched here."""
    rows = 430_000
    numbers = np.arange(rows)
    table = pa.table({"x": numbers % 1000, "y": numbers * 7 % 500})
    pq.write_table(table, folder / "people.parquet")
    bounds = {"type": "number", "bounds": [0, 999], "missing": 0}
    head = {"name": "people", "source": "people.parquet", "unit": "record"}
    described = {"table": {"neighbours": "replace", **head}, "columns": {"x": bounds, "y": bounds}}
    tn.Schema.from_dict({**described, "budget": {"total": 2}}).save(folder / "people.toml")
    words = (*PRIVATE, "--memory", str(128 << 20), "--out", "out", "--json")
    told = run(folder, *words)
    assert told.returncode == 0, told.stderr
    found = json.loads(told.stdout)
    assert any("drawn at random" in step["text"] for step in found["history"])
    assert found["manifest"]["rows"] == rows
    made = pq.read_table(folder / "out" / "table.parquet")
    assert made.num_rows == rows
    for name in ("x", "y"):
        far = np.sort(made.column(name).to_numpy()) - np.sort(table.column(name).to_numpy())
        assert np.abs(far).mean() < 5
    assert not (np.diff(made.column("x").to_numpy()) >= 0).all()
    at_once = json.loads(run(folder, *PRIVATE, "--out", "other", "--json").stdout)
    assert not any("drawn at random" in step["text"] for step in at_once["history"])


LIBRARY = re.compile(r"`(epsilon|by|k|l|t|override|ledger|memory|method)`|\b(by|k|epsilon|ledger)=")
"""Words of Python in which nobody types."""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--method", "private"], "Add --epsilon 1"),
        (["--method", "swap"], "Add -k 5"),
        (["--method", "private", "--epsilon", "much"], "--epsilon as a decimal number"),
        (["--method", "private", "--epsilon", "0"], "--epsilon must be"),
        ([*PRIVATE, "--by", "oak"], "--by is one of"),
        ([*PRIVATE, "--by", "copula"], "Choose --by auto"),
        ([*PRIVATE, "-k", "5", "--by", "tree"], "Leave -k out"),
        ([*PRIVATE, "-k", "age=5"], "such as -k 50"),
        ([*PRIVATE, "-l", "2"], "This method takes --epsilon, --by, -k"),
        ([*PRIVATE, "--memory", "1000"], "--memory"),
        ([*PRIVATE, "--no-register"], "not --no-register"),
        ([*PRIVATE, "--no-register", "--ledger", "x.ledger"], "Leave out one of them"),
        ([*PRIVATE, "--override", "second-release"], "Leave --override out"),
        ([*PRIVATE[:2], "--epsilon", "3"], "epsilon at most 2"),
    ],
)
def test_what_is_refused_of_a_private_table_speaks_of_options(
    folder: Path, words: list[str], said: str
) -> None:
    private(folder)
    done = run(folder, *words, "--out", "out")
    assert done.returncode == 2
    assert said in done.stderr
    assert not LIBRARY.search(done.stderr), done.stderr
    assert not (folder / "out").exists()


def test_the_screen_speaks_of_options(folder: Path) -> None:
    (folder / "out").mkdir()
    (folder / "out" / "table.parquet").write_text("the old release")
    done = run(folder, "--method", "swap", "-k", "5", "--out", "out")
    assert "add --replace" in done.stderr
    flat = run(folder, "--method", "swap", "-k", "5", "--by", "each-confidential", "--out", "x")
    assert "--by quasi-identifiers" in flat.stderr
    assert "--override homogeneous-groups" in flat.stderr
    assert 'by="' not in flat.stderr
    inside = run(folder, "--method", "swap", "-k", "5", "--out", "x", "--ledger", "x/people.ledger")
    assert inside.returncode == 2
    assert "among the published files" in inside.stderr
    assert not (folder / "x").exists()


def test_the_bar_waits_and_goes_away(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[tuple[str, Any]] = []

    class Bar:
        def __init__(self, *columns: Any, **options: Any) -> None:
            shown.append(("made", options["transient"]))

        def add_task(self, step: str, total: int, completed: int) -> int:
            shown.append((step, completed))
            return 0

        def update(self, task: int, description: str, completed: int) -> None:
            shown.append((description, completed))

        def start(self) -> None:
            shown.append(("start", None))

        def stop(self) -> None:
            shown.append(("stop", None))

    monkeypatch.setattr("rich.progress.Progress", Bar)
    monkeypatch.setattr("rich.console.Console.is_terminal", True)
    with Waiting(steps=3, patience=1000) as waiting:
        waiting("read")
        assert shown == []
        waiting._show()
        waiting("read (compiling, once)")
        waiting("evaluate")
    assert shown == [
        ("made", True),
        ("read", 0),
        ("start", None),
        ("read (compiling, once)", 0),
        ("evaluate", 1),
        ("stop", None),
    ]


def test_nobody_watching_sees_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rich.console.Console.is_terminal", False)
    with Waiting(steps=3, patience=1000) as waiting:
        waiting._show()
        waiting("read")
        assert waiting._bar is None


def test_a_table_is_generalised_as_asked(folder: Path) -> None:
    words = ("--method", "generalise", "-k", "6", "--by", "full-domain", "--suppress", "0.1")
    more = ("-l", "2", "-t", "0.5", "--minimise", "discernibility", "--widths", "age=20/60")
    told = json.loads(run(folder, *words, *more, "--out", "out", "--json").stdout)
    parameters = told["certificate"]["parameters"]
    assert parameters["by"] == "full-domain"
    assert parameters["minimise"] == "discernibility"
    assert parameters["widths of age"] == "20, 60"
    assert parameters["suppress"] == "at most 0.1 of the rows"
    checked = tenue(
        "check", "out/table.parquet", "--schema", "people.toml", "--require", "k=6,l=2,t=0.5",
        cwd=folder,
    )  # fmt: skip
    assert checked.returncode == 0
    assert "loss" in {step["step"] for step in told["history"]}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--widths", "age=20"), "Use --by full-domain, or leave --widths out"),
        (("--by", "full-domain", "--widths", "20"), "Write --widths age=5/10/20,born=365"),
        (("--by", "full-domain", "--widths", "age="), "decimal number|widths"),
        (("--suppress", "2"), "Try --suppress 0.02"),
        (("--by", "full-domain", "--minimise", "sse"), "--minimise is one of"),
    ],
)
def test_what_is_refused_of_generalise_speaks_of_options(
    folder: Path, words: tuple[str, ...], said: str
) -> None:
    done = run(folder, "--method", "generalise", "-k", "6", *words, "--preview")
    assert done.returncode == 2
    assert re.search(said, " ".join((done.stdout + done.stderr).split()))


def test_two_linked_tables_are_written(folder: Path) -> None:
    done = run(folder, "--method", "t-close", "-t", "2", "-k", "10", "--out", "out", "--json")
    assert done.returncode == 0
    told = json.loads(done.stdout)
    assert told["certificate"]["promise"] == {"kind": "t-closeness", "t": "2"}
    assert sorted(told["manifest"]["tables"]) == ["confidential", "quasi_identifiers"]
    assert (folder / "out" / "confidential.parquet").exists()
    shown = pq.read_table(folder / "out" / "quasi_identifiers.parquet")
    assert shown.column_names == ["age", "job", "sex", "note", "group"]


def test_hidden_groups_are_one_table(folder: Path) -> None:
    words = ("--method", "t-close", "-t", "2", "-k", "10", "--groups", "hidden", "--out", "out")
    done = run(folder, *words, "--details")
    assert done.returncode == 0
    assert "groups: hidden" in done.stdout
    written = " ".join(done.stdout.split())
    assert re.search(r"Wrote table\.parquet, .*report\.html", written)
    assert "group" not in pq.read_table(folder / "out" / "table.parquet").column_names


def test_anatomy_says_by_what_groups_are_formed(folder: Path) -> None:
    done = run(folder, "--method", "anatomy", "-k", "10", "--preview", "--details")
    assert done.returncode == 0
    assert "by: quasi-identifiers" in done.stdout
    done = run(folder, "--method", "anatomy", "-k", "10", "--by", "confidential", "--preview")
    assert done.returncode == 2
    assert "Use --by quasi-identifiers" in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--method", "t-close", "-t", "0.2", "-k", "5"), "--method microaggregate"),
        (("--method", "microaggregate", "-t", "2", "-k", "5"), "--method t-close"),
        (("--method", "t-close", "-k", "5"), "needs --t"),
        (("--method", "swap", "-k", "5", "--groups", "hidden"), "--groups is given with"),
        (("--method", "t-close", "-t", "2", "-k", "5", "--groups", "x"), "--groups is 'x'"),
    ],
)
def test_a_t_of_the_other_kind_is_explained(
    folder: Path, words: tuple[str, ...], said: str
) -> None:
    done = run(folder, *words, "--preview")
    assert done.returncode == 2
    assert said in " ".join(done.stderr.split())


def test_cells_are_suppressed_by_importance(folder: Path) -> None:
    words = ("--method", "local-suppression", "-k", "4", "--preview", "--details", "--importance")
    done = run(folder, *words, "sex=9")
    assert done.returncode == 0
    assert "importance: sex: 9" in done.stdout
    done = run(folder, *words, "9")
    assert done.returncode == 2
    assert "age=5,town=2" in " ".join(done.stderr.split())


def test_perturbation_is_asked_for_by_column(folder: Path) -> None:
    words = ("--method", "perturb", "--retain", "job=0.7", "--noise", "0.2", "--correlated")
    words += ("--transition", "sex=0.9:0.1/0.25:0.75", "--preview", "--json")
    done = run(folder, *words)
    assert done.returncode == 0, done.stderr
    stated = json.loads(done.stdout)["certificate"]
    assert stated["promise"] == {"kind": "no formal promise"}
    assert stated["parameters"]["PRAM of sex"].endswith("row by row: 0.9 0.1; 0.25 0.75")
    assert stated["parameters"]["PRAM of job"].startswith("kept with probability 0.7")
