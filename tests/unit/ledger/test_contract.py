"""What is the same in every ledger, whichever way its rows are kept."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from tenue.errors import Refused
from tenue.ledger import Charge, Ledger, Memory
from tenue.ledger.contract import LARGEST_ANSWER, closed

CHARGE = Charge.of(epsilon=1, neighbours="replace")


@pytest.fixture
def ledger() -> Memory:
    made = Memory()
    made.open_dataset("census", 5, neighbours="replace")
    return made


def test_whoever_keeps_rows_says_these_things() -> None:
    assert Ledger.__abstractmethods__ == {
        "_write",
        "_read",
        "_entries",
        "_inspect",
        "_hold_to",
        "_secret",
        "close",
    }


def test_a_balance_needs_no_name_while_there_is_one_data_set(ledger: Memory) -> None:
    assert ledger.balance().dataset == "census"
    ledger.open_dataset("other", 1, neighbours="replace")
    with pytest.raises(Refused) as refusal:
        ledger.balance()
    assert refusal.value.code == "unknown-dataset"
    assert str(refusal.value) == (
        "The data set is not named. The ledger has 2 data sets. Choose one of census, other."
    )
    with pytest.raises(Refused) as refusal:
        Memory().balance("census")
    assert str(refusal.value) == (
        "There is no data set `census`. The ledger has 0 data sets. Call open_dataset first."
    )


def test_the_export_is_one_line_of_json_for_each_entry(ledger: Memory, tmp_path: Path) -> None:
    ledger.commit(ledger.reserve("census", "ann", CHARGE, "k", "q"), b"1")
    text = io.StringIO()
    assert ledger.export(text) == 3
    lines = [json.loads(line) for line in text.getvalue().splitlines()]
    assert [line["sequence"] for line in lines] == [1, 2, 3]
    assert ledger.export(tmp_path / "out.jsonl") == 3
    assert (tmp_path / "out.jsonl").read_text() == text.getvalue()


def test_entries_may_be_those_of_one_data_set(ledger: Memory) -> None:
    ledger.open_dataset("other", 1, neighbours="replace")
    assert [entry.dataset for entry in ledger.entries()] == ["census", "other"]
    assert [entry.sequence for entry in ledger.entries("other")] == [2]
    assert list(ledger.entries("none")) == []


def test_a_name_is_known_in_its_own_spelling(ledger: Memory) -> None:
    assert ledger.known_as("CENSUS") == "census"
    assert ledger.known_as("unknown") == "unknown"


def test_keys_and_caches_are_looked_up_for_nothing(ledger: Memory) -> None:
    assert not ledger.has_key("census", "ann", "k")
    paid = ledger.reserve("census", "ann", CHARGE, "k", "q", cache_key="c")
    assert ledger.has_key("census", "ann", "k")
    assert ledger.cached("census", "c") is None  # not answered yet
    ledger.commit(paid, b"answer")
    assert ledger.cached("census", "c") == b"answer"
    assert ledger.cached("census", "d") is None
    assert ledger.balance().spent == 1


def test_drafts_belong_to_the_object_that_made_them(ledger: Memory) -> None:
    number = ledger.register_release("census", "r", method="swap", draft=True)
    ledger.release_left("census", "r")
    with pytest.raises(Refused):
        ledger.withdraw_release("census", "r", reason="too late")
    again = ledger.register_release("census", "r", method="swap", draft=True)
    assert again == number
    with pytest.raises(Refused):  # registered again, it is still the one that left
        ledger.withdraw_release("census", "r", reason="too late")


@pytest.mark.parametrize("answer", ["text", None, bytearray(b"x")])
def test_an_answer_is_bytes(ledger: Memory, answer: Any) -> None:
    paid = ledger.reserve("census", "ann", CHARGE, None, "q")
    with pytest.raises(Refused):
        ledger.commit(paid, answer)
    ledger.commit(paid, b"")


def test_an_answer_has_a_largest_size(ledger: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    assert LARGEST_ANSWER == 64 * 2**20
    monkeypatch.setattr("tenue.ledger.contract.LARGEST_ANSWER", 3)
    paid = ledger.reserve("census", "ann", CHARGE, None, "q")
    with pytest.raises(Refused):
        ledger.commit(paid, b"four")
    ledger.commit(paid, b"abc")


def test_a_block_closes_its_ledger() -> None:
    with Memory() as ledger:
        ledger.datasets()
    with pytest.raises(Refused) as refusal:
        ledger.datasets()
    assert str(refusal.value) == str(closed())
