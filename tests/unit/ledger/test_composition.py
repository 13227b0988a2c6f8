from __future__ import annotations

import pytest

from tenue.errors import InvalidArgument, NotPromised
from tenue.ledger.composition import Charge, charge, charge_in, delta_in
from tenue.promise.loss import ATTO, EpsilonDelta


def test_what_epsilon_counts_in_which_ledger() -> None:
    assert charge_in("replace", "replace", 7) == 7
    assert charge_in("add-or-remove", "add-or-remove", 7) == 7
    assert charge_in("replace", "add-or-remove", 7) == 14
    with pytest.raises(NotPromised):
        charge_in("add-or-remove", "replace", 7)


def test_the_numbers_are_those_of_the_loss() -> None:
    assert delta_in("replace", "add-or-remove", 10**9, 1000) == 3719
    assert delta_in("replace", "replace", 10**9, 1000) == 1000
    assert charge(EpsilonDelta(5, 7), "add-or-remove", "17") == Charge(5, 7, "add-or-remove", "17")
    assert Charge(5, 7, "replace").loss == EpsilonDelta(5, 7)


def test_a_delta_under_replace_has_no_price_under_add_or_remove() -> None:
    with pytest.raises(NotPromised):
        delta_in("add-or-remove", "replace", 1, 1)


def test_a_price_about_a_person_must_hold_under_add_or_remove() -> None:
    with pytest.raises(NotPromised, match="counts it twice"):
        Charge.of(epsilon=1, neighbours="replace", person="17")
    assert Charge.of(epsilon=1, neighbours="add-or-remove", person="17").person == "17"


@pytest.mark.parametrize(
    "arguments",
    [
        {"nano": 0},
        {"nano": -5},
        {"nano": 1.5},
        {"nano": 10**15 + 1},
        {"atto": -1},
        {"atto": ATTO},
        {"neighbours": "both"},
        {"person": ""},
        {"person": 17},
    ],
)
def test_a_charge_is_a_price(arguments: dict[str, object]) -> None:
    with pytest.raises(InvalidArgument):
        Charge(**{"nano": 1, "atto": 0, "neighbours": "add-or-remove", **arguments})  # type: ignore[arg-type]


def test_a_price_is_rounded_up() -> None:
    charge = Charge.of(epsilon="1e-10", delta="1e-19", neighbours="replace")
    assert (charge.nano, charge.atto) == (1, 1)


def test_missing_words_are_named() -> None:
    with pytest.raises(InvalidArgument, match="neighbours"):
        Charge.of(epsilon=1)  # type: ignore[call-arg]
