from __future__ import annotations

from itertools import pairwise

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenue.errors import InvalidArgument, NotPromised
from tenue.ledger.amount import ATTO
from tenue.ledger.composition import Charge, charge_in, delta_in


def test_what_epsilon_counts_in_which_ledger() -> None:
    assert charge_in("replace", "replace", 7) == 7
    assert charge_in("add-or-remove", "add-or-remove", 7) == 7
    assert charge_in("replace", "add-or-remove", 7) == 14
    with pytest.raises(NotPromised):
        charge_in("add-or-remove", "replace", 7)


@given(st.integers(1, 60 * 10**9), st.integers(1, ATTO - 1))
def test_two_steps_of_delta_are_never_priced_too_low(nano: int, atto: int) -> None:
    with mpmath.workdps(80):
        true = mpmath.mpf(atto) * (1 + mpmath.exp(mpmath.mpf(nano) / 10**9))
        priced = delta_in("replace", "add-or-remove", nano, atto)
        assert priced == ATTO or true <= priced <= true + 1
        assert priced == min(ATTO, int(mpmath.ceil(true)))
    assert delta_in("replace", "replace", nano, atto) == atto


@pytest.mark.parametrize("nano", [10**7, 10**9, 3 * 10**9])
def test_two_steps_really_cost_that_much(nano: int) -> None:
    """An event of probability delta (1 + e**epsilon), delta, 0 in a row of three neighbours."""
    atto = 10**12
    with mpmath.workdps(50):
        factor, delta = mpmath.exp(mpmath.mpf(nano) / 10**9), mpmath.mpf(atto) / ATTO
        chances = [delta * (1 + factor), delta, mpmath.mpf(0)]
        for one, other in pairwise(chances):
            for p, q in ((one, other), (other, one), (1 - one, 1 - other), (1 - other, 1 - one)):
                assert p <= factor * q + delta + mpmath.mpf(10) ** -40
        worst = (chances[0] - factor**2 * chances[2]) * ATTO
        assert delta_in("replace", "add-or-remove", nano, atto) >= worst > 2 * atto


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
