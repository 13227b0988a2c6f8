from __future__ import annotations

import json

import pytest

from tenue_papers.cell import Verdict
from tenue_papers.data import FOLDER
from tenue_papers.outcome import one_exhibit
from tenue_papers.reproduce import reproduce


@pytest.fixture(autouse=True)
def _no_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(FOLDER, raising=False)


def test_without_data_it_runs_and_says_what_is_missing() -> None:
    told: list[tuple[str, int, int]] = []
    book = reproduce(["4.1", "3.7", "6.1"], progress=lambda *facts: told.append(facts))
    assert told == [("4.1", 0, 3), ("3.7", 1, 3), ("6.1", 2, 3)]
    assert [v.value for v in book.verdicts.values()] == ["equal", "data missing", "data missing"]
    assert book.broken == ()
    assert "Needs census.csv." in one_exhibit(book["3.7"])


def test_the_numbers_are_json() -> None:
    book = reproduce(["4.2", "fig4.2"])
    read = json.loads(book.to_json())
    assert read["verdicts"] == {"corrected": 1, "equal": 1}
    assert read["exhibits"][1]["figure"]["panels"][0]["series"][0]["name"] == "optimal noise"
    assert "4.2     ✎  Width of the 95 % interval" in str(book)
    assert "✎ corrected: 1" in str(book)


def test_a_broken_formula_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    from tenue.noise import Optimal

    monkeypatch.setattr(Optimal, "variance", property(lambda _: 1.92))
    book = reproduce("4.1")
    assert book.broken == ("4.1",)
    assert "different" in one_exhibit(book["4.1"])


def test_on_a_stand_in_nothing_is_compared() -> None:
    book = reproduce(["3.7", "4.1"], stand_in=True)
    assert book.made_up
    assert book.verdicts == {"4.1": Verdict.EQUAL, "3.7": Verdict.MISSING}
    assert len(book["3.7"].cells) == 63
    assert all(isinstance(cell.ours, float) for cell in book["3.7"].cells)
