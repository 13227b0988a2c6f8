"""The command line on a folder of Parquet files that Spark reads, and on what is missing for it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from spark_cluster import Connect

pytestmark = [
    pytest.mark.needs("spark"),
    pytest.mark.any_draw("commands are processes; with epsilon 1000 every draw of noise is 0"),
]
SOURCE = "spark://local#visits"
RUN = """
import json, sys
hidden, commands = json.loads(sys.argv[1])
if hidden:
    sys.modules["pyspark"] = None
from tenue.cli.main import main
for words in commands:
    sys.argv[1:] = words
    sys.stdout.write("== ")
    try:
        main()
    except SystemExit as left:
        print(f"left {left.code or 0}")
    sys.stdout.flush()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "visits").mkdir()
    rows = {"who": [f"p{i // 5}" for i in range(100)], "age": [20 + i % 50 for i in range(100)]}
    pq.write_table(pa.table(rows), tmp_path / "visits" / "part.parquet")
    (tmp_path / "visits.toml").write_text(
        f'''[table]
name = "visits"
source = "{SOURCE}"
unit = "who"
rows_per_unit = 2
neighbours = "add-or-remove"
ledger = "visits.ledger"

[columns.who]
type = "identifier"

[columns.age]
type = "number"
bounds = [0, 100]
role = "quasi-identifier"

[budget]
total = 10000
'''
    )
    return tmp_path


def run(
    folder: Path, *commands: list[str], hidden: bool = False, path: str | None = None
) -> tuple[list[str], str]:
    """What each command wrote, and what all of them complained of."""
    environment = os.environ | {"SPARK_LOCAL_IP": "127.0.0.1"}
    environment.pop("PYSPARK_PYTHON", None)  # as a user has it: Spark alone would take any python3
    if path is not None:
        environment["PATH"] = path
        environment.pop("JAVA_HOME", None)
    done = subprocess.run(
        [sys.executable, "-c", RUN, json.dumps([hidden, commands])],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    return done.stdout.split("== ")[1:], done.stderr


QUESTION = "SELECT COUNT(*) FROM visits"


def test_every_verb_reads_a_folder_through_spark(folder: Path) -> None:
    written, errors = run(
        folder,
        ["doctor", "--schema", "visits.toml", "--json"],
        ["explain", QUESTION, "--schema", "visits.toml", "--epsilon", "1000"],
        ["ask", QUESTION, "--schema", "visits.toml", "--epsilon", "1000", "--json"],
        ["init", SOURCE, "--out", "draft.toml"],
        ["check", SOURCE, "--schema", "visits.toml", "--json"],
    )
    doctor, explained, asked, _, checked = written
    assert "Spark 4" in doctor, errors
    assert "missing" not in doctor
    assert "1000" in explained, errors
    assert json.loads(asked.partition("left")[0])["value"] == 40, "two rows of each of 20 persons"
    assert "age" in (folder / "draft.toml").read_text(), errors
    assert '"k"' in checked, errors


@pytest.mark.parametrize("missing", ["pyspark", "Java"])
def test_what_is_missing_is_named_and_how_it_is_installed(folder: Path, missing: str) -> None:
    (folder / "empty").mkdir()
    path = None if missing == "pyspark" else str(folder / "empty")
    written, errors = run(
        folder,
        ["ask", QUESTION, "--schema", "visits.toml", "--epsilon", "1"],
        ["init", SOURCE, "--out", "draft.toml"],
        ["check", SOURCE, "--schema", "visits.toml"],
        ["doctor", "--schema", "visits.toml"],
        hidden=missing == "pyspark",
        path=path,
    )
    fix = "pip install" if missing == "pyspark" else "openjdk-17-jre-headless"
    assert errors.count(fix) == 3, (written, errors)
    assert fix in written[-1].replace("\n", " "), (written, errors)
    assert "Something failed" not in errors


def test_every_verb_asks_a_server_of_spark_connect(folder: Path) -> None:
    """It reads the rows; nothing but what was counted comes here, and Java is not needed here."""
    (folder / "empty").mkdir()
    server = Connect(folder)
    try:
        source = f"{server.address}#{folder / 'visits'}"
        schema = folder / "visits.toml"
        schema.write_text(schema.read_text().replace(SOURCE, source))
        written, errors = run(
            folder,
            ["doctor", "--schema", "visits.toml", "--json"],
            ["ask", QUESTION, "--schema", "visits.toml", "--epsilon", "1000", "--json"],
            [
                "ask",
                "SELECT MEDIAN(age) FROM visits",
                "--schema",
                "visits.toml",
                "--epsilon",
                "1000",
            ],
            ["init", source, "--out", "draft.toml"],
            ["check", source, "--schema", "visits.toml", "--json"],
            path=str(folder / "empty"),
        )
    finally:
        server.remove()
    doctor, asked, median, _, checked = written
    assert "Spark 4" in doctor, errors
    assert json.loads(asked.partition("left")[0])["value"] == 40, "two rows of each of 20 persons"
    assert "left 0" in median, errors
    assert "age" in (folder / "draft.toml").read_text(), errors
    assert '"k"' in checked, errors
