"""`tenue papers`: names all exhibits, computes some, writes the book."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command_line import tenue
from tenue_papers.catalogue import exhibits
from tenue_papers.data import FOLDER


@pytest.fixture(autouse=True)
def _no_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(FOLDER, raising=False)


def test_all_are_named(tmp_path: Path) -> None:
    listed = tenue("papers", "--list", cwd=tmp_path)
    assert listed.returncode == 0
    for name in exhibits():
        assert f"  {name} " in listed.stdout, name
    as_json = json.loads(tenue("papers", "--list", "--json", cwd=tmp_path).stdout)
    assert [one["id"] for one in as_json["exhibits"]] == list(exhibits())


def test_one_is_shown_cell_by_cell(tmp_path: Path) -> None:
    said = tenue("papers", "--only", "4.2", cwd=tmp_path)
    assert said.stdout.startswith("Table 4.2: Width of the 95 % interval  [corrected]")
    assert "optimal  ε = 1       5.98   5.9865  corrected" in said.stdout
    assert "truncated after its last digit" in said.stdout


def test_missing_data_is_named_and_no_failure(tmp_path: Path) -> None:
    said = tenue("papers", "--only", "3.7", "--only", "4.1", cwd=tmp_path)
    assert said.returncode == 0
    assert "Needs census.csv." in said.stdout


def test_the_book_is_written(tmp_path: Path) -> None:
    said = tenue("papers", "--only", "err.shells", "--out", "book", cwd=tmp_path)
    assert "Open book/index.html." in said.stdout
    assert (tmp_path / "book" / "noise.html").is_file()
    read = json.loads(tenue("papers", "--only", "4.1", "--out", "b", "--json", cwd=tmp_path).stdout)
    assert read["files"] == ["noise.html", "index.html", "papers.json"]


def test_a_made_up_stand_in_needs_no_data(tmp_path: Path) -> None:
    said = tenue("papers", "--only", "3.6", "--stand-in", cwd=tmp_path)
    assert said.returncode == 0
    assert "made-up table" in said.stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--only", "4.9"], "called 4.9"),
        (["--only", "4.1", "--data", "nowhere"], "nowhere is not a folder"),
    ],
)
def test_refusals_name_options(tmp_path: Path, words: list[str], told: str) -> None:
    said = tenue("papers", *words, cwd=tmp_path)
    assert said.returncode == 2
    assert told in said.stderr
    assert "data=" not in said.stderr


def test_a_wrong_number_ends_with_3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tenue.noise import Optimal

    monkeypatch.setattr(Optimal, "variance", property(lambda _: 1.92))
    said = tenue("papers", "--only", "4.1", cwd=tmp_path)
    assert said.returncode == 3
    assert "Neither the print nor the right value: 4.1." in said.stderr
