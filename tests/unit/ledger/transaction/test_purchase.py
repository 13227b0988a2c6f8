"""A purchase states everything that `reserve` was given, checked."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from tenue.errors import Refused
from tenue.ledger import Charge
from tenue.ledger.transaction.purchase import Purchase

CHARGE = Charge.of(epsilon=1, neighbours="replace")
GIVEN: dict[str, Any] = {
    "dataset": "census",
    "analyst": "ann",
    "charge": CHARGE,
    "key": "k",
    "question_digest": "q",
    "cache_key": "c",
    "column": "dp",
    "question_name": None,
    "times": None,
}


def test_what_is_optional_may_be_none_and_stays_so() -> None:
    found = Purchase(**{**GIVEN, "key": None, "cache_key": None})
    assert (found.key, found.cache_key, found.question_name, found.times) == (None,) * 4
    assert found.asked is None
    assert Purchase("d", "ann", CHARGE, None, "q", None, "dp", None, None).dataset == "d"


def test_how_often_is_a_whole_number_of_an_approved_question() -> None:
    approved = {**GIVEN, "column": "individual", "question_name": "median"}
    assert Purchase(**approved, asked=None).times is None
    found = Purchase(**{**approved, "times": "3"})
    assert found.times == 3
    assert type(found.times) is int
    for wrong in ({"times": -1}, {"times": "many"}, {"times": 3, "question_name": None}):
        with pytest.raises(Refused):
            Purchase(**{**approved, **wrong})
    with pytest.raises(Refused):
        Purchase(**{**approved, "times": 3, "column": "dp"})


@pytest.mark.parametrize("name", ["dataset", "analyst", "question_digest"])
def test_what_is_needed_cannot_be_left_out(name: str) -> None:
    with pytest.raises(Refused):
        Purchase(**{**GIVEN, name: None})


@pytest.mark.parametrize(
    "name", ["dataset", "analyst", "key", "question_digest", "cache_key", "question_name"]
)
def test_names_are_printable_text(name: str) -> None:
    for wrong in ("", "a\0b", 7, "x" * 10_000):
        with pytest.raises(Refused):
            Purchase(**{**GIVEN, name: wrong})


def test_a_price_is_a_charge_in_a_column_that_exists() -> None:
    with pytest.raises(Refused) as refusal:
        Purchase(**{**GIVEN, "charge": 0.5})
    assert "float" in refusal.value.what
    with pytest.raises(Refused):
        Purchase(**{**GIVEN, "column": "releases"})


@pytest.mark.parametrize(
    "charge",
    [
        Charge.of(epsilon=1, delta="1e-9", neighbours="replace"),
        Charge.of(epsilon=1, neighbours="add-or-remove", person="17"),
    ],
)
def test_the_individual_column_knows_neither_delta_nor_persons(charge: Charge) -> None:
    assert Purchase(**{**GIVEN, "charge": charge}).charge is charge
    with pytest.raises(Refused):
        Purchase(**{**GIVEN, "charge": charge, "column": "individual"})


def test_how_a_question_reads_is_made_readable() -> None:
    found = Purchase(**GIVEN, asked="SELECT 1\n\x1b[31m")
    assert found.asked is not None
    assert "\x1b" not in found.asked


def test_nothing_changes_afterwards() -> None:
    with pytest.raises(FrozenInstanceError):
        Purchase(**GIVEN).dataset = "other"  # type: ignore[misc]
