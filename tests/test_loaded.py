"""What each verb of the command line loads: no more than it needs, so that it starts at once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.any_draw("modules are loaded whatever is drawn")
SOURCE = Path(__file__).parent.parent / "src"
SCHEMA = """
[table]
name = "people"
source = "people.{kind}"
unit = "record"
neighbours = "add-or-remove"
[columns.age]
type = "number"
bounds = [0, 100]
role = "quasi-identifier"
[columns.ill]
type = "category"
categories = ["yes", "no"]
role = "confidential"
[budget]
total = 10
"""
RUN = """
import sys
from tenue.cli import main
sys.argv = ["tenue", *{words!r}]
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
print(*sorted(sys.modules))
"""
NEVER = (
    "altair click fastapi hypothesis llvmlite matplotlib numba pandas polars pydantic pyspark rich "
    "scipy tomlkit typer"
)
"""What no verb but `publish` and `init` may load."""
ROWS = "cryptography narwhals pyarrow"
ENGINE = "duckdb tenue.engine.duckdb.sandbox"
QUESTIONS = "sqlglot tenue.ask"
OTHERS = (
    "tenue.engine.source.frame tenue.engine.source.objects_to_text "
    "tenue.engine.contribution_bounds tenue.evaluate tenue.estimate tenue.mechanism.individual_dp "
    "tenue.mechanism.refinement tenue.publish tenue.ask.belief.plan tenue.ask.individual "
    "tenue.ask.workload"
)
COUNT = "SELECT COUNT(*) FROM people WHERE age > 40"
MEANS = "SELECT ill, AVG(age) FROM people GROUP BY ill"
CASES = {
    "nothing": ([], f"{NEVER} {ROWS} {ENGINE} {QUESTIONS} difflib numpy tenue.schema tenue.ledger"),
    "help": (["ask", "--help"], f"{NEVER} {ROWS} {ENGINE} {QUESTIONS} difflib numpy tenue.ledger"),
    "ask csv": (
        ["ask", COUNT, "--schema", "csv.toml", "--epsilon", "1"],
        f"{NEVER} {ROWS} {OTHERS}",
    ),
    "ask parquet": (
        ["ask", COUNT, "--schema", "parquet.toml", "--epsilon", "1"],
        f"{NEVER} {ROWS} {OTHERS}",
    ),
    "ask for a mean by groups": (
        ["ask", MEANS, "--schema", "csv.toml", "--epsilon", "1", "--json"],
        f"{NEVER} {ROWS} {OTHERS}",
    ),
    "explain": (
        ["explain", COUNT, "--schema", "csv.toml", "--epsilon", "1"],
        f"{NEVER} {ROWS} {ENGINE} {OTHERS} html tenue.ledger.store.sqlite",
    ),
    "ledger": (
        ["ledger", "verify", "people.ledger"],
        f"{NEVER} {ROWS} {ENGINE} {QUESTIONS} {OTHERS} difflib html numpy",
    ),
    "check": (
        ["check", "people.csv", "--schema", "csv.toml"],
        # pyarrow loads pandas where that is installed
        f"{NEVER.replace('pandas ', '')} cryptography {QUESTIONS} tenue.ledger tenue.publish",
    ),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import pyarrow as pa
    import pyarrow.parquet as pq

    place = tmp_path_factory.mktemp("loaded")
    for kind in ("csv", "parquet"):
        (place / f"{kind}.toml").write_text(SCHEMA.format(kind=kind))
    rows = [(age % 90, "yes" if age % 3 else "no") for age in range(200)]
    (place / "people.csv").write_text("age,ill\n" + "\n".join(f"{a},{i}" for a, i in rows) + "\n")
    table = pa.table({"age": [a for a, _ in rows], "ill": [i for _, i in rows]})
    pq.write_table(table, place / "people.parquet")
    loaded(["ask", COUNT, "--schema", "csv.toml", "--epsilon", "1"], place)  # makes the ledger
    return place


def loaded(words: list[str], folder: Path) -> set[str]:
    """The modules that a verb loads."""
    done = subprocess.run(
        [sys.executable, "-c", RUN.format(words=words)],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split())


def unwanted(found: set[str], names: str) -> list[str]:
    """The modules of these packages, or those modules, among what was loaded."""
    packages = tuple(names.split())
    return sorted(
        m for m in found if m in packages or m.startswith(tuple(f"{p}." for p in packages))
    )


@pytest.mark.parametrize("case", CASES)
def test_a_verb_loads_what_it_needs(case: str, folder: Path) -> None:
    words, names = CASES[case]
    assert unwanted(loaded(words, folder), names) == []


def test_what_is_loaded_is_seen(folder: Path) -> None:
    words, _ = CASES["ask csv"]
    found = loaded(words, folder)
    assert {"duckdb", "sqlglot", "numpy", "tenue.ask.session"} <= found
    assert "numpy.linalg" in unwanted(found, "numpy.linalg tenue.ask.sess")
    assert not unwanted(found, "tenue.ask.sess")
