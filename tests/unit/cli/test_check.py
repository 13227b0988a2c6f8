"""Files: measured and compared."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tenue as tn
from command_line import invoke, tenue
from tenue.cli.main import app

CHECK_SCHEMA = """
[table]
name = "people"
unit = "record"
neighbours = "replace"

[columns.age]
type = "number"
bounds = [0, 100]
role = "quasi-identifier"

[columns.illness]
type = "category"
categories = ["a very private illness", "none"]
role = "confidential"
"""
ROWS = "age,illness,zip\n30,a very private illness,1\n30,none,1\n40,none,2\n"


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "s.toml").write_text(CHECK_SCHEMA)
    (tmp_path / "t.csv").write_text(ROWS)
    return {"schema": str(tmp_path / "s.toml"), "table": str(tmp_path / "t.csv")}


def run(*words: str) -> str:
    done = invoke(app, ["check", *words], keep=False)
    assert done.exit_code == 0
    return done.stdout


def test_the_screen_says_what_it_means_and_tells_no_value(files: dict[str, str]) -> None:
    text = run(files["table"], "--schema", files["schema"])
    assert "k = 1" in text
    assert "in a class of one row" in " ".join(text.split())
    assert "illness: l = 1" in text
    assert "a very private illness" not in text
    assert "40" not in text
    assert "Not declared, so not measured: `zip`." in text


def test_json_is_the_library_s(files: dict[str, str]) -> None:
    found = tn.evaluate.check(files["table"], schema=files["schema"])
    assert run(files["table"], "--schema", files["schema"], "--json") == found.to_json() + "\n"


def test_columns_can_be_named_without_a_schema(files: dict[str, str]) -> None:
    words = ["--quasi-identifiers", "age, zip", "--confidential", "illness", "--json"]
    shown = json.loads(run(files["table"], *words))
    assert shown["quasi_identifiers"] == ["age", "zip"]
    assert (shown["k"], shown["l"]) == (1, 1)
    by_person = run(files["table"], "--quasi-identifiers", "age", "--unit", "zip", "--json")
    assert json.loads(by_person)["unit"] == "zip"


@pytest.mark.parametrize("words", [[], ["--quasi-identifiers", "ages"], ["--schema", "none.toml"]])
def test_a_refusal_is_one_object_and_exit_code_two(words: list[str], files: dict[str, str]) -> None:
    done = tenue("check", files["table"], *words, "--json", cwd=Path())
    assert done.returncode == 2
    assert set(json.loads(done.stdout)["refused"]) == {"code", "kind", "what", "allowed", "fix"}
    assert "Traceback" not in done.stderr


def test_what_is_no_file_is_called_what_it_is(tmp_path: Path) -> None:
    for path, word in ((tmp_path, "a folder"), (Path("/dev/null"), "no file")):
        with pytest.raises(tn.errors.InvalidArgument) as refused:
            run(str(path), "--quasi-identifiers", "age")
        assert f"{path} is {word}" in refused.value.what


@pytest.mark.parametrize(
    ("required", "code"), [("k=1", 0), ("k=1,l=1,t=1", 0), ("k=2", 3), ("k=1, t=0.1", 3)]
)
def test_a_requirement_decides_the_exit_code(
    files: dict[str, str], required: str, code: int
) -> None:
    words = ["check", files["table"], "--schema", files["schema"], "--require", required]
    done = invoke(app, words, keep=False)
    assert done.exit_code == code
    assert done.stdout.startswith("NOT MET: ") == (code == 3)
    facts = json.loads(invoke(app, [*words, "--json"], keep=False).stdout)
    assert bool(facts["unmet"]) == (code == 3)
    assert facts["required"] == dict(
        part.split("=") for part in required.replace(" ", "").split(",")
    )
    found = tn.evaluate.check(files["table"], schema=files["schema"])
    assert found.meets(**facts["required"]) == (code == 0)


def test_what_is_met_is_said_first(files: dict[str, str]) -> None:
    words = [files["table"], "--schema", files["schema"]]
    assert run(*words, "--require", "k=1,t=1").startswith("Met: k at least 1, t at most 1.\n\n")
    assert not run(*words).startswith("Met")


def test_an_identifier_is_never_as_required(files: dict[str, str]) -> None:
    with open(files["schema"], "a") as schema:
        schema.write('\n[columns.zip]\ntype = "identifier"\n')
    words = ["check", files["table"], "--schema", files["schema"]]
    said = invoke(app, words, keep=False)
    assert said.exit_code == 0
    assert said.stdout.startswith("WARNING: The file still names persons: `zip`.")
    done = invoke(app, [*words, "--require", "k=1"], keep=False)
    assert done.exit_code == 3
    assert done.stdout.startswith("NOT MET: The file names persons: `zip`.")


@pytest.mark.parametrize("declared", [False, True])
def test_what_looks_like_a_name_fails_unless_it_is_declared(
    files: dict[str, str], tmp_path: Path, declared: bool
) -> None:
    """With a schema it was "not looked at", without one a warning, and the exit code 0."""
    Path(files["table"]).write_text("age,ssn\n" + "".join(f"30,8123{i}\n" for i in range(50)))
    ways = [["--schema", files["schema"]], ["--quasi-identifiers", "age"]]
    if declared:
        with open(files["schema"], "a") as schema:
            schema.write('\n[columns.ssn]\ntype = "number"\nbounds = [0, 99999]\n')
        ways = ways[:1]
    for way in ways:
        words = ["check", files["table"], *way, "--require", "k=5"]
        done = invoke(app, words, keep=False)
        assert done.exit_code == (0 if declared else 3)
        assert done.stdout.startswith("NOT MET: `ssn` seems to name") != declared


@pytest.mark.parametrize("required", ["k", "m=3", "k=2,k=3", "", "k=many", "t=x"])
def test_a_requirement_that_is_none_is_refused(files: dict[str, str], required: str) -> None:
    words = ["check", files["table"], "--schema", files["schema"], "--require", required]
    with pytest.raises(tn.Refused):
        invoke(app, words, keep=False)


def test_a_requirement_is_shown_as_it_is_typed(files: dict[str, str]) -> None:
    done = tenue("check", files["table"], "--require", "foo=5", cwd=Path(files["table"]).parent)
    assert done.stderr.splitlines()[-1] == "Write --require k=5,l=2,t=0.3."  # not -k 5,--l 2


def test_l_without_a_confidential_column_is_refused(files: dict[str, str]) -> None:
    words = ["check", files["table"], "--quasi-identifiers", "age", "--require", "l=2"]
    with pytest.raises(tn.Refused, match="l is required") as refused:
        invoke(app, words, keep=False)
    assert "--confidential illness" in refused.value.fix


# -- compare ---------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [f"{20 + i % 40},{i % 7}" for i in range(60)]
    (tmp_path / "a.csv").write_text("age,ill\n" + "\n".join(rows) + "\n")
    coarse = [f"{(20 + i % 40) // 20 * 20},{i % 7}" for i in range(60)]
    (tmp_path / "b.csv").write_text("age,ill\n" + "\n".join(coarse) + "\n")
    return tmp_path


ROLES = ("--quasi-identifiers", "age", "--confidential", "ill")


def test_people_read_risk_and_utility(folder: Path) -> None:
    done = tenue("compare", "a.csv", "b.csv", *ROLES, "--report", "r.html", cwd=folder)
    assert done.returncode == 0, done.stderr
    for part in ("Risk", "Utility", "k = 20", "Wrote r.html", "Keep this to yourself"):
        assert part in done.stdout
    assert "for the holder" in (folder / "r.html").read_text()


def test_programs_read_json(folder: Path) -> None:
    done = tenue("compare", "a.csv", "b.csv", *ROLES, "--json", cwd=folder)
    told = json.loads(done.stdout)
    assert told["risk"]["check"]["k"] == 20
    whole = tenue("compare", "a.csv", "b.csv", "--unrelated", "--json", cwd=folder)
    assert json.loads(whole.stdout)["risk"] is None


def test_a_refusal_is_exit_code_2(folder: Path) -> None:
    assert tenue("compare", "a.csv", "none.csv", cwd=folder).returncode == 2
    done = tenue("compare", "a.csv", "b.csv", "--report", "r.pdf", cwd=folder)
    assert done.returncode == 2
    assert ".html" in done.stderr


def test_a_private_table_needs_no_roles_and_no_schema(tmp_path: Path) -> None:
    """Whole rows are compared; a schema without roles changes nothing."""
    from unit.publish.census import people, schema

    described = {**schema().to_dict(), "budget": {"total": 5}}
    for column in described["columns"].values():
        column.pop("role", None)
    release = tn.publish(
        people(), schema=described, method="private", epsilon=1, ledger=tn.ledger.Memory()
    )
    release.save(tmp_path / "out", kind="csv")
    tn.Schema.from_dict(described).save(tmp_path / "people.toml")
    for words in ((), ("--schema", "people.toml")):
        done = tenue("check", "out/table.csv", *words, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "none is the row of a person" in " ".join(done.stdout.split())


def test_a_file_that_is_not_beside_its_certificate_is_refused_and_no_fault(
    tmp_path: Path,
) -> None:
    """It was an IndexError: the manifest names table.parquet, and table.csv was asked for."""
    from unit.publish.census import people, schema

    release = tn.publish(people(), schema=schema(), method="swap", k=4, ledger=False)
    release.save(tmp_path / "out", kind="parquet")
    done = tenue("check", "out/table.csv", "--quasi-identifiers", "age", cwd=tmp_path)
    assert done.returncode == 2
    assert "does not exist" in done.stderr
