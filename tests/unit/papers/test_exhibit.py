from __future__ import annotations

from pathlib import Path

import pytest

from tenue.papers.cell import Cell, Verdict, met
from tenue.papers.data import FOLDER, Data
from tenue.papers.exhibit import beyond, erratum, example, figure, table
from tenue.papers.figure import Panel, Series, panels


def cells(_: Data) -> list[Cell]:
    return [met("a", "b", "1.0", 1.0)]


def test_kinds_are_named_by_who_makes_them() -> None:
    made = [make("x", "t", "s", cells).kind for make in (table, example, erratum, beyond)]
    assert made == ["table", "example", "erratum", "beyond"]


def test_what_needs_data_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(FOLDER, raising=False)
    found = table("x", "t", "s", cells, needs=("census.csv",)).shown(Data())
    assert found.verdict is Verdict.MISSING
    assert table("x", "t", "s", cells).shown(Data()).verdict is Verdict.EQUAL


def test_a_stand_in_is_never_compared_with_the_print(tmp_path: Path) -> None:
    (tmp_path / "census.csv").write_text("")
    data = Data(tmp_path, made_up=True)
    (cell,) = table("x", "t", "s", cells, needs=("census.csv",)).shown(data).cells
    assert (cell.verdict, cell.ours) == (Verdict.MISSING, 1.0)
    assert "made-up" in cell.remark
    assert table("x", "t", "s", cells).shown(data).verdict is Verdict.EQUAL


def test_a_figure_is_in_the_numbers() -> None:
    drawn = panels(Panel("", "x", "y", (Series("a", ((0.0, 1.0),)),)), caption="c")
    found = figure("f", "t", "s", cells, lambda _: drawn).shown(Data())
    assert found.to_dict()["figure"]["caption"] == "c"
    assert found.to_dict()["verdict"] == "equal"
